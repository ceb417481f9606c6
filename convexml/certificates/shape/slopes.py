"""What lam |z|_1 and s'z differ by, for |s_i| <= lam and z known up to rounding."""

from __future__ import annotations

import numpy as np

from ...numerics import Array, gamma


def slack_of_box(z: Array, noise: Array, s: Array, lam: float) -> Array:
    """The terms lam |z_i| - s_i z_i from above; a z_i that may be 0 has either sign."""
    sure = np.abs(z) > noise
    excess = np.where(sure, lam - s * np.sign(z), lam + np.abs(s))
    return np.asarray(excess * (np.abs(z) + noise) * (1.0 + gamma(8)))
