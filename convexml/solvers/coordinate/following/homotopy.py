"""The lasso's minimum, followed down from levels at which it is known."""

from __future__ import annotations

import numpy as np

from ....numerics import Array
from ....objective import Objective
from .moving_support import MovingSupport, first

STILL = 1e-9
"""A slope that nears its level by less than this share of the fastest change does not near it."""
CLOSE, OFTEN = 0.75, 16
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
        close = np.abs(slope) > CLOSE * above * level
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
        allowed[late] = np.sign(left[late]) * level[late] * np.linspace(CLOSE, 1.0, late.size)
        self.left[k:] = allowed
        self.error[k:] += (allowed - left) / ahead
        step = self.dx[: self.count] @ self.rows[: self.count]
        found = self.design.rmatvec(self.root * step)[self.order[k:]]
        self.dleft[k:] = dleft = found - self.error[k:]
        reached = np.abs(allowed) > CLOSE * level
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
