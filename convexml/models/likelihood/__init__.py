"""Models of maximum likelihood."""
