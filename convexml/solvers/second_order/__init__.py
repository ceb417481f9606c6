"""Newton's method and interior points."""
