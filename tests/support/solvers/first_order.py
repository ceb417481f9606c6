"""Names of the deterministic first-order solvers."""

from __future__ import annotations

SMOOTH = ("gradient_descent", "accelerated_gradient", "proximal_gradient", "fista")
SOLVERS = (*SMOOTH, "subgradient")
