"""What a theorem is: preconditions, and inequalities that the iterates must obey."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from inspect import signature
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, ParamSpec, Protocol, TypeVar, cast

import numpy as np

from ..errors import InputError
from ..numerics import ROUNDING, Array
from ..problem import Objective
from ..validation import refuse_masked
from .simulation import Simulation, simulated

# One inequality of a theorem, measured: numbers against their bounds, iteration by iteration.


@dataclass(frozen=True)
class Claim:
    """An inequality ``measured <= bound`` at a number of iterations.

    Attributes
    ----------
    statement : str
        The inequality in the theorem's letters.
    measured, bound : array, shape (k,)
        Left and right side. For a mean over seeds, ``measured`` is its upper confidence limit.
    room : array of shape (k,), or float
        What the right side may be exceeded by: rounding, and the accuracy of the reference.
    iterations : array, shape (k,)
        The iteration of each entry; 0, 1, ... by default.
    is_rate : bool
        Whether bound / measured says how generous the theorem is; not so for "never increases".
    reason : str
        Why nothing could be tested, where nothing could.
    """

    statement: str
    measured: Array
    bound: Array
    room: Array | float = 0.0
    iterations: Array = field(default_factory=lambda: np.empty(0, dtype=int))
    is_rate: bool = True
    reason: str = ""

    def __post_init__(self) -> None:
        if not self.iterations.size:
            object.__setattr__(self, "iterations", np.arange(len(self.measured)))

    @classmethod
    def untested(cls, statement: str, reason: str) -> Claim:
        """The inequality at no iteration, and why."""
        return cls(statement, np.empty(0), np.empty(0), reason=reason)

    @property
    def tested(self) -> Array:
        """Indices at which the inequality says something: an infinite bound says nothing."""
        return np.flatnonzero(self.bound + self.room != np.inf)

    @property
    def violations(self) -> Array:
        """Indices into ``measured`` at which the inequality fails; what is not finite fails."""
        met = self.measured <= self.bound + self.room
        return np.flatnonzero(~(met & np.isfinite(self.measured)))

    @property
    def holds(self) -> bool | None:
        """Whether the inequality holds at every iteration; None where none could be tested."""
        if self.violations.size:
            return False
        return True if self.tested.size else None

    @property
    def ratios(self) -> Array:
        """bound / measured where the left side stands out of rounding: the slack."""
        room = np.broadcast_to(self.room, self.measured.shape)
        clear = (self.measured > 2.0 * room) & (self.bound > 0.0)
        return self.bound[clear] / self.measured[clear]


# What a theorem looks at: the numbers of a run, and a certified reference solution.


class Visited(Protocol):
    """An iterate as a theorem sees it: (w, b), what the algorithm says and what it carries."""

    @property
    def w(self) -> Array: ...
    @property
    def b(self) -> Any: ...
    @property
    def facts(self) -> Mapping[str, float]: ...
    @property
    def state(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Reference:
    """A solution found by other means, and what a certificate says of it.

    Attributes
    ----------
    w : array, shape (d,)
    b : float
    value : float
        P(w, b).
    floor : float
        The certified lower bound of P*.
    radius : float
        |(w, b) - (w*, b*)| is at most this; inf where no such bound is known.
    """

    w: Array
    b: float
    value: float
    floor: float
    radius: float = np.inf


@dataclass(frozen=True)
class Trajectory:
    """A run in numbers, one per iteration 0, 1, ..., T.

    Attributes
    ----------
    objective : Objective
    reference : Reference
    values : array, shape (T + 1,)
        P at the iterates.
    distances : array, shape (T + 1,)
        |(w_t, b_t) - (w, b)|^2 from the reference.
    duals : array, shape (T + 1,)
        D at the dual points that the algorithm carries; nan where it carries none.
    facts : mapping of arrays
        What the algorithm says of itself (``Iterate.facts``), nan where it is silent.
    replay : callable
        The iterates themselves, once more from the start.
    """

    objective: Objective
    reference: Reference
    values: Array
    distances: Array
    duals: Array
    facts: Mapping[str, Array] = field(default_factory=dict)
    replay: Callable[[], Iterator[Visited]] = field(default_factory=lambda: lambda: iter(()))

    @property
    def steps(self) -> Array:
        """T = 0, 1, ... of the theorem: the fact "steps" where there is one, else the iteration."""
        return self.facts.get("steps", np.arange(len(self.values), dtype=float))

    @property
    def gaps(self) -> Array:
        """P(x_t) - floor >= P(x_t) - P*."""
        return self.values - self.reference.floor

    @property
    def doubt(self) -> float:
        """P at the reference may exceed P* by this."""
        value, floor = self.reference.value, self.reference.floor
        return max(value - floor, 0.0) + ROUNDING * abs(value)

    @property
    def value_room(self) -> float:
        """What a value claim may be exceeded by: the reference's own gap, and rounding.

        The theorems on values hold for any point y in the place of x*, with f(y) in that of f*:
        the reference need not be near x*.
        """
        finite = np.abs(self.values[np.isfinite(self.values)])
        largest = max(abs(self.reference.value), float(finite[:1].max(initial=0.0)))
        return self.doubt + ROUNDING * largest

    @property
    def start_distance(self) -> float:
        """|x_0 - x|^2 from the reference."""
        return float(self.distances[0])

    @property
    def far_distance(self) -> float:
        """|x_0 - x*|^2, not below the truth; inf where the place of x* is not known."""
        return float(np.sqrt(self.distances[0]) + self.reference.radius) ** 2

    @property
    def distance_rounding(self) -> float:
        """What rounding may do to |x_t - x*|^2."""
        size = float(np.vdot(self.reference.w, self.reference.w)) + float(
            np.sum(np.square(self.reference.b))
        )
        return ROUNDING * (size + float(self.distances[0]))

    def distance_room(self, bound: Array) -> Array:
        """What a bound on |x_t - x*|^2 may be exceeded by, for the radius of the reference."""
        radius = self.reference.radius
        return radius * (2.0 * np.sqrt(bound) + radius) + self.distance_rounding

    def fact(self, name: str) -> float:
        """A fact that is constant over the run, such as a step; its largest value."""
        known = self.known(name)
        return float(known.max()) if known.size else np.nan

    def known(self, name: str) -> Array:
        """All values of a fact that the algorithm told."""
        told = self.facts.get(name, np.empty(0))
        return told[~np.isnan(told)]

    def varies(self, name: str) -> bool:
        """Whether a fact that should be constant is not."""
        return len(np.unique(self.known(name))) > 1


class Theorem(ABC):
    """A rate of convergence, or a quantity that never increases, as inequalities to be checked.

    A theorem about an expectation sets ``seeds`` and receives that many runs; else it receives one.
    """

    statement: ClassVar[str]
    source: ClassVar[str] = ""
    seeds: ClassVar[int] = 1

    def preconditions(self, run: Trajectory) -> Iterator[str]:
        """Each precondition that the run does not meet, in words; all its steps are looked at."""
        return iter(())

    def silences(self, run: Trajectory) -> Iterator[str]:
        """Why the theorem promises nothing for this problem, whatever the run did."""
        return iter(())

    def ahead(self, run: Trajectory, t: Any) -> Any:
        """What f(x_t) - f* is at most, in the mean where samples are drawn; inf if nothing is said.

        Known ahead, from the first iterates and the reference.
        """
        return np.inf

    @abstractmethod
    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The inequalities, with both sides computed."""


