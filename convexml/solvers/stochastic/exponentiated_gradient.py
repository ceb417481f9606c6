"""Exponentiated gradients: the regularised leader of the simplex."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...numerics import Array
from ...objective import Objective
from ...penalties import Zero
from ...theory import corner_slope
from ..driver import Iterate
from ..steps import constant
from .leading import follow, root
from .samples import samples


def exponentiated_gradient(
    objective: Objective,
    w: Array,
    b: float,
    *,
    step: float | None = None,
    horizon: int | None = None,
) -> Iterator[Iterate]:
    """Meet the samples in their order: suffer f_i(w), then multiply the weights of the corners.

    The ball |w|_1 <= t is the hull of its 2 d corners t e_j, -t e_j: w = t (p - q) with (p, q) in
    the simplex. A round with slope v multiplies p_j by exp(-step t v_j) and q_j by
    exp(step t v_j): the regularised leader for the entropy of (p, q). It starts at w = 0, where all
    weights are equal, whatever w0. The regret after T rounds is at most
    log(2 d) / step + step G^2 T / 2, G = t max |v_j|: with the default step
    sqrt(2 log(2 d) / horizon) / G that is G sqrt(2 T log(2 d)) at T = horizon, 100 n by default.

    One iterate for each pass: the mean of all points so far (Kivinen and Warmuth, 1997,
    https://doi.org/10.1006/inco.1996.2612).
    """
    owner, t = "exponentiated_gradient", objective.penalty.t  # type: ignore[attr-defined]
    G, corners = corner_slope(objective) or 1.0, 2.0 * objective.d
    scale = float(np.sqrt(2.0 * np.log(corners))) / G
    eta = constant(step, owner, lambda: scale / root(objective, horizon, owner))
    plain = samples(replace(objective, penalty=Zero()))
    yield from follow(objective, plain, np.zeros(objective.d + 1), eta, t, entropic=True)
