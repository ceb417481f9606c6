"""A support whose columns change one at a time, with what moves on it and what is held."""

from __future__ import annotations

import numpy as np

from ....design import Design
from ....numerics import Array
from ..support_factor import SupportInverse

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
