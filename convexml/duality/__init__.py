"""Duality: the conic form of a CVXPY problem, and its Lagrangian dual as another one."""

from .canonical import Canonical, cone_program
from .dual import Dual, Multipliers, dualize

__all__ = [
    "Canonical",
    "Dual",
    "Multipliers",
    "cone_program",
    "dualize",
]
