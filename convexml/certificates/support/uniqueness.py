"""Whether the minimiser is the only one: yes, no (and why), or unknown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...numerics import Array
from ...objective import Objective
from ..algebra.dependence import dependence
from .enclosure import Enclosure
from .shrink_systems import shared

SMALL = 100_000
"""Entries of unpenalised columns up to which their dependence is decided."""


@dataclass(frozen=True)
class Uniqueness:
    """The answer, its reason, and for "no" a direction along which minimisers differ.

    Attributes
    ----------
    answer : str
        "yes", "no" or "unknown".
    reason : str
    direction : array, shape (d + 1,), or None
        For "no": t times this, added to (w*, b*), stays optimal for some minimiser and small t.
    """

    answer: str
    reason: str
    direction: Array | None = None

    def __str__(self) -> str:
        return f"{self.answer}: {self.reason}"


def unique_coefficients(known: Enclosure) -> Uniqueness:
    """Whether there is only one optimal w."""
    objective = known.objective
    if objective.penalty.strong_convexity > 0.0:
        return Uniqueness("yes", "the penalty is strongly convex")
    if known.zero.all():
        return Uniqueness("yes", "w = 0 at every minimiser")
    if known.unique_w:
        cause = (
            "the loss is strictly convex there"
            if objective.loss.is_smooth
            else ("enough predictions lie on a kink of their loss")
        )
        return Uniqueness(
            "yes",
            f"every minimiser has the same predictions ({cause}), and the columns of X that may "
            "have w_j != 0 are linearly independent",
        )
    return (
        _by_counting(objective)
        or _by_dependence(objective)
        or _by_twins(known)
        or Uniqueness("unknown", "neither one minimiser nor two could be shown at this gap")
    )


def why_many(objective: Objective) -> str:
    """Why there are many minimisers, if there is one, whatever y is; "" where nothing tells."""
    if objective.w_shape[1:]:
        return ""
    return _too_few(objective) or _dependent(objective)[0]


def _too_few(objective: Objective) -> str:
    """The words for more unpenalised coefficients than samples."""
    free = int(np.sum(objective.penalty.free(objective.d))) + objective.fit_intercept
    if free <= objective.n or objective.loss.is_indicator:
        return ""
    return (
        f"{free} unpenalised coefficients and only {objective.n} samples: Xw + b does not change "
        "along a direction"
    )


def _dependent(objective: Objective) -> tuple[str, Array]:
    """The words for an unpenalised column that is, exactly, a combination of others; its shares."""
    free = np.flatnonzero(objective.penalty.free(objective.d))
    direction = np.zeros(objective.d + 1)
    if not free.size or free.size * objective.n > SMALL:
        return "", direction
    B = objective.design.columns(free).dense()
    found = dependence(B, ones=objective.fit_intercept)
    if not found.exact.size:
        return "", direction
    j, base = found.exact[0], np.column_stack([B, np.ones(len(B))])[:, found.independent]
    if base.size:
        shares = linalg.lstsq(base, B[:, j], check_finite=False)[0]
        direction[np.append(free, objective.d)[found.independent]] = -shares
    direction[free[j]] = 1.0
    name = repr(objective.features[free[j]]) if objective.features else str(free[j])
    others = "other unpenalised ones" + (" and of a constant" if objective.fit_intercept else "")
    words = f"column {name} of X is, exactly, a combination of {others}: Xw + b does not change "
    return f"{words}along a direction", direction


def _by_dependence(objective: Objective) -> Uniqueness | None:
    """Unpenalised columns that are, exactly, combinations of others."""
    words, direction = _dependent(objective)
    return Uniqueness("no", words, direction) if words else None


def _by_counting(objective: Objective) -> Uniqueness | None:
    """More unpenalised coefficients than samples: Xw + b*1 is constant along some direction."""
    words = _too_few(objective)
    if not words:
        return None
    d, ones = objective.d, int(objective.fit_intercept)
    free = np.flatnonzero(objective.penalty.free(d))
    M = objective.design.columns(free).dense()
    M = np.hstack([M, np.ones((objective.n, 1))]) if ones else M
    direction = np.zeros(d + 1)
    null = np.linalg.svd(M, full_matrices=True)[2][-1]
    direction[free] = null[: free.size]
    direction[-1] = null[-1] if ones else 0.0
    return Uniqueness("no", words, direction)


def _by_twins(known: Enclosure) -> Uniqueness | None:
    """Two equal (or opposite) columns with one level share the sum of their coefficients."""
    objective = known.objective
    blocks = objective.penalty.zero_blocks(objective.d)
    if blocks is None or len(blocks[1]) < objective.d:
        return None
    level = blocks[1][blocks[0]]
    maybe = np.flatnonzero(~known.zero)
    columns = objective.design.columns(maybe).dense()
    seen: dict[bytes, int] = {}
    for k, j in enumerate(maybe):
        column = columns[:, k]
        first = column[np.flatnonzero(column)[0]] if np.any(column) else 0.0
        key = (column * np.sign(first) + 0.0).tobytes() if first else b""
        i = seen.setdefault(key, k)
        if i == k or level[maybe[i]] != level[j]:
            continue
        sign = 1.0 if np.array_equal(columns[:, i], column) else -1.0
        if shared(known, int(maybe[i]), int(j), sign):
            direction = np.zeros(objective.d + 1)
            direction[maybe[i]], direction[j] = 1.0, -sign
            what = "equal" if sign > 0.0 else "opposite"
            return Uniqueness(
                "no",
                f"columns {maybe[i]} and {j} of X are {what} and one of them is needed: the "
                "coefficient can be shared between them in any proportion",
                direction,
            )
    return None


def unique_minimiser(known: Enclosure, w: Uniqueness) -> Uniqueness:
    """Whether there is only one optimal (w, b), given the answer for w."""
    if w.answer == "no" or not known.objective.fit_intercept:
        return w
    if known.level is not None:
        direction = np.zeros(known.objective.d + 1)
        direction[-1] = 1.0
        low, high = known.level
        return Uniqueness(
            "no",
            f"no sample lies on its kink and the slopes cancel: every b in [{low:.6g}, {high:.6g}] "
            "is optimal",
            direction,
        )
    if w.answer != "yes":
        return w
    if _is_curved(known):
        return Uniqueness("yes", f"{w.reason}; the loss is strictly convex, which fixes b")
    if known.pinned.any():
        i = int(np.flatnonzero(known.pinned)[0])
        return Uniqueness("yes", f"{w.reason}; sample {i} lies on its kink, which fixes b")
    return Uniqueness("unknown", "w is the only one; for b nothing could be shown at this gap")


def _is_curved(known: Enclosure) -> bool:
    """Whether some prediction is the same at every minimiser: its loss is curved around it."""
    floor = known.objective.loss.curvature_floor(known.objective.y, known.z.lo, known.z.hi)
    return bool(np.any(floor > 0.0))
