"""Grade a student's solver: its steps against the page, its theorem, its draws, its answer."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

import numpy as np

from ..certificates.certificate import Certificate, Verdict
from ..errors import InputError, instead
from ..models.rate_audit import hold, reference_of
from ..numerics import EPS, Array
from ..solvers.driver import Iterate
from ..solvers.printed import PREFIX, Printed, level
from ..solvers.registry import ALGORITHMS, supports
from ..validation import nonnegative_integer
from .mistakes import KINDS, Parts, mistakes, pull_of, slopes_of

# What a student wrote: the arguments it asks for, and the iterates that it yields.


HYPERPARAMETERS = ("C", "radius", "delta", "eps", "tau")


def arguments(page: Printed, problem: Any, step: Any, seed: int) -> dict[str, Any]:
    """What a solver may ask for, by the names of its parameters."""
    objective = page.objective
    known = {
        "X": page.X[:, :-1].copy(),
        "y": objective.y.copy(),
        "lam": level(objective),
        "n": objective.n,
        "d": objective.d,
        "w": np.zeros(objective.d),
        "b": 0.0,
        "step": step,
        "rho": step,
        "seed": seed,
        "rng": np.random.default_rng(seed),
        "problem": problem,
    }
    return known | {n: getattr(problem, n) for n in HYPERPARAMETERS if hasattr(problem, n)}


def iterates(
    solver: Callable[..., Any], page: Printed, known: dict[str, Any], count: int
) -> tuple[list[Array], str]:
    """The first points (w, b), at most ``count``, and what the solver raised, in words."""
    asked = inspect.signature(solver).parameters
    wanted = [p for p in asked.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    missing = [p.name for p in wanted if p.name not in known and p.default is p.empty]
    if missing:
        raise InputError(
            f"grade: the solver has a parameter {missing[0]!r}; it may ask for "
            f"{', '.join(name for name in known if name != 'asked')}.{instead(missing[0], known)}"
        )
    points: list[Array] = []
    told = ""
    with np.errstate(all="ignore"):
        try:
            run = solver(**{p.name: known[p.name] for p in wanted if p.name in known})
            if not isinstance(run, Iterator):
                raise InputError(
                    f"grade: the solver must be a generator of iterates (w, or w and b); it "
                    f"returned {type(run).__name__}. Write yield where an iterate is reached."
                )
            for point in islice(run, count):
                points.append(packed(point, page))
        except InputError:
            raise
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
    return points, told


def packed(point: Any, page: Printed) -> Array:
    """(w, b) as one new array; b is 0 where it was not yielded."""
    d = page.objective.d
    if isinstance(point, tuple) and len(point) == 2:
        x = np.append(np.ravel(np.asarray(point[0], dtype=float)), float(point[1]))
    else:
        x = np.array(point, dtype=float).ravel()
        x = np.append(x, 0.0) if len(x) == d else x
    if len(x) != d + 1:
        raise InputError(
            f"grade: an iterate must be w of {d} numbers, or (w, b); it has {np.size(x)} numbers."
        )
    return x


# Draws of single samples: whether they are uniform, by bounds with a stated level.


LEVEL = 1e-6
"""Of a false accusation, over all that is looked at here."""


def complaints(draws: Sequence[Array], y: Array) -> Iterator[tuple[str, str]]:
    """What is not uniform about the draws, with its name.

    Of each draw all samples that explain it are given; where they are several, nobody knows which.
    For a set A of samples, the number of known draws in A less its expectation is a martingale with
    steps of at most 1: it exceeds sqrt(2 N log(2 / level)) with probability level at most (Azuma).
    """
    n = len(y)
    known = [int(found[0]) if len(found) == 1 else -1 for found in draws]
    sure = [i for i in known if i >= 0]
    follow = [(a, b) for a, b in pairwise(known) if a >= 0 and b >= 0]
    enough = math.ceil(math.log(1.0 / LEVEL) / math.log(n)) + 1 if n > 1 else len(known) + 1
    if len(follow) >= enough and all((a + 1) % n == b for a, b in follow):
        yield "in order", "the samples are taken in order, not drawn"
        return
    first, chance = sure[:n], 1.0
    for k in range(len(first)):
        chance *= 1.0 - k / n
    if chance < LEVEL and len(set(first)) == len(first):
        words = "the first draws never repeat: samples are reshuffled, not drawn with replacement"
        yield "reshuffled", words
        return
    ambiguous = [set(map(int, found)) for found in draws if len(found) > 1]
    free = len(ambiguous) / max(len(draws), 1)
    room = math.sqrt(2.0 * len(draws) * math.log(2.0 * len(sets_of(y)) / LEVEL))
    for words, A in sets_of(y):
        inside = sum(i in A for i in sure)
        expected = sum(len(A) / n for _ in sure) if not ambiguous else np.nan
        if free == 0.0 and abs(inside - expected) > room:
            yield (
                "not uniform",
                f"{inside} of {len(sure)} draws are {words}: uniform ones {expected:.0f}",
            )
            return


def sets_of(y: Array) -> list[tuple[str, set[int]]]:
    """Sets of samples whose share of the draws is known beforehand."""
    n = len(y)
    return [
        ("in the first half of the samples", set(range(n // 2))),
        ("of even number", set(range(0, n, 2))),
        ("in the first tenth of the samples", set(range(max(n // 10, 1)))),
        ("of y > 0", set(map(int, np.flatnonzero(y > 0.0)))),
    ]


FIRST, DRAWN, SEEDS = 10, 600, 2000
"""Steps that are compared with the page, draws that are looked at, and runs behind a mean."""
OTHER, UNDECIDED = "other steps", "not decided"
FREE = ("gradient_descent", "subgradient", "averaged_subgradient", "sgd", "averaged_sgd")
"""Kinds whose step can be read off a move."""
SINGULAR = 1e9
"""A condition from which on a Newton step is no longer compared."""
NEAR = 1e-6
"""Two steps are the same up to this share of them: student's sums have another order."""


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    Attributes
    ----------
    name : str
        Of the mistake, or of what was looked at.
    words : str
        A sentence with its numbers.
    is_wrong : bool
        Whether it is a mistake; else it is told only.
    """

    name: str
    words: str
    is_wrong: bool = True


@dataclass(frozen=True)
class Grade:
    """What became of a student's solver.

    Attributes
    ----------
    kind : str
        What it was held to.
    findings : tuple of Finding
        Mistakes first.
    certificate : Certificate or None
        Of the last iterate.
    """

    kind: str
    findings: tuple[Finding, ...]
    certificate: Certificate | None

    @property
    def passed(self) -> bool:
        """Whether no mistake was found, and either the steps or the answer could be judged."""
        return not self.mistakes and all(each.name != UNDECIDED for each in self.findings)

    @property
    def mistakes(self) -> tuple[str, ...]:
        """The names of the mistakes."""
        return tuple(each.name for each in self.findings if each.is_wrong)

    def __str__(self) -> str:
        head = "a mistake was found" if self.mistakes else "not decided"
        head = f"{self.kind}: " + ("no mistake was found" if self.passed else head)
        lines = [head, *(f"  {each.words}" for each in self.findings)]
        return "\n".join(lines)


def grade(
    solver: Callable[..., Any],
    problem: Any,
    *,
    kind: str | None = None,
    step: float | Callable[[int], float] | None = None,
    draws: str = "uniform",
    iterations: int = 200,
    seed: int = 0,
    tol: float = 1e-6,
) -> Grade:
    """Hold a solver of one's own to the page: first steps, theorem, draws, and the final answer.

    Each of the first ten steps is compared with that of ``convexml.textbook`` from the same point.
    Where they differ, each of some 80 mistakes is made on purpose: the first one that explains all
    steps is named. A right step is then held to the descent lemma, and the last point certified.

    Parameters
    ----------
    solver : callable
        A generator of iterates: w, (w, b), or both in one array. It is called with what its
        parameters ask for by name: X, y, lam, C, radius, n, d, w, b, step, rho, seed, rng,
        problem.
    problem : learning problem
        With predictions of one number, such as ``cml.Ridge(X, y, 0.1)``.
    kind : str, optional
        "gradient_descent", "accelerated_gradient", "proximal_gradient", "fista", "subgradient",
        "averaged_subgradient", "newton", "sgd", "averaged_sgd", "pegasos", "coordinate_descent" or
        "admm"; by default the name of the function.
    step : float or callable, optional
        The declared step, or t -> step; rho of ADMM, 0.5 by default. By default 1/L; of gradient
        descent, the subgradient method and sgd that have no parameter ``step``, whatever positive
        step is taken. Newton's method, Pegasos and coordinate descent have none.
    draws : str
        "uniform", or "shuffled" where samples are reshuffled each epoch, for sgd.
    iterations : int
        How many are run.
    seed : int
        What ``seed`` and ``rng`` are made of.
    tol : float
        Of the final certificate.

    Returns
    -------
    Grade
        ``passed``, ``mistakes`` by name, ``findings`` in words, ``certificate``.

    Raises
    ------
    InputError
        For a kind that is not known or does not suit the problem, a parameter that nobody can
        fill, and what is no generator of iterates.

    Examples
    --------
    >>> import numpy as np, convexml as cml
    >>> X, y = np.eye(3), np.array([1.0, 2.0, 3.0])
    >>> def gradient_descent(X, y, lam, step):
    ...     w = np.zeros(3)
    ...     while True:
    ...         yield w
    ...         w = w - step * (X.T @ (X @ w - y) + lam * w)
    >>> print(cml.grade(gradient_descent, cml.Ridge(X, y, 0.1, fit_intercept=False)).mistakes)
    ('sum',)
    """
    kind = getattr(solver, "kind", getattr(solver, "__name__", "")) if kind is None else kind
    if kind not in KINDS:
        raise InputError(
            f"grade: kind must be one of {', '.join(KINDS)}, got {kind!r}. Name the function so, "
            f"or pass kind=.{instead(kind, KINDS)}"
        )
    known_kind = KINDS[kind]
    suits, reason = supports(PREFIX + (known_kind.page or kind), problem)
    if not suits:
        raise InputError(f"grade: {reason}")
    iterations = nonnegative_integer(iterations, "grade", "iterations")
    page = Printed(problem.objective_parts)
    L = float(known_kind.L(page.objective)) if known_kind.L else np.nan
    usual = known_kind.usual or (1.0 / L if 0.0 < L < np.inf else 1.0)
    declared = getattr(solver, "step", step) if step is None else step
    known = arguments(page, problem, usual if declared is None else declared, seed)
    known["asked"] = inspect.signature(solver).parameters
    is_free = declared is None and not (
        {"step", "rho"} & set(known["asked"]) or known_kind.is_fixed
    )
    if is_free and kind not in FREE:
        raise InputError(
            f"grade: the step of {kind} is not known. Pass step=, or give the solver a parameter "
            f"step{' or rho' * (kind == 'admm')}: it gets {usual:.6g}."
        )
    rule = declared if callable(declared) else lambda k: usual if declared is None else declared
    forms = [form(page, rule) for form in (known_kind.parts, *known_kind.also)]
    count = max(iterations, DRAWN if forms[0].is_sampled else 0) + 1
    xs, raised = iterates(solver, page, known, count)
    found = Steps(forms, page, xs, is_free, known_kind.reads)
    named = list(found.findings())
    findings = [*named, *_broken(xs, raised)]
    if any(each.name == OTHER for each in named):
        if is_free:
            words = "declare your step, or take a parameter step: then more can be said"
            findings.append(Finding("step unknown", words, is_wrong=False))
        elif kind == "sgd":
            findings += _mean_step(solver, page, known, rule(0))
        elif kind in WITH_RATE:
            findings += _theorem(problem, kind, page, xs, rule(0))
    elif kind == "gradient_descent" and not any(each.is_wrong for each in findings):
        findings += _descent(page, xs, found.steps, L)
    elif forms[0].is_sampled and not any(each.is_wrong for each in findings):
        told = complaints(found.drawn, page.objective.y)
        findings += [Finding(*each, is_wrong=draws != "shuffled") for each in told]
    certificate = None
    if xs and np.all(np.isfinite(xs[-1])):
        certificate = problem.certify(*page.split(xs[-1]), tol=tol)
        findings += _answer(page, xs, certificate)
    is_certified = certificate is not None and certificate.verdict is Verdict.CERTIFIED
    if kind in BY_STEPS and not is_certified and any(each.name == OTHER for each in findings):
        words = "neither the steps nor the answer could be judged: this is no word for them"
        findings.append(Finding(UNDECIDED, words, is_wrong=False))
    findings.sort(key=lambda each: not each.is_wrong)
    return Grade(kind, tuple(findings), certificate)


def _broken(xs: Sequence[Array], raised: str) -> Iterator[Finding]:
    """What ended a run, and the first iterate that is not finite."""
    if raised:
        yield Finding("raised", f"after {len(xs)} iterates the solver raised {raised}")
    if len(xs) < 2 and not raised:
        yield Finding("no steps", f"the solver yielded {len(xs)} iterates: it must go on")
    at = next((k for k, x in enumerate(xs) if not np.all(np.isfinite(x))), None)
    if at is not None:
        yield Finding("not finite", f"iterate {at} is not finite")


def _answer(page: Printed, xs: Sequence[Array], certificate: Certificate) -> Iterator[Finding]:
    """How near the last point is to the optimum; that f left the floats; that b is missing."""
    if not np.isfinite(certificate.primal_objective):
        yield Finding("diverges", f"f is {certificate.primal_objective} at iterate {len(xs) - 1}")
    words = (
        f"the last iterate, {len(xs) - 1}, is within {certificate.relative_gap:.2g} of the "
        "optimum, relative"
    )
    yield Finding("answer", words, is_wrong=False)
    if page.objective.fit_intercept and not any(x[-1] for x in xs):
        words = "b is 0 in every iterate, and the problem has an intercept: yield (w, b)"
        yield Finding("no b", words, is_wrong=False)


BY_STEPS = ("coordinate_descent", "admm", "pegasos", "averaged_sgd", "averaged_subgradient")
"""Kinds that nothing but their steps and their answer is held to."""
WITH_RATE = ("gradient_descent", "accelerated_gradient", "proximal_gradient", "fista")
"""Kinds whose theorem bounds f(x_t) - f* by the step alone."""


@dataclass(frozen=True)
class StudentRun:
    """What a student yielded, as a run that theorems can be held to."""

    objective: Any
    solver: str
    points: tuple[Iterate, ...]
    seed: int = 0

    def first(self, count: int, seed: int | None = None) -> Iterator[Iterate]:
        """The first ``count`` iterates."""
        return islice(self.points, count)


def _theorem(
    problem: Any, kind: str, page: Printed, xs: Sequence[Array], step: float
) -> Iterator[Finding]:
    """What the theorem of the kind forbids, of other steps than those of the page."""
    theorem, facts = ALGORITHMS[PREFIX + kind].theorem, {"step": step, "restarted_at": 0.0}
    points = tuple(Iterate(*page.split(x), None, 0.0, facts) for x in xs)
    if theorem is None or not all(np.all(np.isfinite(x)) for x in xs):
        return
    run: Any = StudentRun(page.objective, kind, points)
    with np.errstate(all="ignore"):
        audit = hold(theorem, run, len(xs) - 1, reference_of(problem, page.objective))
    audit = replace(audit, claims=tuple(claim for claim in audit.claims if claim.is_rate))
    if audit.unmet or audit.silences:
        words = "no theorem: " + "; ".join((*audit.unmet, *audit.silences))
        yield Finding("no theorem", words, is_wrong=False)
    elif audit.holds is False:
        words = f"its theorem, with the step gamma, is broken at {audit.first_violation}"
        yield Finding("theorem", words)


def _mean_step(
    solver: Callable[..., Any], page: Printed, known: dict[str, Any], step: float
) -> Iterator[Finding]:
    """Whether the mean of first steps is that of the full gradient: Hoeffding, coordinatewise.

    A mean of sample gradients lies in their range R_j: over N seeds its mean is off by more than
    R_j sqrt(log(2 (d + 1) / level) / (2 N)) with probability level at most.
    """
    if "seed" not in known["asked"] and "rng" not in known["asked"]:
        words = "take a parameter seed or rng: then the mean of many first steps can be tested"
        yield Finding("one run", words, is_wrong=False)
        return
    runs = [
        iterates(solver, page, known | {"seed": seed, "rng": np.random.default_rng(seed)}, 2)[0]
        for seed in range(SEEDS)
    ]
    start = runs[0][0]
    if not all(len(xs) == 2 and np.array_equal(xs[0], start) for xs in runs):
        words = "yield the start first, and a step after it: then many first steps can be tested"
        yield Finding("other starts", words, is_wrong=False)
        return
    moves = [(xs[0] - xs[1]) / step for xs in runs]
    rows = slopes_of(page)(start) + pull_of(page)(start)
    spread = np.max(rows, axis=0) - np.min(rows, axis=0)
    room = spread * np.sqrt(np.log(2.0 * len(start) / LEVEL) / (2.0 * len(moves)))
    off = np.abs(np.mean(moves, axis=0) - rows.mean(axis=0))
    j = int(np.argmax(off - room))
    if off[j] > room[j] + NEAR * float(np.max(np.abs(rows))):
        where = "b" if j == len(off) - 1 else f"w[{j}]"
        words = (
            f"the mean of {len(moves)} first steps is off by {off[j]:.2g} in {where}, of at most "
            f"{room[j]:.2g} by chance: the stochastic gradient is biased"
        )
        yield Finding("biased", words)


READINGS: dict[str, tuple[str, Callable[[list[Array]], list[Array]]]] = {
    "not averaged": ("the points are yielded, not their means", lambda xs: xs),
    "averaged": (
        "means of the points are yielded, where the points were declared",
        lambda xs: [(k + 1) * x - k * xs[max(k - 1, 0)] for k, x in enumerate(xs)],
    ),
    "averaged without the start": (
        "means of the points after the start are yielded, where the points were declared",
        lambda xs: [xs[0], *(k * b - (k - 1) * a for k, (a, b) in enumerate(pairwise(xs), 1))],
    ),
    "averaged by halves": (
        "half of each new and of the last mean is yielded: that is no mean of the points",
        lambda xs: [xs[0], *(2.0 * b - a for a, b in pairwise(xs))],
    ),
    "summed": (
        "the sum of the points is yielded: it is not divided by their number",
        lambda xs: [xs[0], *(b - a for a, b in pairwise(xs))],
    ),
}
"""What the points are if those that were yielded are something else, and its words."""


class Steps:
    """A student's first steps beside those of the page and of each mistake."""

    def __init__(
        self, forms: Sequence[Any], page: Printed, xs: list[Array], is_free: bool, reads: Any = ()
    ) -> None:
        self.forms, self.page, self.is_free, self.reads = forms, page, is_free, reads
        self.xs = [x for x in xs if np.all(np.isfinite(x))]
        self.steps: list[float] = []
        self.drawn: list[Array] = []

    def findings(self) -> Iterator[Finding]:
        """The page's steps, a mistake by name, or that they are neither."""
        if len(self.xs) < 2:
            return
        right = [self.read(name, self.xs) for name in self.reads]
        for each in right:
            if any(each.explained(form) for form in self.forms):
                self.steps, self.drawn = each.steps, each.drawn
                words = f"the first {min(len(self.xs) - 1, FIRST)} steps are those of the page"
                yield Finding("page", words, is_wrong=False)
                return
        ahead = [self.read(name, [0.0 * self.xs[0], *self.xs]) for name in self.reads]
        if self.xs[0].any() and any(e.explained(form) for e in ahead for form in self.forms):
            yield Finding(
                "page", "the steps are those of the page; the start was not yielded", False
            )
            return
        for form in self.forms:
            for name, told, altered in mistakes(form, self.page):
                if any(each.explained(altered) for each in right):
                    yield Finding(name, told)
                    return
        for name, (words, _) in READINGS.items():
            other = self.read(name, self.xs)
            if name not in self.reads and any(other.explained(form) for form in self.forms):
                yield Finding(name, words)
                return
        words = "the first steps are not those of the page, and no known mistake explains them"
        yield Finding(OTHER, words, is_wrong=False)

    def read(self, name: str, xs: list[Array]) -> Steps:
        """The same with what was yielded read as something else."""
        return Steps(self.forms, self.page, READINGS[name][1](xs), self.is_free)

    def explained(self, parts: Any) -> bool:
        """Whether every one of the first steps is that of ``parts``."""
        count = min(len(self.xs) - 1, DRAWN if parts.is_sampled else FIRST)
        self.steps, self.drawn = [], []
        moved = False
        for k in range(count):
            if k and parts.hessian and not np.linalg.cond(parts.hessian(self.xs[k])) <= SINGULAR:
                break  # rounding decides
            scale = float(np.linalg.norm(self.xs[k + 1] - self.xs[k]))
            room = NEAR * scale + 64.0 * EPS * (k + 1.0) * (
                1.0 + float(np.max(np.abs(self.xs[k + 1])))
            )
            with np.errstate(all="ignore"):
                nearest = self.free(parts, k) if self.is_free else self.fixed(parts, k)
            apart = np.linalg.norm(nearest - self.xs[k + 1], axis=-1)
            there = np.flatnonzero(np.atleast_1d(apart) <= room)
            if not there.size:
                return False
            moved = moved or scale > 0.0
            self.drawn.append(there)
        return moved or not self.is_free

    def fixed(self, parts: Parts, k: int) -> Array:
        """The next point, or those of all draws, by the declared step."""
        self.steps.append(parts.step(k))
        return parts.next(self.xs, k)

    def free(self, parts: Parts, k: int) -> Array:
        """The next point by the step, if it is positive, that comes nearest."""
        y, along = parts.direction(self.xs, k)
        move = y - self.xs[k + 1]
        square = np.sum(along * along, axis=-1)
        taken = np.sum(along * move, axis=-1) / np.where(square > 0.0, square, 1.0)
        step = np.maximum(taken * np.sign(parts.step(k)), 0.0) * np.sign(parts.step(k))
        self.steps.append(float(step) if np.ndim(step) == 0 else np.nan)
        return parts.prox(y - np.expand_dims(step, -1) * along, 1.0)


def _descent(
    page: Printed, xs: Sequence[Array], steps: Sequence[float], L: float
) -> Iterator[Finding]:
    """The first step that the descent lemma forbids, or that is too long for it."""
    with np.errstate(all="ignore"):
        values = [page.value(x) for x in xs[: len(steps) + 1]]
    for k, s in enumerate(steps):
        rise = values[k + 1] - values[k]
        if not rise > 1e-9 * abs(values[k]):
            continue
        if s * L > 2.0:
            words = (
                f"iterate {k + 1} increases f by {rise:.2g}: your step {s:.3g} is above 2/L, and "
                f"L here is {L:.3g}"
            )
            yield Finding("step above 2/L", words)
        else:
            words = (
                f"iterate {k + 1} increases f by {rise:.2g}: with a step of at most 2/L it cannot "
                f"(descent lemma). L here is {L:.3g}, your step {s:.3g}"
            )
            yield Finding("descent lemma", words)
        return
