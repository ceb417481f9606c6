"""A solution in words, as a picture, as JSON."""
