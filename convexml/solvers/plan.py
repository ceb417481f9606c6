"""What "auto" does: which engines apply, what each would cost by rule of thumb, and in what order.

The costs are those of products with X, of Gram matrices and of factorisations, in seconds from the
constants below, never from the clock: the same problem gets the same plan every time. A guess that
turns out wrong is noticed by the driver, from the progress per pass, and the next engine follows.
Conic solvers are the last resort.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..objective import Objective
from .needs import NEEDS
from .registry import ALGORITHMS

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
LARGEST = 3000
"""Columns of a Gram matrix, or unknowns of a factor, that are thought of at all."""
PATIENCE = 4.0
"""An engine may take this many times what it was thought to, or what the next one would."""


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
        return sparse.issparse(self.objective.design.constant)

    @property
    def is_smooth(self) -> bool:
        """Whether the loss is differentiable."""
        return self.objective.loss.is_smooth

    @cached_property
    def entries(self) -> int:
        """Stored entries of X."""
        return int(getattr(self.objective.design.constant, "nnz", self.n * self.d))

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


@dataclass(frozen=True)
class Work:
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


@dataclass(frozen=True)
class Engine:
    """A row of the table: a hand-written solver, what it takes to use it, its work, and why."""

    name: str
    work: Callable[[Sizes], Work]
    why: str
    when: Callable[[Sizes], bool] = lambda sizes: True

    def applies(self, sizes: Sizes) -> bool:
        """Whether the solver takes the problem, and its matrices have room."""
        needs = ALGORITHMS[self.name].needs
        if not all(NEEDS[need][0](sizes.objective) for need in needs):
            return False
        work = self.work(sizes)
        return max(work.columns, work.unknowns) <= LARGEST


TABLE = (
    Engine(
        "normal_equations",
        lambda s: Work(30, 1, s.least, 1, s.least) if s.least <= LARGEST else Work(100),
        "loss and penalty are squares",
    ),
    Engine(
        "newton",
        lambda s: Work(40, 8, s.d, 8, s.d * s.classes) if s.d * s.classes <= LARGEST else Work(800),
        "the loss and the penalty are differentiable",
    ),
    Engine(
        "working_set",
        lambda s: Work(30, 4, s.least / 4, 8, s.least / 4),
        "the loss is differentiable and the penalty a norm of blocks",
    ),
    Engine(
        "augmented_lagrangian",
        lambda s: Work(120, 5, min(s.n, s.d), 20, min(s.n, s.d)),
        "the dual is a quadratic program in a bounded box, and few samples are inside it",
        lambda s: not s.is_smooth,
    ),
    Engine(
        "interior_point",
        lambda s: Work(120, 20, s.d, 20, s.d),
        "the dual is a quadratic program in a box, of few features",
        lambda s: s.d <= s.n // 2 and not (s.objective.loss.is_indicator or s.is_smooth),
    ),
)
"""The engines that "auto" knows: of those that apply, the cheapest is first."""
TIGHT = {"tol_gap_abs": 1e-30, "tol_gap_rel": 1e-12, "tol_feas": 1e-14, "max_iter": 1000}
"""Asked of Clarabel where its first answer is not good enough: P* may be far below P_0."""


@dataclass(frozen=True)
class Trial:
    """One of the solvers to try in turn.

    Attributes
    ----------
    name : str
    options : dict
    in_own_units : bool
        Whether P is taken in units of its best value so far, which weights over many orders hide:
        good for quadratic programs, too much for some exponential cones.
    patience : float
        Passes after which its pace is looked at.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    in_own_units: bool = False
    patience: float = np.inf


def plan(objective: Objective) -> tuple[list[Trial], str]:
    """Return the solvers to try in turn, and why the first of them is."""
    sizes = Sizes(objective)
    known = [row for row in TABLE if row.applies(sizes)]
    fast = [(row, row.work(sizes)) for row in known if row.when(sizes)]
    costs = [(work.seconds(sizes), work.passes, row) for row, work in fast]
    costs.sort(key=lambda each: each[0])
    last = costs[-1][0] if costs else 0.0
    trials = []
    for k, (seconds, passes, row) in enumerate(costs):
        other = costs[k + 1][0] if k + 1 < len(costs) else PATIENCE * last
        longer = max(PATIENCE, other / seconds)
        trials.append(Trial(row.name, patience=longer * passes))
    if not trials:
        kind = "loss" if not objective.loss.is_smooth else "penalty"
        trials.append(Trial("clarabel"))
        why = f"the {kind} is not differentiable"
    else:
        why = costs[0][2].why
        if len(costs) > 1:
            why += f", at {_share(costs[0][0], costs[1][0])} the cost of {trials[1].name}"
    first = trials[0].name
    trials += [Trial("clarabel", TIGHT), Trial("clarabel", TIGHT, in_own_units=True)]
    if not (objective.loss.is_smooth and objective.penalty.is_smooth):
        trials += [Trial(row.name) for row in known if not row.when(sizes)]
        trials += [Trial(name) for name in ("piqp", "ecos", "osqp")]
    return [*trials, Trial("scs")], f"auto chose {first}: {why}."


def _share(cost: float, other: float) -> str:
    """A ratio in words."""
    return f"about 1/{other / cost:.0f}" if other > 1.5 * cost else "no more than"
