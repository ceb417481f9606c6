"""A point that its own multipliers do not certify is compared with the steps of a solver."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...certificates import Certificate, Verdict
from ...certificates.judge import refuted
from ...numerics import Array

STEPS = 100
"""Steps towards a better dual point, where a point is judged."""


def compared(
    found: Certificate,
    w: Array,
    steps: Iterable[tuple[Array, Array]],
    certify: Callable[[Array, Array, float], Certificate],
    rounding: Callable[[Array], float],
    told: Callable[[Array], dict[str, Any]],
    *,
    with_own: bool,
) -> Certificate:
    """The certificate of w with the multipliers of the last step, REFUTED if that step is better.

    Parameters
    ----------
    found : Certificate
        Judged, UNDECIDED.
    w : array
        The point.
    steps : iterable of (point, multipliers)
        Of a solver; those that certify their own point at a hundredth of tol are the last.
    certify : callable
        Of a point, multipliers and tol.
    rounding : callable
        What the objective of a point may be off by.
    told : callable
        A point as arrays by name.
    with_own : bool
        Whether multipliers may take the place of those of ``found``.
    """
    best, better, own = found, w, None
    for k, (better, own) in enumerate(steps):
        best = certify(better, own, 0.01 * found.tol)
        if k >= STEPS or best.verdict is Verdict.CERTIFIED:
            break
    if with_own and own is not None:
        other = certify(w, own, found.tol)
        found = other if other.gap < found.gap else found
    witness = {**told(better), "objective": best.primal_objective}
    return refuted(found, best.primal_objective, witness, rounding(w) + rounding(better))
