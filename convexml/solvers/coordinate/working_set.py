"""Working sets: coordinate descent finds the support, Newton steps on it end the search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...certificates.learning.points.dual_point import plain_dual
from ...design import Design, last_slopes
from ...errors import InputError
from ...numerics import ROUNDING, Array
from ...objective import Objective
from ..driver import Iterate
from .chosen_columns import ChosenColumns
from .following.homotopy import Homotopy
from .proximal_newton import MET, SLOW, ProximalNewton

SHARE = 0.3
"""The conditions on a working set are solved to this share of the largest violation; to the end
where it holds all columns."""
RATIOS, SPARSE, CLOSE, ROUGH = (8.0, 2.0), 0.1, 1.5, 1e12
"""From one lam to the next on the way down: where the nonzero coefficients are at most this share
of what a support may hold, and where they are more. The last one before the problem's own is at
least so many times as large; on the way a violation of so many tolerances, a tenth of the level,
will do."""
GLANCES, ENOUGH, CLOSER = 8, 5e5, 1e-3
"""Working sets between two passes, at most. A violation of this many tolerances, 5e-7 of the level,
and of this share of that at the pass, is enough for another one; on the way down that of ``ROUGH``.
"""
NEARLY = 1e9
"""Up to a violation of so many tolerances, 1e-3 of the level, the gap is worth its dual point."""
CROWDED, FAR, EXACT, TURNS = 0.25, 3.0, 1e6, 12
"""Where lam is more than so many times the problem's own, and nonzero coefficients are more than
this share of the samples, the minimum may be followed down from where no violation is more than so
many tolerances, 1e-6 of the level; outer steps to get there, at most."""
ALMOST, FEW = 0.6, 0.25
"""Between passes columns are seen of which |X_g'u| was above this share of its level, if they are
at most this share of all: the nearest, as many as are held."""
TALL, FILLED, LEFT = 2.0, 0.2, 8.0
"""So many times as many rows as columns have room for every support: where this share of columns is
nonzero and lam more than so many times the problem's own, all violations join there at once."""


def working_set(
    objective: Objective,
    w: Array,
    b: float,
    *,
    growth: float = 0.5,
    sample: int = 0,
    seed: int = 0,
    carried: dict[str, ChosenColumns] | None = None,
) -> Iterator[Iterate]:
    """Minimise F + sum_g level_g |w_g|_2 + (mu/2) |w|^2 on a growing set of columns.

    An outer step is one pass for X'u. It drops the columns that the gap proves to have w_g = 0 at
    every minimiser, takes in those that violate |X_g'u|_2 <= level_g most, ``growth`` times as
    many as there are nonzero coefficients, and solves the problem on what it has by proximal
    Newton steps; then, without another pass, those among the columns that are near to joining,
    until these no longer do. A step minimises a quadratic model of F, which is F itself for the
    squared loss, by coordinate descent in covariances (Friedman, Hastie and Tibshirani, 2010,
    https://doi.org/10.18637/jss.v033.i01) that finds the support, and Newton steps on the support
    that end in rounding. The curvatures of a model are kept while its steps converge fast, so that
    its Gram matrix only grows; a new one is rough, and of the columns that may join, until a step
    shows that this is not enough. Steps are halved until P falls enough, so that P never increases,
    and doubled where it falls faster than its model. Few columns are held all of them at once.
    Where many columns violate their condition at the start, lam comes down from where none does in
    a few steps, so that few columns join in vain; iterates on the way are those that lower P. Where
    it comes down far and more columns violate theirs than there are samples, the minimum of squared
    loss and l1 is followed (``Homotopy``): supports that descent finds there are singular. Few
    columns and the squared loss begin with ``sample`` rows, see ``sampled_gram``. The columns of
    an earlier search on the same design are ``carried`` along a path.
    """
    if not growth > 0.0:
        raise InputError(f"working_set: growth must be > 0, got {growth!r}.")
    carried = {} if carried is None else carried
    known = carried.get("columns")
    if known is not None and not known.suit(objective.design, int(np.count_nonzero(w))):
        known = None
    search = Search(objective, w, b, known)
    carried["columns"] = search.columns
    if search.columns.whole:
        yield from search.on_all_columns(0 if known else sample, seed)
        return
    worst, least, gained, lowest = np.inf, np.inf, True, np.inf
    while True:
        search.look(not worst > NEARLY)
        search.lower()
        worst, done = search.judge()
        if not worst > NEARLY:
            worst, done = search.screen()
            if search.times == 1.0 or search.primal < lowest:
                yield Iterate(search.w, search.b, None, search.passes, is_known=True)
        elif search.times == 1.0 or search.primal < lowest:
            yield Iterate(search.w, search.b, None, search.passes, promise=MET * worst)
        lowest = min(lowest, search.primal)
        if search.times > 1.0:
            least = np.inf
        elif not worst > 1.0 or (done and not gained and not worst < 0.5 * least):
            return
        slow = done and worst > SLOW * least
        least, before = min(worst, least), search.value
        rough = search.times > 1.0 and not 0 < search.turns < TURNS
        enough = ROUGH if rough else max(1.0, min(ENOUGH, CLOSER * least))
        for _ in range(GLANCES):
            search.grow(growth)
            search.solve(max(1.0, SHARE * worst), slow)
            if not search.glance():
                break
            last, (worst, inside) = worst, search.judge()
            slow = inside and worst > SLOW * last
            if not worst > enough:
                break
        gained = not search.is_exact or before - search.value > MET * abs(search.value)
        if search.times == 1.0 and done and search.is_exact and not search.value < before:
            return


