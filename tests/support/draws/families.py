"""Families of problems: each draws a problem from a seed and judges many points of it exactly."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import convexml as cml
import support.draws.absence_draws as absence_draws
import support.draws.conic_draws as conic_draws
import support.draws.infeasible_draws as infeasible_draws
import support.draws.learning_draws as learning_draws
import support.draws.linear_draws as linear_draws
from support.draws.conic_draws import Conic, judge_conic, judge_values
from support.draws.learning_draws import judge_learning, ordinary
from support.draws.linear_draws import judge_linear
from support.exact.exact_judging import Tally

Random = np.random.Generator
TOL = 1e-6
Family = Callable[..., Tally]


def _family(judge: Callable[..., Tally], draw: Callable[[Random, int], tuple[Any, str]]) -> Family:
    """Draw a problem, and what it is called, from a seed, and judge it."""

    def family(seed: int, few: int | None = None) -> Tally:
        rng = np.random.default_rng(seed)
        problem, name = draw(rng, seed)
        return judge(rng, problem, f"seed {seed}: {name}", TOL, few)

    return family


def _told(problem: learning_draws.Learning) -> tuple[learning_draws.Learning, str]:
    return problem, f"{problem.loss}, {problem.penalty}, intercept {problem.intercept}"


def _learning(change: Callable[..., learning_draws.Learning]) -> Family:
    return _family(judge_learning, lambda rng, _: _told(change(rng, ordinary(rng))))


def _interpolating(rng: Random, seed: int) -> tuple[learning_draws.Learning, str]:
    """Hard margins and interpolation far from 0: claims of infeasibility."""
    loss = ("hard_margin",) if rng.random() < 0.5 else ("interpolation",)
    problem = learning_draws.offset(rng, ordinary(rng, loss, ("l2", 1.0)), 11.0)
    return _told(learning_draws.dependent(rng, problem) if rng.random() < 0.3 else problem)


def _bordering(rng: Random, seed: int) -> tuple[learning_draws.Learning, str]:
    """Constraints that are met by a hair, or missed by one."""
    names = list(infeasible_draws.FAMILIES)
    name = names[seed % len(names)]
    problem = infeasible_draws.FAMILIES[name](rng).problem
    return problem, f"{name}, {problem.penalty}"


def _linear(names: tuple[str, ...], rescaled: float) -> Family:
    def draw(rng: Random, seed: int) -> tuple[linear_draws.Linear, str]:
        name = names[seed % len(names)]
        problem = (linear_draws.DRAWS | absence_draws.LINEAR)[name](rng)
        if rng.random() < rescaled:
            return linear_draws.rescaled(rng, problem), f"{name}, rescaled"
        return problem, name

    return _family(judge_linear, draw)


def _conic(*names: str) -> Family:
    def draw(rng: Random, seed: int) -> tuple[Conic, str]:
        name = names[seed % len(names)]
        return conic_draws.DRAWS[name](rng), name

    return _family(judge_conic, draw)


def _cvxpy(draw: Callable[[Random], Conic], judge: Callable[..., Tally]) -> Family:
    return _family(judge, lambda rng, _: (draw(rng), draw.__name__))


def _absent(draw: Callable[[Random], Conic]) -> Family:
    """Claims of absence are judged as well."""
    return _cvxpy(draw, judge_claims)


def judged(name: str, seeds: Iterable[int], few: int | None = None) -> Tally:
    """All draws of these seeds; a few of the points of each, or all."""
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            try:
                tally.add(FAMILIES[name](seed, few))
            except Exception as error:
                error.add_note(f"while judging {name!r}, seed {seed}")
                raise
    return tally


def assert_honest(name: str, seeds: Iterable[int], few: int = 5) -> Tally:
    """No crime among these draws; the tally, for what should be useful as well."""
    tally = judged(name, seeds, few)
    crimes = "\n".join(f"{crime} | {where}" for crime, where in tally.crimes[:10])
    assert not tally.crimes, f"{len(tally.crimes)} of {tally.judged}:\n{crimes}"
    return tally


def judge_claims(
    rng: Random, drawn: Conic, where: str, tol: float = 1e-6, few: int | None = None
) -> Tally:
    """``judge_conic``, and what ``cml.certify`` makes of every claim of absence."""
    tally = judge_conic(rng, drawn, where, tol, few)
    leaves = [leaf for c in drawn.problem.constraints for leaf in c.dual_variables]
    cases = [(claim, passed) for claim in ("infeasible", "unbounded") for passed in (False, True)]
    for claim, passed in cases if few is None else [cases[int(rng.integers(4))]]:
        drawn.x.save_value(None)
        for leaf in leaves:
            leaf.save_value(rng.integers(0, 4, leaf.shape) * 1.0 if passed else None)
        drawn.problem._status = claim
        found = tally.asked(f"{where}, {claim}", cml.certify, drawn.problem, tol=tol)
        if found is None:
            continue
        tally.claim(found, drawn.truth, f"{where}, {claim}")
    drawn.problem._status = None
    return tally


def judge_multipliers(
    rng: Random, drawn: Conic, where: str, tol: float = 1e-6, few: int | None = None
) -> Tally:
    """Points with multipliers that are any few steps beside one another, at 1e3 ... 1e18."""
    tally = Tally()
    if drawn.best is None:
        return tally
    leaves = [leaf for c in drawn.problem.constraints for leaf in c.dual_variables]
    for k in range(few or 8):
        K, step = 10.0 ** rng.uniform(3, 18), rng.choice([0.0, 0.5, 1.0, 3.0])
        at = drawn.best + (k % 4 > 0) * rng.integers(0, 3, drawn.best.shape)
        at = at * 10.0 ** rng.uniform(0, 12) if k % 4 == 3 else at
        drawn.x.save_value(at)
        for leaf in leaves:
            picked = rng.choice([0.0, 1.0, 1.0], leaf.shape)
            leaf.save_value(picked * (K + step * rng.integers(0, 3, leaf.shape)))
        found = tally.asked(f"{where}, {k}", cml.certify, drawn.problem, tol=tol)
        if found is not None:
            judge_values(tally, drawn, found, f"{where}, {k}")
    return tally


FAMILIES: dict[str, Family] = {
    "learning: ordinary": _learning(lambda rng, problem: problem),
    "learning: offsets": _learning(learning_draws.offset),
    "learning: units": _learning(learning_draws.rescaled),
    "learning: offsets and units": _learning(
        lambda rng, problem: learning_draws.rescaled(rng, learning_draws.offset(rng, problem))
    ),
    "learning: rank": _learning(learning_draws.dependent),
    "learning: hard margin, interpolation": _family(judge_learning, _interpolating),
    "learning: feasible by a hair, or not": _family(judge_learning, _bordering),
    "linear: multipliers that may grow": _linear(("opposite", "solvable", "game"), 0.3),
    "linear: far points": _linear(("far",), 0.3),
    "linear: other units": _linear(("solvable", "game", "anything"), 1.0),
    "linear: almost feasible": _linear(("almost",), 0.3),
    "linear: contradictions": _linear(("contradicting", "open ended", "falling"), 0.3),
    "linear: anything": _linear(("anything",), 0.0),
    "CVXPY: programs": _conic("linear", "curved"),
    "CVXPY: cones": _conic("second order", "exponentials", "largest eigenvalue"),
    "CVXPY: regression": _conic("least squares", "logistic"),
    "CVXPY: however tiny": _absent(absence_draws.however_tiny),
    "CVXPY: contradictions": _absent(absence_draws.contradictory),
    "CVXPY: open ended": _absent(absence_draws.endless_if_feasible),
    "CVXPY: touching": _absent(absence_draws.touching),
    "CVXPY: rays": _absent(absence_draws.leaking),
    "CVXPY: hardly curved": _absent(absence_draws.flat),
    "CVXPY: hyperbolas": _absent(absence_draws.hyperbola),
    "CVXPY: multipliers without end": _cvxpy(absence_draws.endless, judge_multipliers),
}
