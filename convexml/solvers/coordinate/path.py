"""The minimum of the lasso, followed along lam: by the Gram matrix, on a moving support."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg, sparse

from ...data import Design
from ...numerics import EPS, Array
from ...penalties import NonnegativeElasticNet, Penalty
from ...problem import Objective
from ..composite import means
from .support import SupportFactor, SupportInverse, minimise, solve_positive

# Squares with l1 norms at one falling strength after another, for more columns than rows.


TURNS = 20
"""Times that columns join at one strength, at most."""
STEP = 1.6
"""From one strength to the next, or to one between, at most: few columns join in vain."""
CROWD = 3000
"""Columns that are held at once, at most."""


class KnownColumns:
    """Columns of Z that were looked for once, and their Gram matrix.

    Attributes
    ----------
    index : array, shape (k,)
        Which columns, in the order in which they came.
    place : array, shape (d,)
        Where each column is among them; -1 for the others.
    """

    def __init__(self, Z: Array) -> None:
        self.Z, self.index = Z, np.zeros(0, dtype=int)
        self.place = np.full(Z.shape[1], -1)
        self._rows, self._gram = np.zeros((0, len(Z))), np.zeros((0, 0))

    def of(self, index: Array) -> tuple[Array, Array]:
        """(Z_A', Z_A'Z_A) for the columns A."""
        new = index[self.place[index] < 0]
        if new.size:
            first, size = self.index.size, self.index.size + new.size
            self.place[new] = np.arange(first, size)
            self.index = np.append(self.index, new)
            self._rows = np.vstack([self._rows, self.Z[:, new].T])
            gram = np.empty((size, size))
            gram[:first, :first] = self._gram
            gram[first:] = self._rows[first:] @ self._rows.T
            gram[:first, first:] = gram[first:, :first].T
            self._gram = gram
        at = self.place[index]
        return self._rows[at], self._gram[at].take(at, axis=1)


def follow_wide(
    Z: Array, target: Array, penalties: Sequence[Penalty], share: float, noise: Array
) -> Array:
    """Minima of |Z w - t|^2 / 2 + sum_j level_j |w_j| + (mu/2) |w|^2, one row for each penalty.

    Each starts on the columns that the slopes of the one before say may be nonzero (the sequential
    strong rule of Tibshirani et al., 2012, https://doi.org/10.1111/j.1467-9868.2011.01004.x); what
    violates its condition after that joins, until nothing does. Rows are nan from where that would
    be too many columns.

    Parameters
    ----------
    Z, target : arrays, shapes (n, d) and (n,)
    penalties : sequence of Penalty
        ``L1`` or ``ElasticNet`` of falling strength.
    share : float
        Of its level, what a condition may be missed by.
    noise : array, shape (d,)
        What rounding may leave of it.
    """
    d, known = Z.shape[1], KnownColumns(Z)
    found, w, slope = np.full((len(penalties), d), np.nan), np.zeros(d), -(target @ Z)
    above: Array | None = None
    for k, penalty in enumerate(penalties):
        blocks, mu = penalty.zero_blocks(d), penalty.strong_convexity
        assert blocks is not None  # of l1 norms there are
        own = blocks[1]
        if not own.all():
            return found
        above = np.full(d, np.max(np.abs(slope) / own)) * own if above is None else above
        far = max(float(np.max(above / own)), 1.0)
        count = max(1, int(np.ceil(np.log(far) / np.log(STEP))))
        for times in far ** (1.0 - np.arange(1, count + 1) / count):
            level = times * own
            room = share * level + noise
            joins = (w != 0.0) | (np.abs(slope) > 2.0 * level - np.maximum(above, level))
            for _ in range(TURNS):
                held = np.flatnonzero(joins)
                if held.size > CROWD:
                    return found
                rows, gram = known.of(held)
                x = w[held]
                ahead = gram @ x + mu * x - rows @ target
                x = minimise(gram, mu, ahead, x, level[held], room[held], SupportFactor())
                w = np.zeros(d)
                w[held] = x
                slope = (x @ rows - target) @ Z + mu * w
                missed = (np.abs(slope) > level + room) & ~joins
                if not missed.any():
                    break
                joins |= missed
            above = level
        found[k] = w
    return found


# Squares with l1 or squared norms at one strength after another.


CLOSE = 1e-2
"""Of the relative gap that is asked for, the share of its level that a condition is met to."""
EXCHANGES = 3
"""Of nonnegative coefficients, times their number: enough for supports found one by one."""
COLUMNS = 300
"""Up to so many columns their Gram matrix costs little beside what it saves."""


class Centred:
    """sum_i c_i (y_i - z_i)^2 / 2 with the best b, about the weighted means.

    Attributes
    ----------
    mean, level : array, float
        Weighted means of X and y; 0 without an intercept.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective, self.root = objective, np.sqrt(objective.c)
        self.mean, self.level = means(objective)

    @property
    def target(self) -> Array:
        """C^1/2 y about the mean."""
        return self.root * (self.objective.y - self.level)

    def rows(self) -> Array:
        """C^1/2 X about the means, of a dense X."""
        return (self.objective.design.constant - self.mean) * self.root[:, None]

    def gram(self) -> tuple[Array, Array]:
        """X'CX and X'Cy about the means; 0 for constant columns."""
        objective = self.objective
        if sparse.issparse(objective.design.constant):
            c, means = objective.c, np.outer(self.mean, self.mean)
            gram = objective.design.gram(c) - float(c.sum()) * means
            side = self.root * self.target
            pull = objective.design.rmatvec(side) - self.mean * float(side.sum())
        else:
            half = self.rows()
            gram, pull = half.T @ half, half.T @ self.target
        largest = objective.column_norms**2 * float(objective.c.max())
        constant = gram.diagonal() <= EPS**1.5 * largest
        gram[constant], gram[:, constant], pull[constant] = 0.0, 0.0, 0.0
        return gram, pull

    def intercepts(self, W: Array) -> Array:
        """The best b for each row of W."""
        found: Array = self.level - W @ self.mean
        return found


def follow_grid(
    objective: Objective, penalties: Sequence[Penalty], tol: float
) -> tuple[Array, Array]:
    """Minima (W, b), one row for each penalty: squares, or l1 and squares of falling strength.

    Parameters
    ----------
    objective : Objective
        Of the squared loss; of more than ``COLUMNS`` columns X is dense.
    penalties : sequence of Penalty
        ``L2``, ``L1``, ``ElasticNet``, or ``NonnegativeElasticNet`` of few columns.
    tol : float
        A relative gap: conditions are met to a share of it.
    """
    centred, few = Centred(objective), objective.d <= COLUMNS
    noise = 4.0 * EPS * float(np.linalg.norm(centred.target)) * objective.column_sizes
    if penalties[0].is_smooth:
        strengths = [penalty.strong_convexity for penalty in penalties]
        found = _squares(*centred.gram(), strengths) if few else _by_rows(centred, strengths)
    elif isinstance(penalties[0], NonnegativeElasticNet):
        found = _nonnegative(*centred.gram(), penalties, CLOSE * tol, noise)
    elif few:
        found = _norms(*centred.gram(), penalties, CLOSE * tol, noise)
    else:
        found = follow_wide(centred.rows(), centred.target, penalties, CLOSE * tol, noise)
    return found, centred.intercepts(found)


def _by_rows(centred: Centred, strengths: Sequence[float]) -> Array:
    """Z'(ZZ' + mu I)^-1 t for each mu, by one eigendecomposition of as many rows as Z has."""
    Z = centred.rows()
    values, vectors = linalg.eigh(Z @ Z.T)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (centred.target @ vectors) / (
            np.maximum(values, 0.0) + np.reshape(strengths, (-1, 1))
        )
    found: Array = (shares @ vectors.T) @ Z
    return found


def _squares(gram: Array, pull: Array, strengths: Sequence[float]) -> Array:
    """(G + mu I)^-1 X'Cy for each mu, by one eigendecomposition and a step that undoes rounding."""
    values, vectors = linalg.eigh(gram)
    mu = np.reshape(strengths, (-1, 1))
    curves = np.maximum(values, 0.0) + mu
    with np.errstate(divide="ignore", invalid="ignore"):
        W = (pull @ vectors / curves) @ vectors.T
        left = pull - W @ gram - mu * W
        return W + (left @ vectors / curves) @ vectors.T


def _norms(
    gram: Array, pull: Array, penalties: Sequence[Penalty], share: float, noise: Array
) -> Array:
    """Minima with l1 norms, one from the other."""
    d, x, factor, mu = len(noise), np.zeros(len(noise)), SupportFactor(), np.nan
    found = np.zeros((len(penalties), d))
    for k, penalty in enumerate(penalties):
        blocks = penalty.zero_blocks(d)
        assert blocks is not None  # of l1 norms there are
        before, mu = mu, penalty.strong_convexity
        if mu != before:
            factor.forget()
        slope = gram @ x + mu * x - pull
        met = share * blocks[1] + noise
        found[k] = x = minimise(gram, mu, slope, x, blocks[1], met, factor)
    return found


def _nonnegative(
    gram: Array, pull: Array, penalties: Sequence[Penalty], share: float, noise: Array
) -> Array:
    """Minima over w >= 0, one from the other."""
    x, found = np.zeros(len(noise)), np.zeros((len(penalties), len(noise)))
    for k, penalty in enumerate(penalties):
        mu, l1 = penalty.strong_convexity, penalty.hyperparameters()["l1"]
        found[k] = x = _least_nonnegative(gram, mu, pull - l1, x, share * l1 + noise)
    return found


def _least_nonnegative(gram: Array, mu: float, pull: Array, x: Array, met: Array) -> Array:
    """Minimise x'(G + mu I)x / 2 - pull'x over x >= 0, from a feasible x.

    The active set method of Lawson and Hanson (1974, Solving Least Squares Problems, 23.3).
    """
    support = x > 0.0
    for _ in range(EXCHANGES * len(x) + 1):
        S = np.flatnonzero(support)
        best = np.zeros_like(x)
        found = solve_positive(gram[np.ix_(S, S)] + mu * np.eye(S.size), pull[S])[0]
        if found is None:
            return x
        best[S] = found
        below = S[~(found > 0.0)]
        if below.size:
            steps = x[below] / (x[below] - best[below])
            x = np.where(support, x + np.min(steps) * (best - x), 0.0)
            support[below[steps == np.min(steps)]] = False
            x = np.where(support, np.maximum(x, 0.0), 0.0)
            continue
        x = best
        slope = gram @ x + mu * x - pull
        j = int(np.argmin(np.where(support, np.inf, slope + met)))
        if support[j] or slope[j] >= -met[j]:
            break
        support[j] = True
    return x


# A support whose columns change one at a time, with what moves on it and what is held.


DEPENDENT, SUSPECT = 1e-10, 1e-4
"""A column of whose square less than this share is left beside the support depends on it; below
the second share that is computed twice."""


class MovingSupport:
    """A point x that moves along dx, with support S and slopes on S that stay at falling levels.

    The matrix is H = Z Z' + mu I, where Z' is X with its rows in units of h^1/2, centred for an
    intercept. Coordinates of S come first, then those that are watched, of which Z is at hand; all
    arrays are in that order.

    Attributes
    ----------
    order : array, shape (d,)
        Which coordinate is where.
    count, watched : int
        Coordinates of S, and those watched, S among them.
    x, sign, left, level : arrays, shape (d,)
        The point, the signs on S, the slopes that are left and their levels.
    dx, dleft, fall : arrays, shape (d,)
        How fast they change; the levels fall.
    """

    def __init__(self, design: Design, h: Array, centred: bool, mu: float) -> None:
        self.design, self.root, self.centred, self.mu = design, np.sqrt(h), centred, mu
        d = design.shape[1]
        self.order, self.count, self.watched = np.arange(d), 0, 0
        self.state = np.zeros((10, d))
        self.x, self.sign, self.left, self.level = self.state[:4]
        self.dx, self.dleft, self.fall = self.state[4:7]
        self.room = np.empty((0, h.size))

    @property
    def rows(self) -> Array:
        """Z of the columns that are watched."""
        return self.room[: self.watched]

    def watch(self, count: int) -> None:
        """Watch so many columns."""
        k, n = self.watched, self.root.size
        if count > len(self.room):
            room = np.empty((min(count + count // 4, self.order.size), n))
            room[:k] = self.room[:k]
            self.room = room
        if count > k:
            new = self.design.columns(self.order[k:count]).constant.T
            mean = new @ self.root**2 / (self.root @ self.root) if self.centred else 0.0
            self.room[k:count] = (new - np.reshape(mean, (-1, 1))) * self.root
        self.watched = count

    def begin(self) -> bool:
        """Let the support begin with columns that are independent; whether that could be.

        Of others the part is taken over, which moves no prediction.
        """
        held, (n, d) = self.count, self.design.shape
        self.inverse = SupportInverse(1 + (d if self.mu else max(held, min(n, d))))
        matrix = self.rows[:held] @ self.rows[:held].T
        matrix.flat[:: held + 1] += self.mu
        order = self.inverse.start(matrix, DEPENDENT)
        self.state[:, :held] = self.state[:, order]
        self.rows[:held] = self.rows[order]
        self.order[:held] = self.order[order]
        for j in range(self.inverse.size, held):
            self.count = self.inverse.size
            self.swap(self.count, j)
            if not self.trade(self.weights(self.count)[0], -self.x[self.count], 1.0):
                return False
        self.count = self.inverse.size
        return True

    def leave(self, i: int) -> None:
        """Coordinate i of the support is 0 from here on."""
        last = self.count - 1
        column = self.inverse.array[:, i]
        share = self.dx[i] / column[i]
        self.dx[: last + 1] -= share * column
        self.dleft[: self.watched] -= share * self.product(column)
        self.inverse.remove(i)
        self.x[i] = self.dx[i] = 0.0
        self.left[i] = -self.level[i] * self.sign[i]
        self.sign[i] = 0.0
        self.swap(i, last)
        self.count = last
        self.hold()

    def join(self, j: int) -> bool:
        """Coordinate j leaves 0 from here on; whether it could."""
        s, side = self.count, -np.sign(self.left[j])
        self.swap(s, j)
        weights, rest = self.weights(s)
        own = float(rest @ rest) + self.mu * (1.0 + float(weights @ weights))
        full = self.inverse.size + 1 >= self.inverse.room
        if full or not own > DEPENDENT * (self.rows[s] @ self.rows[s] + self.mu):
            return self.trade(weights, side, np.inf)
        share = (self.fall[s] * side - self.dleft[s]) / own
        self.inverse.add(weights, own)
        self.dx[:s] -= share * weights
        self.dx[s] = share
        rest = self.rows @ rest
        rest[:s] -= self.mu * weights
        self.dleft[: self.watched] += share * rest
        self.left[s], self.sign[s] = -self.level[s] * side, side
        self.count = s + 1
        self.hold()
        return True

    def weights(self, j: int) -> tuple[Array, Array]:
        """What columns of the support are taken of for the nearest to column j; what is left."""
        s, row, inverse = self.count, self.rows[j], self.inverse.array
        own = self.rows[:s]
        weights = inverse @ (own @ row)
        rest = row - weights @ own
        if self.mu == 0.0 and not rest @ rest > SUSPECT * (row @ row):
            more = inverse @ (own @ rest)
            weights += more
            rest -= more @ own
        return weights, rest

    def trade(self, weights: Array, step: float, most: float) -> bool:
        """Coordinate s takes steps that the support makes good, until one of the two becomes 0.

        It is that of the support from ``most`` steps on. Whether there is one.
        """
        s, change = self.count, -step * weights
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.where(self.falls(change), -self.x[:s] / change, np.inf)
        i, end = first(ends)
        if not min(end, most) < np.inf:
            return False
        self.x[:s] += min(end, most) * change
        if most <= end:
            self.x[s] = self.sign[s] = 0.0
            return True
        self.x[s] += end * step
        self.leave(i)
        return self.join(s)

    def falls(self, change: Array) -> Array:
        """Which coordinates of the support come nearer to 0, where that is a bend."""
        s = self.count
        return (change * self.sign[:s] < 0.0) & (self.level[:s] > 0.0)

    def hold(self) -> None:
        """Slopes of the support stay at their levels."""
        s = self.count
        self.dleft[:s] = self.fall[:s] * self.sign[:s]

    def product(self, x: Array) -> Array:
        """H x, of an x on the support."""
        found = self.rows @ (x @ self.rows[: x.size])
        found[: x.size] += self.mu * x
        return found

    def swap(self, i: int, j: int) -> None:
        """Let two coordinates change places."""
        if i != j:
            both, other = [i, j], [j, i]
            self.state[:, both] = self.state[:, other]
            self.rows[both] = self.rows[other]
            self.order[both] = self.order[other]


def first(times: Array) -> tuple[int, float]:
    """Which is the earliest, and when; (-1, inf) of none."""
    if not times.size:
        return -1, np.inf
    i = int(times.argmin())
    return i, float(times[i])


# The lasso's minimum, followed down from levels at which it is known.


STILL = 1e-9
"""A slope that nears its level by less than this share of the fastest change does not near it."""
HOMOTOPY_CLOSE, OFTEN = 0.75, 16
"""Of the columns outside the support those are watched whose slope was above this share of its
level; the others are looked at after so many supports."""
EARLY, FORESIGHT = 0.1, 4.0
"""They are looked at for so much of the way at first, then for so many times what was made."""
LONGEST, STALLED, TINY = 8, 64, 1e-9
"""Supports on the way, at most, for each row of X or column, whichever are fewer; changes of the
support in a row without a step of this share of what is ahead."""


class Homotopy(MovingSupport):
    """Minima of (x - x_0)'H (x - x_0) / 2 + s'x + sum_j level_j |x_j| while the levels fall.

    At ``above`` times the levels x_0 is the minimum, but for a change of s. The minima between
    change linearly until a coordinate becomes 0 or leaves it (Osborne, Presnell and Turlach, 2000,
    https://doi.org/10.1093/imanum/20.3.389). Columns that are found beyond their level since they
    were not watched join late: s is changed by what they are beyond, less and less on the way, and
    by a little more, so that they do not join all at once.

    Parameters
    ----------
    objective : Objective
        Of a loss that is quadratic.
    h : array, shape (n,)
        Its curvatures.
    slope, start, level : arrays, shape (d,)
        s, x_0 and the levels.
    above : float
    """

    def __init__(
        self, objective: Objective, h: Array, slope: Array, start: Array, level: Array, above: float
    ) -> None:
        mu = objective.penalty.strong_convexity
        super().__init__(objective.design, h, objective.fit_intercept, mu)
        inside = (start != 0.0) | (level == 0.0)
        close = np.abs(slope) > HOMOTOPY_CLOSE * above * level
        self.order = np.argsort(np.where(inside, 0, np.where(close, 1, 2)), kind="stable")
        self.count = s = int(inside.sum())
        self.start, self.slope, self.error = self.state[7:]
        self.x[:] = self.start[:] = start[self.order]
        self.sign[:] = np.sign(self.x)
        self.slope[:] = slope[self.order]
        self.level[:] = above * level[self.order]
        self.fall[:] = (above - 1.0) * level[self.order]
        self.left[:] = np.clip(self.slope, -self.level, self.level)
        self.left[:s] = -(self.level * self.sign)[:s]
        self.error[:] = self.left - self.slope  # what the change of s makes good, at the start
        self.t = 0.0
        self.watch(int((inside | close).sum()))

    def follow(self) -> Array | None:
        """The minimum at the levels themselves; None where it was not reached."""
        if not self.begin():
            return None
        self._aim()
        self._look(EARLY)
        seen, since, stalled = 0, 0.0, 0
        for turn in range(LONGEST * min(self.design.shape)):
            s, ahead = self.count, 1.0 - self.t
            with np.errstate(divide="ignore", invalid="ignore"):
                i, end = first(self._ends())
                j, entry = first(self._entries())
            step = min(end, entry, ahead)
            if not (step >= 0.0 and end >= 0.0 and entry >= 0.0):
                return None
            if step == ahead and seen == turn:
                self._move(step)
                return self._finished()
            if step == ahead or turn - seen >= OFTEN:
                self._look(ahead if step == ahead else min(ahead, FORESIGHT * (self.t - since)))
                seen, since = turn + 1, self.t
                continue
            self._move(step)
            stalled = 0 if step > TINY * ahead else stalled + 1
            if end <= entry:
                self.leave(i)
            elif not self.join(s + j):
                return None
            if not stalled < STALLED:
                return None
        return None

    def _move(self, step: float) -> None:
        """Go on for a share of the way."""
        s, k = self.count, self.watched
        self.x[:s] += step * self.dx[:s]
        self.left[:k] += step * self.dleft[:k]
        self.level -= step * self.fall
        self.t += step

    def _look(self, horizon: float) -> None:
        """See to the columns that are not watched, and watch those that may join before long."""
        k, ahead = self.watched, 1.0 - self.t
        level, fall = self.level[k:], self.fall[k:]
        step = (self.x - self.start)[:k] @ self.rows
        found = self.design.rmatvec(self.root * step)[self.order[k:]]
        left = self.slope[k:] + found + ahead * self.error[k:]
        late = np.flatnonzero(np.abs(left) > level)
        allowed = left.copy()
        allowed[late] = (
            np.sign(left[late]) * level[late] * np.linspace(HOMOTOPY_CLOSE, 1.0, late.size)
        )
        self.left[k:] = allowed
        self.error[k:] += (allowed - left) / ahead
        step = self.dx[: self.count] @ self.rows[: self.count]
        found = self.design.rmatvec(self.root * step)[self.order[k:]]
        self.dleft[k:] = dleft = found - self.error[k:]
        reached = np.abs(allowed) > HOMOTOPY_CLOSE * level
        reached |= np.abs(allowed + horizon * dleft) > level - horizon * fall
        more = np.flatnonzero(reached)
        order = np.concatenate([k + more, k + np.flatnonzero(~reached)])
        self.state[:, k:] = self.state[:, order]
        self.order[k:] = self.order[order]
        self.watch(k + more.size)

    def _aim(self) -> None:
        """Find how x and the slopes that are left change."""
        s = self.count
        self.dx[:s] = self.inverse.array @ (self.error + self.fall * self.sign)[:s]
        self.dleft[: self.watched] = self.product(self.dx[:s]) - self.error[: self.watched]
        self.hold()

    def _ends(self) -> Array:
        """When the coordinates of the support become 0."""
        s = self.count
        ends = np.maximum(-self.x[:s] / self.dx[:s], 0.0)
        return np.where(self.falls(self.dx[:s]), ends, np.inf)

    def _entries(self) -> Array:
        """When the other coordinates join it: their slopes reach the levels, which fall."""
        own = slice(self.count, self.watched)
        level, fall, left, dleft = self.state[[3, 6, 2, 5], own]
        still = STILL * np.abs(dleft).max(initial=0.0)
        times = np.full(level.size, np.inf)
        for sign in (1.0, -1.0):
            speed = fall + sign * dleft
            reached = np.maximum((level - sign * left) / speed, 0.0)
            np.minimum(times, reached, out=times, where=speed > still)
        return times

    def _finished(self) -> Array:
        """x in the order of the start, after a Newton step on its support that undoes rounding."""
        s, x = self.count, self.x
        step = (x - self.start)[: self.watched]
        slope = self.slope[:s] + self.rows[:s] @ (step @ self.rows) + self.mu * step[:s]
        better = x[:s] - self.inverse.array @ (slope + self.level[:s] * self.sign[:s])
        if np.all((better * self.sign[:s] > 0.0) | (self.sign[:s] == 0.0)):
            x[:s] = better
        found = np.zeros_like(x)
        found[self.order] = x
        return found