# Theorems that say no more than: this quantity never moves the wrong way.


def never_increases(statement: str, values: Array) -> Claim:
    """The claim a_{t+1} <= a_t, both finite, up to the rounding of a_t."""
    before = np.where(np.isfinite(values[:-1]), values[:-1], np.nan)  # nan: fails
    iterations = np.arange(1, len(values))
    return Claim(
        statement, values[1:], before, ROUNDING * np.abs(before), iterations, is_rate=False
    )


class Descent(Theorem):
    """The objective P does not increase from one iterate to the next, up to rounding."""

    statement = "f(x_{t+1}) <= f(x_t)"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality."""
        yield never_increases(self.statement, runs[0].values)


class DualAscent(Theorem):
    """The dual objective D does not decrease from one dual iterate to the next, up to rounding."""

    statement = "D(u_{t+1}) >= D(u_t)"

    def claims(self, runs: Sequence[Trajectory]) -> Iterator[Claim]:
        """The one inequality."""
        known = np.flatnonzero(~np.isnan(runs[0].duals))
        claim = never_increases(self.statement, -runs[0].duals[known])
        yield replace(claim, iterations=known[1:])


# Whether the iterates moved as the algorithm says: its steps, recomputed from the points.


ALIKE = 1e-9
"""Two ways to compute one move agree to this share of it."""

Step = Callable[[Array, float], Array]
"""(x, gamma) -> the next point."""


def pack(point: Visited) -> Array:
    """x = (w, b)."""
    return np.append(point.w, point.b)


def split(objective: Objective, x: Array) -> tuple[Array, Any]:
    """(w, b) of x; b is a number, or an array of K intercepts."""
    d = objective.d
    return x[:d], float(x[d]) if len(x) == d + 1 else x[d:]


def loss_gradient(objective: Objective, x: Array) -> Array:
    """The gradient of F(X w + b 1) in (w, b)."""
    w, b = split(objective, x)
    u = objective.loss_derivative(objective.predict(w, b))
    shift = u.sum(axis=0) if objective.fit_intercept else np.zeros_like(b)
    return np.append(objective.design.rmatvec(u), shift)


def gradient(objective: Objective, x: Array) -> Array:
    """The gradient of P in (w, b)."""
    return np.append(*objective.gradient(*split(objective, x)))


def subgradient(objective: Objective, x: Array) -> Array:
    """The subgradient of P that the subgradient method takes."""
    slope = loss_gradient(objective, x)
    slope[: objective.d] += objective.penalty.subgradient(x[: objective.d])
    return slope


def prox(objective: Objective, x: Array, step: float) -> Array:
    """argmin over x' of step Omega(w') + |x' - x|^2 / 2."""
    return np.append(objective.penalty.prox(x[: objective.d], step), x[objective.d :])


