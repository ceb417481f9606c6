"""The sizes of margins, from the data: units fitted to a program of typical entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array

NOISE = 1e-8
"""Entries below this share of the largest say nothing of a size."""


def margin_sizes(A: Any, c: Array) -> tuple[float, float]:
    """The size of margins and that of the objective -rho + c'xi s.t. A w >= rho - xi, 1'w = 1.

    The units of ``scale.program_units`` for a program all of whose rows are alike: of |A_ij| and of
    c_i the geometric means g and h stand for all. In logarithms, with as many equations as entries:
    x of w, r of rho, k of xi, e of margins, o of 1'w and V of the objective meet g + x = e, r = e,
    k = e, x = o, o = 0, r = V, h + k = V in least squares. 0 where all A_ij are 0.
    """
    entries = np.abs(A.data if hasattr(A, "indptr") else A).ravel()
    entries = entries[entries > NOISE * float(entries.max(initial=0.0))]
    if not entries.size:
        return 0.0, 0.0
    (n, m), g, h = A.shape, float(np.log(entries).mean()), float(np.log(c).mean())
    x, r, k, e, o, v = np.eye(6)
    equations = (
        (entries.size, x - e, -g),
        (n, r - e, 0.0),
        (n, k - e, 0.0),
        (m, x - o, 0.0),
        (1, o, 0.0),
        (1, r - v, 0.0),
        (n, k - v, -h),
    )
    roots = np.sqrt([count for count, _, _ in equations])
    system = np.array([row for _, row, _ in equations]) * roots[:, None]
    found = np.linalg.lstsq(system, roots * [side for *_, side in equations])[0]
    return float(np.exp(found[3])), float(np.exp(found[5]))
