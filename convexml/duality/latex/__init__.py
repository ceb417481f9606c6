"""A problem and its dual in LaTeX."""