def descent_step(objective: Objective) -> Step:
    """x - gamma grad P(x)."""
    return lambda x, gamma: x - gamma * gradient(objective, x)


def proximal_step(objective: Objective) -> Step:
    """prox(x - gamma grad f(x))."""
    return lambda x, gamma: prox(objective, x - gamma * loss_gradient(objective, x), gamma)


def room(*points: Array) -> float:
    """The rounding of a move between points: relative to the move (first to last), and to them."""
    sizes = sum(float(np.linalg.norm(each)) for each in points)
    return ALIKE * float(np.linalg.norm(points[-1] - points[0])) + ROUNDING * sizes


def deviations(statement: str, rows: Sequence[tuple[float, float]]) -> Claim:
    """The claim that points lie where they should: (distance, room) for each iteration."""
    measured, allowed = np.array(rows, dtype=float).reshape(-1, 2).T
    at = np.arange(1, len(measured) + 1)
    return Claim(statement, measured, np.zeros(len(at)), allowed, at, is_rate=False)


def follows(statement: str, run: Trajectory, step: Step) -> Claim:
    """The claim that each iterate is one ``step`` of the length told from the one before."""

    def rows() -> Iterator[tuple[float, float]]:
        for before, after in pairwise(run.replay()):
            x, reached = pack(before), pack(after)
            goal = step(x, float(after.facts.get("step", np.nan)))
            yield float(np.linalg.norm(reached - goal)), room(x, goal, reached)

    return deviations(statement, list(rows()))


# Where the arguments of a bound lie: outside of that the formula has a value, and no theorem.


P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Runnable(Protocol[P, R_co]):
    """A bound of a theorem, which can be called, and run."""

    __name__: str

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
    def simulate(self, *problems: Mapping[str, Any], seeds: int = 100) -> Simulation: ...


class Domain(NamedTuple):
    """A set of numbers: its words, and which entries of an array lie in it."""

    words: str
    holds: Callable[[Any], Any]


POSITIVE = Domain("> 0", lambda v: v > 0.0)
NONNEGATIVE = Domain(">= 0", lambda v: v >= 0.0)
AT_LEAST_ONE = Domain(">= 1", lambda v: v >= 1.0)
PROBABILITY = Domain("in (0, 1)", lambda v: (v > 0.0) & (v < 1.0))
COUNT = Domain("a whole number >= 1", lambda v: (v >= 1.0) & (v == np.floor(v)))
DIMENSION = Domain("a whole number >= 0", lambda v: (v >= 0.0) & (v == np.floor(v)))
REAL = Domain("a number", lambda v: v == v)


def domains(**by_name: Domain) -> Callable[[Callable[P, R]], Runnable[P, R]]:
    """Decorates a bound: raises InputError where an argument lies outside its domain, or is nan.

    Arrays are asked entry by entry. inf is let through: a bound with an infinite constant is inf.
    ``bound.simulate(seeds=100)`` runs its experiments: measured against bound.
    """

    def decorate(call: Callable[P, R]) -> Runnable[P, R]:
        known, owner = signature(call), call.__name__

        @wraps(call)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            given = known.bind(*args, **kwargs).arguments
            for name, domain in by_name.items():
                if name in given:
                    _refuse_outside(given[name], domain, owner, name)
            return call(*args, **kwargs)

        vars(checked)["simulate"] = partial(simulated, owner)
        return cast("Runnable[P, R]", checked)

    return decorate


def _refuse_outside(value: Any, domain: Domain, owner: str, name: str) -> None:
    refuse_masked(value, owner, name)
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iuf":
        raise InputError(f"{owner}: {name} must be {domain.words}, got {value!r}. Pass a number.")
    outside = ~np.asarray(domain.holds(numbers), dtype=bool)
    if outside.any():
        at = np.unravel_index(int(np.argmax(outside)), outside.shape)
        where = f" at entry {', '.join(map(str, at))}" if at else ""
        raise InputError(f"{owner}: {name} must be {domain.words}, got {numbers[at]}{where}.")
