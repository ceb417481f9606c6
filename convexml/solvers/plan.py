"""What "auto" does: which engines apply, what each would cost by rule of thumb, and in what order.

The costs are those of products with X, of Gram matrices and of factorisations (``costs``): the same
problem gets the same plan every time. A guess that turns out wrong is noticed by the driver, from
the progress per pass, and the next engine follows. Conic solvers are the last resort.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..problem import Objective
from .composite import kinks_at_zero
from .driver import Sizes, Work
from .needs import has_norm_of_blocks, meets
from .orthogonal import CANDIDATES
from .registry import ALGORITHMS, takes_rows

LARGEST = 3000
"""Columns of a Gram matrix, or unknowns of a factor, that are thought of at all."""
FEW = 200
"""Unknowns up to which a Hessian costs next to nothing."""
MANY, ENOUGH, LONG = 50, 25, 500_000
"""From so many rows for each unknown, where X has so many entries, Newton's first steps are taken
on a tenth of the rows, and no fewer than so many for each unknown: what their Hessian is off by
costs corrections."""
AMPLE = 10_000_000
"""Entries of rows that are enough however many there are: of 50 columns their Hessian is off by
2 %, and each correction leaves a thousandth of the gap."""
FACTORED, DENSE = 10_000_000, 4e9
"""Entries, and entries times min(n, d), of an X that is factored itself: some seconds."""
KINKED = 1500
"""Rows for each unknown from which on a smoothed loss is minimised before an interior point."""
LIKELY, SHORT = 64, 5.0
"""Rows for each unknown that say how the others curve, to an eighth, where these are eight times as
many; a Gram matrix of all rows that costs so many products is not formed at once."""
STIFF = 100.0
"""It is formed all the same where a smooth penalty curves so many times less than the loss: P - D
has the squares of slopes divided by lam, and few passes do not make these small enough."""
PATIENCE = 4.0
"""An engine may take this many times what it was thought to, or what the next one would."""


def takes(name: str, sizes: Sizes) -> bool:
    """Whether a hand-written solver takes the problem."""
    takes = takes_rows(name, sizes.objective)
    return takes and all(meets(sizes.objective, need) for need in ALGORITHMS[name].needs)


def start_of_newton(sizes: Sizes) -> dict[str, Any]:
    """The rows on which Newton's method starts, where these are fewer than all."""
    unknowns = (sizes.d + 1) * sizes.classes
    if sizes.n <= MANY * unknowns or sizes.entries <= LONG:
        return {}
    ample = AMPLE // (max(sizes.d, 1) * sizes.classes)
    return {"sample": max(min(sizes.n // 10, ample), ENOUGH * unknowns)}


def start_of_interior_point(sizes: Sizes) -> dict[str, Any]:
    """The rows on which a smoothed loss is minimised, where bands about its kinks hold enough."""
    unknowns, penalty = sizes.d + 1, sizes.objective.penalty
    quadratic = penalty.is_smooth and penalty.strong_convexity > 0.0
    if sizes.n <= KINKED * unknowns or not quadratic or sizes.d > FEW:
        return {}
    return {"sample": min(sizes.n // 10, max(AMPLE // sizes.d, ENOUGH * unknowns))}


def some_rows(sizes: Sizes) -> dict[str, Any]:
    """A sample in place of the Gram matrix of many dense rows."""
    sample = LIKELY * (sizes.d + 1)
    many = sizes.n > 8 * sample and not sizes.is_sparse
    penalty = sizes.objective.penalty
    if many and penalty.is_smooth:
        curves = float(np.median(sizes.objective.column_sizes)) ** 2
        many = curves <= STIFF * penalty.strong_convexity
    return {"sample": sample} if many and sizes.gram(sizes.d) > SHORT * sizes.product else {}


def has_dense_factors(sizes: Sizes) -> bool:
    """Whether orthogonal factors of X, all its zeros included, are thought of."""
    entries = sizes.n * sizes.d
    return entries <= FACTORED and entries * sizes.least <= DENSE and not sizes.in_blocks


def has_room(work: Work) -> bool:
    """Whether its matrices are not too large."""
    return max(work.columns, work.unknowns) <= LARGEST


@dataclass(frozen=True, eq=False)
class Engine:
    """A row of the table: a hand-written solver, what it takes to use it, its work, and why."""

    name: str
    work: Callable[[Sizes], Work]
    why: str
    when: Callable[[Sizes], bool] = lambda sizes: True
    options: Callable[[Sizes], dict[str, Any]] = lambda sizes: {}


TABLE = (
    Engine(
        "normal_equations",
        lambda s: Work(30, 1, s.least, 1, s.least) if s.least <= LARGEST else Work(100),
        "loss and penalty are squares",
        options=some_rows,
    ),
    Engine(
        "qr",
        lambda s: Work(4 if s.objective.penalty.curvature_bound == 0.0 else 60, 30, s.least),
        "the loss is squared, and factors of X keep its condition",
        when=has_dense_factors,
    ),
    Engine(
        "newton",
        lambda s: Work(40, 8, s.d, 8, s.d * s.classes),
        "the loss and the penalty are differentiable, and the Hessian is small",
        options=start_of_newton,
    ),
    Engine(
        "irls",
        lambda s: Work(60, 300, s.d, 8, s.d),
        "loss and penalty are smooth, and factors of X keep its condition",
        lambda s: has_dense_factors(s) and not takes("normal_equations", s),
    ),
    Engine(
        "newton_cg",
        lambda s: Work(60 if s.in_cache or s.n >= 20 * s.d else 180),
        "the loss and the penalty are differentiable, and products are cheaper than the Hessian",
        lambda s: s.d * s.classes > FEW and not takes("normal_equations", s),
    ),
    Engine(
        "coordinate_descent",
        lambda s: Work(30, 4, s.d if s.in_blocks else s.least / 4, 8, s.least / 4),
        "the loss is differentiable and the penalty a norm of blocks",
        lambda s: has_norm_of_blocks(s.objective),
        some_rows,
    ),
    Engine(
        "augmented_lagrangian",
        lambda s: Work(120, 5, s.least, 20, s.least) if s.least <= LARGEST else Work(5000),
        "the dual is a quadratic program in a bounded box, and few samples are inside it",
        lambda s: not s.is_smooth,
    ),
    Engine(
        "interior_point",
        lambda s: Work(120, 20, s.d, 20, s.d),
        "the dual is a quadratic program in a box, of few features",
        lambda s: (
            (s.d <= s.n // 2 or bool(kinks_at_zero(s.objective).any()))
            and not (s.objective.loss.is_indicator or s.is_smooth)
        ),
        start_of_interior_point,
    ),
    Engine(
        "proximal_newton",
        lambda s: Work(40, 8, s.d, 8, s.d * s.classes),
        "the loss is differentiable, and the Hessian is small",
        lambda s: (
            (s.in_blocks and not s.objective.penalty.is_smooth)
            or (s.n >= 2 * s.d and takes("proximal_point", s))
        ),
        start_of_newton,
    ),
    Engine(
        "method_of_multipliers",
        lambda s: Work(200, 40, s.d, 40, s.d),
        "the dual is a quadratic program in a bounded box, of few features",
        lambda s: s.in_blocks and not s.is_smooth,
    ),
    Engine(
        "proximal_point",
        lambda s: Work(600, 100, s.least / 2, 100, s.least / 2),
        "the penalty ties coefficients into clusters, which are few unknowns",
    ),
    Engine(
        "fista",
        lambda s: Work(1000),
        "the penalty is not differentiable, and it goes by classes or by rank",
        lambda s: (
            not s.objective.penalty.is_smooth
            and (s.classes > 1 or s.objective.penalty.name == "sorted_l1")
        ),
    ),
)
"""The engines that "auto" knows: of those that apply, the cheapest is first."""
TIGHT = {"tol_gap_abs": 1e-30, "tol_gap_rel": 1e-12, "tol_feas": 1e-14, "max_iter": 1000}
"""Asked of Clarabel where its first answer is not good enough: P* may be far below P_0."""


class Trial(NamedTuple):
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
    options: Mapping[str, Any] = MappingProxyType({})
    in_own_units: bool = False
    patience: float = np.inf


def plan(objective: Objective) -> tuple[list[Trial], str]:
    """Return the solvers to try in turn, and why the first of them is."""
    sizes = Sizes(objective)
    likely = [row for row in TABLE if row.when(sizes)]
    fast = [(row, row.work(sizes)) for row in likely if takes(row.name, sizes)]
    costs = [(work.seconds(sizes), work.passes, row) for row, work in fast if has_room(work)]
    costs.sort(key=lambda each: each[0])
    last = costs[-1][0] if costs else 0.0
    trials = []
    for k, (seconds, passes, row) in enumerate(costs):
        other = costs[k + 1][0] if k + 1 < len(costs) else PATIENCE * last
        longer = max(PATIENCE, other / seconds)
        trials.append(Trial(row.name, row.options(sizes), patience=longer * passes))
    why = costs[0][2].why if costs else ""
    if len(costs) > 1:
        why += f", at {_share(costs[0][0], costs[1][0])} the cost of {trials[1].name}"
    if any(trial.name == "qr" for trial in trials):  # a lower P by rounding may hide a better gap
        trials += [Trial("qr", {"candidate": k}) for k in range(CANDIDATES)]
    others = [row for row in TABLE if row not in likely]  # asked what they take in their turn
    further = [Trial(row.name) for row in others if has_room(row.work(sizes))]
    if sizes.in_blocks:  # no conic solver sees these rows
        trials += [trial for trial in further if takes(trial.name, sizes)]
        first = trials[0].name if trials else "the null model"
        return trials, f"auto chose {first}: {why or _left(trials)}."
    if not trials:
        kind = "loss" if not objective.loss.is_smooth else "penalty"
        trials.append(Trial("clarabel"))
        why = f"the {kind} is not differentiable"
    first = trials[0].name
    trials += [Trial("clarabel", TIGHT), Trial("clarabel", TIGHT, in_own_units=True)]
    if not (objective.loss.is_smooth and objective.penalty.is_smooth):
        trials += further
        trials += [Trial(name) for name in ("piqp", "ecos", "osqp")]
    return [*trials, Trial("scs")], f"auto chose {first}: {why}."


def _left(trials: list[Trial]) -> str:
    """Why a solver that is nobody's first choice is chosen over row blocks, or none."""
    if trials:
        return "no other solver over row blocks takes so many features, this loss and this penalty"
    return "no solver over row blocks takes this loss with this penalty"


def _share(cost: float, other: float) -> str:
    """A ratio in words."""
    return f"about 1/{other / cost:.0f}" if other > 1.5 * cost else "no more than"
