"""Constraints: read row by row, eliminated or taken for sets and losses; and their multipliers.

- ``rows``: a constraint as ``sum of convex terms + affine <= 0``, or ``affine == 0``.
- ``substituting``: an equality that gives a variable is put in where the variable stands.
- ``slacks``: a variable that costs and is bounded from below alone is its bound.
- ``sets``: what is left must be bounds, a ball, margins or equations; or the problem is declined.
- ``multipliers``: from the dual point of the learning problem back to the constraints.
"""

from .reading import read_constraints

__all__ = ["read_constraints"]
