"""What stands in a CVXPY problem, in terms of its conic form."""
