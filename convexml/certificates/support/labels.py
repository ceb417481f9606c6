"""Which samples support the solution and which coefficients are zero: only what is certain."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from ...numerics import ROUNDING, Array
from ...objective import Objective
from ...typesetting import html
from ..learning.points.dual_point import construct_dual
from ..learning.points.dual_repair import repair_dual
from ..learning.points.primal_repair import repair_primal
from .enclosure import Enclosure
from .shrink import enclose
from .uniqueness import Uniqueness, unique_coefficients, unique_minimiser

FREE, AT_BOUND, NOT_SUPPORT = "free", "at_bound", "not_support"
ZERO, NONZERO = "zero", "nonzero"
UNDECIDABLE = "undecidable"


@dataclass(frozen=True)
class CertifiedSupport:
    """What a point and its duality gap prove of every optimal (w*, b*) and dual optimal u*.

    A label other than "undecidable" holds at every minimiser and every dual maximiser.

    Attributes
    ----------
    samples : array of str, shape (n,)
        "not_support": u_i* = 0. "at_bound": u_i* is at an end of its box other than 0 (for the
        SVMs alpha_i* = C s_i). "free": strictly between, and not 0. "undecidable".
    coordinates : array of str, shape (d,)
        "zero", "nonzero" or "undecidable", for w_j*.
    groups : array of str, shape (G,), or None
        The same for whole groups of the group lasso, ordered as ``numpy.unique(groups)``.
    b_interval : (float, float)
        Holds every optimal b.
    optimal_b : (float, float) or None
        When no sample lies on its kink: every b in it is optimal (with w*).
    unique_w, unique : Uniqueness
        Whether w*, and (w*, b*), are the only ones: .answer "yes", "no" or "unknown", .reason.
    w_interval, u_interval : (array, array)
        Ends of the intervals that hold w* and u*.
    gap : float
        The gap used, P - D enlarged by its rounding.
    """

    samples: Array
    coordinates: Array
    groups: Array | None
    b_interval: tuple[float, float]
    optimal_b: tuple[float, float] | None
    unique_w: Uniqueness
    unique: Uniqueness
    w_interval: tuple[Array, Array]
    u_interval: tuple[Array, Array]
    gap: float

    @property
    def support(self) -> Array:
        """Sorted indices of the samples that support every solution: "free" or "at_bound"."""
        return np.flatnonzero(np.isin(self.samples, (FREE, AT_BOUND)))

    def expanded(self, kept: Array, total: int) -> CertifiedSupport:
        """The same with samples in the caller's numbering: those of weight 0 have u_i = 0."""
        if len(kept) == total:
            return self
        samples = np.full(total, NOT_SUPPORT)
        samples[kept] = self.samples
        lo, hi = np.zeros((2, total))
        lo[kept], hi[kept] = self.u_interval
        return replace(self, samples=samples, u_interval=(lo, hi))

    def __str__(self) -> str:
        title, lines = self._told()
        return "\n".join([title, *(f"  {name:<12} {words}" for name, words in lines)])

    def _repr_html_(self) -> str:
        title, lines = self._told()
        return html.paragraph(title) + html.table(lines)

    def _told(self) -> tuple[str, list[tuple[str, str]]]:
        """A title, and what is known of each part by its name."""

        def count(labels: Array) -> str:
            return ", ".join(f"{k} {name}" for name, k in sorted(Counter(labels.tolist()).items()))

        low, high = self.b_interval
        lines = [("samples", count(self.samples)), ("coordinates", count(self.coordinates))]
        lines += [] if self.groups is None else [("groups", count(self.groups))]
        lines += [("b", f"in [{low:.6g}, {high:.6g}]")]
        lines += [("unique w", str(self.unique_w)), ("unique", str(self.unique))]
        return f"certified support at gap {self.gap:.3g}", lines


def certify_support(
    objective: Objective, w: Array, b: float | None = None, u: Array | None = None
) -> CertifiedSupport:
    """Label samples and coefficients, as far as the gap of (w, b, u) decides them.

    Parameters
    ----------
    objective : Objective
    w : array, shape (d,)
    b : float, optional
        None takes the best one for this w.
    u : array, shape (n,), optional
        Dual point, repaired where almost feasible; None constructs one.
    """
    if b is None:
        b = objective.best_intercept(objective.predict(w)) if objective.fit_intercept else 0.0
    point = repair_primal(objective, w, b)
    if u is not None:
        dual = repair_dual(objective, u, source="passed")
    elif np.isfinite(point.value):
        dual = construct_dual(objective, point)
    else:
        dual = repair_dual(objective, np.zeros(objective.n))
    known = enclose(objective, point, dual)
    coefficients = unique_coefficients(known)
    coordinates = np.where(known.w.excludes_zero, NONZERO, UNDECIDABLE)
    coordinates = np.where(known.zero, ZERO, coordinates)
    return CertifiedSupport(
        samples=_sample_labels(known),
        coordinates=coordinates,
        groups=_group_labels(objective, coordinates),
        b_interval=(float(known.b.lo[0]), float(known.b.hi[0])),
        optimal_b=known.level,
        unique_w=coefficients,
        unique=unique_minimiser(known, coefficients),
        w_interval=(known.w.lo, known.w.hi),
        u_interval=(known.u.lo, known.u.hi),
        gap=known.gap,
    )


def _sample_labels(known: Enclosure) -> Array:
    lo, hi = known.u.lo, known.u.hi
    least, most = known.objective.dual_bounds()
    slack = ROUNDING * np.maximum(np.abs(lo), np.abs(hi))
    inside = (lo - slack > least) & (hi + slack < most)
    labels = np.full(len(lo), UNDECIDABLE, dtype="<U11")
    labels[inside & known.u.excludes_zero] = FREE
    labels[((lo >= most) | (hi <= least)) & known.u.excludes_zero] = AT_BOUND
    labels[(lo == 0.0) & (hi == 0.0)] = NOT_SUPPORT
    return labels


def _group_labels(objective: Objective, coordinates: Array) -> Array | None:
    """A group is zero when all of it is, nonzero when some of it is."""
    blocks = objective.penalty.zero_blocks(objective.d)
    if blocks is None or not hasattr(objective.penalty, "groups"):
        return None
    index, levels = blocks
    labels = np.full(len(levels), UNDECIDABLE, dtype="<U11")
    for g in range(len(levels)):
        inside = coordinates[index == g]
        labels[g] = ZERO if np.all(inside == ZERO) else labels[g]
        labels[g] = NONZERO if np.any(inside == NONZERO) else labels[g]
    return labels
