"""Duality: the conic form of a CVXPY problem."""

from .canonical import Canonical, cone_program, solve_cone_program

__all__ = ["Canonical", "cone_program", "solve_cone_program"]
