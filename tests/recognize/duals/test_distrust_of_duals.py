"""What was read of a dual is not trusted: each planted misreading is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.recognize.duals import DUALS

import convexml as cml
from convexml.recognition.duals.posing import PosedDual, pose_dual
from convexml.recognition.duals.verifying import verify_dual
from convexml.recognition.reading.declined import Declined
from convexml.recognition.reading.objective import read_objective
from convexml.recognition.verifying import random_points

# -- of the reading, before it is posed ------------------------------------------------------------


def weight(reading: Any) -> bool:
    for number, term in enumerate(reading.terms):
        reading.terms[number] = replace(term, weight=term.weight * (1.0 + 1e-6))
        return True
    return False


def row_of_a_map(reading: Any) -> bool:
    for number, term in enumerate(reading.terms):
        factors = np.ones(term.affine.size)
        factors[-1] = 1.0 + 1e-4
        reading.terms[number] = replace(term, affine=term.affine.scaled(factors))
        return True
    return False


def matrix_of_a_form(reading: Any) -> bool:
    for number, term in enumerate(reading.terms):
        if term.kind == "form":
            matrix = np.array(term.matrix)
            matrix[2, 2] += 1e-5
            reading.terms[number] = replace(term, matrix=matrix)
            return True
    return False


def line(reading: Any) -> bool:
    for number, each in enumerate(reading.linear):
        factors = np.ones(each.weight.size)
        factors[0] = 1.0 + 1e-6
        reading.linear[number] = replace(each, weight=each.weight * factors)
        return True
    return False


def dropped_term(reading: Any) -> bool:
    return len(reading.terms) > 1 and reading.terms.pop() is not None


def forgotten_constraint(reading: Any) -> bool:
    known, reading.constraints = len(reading.constraints), list(reading.constraints)[:-1]
    return known > 0


def forgotten_attribute(reading: Any) -> bool:
    return bool(reading.lower.popitem() if reading.lower else False)


def constant(reading: Any) -> bool:
    reading.constant += 1e-3
    return True


def sign(reading: Any) -> bool:
    reading.sign = -reading.sign
    return True


READ = (weight, row_of_a_map, matrix_of_a_form, line, dropped_term, forgotten_constraint)
READ = (*READ, forgotten_attribute, constant, sign)

# -- of what is posed -----------------------------------------------------------------------------


def other(posed: PosedDual, **changed: Any) -> bool:
    """Pose another learning problem in the place of the one that was read."""
    if posed.is_kernel:
        return False
    parts = posed.problem.objective_parts
    known = {"y": parts.y, "loss": parts.loss, "penalty": parts.penalty, "c": parts.c}
    known |= {"X": posed.X, "intercept": parts.fit_intercept} | changed
    posed.problem = cml.LearningProblem(
        known["X"],
        known["y"],
        known["loss"],
        known["penalty"],
        fit_intercept=known["intercept"],
        sample_weight=known["c"],
        loss_scale="sum",
    )
    return True


def target_or_label(posed: PosedDual) -> bool:
    y = posed.problem.sample_parts.y.copy()
    y[3] = -y[3]
    return y[3] != 0.0 and other(posed, y=y)


def cost_of_a_sample(posed: PosedDual) -> bool:
    if posed.samples.loss.is_indicator:
        return False
    c = posed.samples.c.copy()
    c[2] *= 1.0 + 1e-6
    return other(posed, c=c)


def loss(posed: PosedDual) -> bool:
    exchanged: dict[str, Any] = {
        "hinge": cml.losses.SquaredHinge(),
        "hard_margin": cml.losses.Hinge(),
        "squared_hinge": cml.losses.Hinge(),
        "squared": cml.losses.Huber(1.0),
    }
    return other(posed, loss=exchanged[posed.samples.loss.name])


def penalty(posed: PosedDual) -> bool:
    known = posed.problem.objective_parts.penalty
    levels = np.ones(posed.X.shape[1]) if known.weights is None else known.weights.copy()
    levels[-1] *= 1.0 + 1e-6
    return other(posed, penalty=type(known)(known.lam, levels))


def another_penalty(posed: PosedDual) -> bool:
    squares = posed.problem.objective_parts.penalty.name == "l2"
    return other(posed, penalty=getattr(cml.penalties, "L1" if squares else "L2")(1.0))


def intercept(posed: PosedDual) -> bool:
    return other(posed, intercept=not posed.intercept)


def units(posed: PosedDual) -> bool:
    posed.samples.tau[1] *= 1.0 + 1e-6
    return True


def turned(posed: PosedDual) -> bool:
    lines = any(each.kind == "line" for block in posed.program.blocks for each in block.facets)
    posed.samples = replace(posed.samples, turn=-posed.samples.turn)
    return lines or (not posed.is_kernel and not posed.program.blocks)  # sizes have no sign


def entry_of_the_design(posed: PosedDual) -> bool:
    posed.X = np.array(posed.X)
    posed.X[1, 1] += 1e-5
    return posed.is_kernel or other(posed)


def level_of_a_feature(posed: PosedDual) -> bool:
    known = posed.problem.objective_parts.penalty
    levels = np.ones(posed.X.shape[1]) if known.weights is None else known.weights.copy()
    levels[np.argmin(np.abs(posed.X).sum(axis=0))] *= 0.5
    return known.name == "l1" and other(posed, penalty=type(known)(known.lam, levels))


def share_of_the_equation(posed: PosedDual) -> bool:
    posed.samples = replace(posed.samples, share=-posed.samples.share)
    return posed.intercept


def dropped_equation(posed: PosedDual) -> bool:
    known, posed.program.equality = posed.program.equality, None
    return known is not None


def dropped_bound(posed: PosedDual) -> bool:
    return bool(posed.program.bounds) and posed.program.bounds.pop() is not None


def dropped_facet(posed: PosedDual) -> bool:
    blocks = posed.program.blocks
    return bool(blocks) and blocks[-1].facets.pop() is not None


def scale_of_a_facet(posed: PosedDual) -> bool:
    for block in posed.program.blocks:
        for each in block.facets:
            each.scale = each.scale * (1.0 + 1e-6)
            return True
    return False


POSED = (target_or_label, cost_of_a_sample, loss, penalty, another_penalty, intercept, units)
POSED = (
    *POSED,
    turned,
    entry_of_the_design,
    level_of_a_feature,
    share_of_the_equation,
    dropped_equation,
)
POSED = (*POSED, dropped_bound, dropped_facet, scale_of_a_facet)


def missed(name: str, before: Callable[[Any], bool], after: Callable[[Any], bool]) -> bool | None:
    """Whether a fault is not noticed; None where it could not be planted."""
    reading = read_objective(DUALS[name][0]())
    planted = before(reading)
    try:
        posed = pose_dual(reading)
        if posed is None:
            return False if planted else None
        planted = after(posed) or planted
        verify_dual(posed, random_points(reading))
    except (Declined, cml.errors.InputError):
        return False if planted else None
    return True if planted else None


def nothing(_: Any) -> bool:
    return False


@pytest.mark.parametrize("fault", READ, ids=lambda each: each.__name__)
def test_a_misreading_is_noticed(fault: Callable[[Any], bool]) -> None:
    found = {name: missed(name, fault, nothing) for name in DUALS}
    assert [name for name, each in found.items() if each] == []
    assert list(found.values()).count(False) >= 1


@pytest.mark.parametrize("fault", POSED, ids=lambda each: each.__name__)
def test_another_problem_is_noticed(fault: Callable[[Any], bool]) -> None:
    found = {name: missed(name, nothing, fault) for name in DUALS}
    assert [name for name, each in found.items() if each] == []
    assert list(found.values()).count(False) >= 1