class Search(ProximalNewton):
    """Proximal Newton steps on a working set that the conditions outside of it let grow."""

    def __init__(
        self, objective: Objective, w: Array, b: float, columns: ChosenColumns | None = None
    ) -> None:
        super().__init__(objective, w, b, columns)
        self.is_zero, self.outside = np.zeros(objective.d, dtype=bool), np.zeros(objective.d)
        self.near: Array | None = None
        self.start, self.turns, self.fills = True, 0, False

    def look(self, anew: bool) -> None:
        """Take the slope at (w, b), whose predictions are summed ``anew`` where it is to last."""
        if anew:
            self.z = self.objective.predict(self.w, self.b)
        self.u = self.objective.loss_derivative(self.z)
        self.primal = self.objective.primal(self.w, self.b, self.z)
        self.slope = self.mu * self.w + last_slopes(self.objective.design, self.u)
        self.passes += 1.0
        self._find_near()

    def screen(self) -> tuple[float, bool]:
        """What the gap proves to be 0 near the solution; the same as ``judge`` without it."""
        dual = plain_dual(self.objective, self.z)
        gap = max(self.primal - dual.value, 0.0) + ROUNDING * abs(self.primal)
        bound = self.objective.loss.curvature_bound
        if np.isfinite(gap) and np.isfinite(bound):  # |u* - u| in the norm of 1 / (c K)
            reach = np.sqrt(2.0 * gap * bound) * self.objective.column_sizes
            most = self.own.sizes(dual.v) + self.own.sizes(reach) * (1.0 + 1e-9)
            self.is_zero |= most < self.own.level
        self._find_near()
        return self.judge()

    def _find_near(self) -> None:
        """The columns outside that are near to joining; None where they are many."""
        most, apart = self.norms.sizes(self.slope), ~(self.columns.contains | self.is_zero)
        near = np.flatnonzero(apart & (most > ALMOST * self.norms.level))
        self.seen = np.ones(self.objective.d, dtype=bool)
        few, held = near.size <= FEW * self.objective.d, self.columns.index.size
        if few and near.size > held > 0:
            away = self.norms.level[near] / most[near]
            near = self.norms.whole(near[np.argpartition(away, held)[:held]])
        self.near = near if few else None
        self._near_columns: Design | None = None

    def glance(self) -> bool:
        """Take the slopes of the columns held and of those near to joining, if they are few.

        Whether they are.
        """
        if self.near is None:
            return False
        held = self.columns.index
        if self._near_columns is None:
            self._near_columns = self.objective.design.columns(self.near)
        self.u = self.objective.loss_derivative(self.z)
        self.slope[self.near] = self._near_columns.rmatvec(self.u)
        self.slope[held] = self.columns.products(self.u) + self.mu * self.w[held]
        self.seen = self.columns.contains.copy()
        self.seen[self.near] = True
        self.passes += (held.size + self.near.size) / self.objective.d
        return True

    def lower(self) -> None:
        """Bring the levels nearer to the problem's own; at the start they let no column in."""
        level = self.own.level
        if self.start:
            sizes = self.own.sizes(self.slope)
            self.times = float(np.max(sizes[level > 0.0] / level[level > 0.0], initial=1.0))
            self.start = False
        if self.is_crowded():
            self.turns += 1
            if self.turns < TURNS and self.judge()[0] > EXACT:
                return
            self.turns = TURNS
            if self.follow():
                return
        if self.times > 1.0:
            nonzero, n, d = int(np.count_nonzero(self.w)), self.objective.n, self.objective.d
            times = self.times / RATIOS[0 if nonzero <= SPARSE * min(n, d) else 1]
            far = nonzero > FILLED * d and times > LEFT
            self.fills = self.is_quadratic and n >= TALL * d and far
            self.put(times if times > CLOSE and not self.fills else 1.0)
            self._find_near()

    def is_crowded(self) -> bool:
        """Whether supports may be as large as they get; they are until the minimum was followed."""
        if not 0 < self.turns < TURNS:
            samples, nonzero = np.count_nonzero(self.h), np.count_nonzero(self.w)
            able = self.is_quadratic and self.own.block is None and not self.columns.is_sparse
            if not (able and self.times > FAR and nonzero > CROWDED * samples) or self.turns:
                return False
            self.judge()
            return bool(nonzero + np.count_nonzero(self.outside > 1.0) > samples)
        return True

    def follow(self) -> bool:
        """Follow the minimum down to the problem's own levels; whether it came there."""
        objective, level = self.objective, self.own.level
        found = Homotopy(objective, self.h, self.slope, self.w, level, self.times).follow()
        if found is None:
            return False
        z = objective.predict(found, 0.0)
        b = objective.best_intercept(z)
        if not objective.primal(found, b, z + b) <= self.primal:
            return False
        self.w, self.b, self.z = found, b, z + b
        self.put(1.0)
        self.look(False)
        return True

    def judge(self) -> tuple[float, bool]:
        """The largest violation of the columns seen last; whether all that violate are held."""
        missed = self.norms.distance(self.w, self.slope) / self.tolerance(self.u)
        missed[~self.seen | (self.is_zero & (self.norms.sizes(self.w) == 0.0))] = 0.0
        self.outside = np.where(self.columns.contains, 0.0, missed)
        worst = float(np.max(missed, initial=0.0))
        return worst, not np.any(self.outside > 1.0)

    def grow(self, growth: float) -> None:
        """Take in the coordinates of the largest violations, and all nonzero ones."""
        nonzero = int(np.count_nonzero(self.w))
        most = self.objective.d if self.fills else int(growth * nonzero)
        wanted = max(int(2.0 * np.sqrt(self.objective.d)), most)
        held = (self.w != 0.0) & ~self.columns.contains
        rank = np.where(held, np.inf, self.outside)
        found = np.flatnonzero(rank > 1.0)
        if found.size > wanted:
            found = found[np.argsort(-rank[found], kind="stable")[: wanted + int(held.sum())]]
        if found.size:
            self.columns.add(self.norms.whole(found))
