"""Solved CVXPY problems, whoever solved them."""
