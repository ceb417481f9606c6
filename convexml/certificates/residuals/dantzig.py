"""Certificates of the Dantzig selector, min |w|_1 s.t. |X'C(y - X w - b)| <= lam, C = diag(c).

Where b is free, c'(y - X w - b) = 0 too. For q = X v + v_0, with c'q = 0 there, D(v) =
y'Cq - lam |v|_1 for |X'Cq| <= 1, and P - D = sum_j (|w_j| - w_j x_j'Cq)
+ sum_j (lam |v_j| - v_j x_j'Cr) - v_0 c'r. D is homogeneous: v over max |X'Cq| is
feasible, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...conditions import Condition, products, worst
from ...numerics import EPS, ROUNDING, UNIT, Array, gamma
from ..certificate import Certificate
from ..judge import bounded, judge
from ..scale import program_scale
from .correlations import MORE, Correlations

SMALL = (1e-9, 1e-6, 1e-3)
"""Shares of the largest below which coefficients and slacks count as 0 where a v is looked for."""


MET = "|x_j'Cr| <= lam"
"""The constraint in words; with 1'Cr = 0 it is the same about means m_j of columns."""


class SelectorBound(NamedTuple):
    """D at v / ratio, which is feasible, what rounding may have added to it, and v_0."""

    v: Array
    value: float
    lost: float
    ratio: float
    shift: float


