"""What things cost by rule of thumb: products, Gram matrices, factors, and evaluations of a run.

Seconds come from the constants below, never from the clock: the same problem is planned in the same
way every time, and the same run stops at the same iterate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..design import rows_in_blocks
from ..objective import Objective
from ..objective.kernel import KernelObjective

ENTRY, SPARSE_ENTRY = 0.35e-9, 1.2e-9
"""Seconds that a product takes for each stored entry of X, dense and sparse."""
SAMPLE = 10e-9
"""Seconds that the values of a loss take for each sample."""
MULTIPLY = 14e-12
"""Seconds for each multiplication of a Gram matrix (n d^2 / 2 of them, twice that done) or of a
Cholesky factor (d^3 / 3) on matrices that do not fit the cache."""
WEIGHTED = 1.5e-9
"""Seconds for each entry of X that is weighted before a Gram matrix is formed."""
CALL = 15e-6
"""Seconds that each product, Gram matrix or factorisation takes however small it is."""
SMALL, CACHE = 100_000, 8_000_000
"""Between so many entries a dense X leaves the caches of a core, and in single precision does not:
such products take a fifth of the time, and half the memory of X."""

EVERY, GROWTH = 16, 1.25
"""The gap is evaluated at every early iterate, then when the count has grown by this factor ..."""
SHARE = 0.06
"""... and evaluations have not taken more than this share of the run,"""
FREELY, SPARINGLY = 0.004, 0.012
"""or these few seconds; from the one to the other, the count has to grow by more and more, up to a
factor of 2. Both are seconds by a rule of thumb, below, not by the clock: the same run stops at the
same iterate every time."""
STEP, LOOK = 15e-6, 300e-6
"""Seconds that an iteration and an evaluation take however small the problem is,"""
LOOK_PASSES, LOOK_SAMPLE = 2.5, 150e-9
"""and that an evaluation takes besides: passes, and for each sample."""


def entries_of(objective: Objective | KernelObjective) -> int:
    """The entries of X, or of K, that a product visits."""
    if isinstance(objective, KernelObjective):
        return objective.n * objective.d
    return objective.design.entries


@dataclass(frozen=True)
class Sizes:
    """What the costs on a problem depend on.

    Attributes
    ----------
    objective : Objective
    """

    objective: Objective

    @cached_property
    def n(self) -> int:
        """Samples."""
        return self.objective.n

    @cached_property
    def d(self) -> int:
        """Features."""
        return self.objective.w_shape[0]

    @cached_property
    def classes(self) -> int:
        """K, 1 for a scalar prediction."""
        return self.objective.d // max(self.d, 1)

    @property
    def least(self) -> int:
        """min(n, d)."""
        return min(self.n, self.d)

    @cached_property
    def is_sparse(self) -> bool:
        """Whether X is stored by its nonzero entries."""
        return self.objective.design.is_sparse

    @property
    def is_smooth(self) -> bool:
        """Whether the loss is differentiable."""
        return self.objective.loss.is_smooth

    @cached_property
    def entries(self) -> int:
        """Stored entries of X."""
        return entries_of(self.objective)

    @cached_property
    def in_blocks(self) -> bool:
        """Whether the rows lie in blocks."""
        return rows_in_blocks(self.objective)

    @property
    def in_cache(self) -> bool:
        """Whether X in single precision stays in a cache, so that products in it cost a fifth."""
        return not self.is_sparse and SMALL < self.entries <= CACHE

    @cached_property
    def share(self) -> float:
        """The level of a norm as a share of lam_max, at the price of a product; nan if unknown."""
        parts = self.objective
        level: float = getattr(parts.penalty, "lam", 0.0)
        if not self.is_smooth or not level > 0.0:
            return np.nan
        try:
            largest = parts.penalty.lam_max(-parts.design.rmatvec(parts.null_slopes))
        except TypeError:  # not a norm
            return np.nan
        return level / largest if largest > 0.0 else np.inf

    @cached_property
    def product(self) -> float:
        """Seconds for X w or X'u, and the values of the loss."""
        entry = SPARSE_ENTRY if self.is_sparse else ENTRY
        return CALL + self.classes * (entry * self.entries + SAMPLE * self.n)

    def gram(self, columns: float) -> float:
        """Seconds for a weighted Gram matrix of so many columns of X."""
        entries = self.entries * columns / max(self.d, 1)
        each = WEIGHTED + MULTIPLY * columns
        if self.is_sparse:  # pairs of entries of a row, and the matrix itself
            each = SPARSE_ENTRY * (1.0 + entries / max(self.n, 1))
        work = entries * each + WEIGHTED * columns**2
        return CALL + 0.5 * self.classes * (self.classes + 1) * work

    def factor(self, unknowns: float) -> float:
        """Seconds for a Cholesky factorisation."""
        return CALL + MULTIPLY * unknowns**3 / 3.0


