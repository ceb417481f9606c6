"""What was read of a CVXPY problem is not trusted: each planted misreading is noticed.

A fault changes a reading, or what was posed of it, and says whether there was anything to change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.sizes import by_turns
from support.spellings import DUALS, STATEMENTS, TRENDS

import convexml as cml
from convexml.bridge.recognition.affine import Affine
from convexml.bridge.recognition.atoms import read_objective
from convexml.bridge.recognition.constraints import EntryBounds, SampleRows
from convexml.bridge.recognition.duals import pose_dual
from convexml.bridge.recognition.elimination import read_constraints
from convexml.bridge.recognition.maps import Declined
from convexml.bridge.recognition.posing import pose
from convexml.bridge.recognition.slacks import Slack
from convexml.bridge.recognition.softmax import pose_scores
from convexml.bridge.recognition.trends import pose_trend

Fault = Callable[[Any], bool]
SMALL = 1e-6


def one(items: list[Any], change: Callable[[Any], Any]) -> bool:
    """Change the first of the items that can be changed."""
    for number, item in enumerate(items):
        changed = change(item)
        if changed is not None:
            items[number] = changed
            return True
    return False


def row(size: int, factor: float, at: int = -1) -> np.ndarray:
    factors = np.ones(size)
    factors[at] = factor
    return factors


def weighted(term: Any, factor: float, at: int = -1) -> Any:
    """The term with another weight of one row."""
    return replace(term, weight=term.weight * row(term.weight.size, factor, at))


def scaled(term: Any, factor: float) -> Any:
    """The term with its last row times a factor."""
    return replace(term, affine=term.affine.scaled(row(term.affine.size, factor)))


def assigned(owner: Any, **values: Any) -> bool:
    for name, value in values.items():
        setattr(owner, name, value)
    return True


# -- of the objective ------------------------------------------------------------------------------


def entry(term: Any) -> Any:
    for key, each in term.affine.maps.items():
        if isinstance(each.matrix, np.ndarray):
            matrix = each.matrix.copy()
            matrix[-1, -1] += 1e-4
            maps = term.affine.maps | {key: replace(each, matrix=matrix)}
            return replace(term, affine=replace(term.affine, maps=maps))
    return None


def exchanged(term: Any) -> Any:
    order = np.arange(term.affine.size)
    if order.size < 2 or term.groups is not None:
        return None
    order[[0, 1]] = order[[1, 0]]
    return replace(term, affine=term.affine.taken(order))


def shifted(term: Any, step: float) -> Any:
    offset = term.affine.offset + step * (row(term.affine.size, 2.0) - 1.0)
    return replace(term, affine=replace(term.affine, offset=offset))


def form_entry(term: Any) -> Any:
    if term.kind != "form":
        return None
    matrix = np.array(term.matrix)
    matrix[2, 2] += 1e-5
    return replace(term, matrix=matrix)


def forgotten(reading: Any) -> bool:
    known, reading.constraints = len(reading.constraints), list(reading.constraints)[:-1]
    return known > 0


OTHER = {"square": "abs", "abs": "square", "ramp": "squared ramp", "squared ramp": "ramp",
         "logistic": "ramp", "exp": "logistic", "huber": "square", "tube": "abs"}  # fmt: skip
RAMPS = ("ramp", "logistic", "exp", "squared ramp")
COMMON: dict[str, Fault] = {
    "weight": lambda r: one(r.terms, lambda t: replace(t, weight=t.weight * (1.0 + SMALL))),
    "scaled row": lambda r: one(r.terms, lambda t: scaled(t, 1.0 + 1e-4)),
    "dropped term": lambda r: len(r.terms) > 1 and bool(r.terms.pop(0).weight.any()),
    "line": lambda r: one(
        r.linear, lambda t: weighted(t, 1.0 + 1e-4, 0) if t.weight.flat[0] else None
    ),
    "constant": lambda r: assigned(r, constant=r.constant + 1e-3),
    "sign": lambda r: assigned(r, sign=-r.sign),
    "forgotten constraint": forgotten,
}
READING = COMMON | {
    "weight of a row": lambda r: one(r.terms, lambda t: weighted(t, 1.0 + 1e-4)),
    "dropped row": lambda r: one(r.terms, lambda t: weighted(t, 0.0)),
    "target": lambda r: one(r.terms, lambda t: shifted(t, SMALL)),
    "flipped row": lambda r: one(r.terms, lambda t: scaled(t, -1.0) if t.kind in RAMPS else None),
    "exchanged rows": lambda r: one(r.terms, exchanged),
    "entry of the design": lambda r: one(r.terms, entry),
    "level": lambda r: one(
        r.terms, lambda t: replace(t, level=t.level * (1.0 + 1e-4)) if t.level else None
    ),
    "kind": lambda r: one(
        r.terms, lambda t: replace(t, kind=OTHER[t.kind]) if t.kind in OTHER else None
    ),
}

# -- of constraints, after they were read ----------------------------------------------------------


def bounded(reading: Any) -> Iterator[tuple[dict[Any, Any], Any, float]]:
    for each in reading.sets:
        if isinstance(each, EntryBounds):
            if each.above.any():
                yield reading.upper, each.key, 1e-4
            if each.below.any():
                yield reading.lower, each.key, -1e-4


def wider(reading: Any) -> bool:
    ends, key, step = next(bounded(reading), ({}, None, 0.0))
    ends[key] = ends.get(key, 0.0) + step
    return key is not None


def unbounded(reading: Any) -> bool:
    return any(ends.pop(key, None) is not None for ends, key, _ in list(bounded(reading))[:1])


def attribute(reading: Any) -> bool:
    if any(reading.constraints):
        return False
    return bool(reading.lower.popitem() if reading.lower else reading.upper)


def invented(reading: Any) -> bool:
    for key, variable in reading.remaining.items():
        if key not in reading.lower and not reading.balls:
            reading.lower[key] = np.full(variable.size, -0.5)
            return True
    return False


def margins(reading: Any, change: Callable[[Any], Any]) -> bool:
    """The set and the term that it became agree, and are not what stands there."""
    for each in reading.sets:
        if isinstance(each, SampleRows):
            number = next(k for k, term in enumerate(reading.terms) if term is each.term)
            reading.terms[number] = each.term = change(each.term)
            return True
    return False


def slacks(reading: Any, change: Callable[[Any, str, Any], Any]) -> bool:
    """The same of the bounds of a slack."""
    for slack in reading.eliminated:
        for role, term in slack.terms.items() if isinstance(slack, Slack) else ():
            number = next((k for k, each in enumerate(reading.terms) if each is term), None)
            changed = None if number is None else change(slack, role, term)
            if changed is not None:
                reading.terms[number] = slack.terms[role] = changed
                return True
    return False


def by(term: Any, step: float) -> tuple[Any, Any]:
    shift = Affine(term.affine.size, {}, np.full(term.affine.size, step))
    return replace(term, affine=term.affine + shift), shift


def line_of_a_slack(slack: Any, _: str, term: Any) -> Any:
    if len(slack.bounds.lines) != 1 or slack.squares:
        return None
    moved, shift = by(term, -1e-3)
    slack.bounds.lines[0] = slack.bounds.lines[0] + shift
    return moved


def floor_of_a_slack(reading: Any) -> bool:
    def change(slack: Any, role: str, term: Any) -> Any:
        floor = slack.bounds.floor
        if role != "first" or term.kind != "ramp" or slack.squares:
            return None
        if len(slack.bounds.lines) != 1 or not np.isfinite(floor).all():
            return None
        slack.bounds.floor = floor - 1e-3
        reading.constant -= 1e-3 * float(slack.cost.sum())
        return by(term, 1e-3)[0]

    return slacks(reading, change)


CONSTRAINTS: dict[str, Fault] = {
    "wider bound": wider,
    "no bound": unbounded,
    "forgotten attribute": attribute,
    "invented bound": invented,
    "larger ball": lambda r: one(r.balls, lambda b: replace(b, radius=b.radius * (1.0 + SMALL))),
    "other ball": lambda r: one(r.balls, lambda b: replace(b, order=3 - b.order)),
    "margin of a row": lambda r: margins(r, lambda t: shifted(t, -1e-4)),
    "forgotten margin": lambda r: margins(r, lambda t: weighted(t, 0.0, 0)),
    "cost of a slack": lambda r: slacks(
        r, lambda _, __, t: replace(t, weight=t.weight * (1.0 + SMALL))
    ),
    "line of a slack": lambda r: slacks(r, line_of_a_slack),
    "floor of a slack": floor_of_a_slack,
}

# -- of the dual that is posed ---------------------------------------------------------------------


def another(posed: Any, **changed: Any) -> bool:
    """Pose another learning problem in the place of the one that was read."""
    if posed.is_kernel:
        return False
    parts = posed.problem.objective_parts
    known = {"X": posed.X, "y": parts.y, "loss": parts.loss, "penalty": parts.penalty}
    known |= {"fit_intercept": parts.fit_intercept, "sample_weight": parts.c} | changed
    posed.problem = cml.LearningProblem(**known, loss_scale="sum")
    return True


def label(posed: Any) -> bool:
    y = posed.problem.sample_parts.y.copy()
    y[3] = -y[3]
    return y[3] != 0.0 and another(posed, y=y)


LOSSES: dict[str, Any] = {"hinge": cml.losses.SquaredHinge(), "hard_margin": cml.losses.Hinge(),
                          "squared_hinge": cml.losses.Hinge(),
                          "squared": cml.losses.Huber(1.0)}  # fmt: skip


def penalty(posed: Any) -> bool:
    known = posed.problem.objective_parts.penalty
    levels = np.ones(posed.X.shape[1]) if known.weights is None else known.weights.copy()
    levels[-1] *= 1.0 + SMALL
    return another(posed, penalty=type(known)(known.lam, levels))


def another_penalty(posed: Any) -> bool:
    squares = posed.problem.objective_parts.penalty.name == "l2"
    return another(posed, penalty=getattr(cml.penalties, "L1" if squares else "L2")(1.0))


def scaled_features(posed: Any) -> bool:
    for each in posed.reading.sets:
        if each.key != posed.program.key:
            return assigned(each, scale=each.scale * (1.0 + SMALL))
    return False


def design(posed: Any) -> bool:
    posed.X = np.array(posed.X)
    posed.X[1, 1] += 1e-5
    return posed.is_kernel or another(posed)


def turned(posed: Any) -> bool:
    posed.samples = replace(posed.samples, turn=-posed.samples.turn)
    return not posed.is_kernel


def equation(posed: Any) -> bool:
    known, posed.program.equality = posed.program.equality, None
    return known is not None


POSED_DUALS: dict[str, Fault] = {
    "label": label,
    "cost of a sample": lambda p: (
        not p.samples.loss.is_indicator
        and another(p, sample_weight=p.samples.design.weight * row(len(p.samples.tau), 1.0 + SMALL))
    ),
    "loss": lambda p: another(p, loss=LOSSES.get(p.samples.loss.name, cml.losses.Squared())),
    "penalty": penalty,
    "another penalty": another_penalty,
    "intercept": lambda p: another(p, fit_intercept=not p.intercept),
    "units": lambda p: assigned(
        p, samples=replace(p.samples, tau=p.samples.tau * row(p.samples.tau.size, 1.0 + SMALL, 1))
    ),
    "turned": turned,
    "design": design,
    "share of the equation": lambda p: (
        assigned(p, samples=replace(p.samples, share=-p.samples.share)) and p.intercept
    ),
    "dropped equation": equation,
    "dropped bound": lambda p: bool(p.reading.sets) and p.reading.sets.pop() is not None,
    "scale of features": scaled_features,
}

# -- of the trend filter that is posed -------------------------------------------------------------


def trend(posed: Any, **changed: Any) -> bool:
    known = {"y": posed.signal, "lam": posed.problem.lam, "order": posed.problem.order}
    return assigned(posed, problem=cml.TrendFilter(**{**known, **changed}))


def place(posed: Any) -> bool:
    start = posed.differences.rows[0].start.copy()
    start[0] += 1 if start[0] == 0 else -1
    return one(posed.differences.rows, lambda rows: replace(rows, start=start))


POSED_TRENDS: dict[str, Fault] = {
    "entry of the signal": lambda p: trend(p, y=p.signal + SMALL * (row(p.signal.size, 2.0) - 1.0)),
    "order": lambda p: trend(p, order=p.problem.order + 1),
    "factor": lambda p: (
        assigned(p, factor=p.factor * (1.0 + 1e-7)) and trend(p, lam=p.problem.lam / (1.0 + 1e-7))
    ),
    "place of a difference": place,
    "dropped sizes": lambda p: bool(p.differences.rows.pop()),
    "dropped squares": lambda p: bool(p.squares.pop()),
    "forgotten slack": lambda p: bool(p.reading.eliminated) and bool(p.reading.eliminated.pop()),
    "row of a map": lambda p: one(
        p.differences.rows, lambda rows: replace(rows, term=scaled(rows.term, 1.0 + SMALL))
    ),
}

# -- they are noticed ------------------------------------------------------------------------------


POSE: dict[str, Callable[[Any], Any]] = {
    "learning": lambda reading: read_constraints(reading) or reading,
    "dual": pose_dual,
    "trend": pose_trend,
}


def noticed(kind: str, problem: Any, before: Fault, after: Fault) -> bool | None:
    """Whether a fault is noticed; None where it could not be planted."""
    reading = read_objective(problem)
    planted = before(reading)
    try:
        posed = POSE[kind](reading)
        if posed is None:
            raise Declined("nothing of the kind")
        planted = after(posed) or planted
        if kind == "learning":
            scores = any(term.kind == "log_sum_exp" for term in reading.terms)
            posed = (pose_scores if scores else pose)(reading)
        posed.verify()
    except (Declined, KeyError, cml.errors.InputError):
        if planted:
            return True
        raise
    return False if planted else None


def nothing(_: Any) -> bool:
    return False


@cache
def problems(kind: str) -> dict[str, Any]:
    """Of each kind, those that are read without a fault."""
    if kind == "learning":
        built = {name: each.build() for name, each in STATEMENTS.items() if each.loss}
        return {n: p for n, p in built.items() if "loop" not in n or n == "svm_in_a_loop"}
    if kind == "dual":
        return {name: each.build() for name, each in DUALS.items()}
    return {name: build() for name, (build, *_) in TRENDS.items()}


BEFORE = {
    "learning": READING,
    "dual": COMMON | {"form": lambda r: one(r.terms, form_entry)},
    "trend": {name: each for name, each in COMMON.items() if name != "scaled row"},
}
AFTER = {"learning": CONSTRAINTS, "dual": POSED_DUALS, "trend": POSED_TRENDS}
PLANTED = [(kind, name, False) for kind in POSE for name in BEFORE[kind]]
PLANTED += [(kind, name, True) for kind in POSE for name in AFTER[kind]]


def is_bounded(problem: Any) -> bool:
    ends = any(v.is_nonneg() or v.bounds is not None for v in problem.variables())
    return bool(problem.constraints) or ends


@pytest.mark.parametrize(("kind", "fault", "late"), by_turns(PLANTED))
def test_a_misreading_is_noticed(kind: str, fault: str, late: bool) -> None:
    plant = (nothing, AFTER[kind][fault]) if late else (BEFORE[kind][fault], nothing)
    every = list(problems(kind).items())
    if kind == "learning" and not late:
        every = every[len(fault) % 3 :: 3]
    elif kind == "learning":
        every = [(name, problem) for name, problem in every if is_bounded(problem)]
    found = {name: noticed(kind, problem, *plant) for name, problem in every}
    assert [name for name, each in found.items() if each is False] == []
    assert list(found.values()).count(True) >= 1


def test_without_a_fault_all_is_well() -> None:
    for kind in POSE:
        for name, problem in problems(kind).items():
            assert noticed(kind, problem, nothing, nothing) is None, name


def test_rounding_is_no_misreading() -> None:
    """0.2 * 2 and 2 * 0.2 * 1 differ in the last digit; where the hinge is 0 that was all."""
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(40, 3)), rng.choice([-1.0, 1.0], 40), rng.uniform(0.1, 2.0, 40)
    w = cp.Variable(3)
    hinge = s @ cp.pos(2 - 3.0 * cp.multiply(y, X @ w))
    pose(read_objective(cp.Problem(cp.Minimize(hinge + cp.sum_squares(w))))).verify()
