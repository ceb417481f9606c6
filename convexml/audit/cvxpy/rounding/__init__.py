"""Values of CVXPY's expressions, with bounds on their rounding."""
