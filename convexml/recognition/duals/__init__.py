"""Duals of learning problems, as people pose them: read as such, and solved through the primal.

The least of f(a) = F*(u) + Omega*(-X'u) + constant, u_i = tau_i a_i, is -P*, less the constant, of
the learning problem P(w, b) = F(Xw + b) + Omega(w); 1'u = 0 where b is free.

- ``program``: squares, lines and constraints of one variable, by what they may be of a dual.
- ``facets``: rows that bound X'u.
- ``posing``: the loss whose conjugate stands there, X and the penalty.
- ``verifying``: what was read against what CVXPY computes from the expressions as written.
- ``answering``: solved, filled, certified as written.
"""

from .posing import PosedDual, pose_dual

__all__ = ["PosedDual", "pose_dual"]