@dataclass(frozen=True, eq=False)
class Dantzig:
    """The problem of the Dantzig selector.

    Attributes
    ----------
    correlations : Correlations
    lam : float
    """

    correlations: Correlations
    lam: float

    @cached_property
    def size(self) -> float:
        """The size of a coefficient, the geometric mean of |y| / |x_j|: that of the objective."""
        norms, spread = self.correlations.norms, self.correlations.samples.spread
        used = norms[(norms > 0.0) & np.isfinite(norms)]
        return float(spread / np.exp(np.log(used).mean())) if used.size else 0.0

    def value(self, w: Array, b: float) -> float:
        """P; inf where a constraint is violated by more than rounding."""
        over, lost, total, off = self.violations(w, b)
        it = self.correlations
        allowed = lost + ROUNDING * (it.sizes + self.lam)
        room = off + ROUNDING * (it.samples.spread + abs(b))
        missed = it.samples.fit_intercept and not abs(total) <= room
        return np.inf if missed or not np.all(over <= allowed) else float(np.abs(w).sum())

    def violations(self, w: Array, b: float) -> tuple[Array, Array, float, float]:
        """By how much |(X - 1 m')'Cr| exceeds lam, with errors; c'r with its error."""
        found, lost, total, off = self.correlations.of_residuals(w, b)
        return np.maximum(np.abs(found) - self.lam, 0.0), lost, total, off

    def dual_value(self, v: Array) -> float:
        """D; -inf where v is infeasible by more than rounding."""
        q, error, _ = self.correlations.scores(v)
        across, lost = self.correlations.against(q, error)
        if np.any(np.abs(across) - lost > 1.0 + ROUNDING):
            return -np.inf
        return self._gain(q, v)

    def _gain(self, q: Array, v: Array) -> float:
        it = self.correlations
        return float((it.samples.c * it.targets) @ q) - self.lam * float(np.abs(v).sum())

    def bound(self, v: Array, *, least: float = 0.0) -> SelectorBound:
        """D at v over the largest |X'Cq|, ``least`` at the least."""
        it = self.correlations
        q, error, shift = it.scores(v)
        across, lost = it.against(q, error)
        ratio = float(np.fmax(np.max(np.abs(across) + lost, initial=0.0) * (1.0 + EPS), least))
        gains = it.samples.c * np.abs(it.targets)
        off = gamma(q.size + 16) * float(gains @ np.abs(q)) + float(gains @ error)
        off += gamma(v.size + 16) * self.lam * float(np.abs(v).sum())
        value = self._gain(q, v) / ratio if 0.0 < ratio < np.inf else np.nan
        off = off * MORE / ratio + 4.0 * UNIT * abs(value) if ratio > 0.0 else np.nan
        if not np.isfinite(value + off):
            return SelectorBound(np.zeros_like(v), 0.0, 0.0, 1.0, 0.0)
        return SelectorBound(v, value, off, ratio, shift / ratio)

    def best_of(self, points: Iterable[Array]) -> SelectorBound:
        """The best bound at multiples of these; 0 is among them."""
        zero = np.zeros_like(self.correlations.norms)
        found = [SelectorBound(zero, 0.0, 0.0, 1.0, 0.0), *map(self.bound, points)]
        best = max(found, key=lambda each: each.value - each.lost)
        return best._replace(v=best.v / best.ratio, ratio=1.0)

    def of_point(self, w: Array, b: float) -> Iterator[Array]:
        """The v that make up for the signs of w by the rows that it meets."""
        it = self.correlations
        rows, parts = it.of_residuals(w, b)[0], np.abs(w) * it.norms
        slack = np.abs(np.abs(rows) - self.lam)
        for share in SMALL:
            used = np.flatnonzero((parts > share * parts.max(initial=0.0)) & (it.norms > 0.0))
            met = np.flatnonzero((slack <= share * it.sizes) & (it.norms > 0.0))
            if 0 < used.size <= 2000 and 0 < met.size <= 2000:
                yield self.multipliers(used, np.sign(w[used]), met)

    def multipliers(self, used: Array, signs: Array, met: Array) -> Array:
        """The least v on the rows ``met`` with x_j'Cq = signs_j for the columns used."""
        it, v = self.correlations, np.zeros_like(self.correlations.norms)
        A, B = it.columns(used), it.columns(met)
        found = np.linalg.lstsq(A.T @ B, signs / it.norms[used], rcond=1e-12)[0]
        v[met] = found / it.norms[met]
        return v

    def certify(self, w: Array, b: float, given: Array | None, tol: float) -> Certificate:
        """Judge (w, b) by v, moved to where it is feasible, or by a v of the point's own."""
        if given is None:
            found = self.best_of(self.of_point(w, b))
            v = found.v
        else:
            found, v = self.bound(given, least=1.0), given
        over, lost, total, _ = self.violations(w, b)
        primal = float(np.abs(w).sum())
        near = np.abs(v) @ over + abs(found.shift * total)  # what violations may gain
        off = gamma(w.size + 16) * primal + float(near) * MORE
        carried = bool(np.isfinite(primal + off) and np.all(np.isfinite(lost)))
        primal = primal if carried else np.inf
        rows = self.rows(w, b, v)
        # The price of a violation bounds P here, not that of a point that meets the constraints.
        beside = any(row.kind == "primal_feasibility" and row.breaks(tol) for row in rows)
        return judge(
            bounded(
                primal,
                found.value,
                rows,
                tol,
                scale=program_scale(primal, found.value, self.size),
                rounding=found.lost + (off if carried else 0.0),
                dual={"v": v},
                dual_source="constructed" if given is None else "passed",
                gap=np.inf if beside else None,
                repaired=float(np.max(np.abs(found.v / found.ratio - v), initial=0.0)),
                reason="" if carried else "No bound: the rows are beyond float64.",
                is_proved=True,
            )
        )

    def rows(self, w: Array, b: float, v: Array) -> list[Condition]:
        """The optimality conditions at (w, b) and v as they are."""
        it = self.correlations
        (found, _, total, off), lam = it.of_residuals(w, b), self.lam
        over, lost, _, _ = self.violations(w, b)
        q, error, _ = it.scores(v)
        across, shaken = it.against(q, error)
        beyond = np.maximum(np.abs(across) - 1.0, 0.0)
        name = "|(x_j - m_j)'Cr| <= lam" if it.middle.any() else MET
        rows = [
            worst(name, "primal_feasibility", over, it.sizes, lost),
            worst("|x_j'Cq| <= 1", "dual_feasibility", beyond, 1.0, shaken),
            products("|w_j| - w_j x_j'Cq = 0", np.abs(w) - w * across),
            products("lam |v_j| - v_j x_j'Cr = 0", lam * np.abs(v) - v * found),
        ]
        if it.samples.fit_intercept:
            size = it.samples.spread
            rows.insert(1, worst("1'Cr = 0", "primal_feasibility", total, size, off))
        return rows
