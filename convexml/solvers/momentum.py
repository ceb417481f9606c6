"""The weights of Nesterov's extrapolation."""

from __future__ import annotations


def next_weight(t: float) -> tuple[float, float]:
    """Return ((t - 1) / t', t') with t' = (1 + sqrt(1 + 4 t^2)) / 2; t = 1 at the start."""
    following = 0.5 * (1.0 + (1.0 + 4.0 * t * t) ** 0.5)
    return (t - 1.0) / following, following
