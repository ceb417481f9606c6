"""The rows X'u = 0 of unpenalised columns, and 1'u = 0: their residual and regularity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy import linalg

from ....blocks import in_memory
from ....design import DenseDesign, Design, by_blocks, in_blocks
from ....numerics import EPS, Array, gamma, length
from ....objective import Objective
from ...algebra.dependence import Dependence, dependence
from ...algebra.rationals import exact_total, solve_rows, whole_row
from ...algebra.singular import from_gram, from_inverse, inverse_of, powers
from ...algebra.sums import exact_dot, exact_residual
from .column_gram import ColumnGram
from .primal_repair import PrimalPoint

ZERO = Fraction(0)
RATIONAL = 2_000
"""Entries of the columns, at samples inside their box, up to which rationals are solved."""
EXACTLY = 20_000
"""Entries of the columns up to which X'u is summed exactly."""
DENSE = 4_000_000
"""Entries up to which the columns may be factorised."""
LARGEST = 50_000_000
"""Entries up to which their dependence is decided."""
WIDEST = 2000
BLOCK = 8192
FEW = 1024
"""Rows that tell about the means."""


@dataclass(frozen=True, eq=False)
class ColumnRows:
    """What is left of the rows E'u = 0, E = [B, 1], and how far from singular E is.

    With an intercept E is centred: (B - 1 m')'du is B'du - m (1'du), so that the conditions are
    the same for every m, and better conditioned near the mean.

    Attributes
    ----------
    objective : Objective
    rows : array, shape (d,)
        Mask of the columns B.
    raw, total : array of shape (d,), float
        Bounds of |X'u| on the rows (0 elsewhere) and of |1'u|.
    signed : array, shape (d + 1,), or None
        X'u on the rows and 1'u, each rounded once, where all are known.
    """

    objective: Objective
    rows: Array
    raw: Array
    total: float
    signed: Array | None = None

    @classmethod
    def at_dual(
        cls, objective: Objective, u: Array, v: Array, rows: Array, error: Array | None = None
    ) -> ColumnRows:
        """Measure the rows at u, with v = -X'u as computed, to within ``error`` where known."""
        index, n = np.flatnonzero(rows), objective.n
        total = exact_total(u) if objective.fit_intercept else 0.0
        exact = np.full(index.size, np.nan)
        if 0 < n * index.size <= EXACTLY:
            exact = objective.design.columns(index).dense().T
            exact = exact_residual(exact, in_memory(u))
        raw = np.zeros(objective.d)
        raw[index] = exact
        signed = None if np.any(np.isnan(raw)) else np.append(raw, total)
        raw = np.abs(raw) * (1.0 + EPS)
        unknown = rows & np.isnan(raw)
        if np.any(unknown):
            if error is None:
                error = gamma(n + 1) * objective.column_reach(u)
            raw = np.where(unknown, np.abs(v) + error, raw)
        return cls(objective, rows, raw, abs(total) * (1.0 + EPS), signed)

    @property
    def vanish(self) -> bool:
        """Whether the rows are exactly 0."""
        return not np.any(self.raw) and self.total == 0.0

    @property
    def width(self) -> int:
        """The number of columns of E."""
        return int(self.rows.sum()) + self.objective.fit_intercept

    @cached_property
    def columns(self) -> Design:
        """B."""
        return (
            self.objective.design if self.rows.all() else self.objective.design.columns(self.rows)
        )

    @cached_property
    def centre(self) -> Array:
        """About the means of the columns of B; zeros without an intercept."""
        if not self.objective.fit_intercept:
            return np.zeros(int(self.rows.sum()))
        if in_blocks(self.columns):
            first: Design = self.columns.rows(np.arange(min(FEW, self.objective.n)))
        else:
            _, first = next(self.columns.row_blocks(FEW))
        dense = first.dense()
        with np.errstate(over="ignore", invalid="ignore"):
            centre, spread = dense.mean(axis=0), dense.std(axis=0)
        # Where the mean is small beside the spread, nothing is gained.
        return np.where(np.isfinite(centre) & ~(np.abs(centre) <= spread), centre, 0.0)

    @property
    def norms(self) -> Array:
        """Bounds of |X_j|_2 of all columns, (d,)."""
        return self.objective.column_norms

    def at(self, point: PrimalPoint) -> float:
        """What the residual is worth at a point: a bound of |w'X'u + b 1'u| on the rows."""
        size = float(np.abs(point.w) @ self.raw) + abs(point.b) * self.total
        if self.signed is None:
            return size
        return abs(exact_dot(np.append(point.w, point.b), self.signed)) + 2.0 * EPS * size

    def _blocks(self, samples: Array) -> Iterator[Array]:
        """The centred columns in blocks of rows, in memory."""
        whole = samples.size == self.objective.n and not in_blocks(self.columns)
        yield from _centred(self.columns if whole else self.columns.rows(samples), self.centre)

    def regularity(self, samples: Array, kept: Array) -> tuple[float, float]:
        """(sigma, length): sigma_min of E at some samples and columns, |E'u|_2 in the same units.

        sigma is 0 where it is not known to be more. One Gram matrix decides it, and its inverse
        triangle where the condition is worse. Centring rounds every entry, which is charged.
        """
        if kept.size == 0:
            return np.inf, 0.0
        if samples.size < kept.size or self.width > WIDEST:
            return 0.0, np.inf
        n = samples.size
        gram = self._gram(samples)
        gram = gram[np.ix_(kept, kept)]
        units = powers(np.sqrt(np.diag(gram)))
        gram = gram * units * units[:, None]
        sigma = from_gram(gram, n)
        if sigma == 0.0:
            sigma = self._sharper(samples, kept, units, gram)
        loose = self.raw[self.rows]
        if self.objective.fit_intercept and sigma > 0.0:
            # |X| <= |X - m| + |m|: what a centred entry is rounded by.
            size = np.append(np.abs(self.centre) * np.sqrt(n), 0.0)[kept] * units
            size = size + np.sqrt(np.diag(gram))
            sigma = max(sigma - 2.0 * EPS * length(size), 0.0)
            loose = np.append(loose + np.abs(self.centre) * self.total, self.total)
        missed = length(units * loose[kept]) if sigma > 0.0 else np.inf
        return sigma, missed * (1.0 + 1e-12)

    def _gram(self, samples: Array) -> Array:
        """E'E at some samples."""
        ones = self.objective.fit_intercept
        if not np.any(self.centre):
            chosen = None
            if samples.size < self.objective.n:
                chosen = self.objective.zero_scores
                chosen[samples] = 1.0
            return ColumnGram(self.columns, chosen, ones).matrix
        if in_blocks(self.columns):
            found = by_blocks(_centred_gram, self.columns, samples, self.centre, ones)
            total: Array = found.executor.total(found.parts)
            return total
        return _centred_gram(self.columns, samples, self.centre, ones)

    def _sharper(self, samples: Array, kept: Array, units: Array, gram: Array) -> float:
        """The bound by way of an inverse triangle: of the Gram matrix, or of E itself."""
        large = samples.size * kept.size > DENSE
        if not np.all(np.isfinite(gram)) or (large and in_blocks(self.columns)):
            return 0.0
        ones = self.objective.fit_intercept
        blocks = (
            (np.column_stack([block, np.ones(len(block))]) if ones else block)[:, kept] * units
            for block in self._blocks(samples)
        )
        if not large:
            E = np.vstack(list(blocks))
            R = linalg.qr(E, mode="r", check_finite=False)[0][: kept.size]
            return from_inverse([E], inverse_of(R))
        try:
            R = linalg.cholesky(gram, check_finite=False)
        except linalg.LinAlgError:
            return 0.0
        return from_inverse(blocks, inverse_of(R))

    def shorter(self, u: Array, samples: Array, kept: Array) -> float:
        """A bound of |x|_2 of an x on some samples with E'(u + x) = 0.

        By an x that nearly does it: what that leaves is summed exactly, and is a share of EPS.
        """
        if self.signed is None or not samples.size:
            return np.inf
        E, ones = self.columns.dense(), self.objective.fit_intercept
        E = np.column_stack([E, np.ones(self.objective.n)]) if ones else E
        missed = self.signed[np.append(self.rows, ones)]
        Q, R, order = linalg.qr(E[samples], mode="economic", pivoting=True, check_finite=False)
        k = int(np.sum(np.abs(np.diag(R)) > EPS * abs(R[0, 0])))
        t = linalg.solve_triangular(R[:k, :k], missed[order[:k]], trans="T", check_finite=False)
        x = -Q[:, :k] @ t
        left = exact_residual(np.vstack([E, E[samples]]).T, np.append(in_memory(u), x))
        raw = np.zeros(self.objective.d)
        raw[self.rows] = np.abs(left[: len(left) - ones]) * (1.0 + EPS)
        total = abs(float(left[-1])) * (1.0 + EPS) if ones else 0.0
        sigma, rest = replace(self, raw=raw, total=total, signed=None).regularity(samples, kept)
        found = (length(x) * (1.0 + 1e-12) + rest / sigma) if sigma > 0.0 else np.inf
        return found if np.isfinite(found) else np.inf

    def exact_length(self, u: Array, samples: Array) -> float:
        """|x|_2 of an x on a mask of samples with E'(u + x) = 0, in rationals; inf if none is."""
        chosen = self.width * int(samples.sum())
        if not 0 < chosen <= RATIONAL or self.objective.n * self.width > EXACTLY:
            return np.inf
        E, samples = self.columns.dense(), in_memory(samples)
        if self.objective.fit_intercept:
            E = np.column_stack([E, np.ones(self.objective.n)])
        exact = [Fraction(float(x)) for x in in_memory(u)]
        table = []
        for column in E.T:
            missed = sum((Fraction(float(a)) * x for a, x in zip(column, exact, strict=True)), ZERO)
            table.append(whole_row([Fraction(float(a)) for a in column[samples]] + [-missed]))
        x = solve_rows(table)
        return np.inf if x is None else math.hypot(*(float(t) for t in x)) * (1.0 + 1e-12)

    @cached_property
    def dependence(self) -> Dependence:
        """Which columns depend on the others; none is known to where X is too large to tell."""
        largest = DENSE if in_blocks(self.columns) else LARGEST
        if self.objective.n * self.width > largest:
            none = np.zeros(0, dtype=int)
            return Dependence(np.arange(self.width), none, none)
        return dependence(self.columns.dense(), ones=self.objective.fit_intercept)

    def why(self) -> str:
        """The words for columns that depend on others up to rounding only."""
        names, told = np.flatnonzero(self.rows), self.objective.features
        doubtful = ", ".join(
            repr(told[names[j]]) if told else str(names[j]) for j in self.dependence.doubtful[:5]
        )
        return (
            f"Up to rounding, but not exactly, the unpenalised columns ({doubtful}) of X depend on "
            "the others: only enormous weights could do better. Drop one, or use lam > 0."
        )


def _centred(columns: Design, centre: Array) -> Iterator[Array]:
    """B - 1 m' in blocks of rows."""
    for _, block in columns.row_blocks(BLOCK):
        yield block.dense() - centre if np.any(centre) else block.dense()


def _centred_gram(columns: Design, samples: Array, centre: Array, ones: bool) -> Array:
    """E'E at some samples, for E = [B - 1 m', 1], or without ones."""
    part = columns if samples.size == columns.shape[0] else columns.rows(samples)
    gram = np.zeros((len(centre) + ones, len(centre) + ones))
    with np.errstate(over="ignore", invalid="ignore"):
        for block in _centred(part, centre):
            gram += DenseDesign(block).bordered_gram() if ones else block.T @ block
    return gram