class Work(NamedTuple):
    """So many products, Gram matrices of so many columns, and factors of so many unknowns."""

    products: float
    grams: float = 0.0
    columns: float = 0.0
    factors: float = 0.0
    unknowns: float = 0.0

    @property
    def passes(self) -> float:
        """As algorithms count them: a Gram matrix is a product for each of its columns."""
        return self.products + self.grams * self.columns

    def seconds(self, sizes: Sizes) -> float:
        """By rule of thumb."""
        return (
            self.products * sizes.product
            + self.grams * sizes.gram(self.columns)
            + self.factors * sizes.factor(self.unknowns)
        )


class Pace:
    """What a run spends on evaluations, and what it has to show for its passes.

    Parameters
    ----------
    objective : Objective
    tol : float
        The relative gap to be reached.
    patience : float
        Passes after which the pace is looked at.
    aim : float, optional
        Iterates that promise more are left out, until the patience is at its end; tol by default.
    """

    def __init__(
        self,
        objective: Objective | KernelObjective,
        tol: float,
        patience: float = np.inf,
        aim: float | None = None,
    ) -> None:
        self.tol, self.patience, self.aim = tol, patience, tol if aim is None else aim
        n, entries = objective.n, entries_of(objective)
        self.pass_cost = ENTRY * entries + SAMPLE * n
        self.look_cost = LOOK + LOOK_PASSES * ENTRY * entries + LOOK_SAMPLE * n
        self.looks, self.last, self.due = 0, -1, 0

    def asks(self, iteration: int, passes: float, promise: float, is_known: bool) -> bool:
        """Whether an iterate is to be evaluated: its promise comes first, then the schedule."""
        if promise <= min(self.aim, self.tol):
            return True
        if promise > self.aim and passes <= self.patience:
            return False
        return iteration >= self.due and (is_known or self.affords(iteration, passes))

    def affords(self, iteration: int, passes: float) -> bool:
        """Whether evaluations, with one more, take no more than their share of the run."""
        if not self.looks:
            return True
        spent = (self.looks + 1) * self.look_cost
        run = spent + iteration * STEP + max(passes, iteration) * self.pass_cost
        growth = 1.0 + max((spent - FREELY) / (SPARINGLY - FREELY), 0.0)
        return spent <= SHARE * run or (growth <= 2.0 and iteration >= growth * self.last)

    def looked(self, iteration: int) -> None:
        """An iterate was evaluated."""
        self.looks, self.last = self.looks + 1, iteration
        self.due = iteration + 1 if iteration < EVERY else int(iteration * GROWTH)

    def is_slow(self, passes: Sequence[float], gaps: Sequence[float]) -> bool:
        """Whether the patience is at its end, and at this pace as many passes again will not do.

        The pace is that of the second half of the passes, in digits of the smallest gap so far.
        """
        last = passes[-1]
        if not last > self.patience or len(passes) < 2:
            return False
        half = max(sum(2.0 * each <= last for each in passes), 1)
        before, now = min(gaps[:half]), min(gaps)
        with np.errstate(divide="ignore", invalid="ignore"):
            gained, needed = np.log(np.divide(before, now)), np.log(np.divide(now, self.tol))
        return not gained * self.patience >= needed * (last - passes[half - 1])
