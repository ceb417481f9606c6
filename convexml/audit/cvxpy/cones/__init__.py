"""The cone program behind a CVXPY problem: bounds, rays and units."""
