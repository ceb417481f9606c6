"""Whether a learning problem has a feasible point, and a minimiser."""
