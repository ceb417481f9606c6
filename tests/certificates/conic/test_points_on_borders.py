"""A point on the border of a curved cone is near to an exact one where the cone has room."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.certificates.conic.ray import has_point
from convexml.numerics import Array
from convexml.objective.conic.cones import NonnegativeCone, SecondOrder, ZeroCone
from convexml.objective.conic.program import ConeProgram, cone_program_of


def ball(radius: float) -> ConeProgram:
    """sum(x) = 1, x >= 0 and |x| <= radius, x of 4 entries: none below a radius of 1/2."""
    eye = sparse.eye_array(4)
    A = sparse.vstack([np.ones((1, 4)), -eye, sparse.csc_array((1, 4)), -eye], format="csc")
    b = np.concatenate([[1.0], np.zeros(4), [radius], np.zeros(4)])
    return cone_program_of(
        None, np.ones(4), A, b, [ZeroCone(1), NonnegativeCone(4), SecondOrder(5)]
    )


def on_border(radius: float, off: float) -> Array:
    """A point of the plane with norm radius (1 + off)."""
    d = np.array([3.0, -1.0, -1.0, -1.0]) / np.sqrt(12.0)
    return 0.25 + np.sqrt(max((radius * (1.0 + off)) ** 2 - 0.25, 0.0)) * d


@pytest.mark.parametrize("off", [0.0, 1e-9, -1e-9, 1e-7])
def test_there_is_one_next_to_the_border(off: float) -> None:
    assert has_point(ball(0.7), on_border(0.7, off))


@pytest.mark.parametrize("radius", [0.5 * (1.0 - 1e-12), 0.5 * (1.0 - 1e-7), 0.4])
def test_there_is_none_where_the_cone_has_none(radius: float) -> None:
    for off in (0.0, 1e-9, 1e-7):
        assert not has_point(ball(radius), on_border(radius, off))
        assert not has_point(ball(radius), on_border(0.5, off))


def at_the_origin(*rows: str, above: float = 0.0, center: float = 0.0) -> cp.Problem:
    """The distance from (1, 2) over what ``norm(w - center) <= above`` leaves."""
    w = cp.Variable(2)
    said = {
        "ball": cp.norm(w - center) <= above,
        "away": w[0] >= 1e-9,
        "there": w == 0.0,
        "combined": 3.0 * w[0] + 0.1 * w[1] >= 0.0,
    }
    return cp.Problem(cp.Minimize(cp.sum_squares(w - [1.0, 2.0])), [said[row] for row in rows])


@pytest.mark.parametrize("rows", [("ball",), ("ball", "there"), ("combined", "ball")])
@pytest.mark.parametrize("center", [0.0, 0.1])
def test_a_ball_that_is_a_point_has_one(rows: tuple[str, ...], center: float) -> None:
    if center and "there" in rows:
        return  # contradicts the ball
    certificate = cml.solve(at_the_origin(*rows, center=center))
    assert certificate.verdict is cml.Verdict.CERTIFIED, certificate.reason
    value = (1.0 - center) ** 2 + (2.0 - center) ** 2
    assert certificate.primal_objective == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("above", [0.0, -1e-9])
def test_a_ball_that_misses_what_it_must_meet_by_little_is_not_certified(above: float) -> None:
    rows = ("ball", "away") if above == 0.0 else ("ball",)
    certificate = cml.solve(at_the_origin(*rows, above=above))
    found = certificate.verdict is cml.Verdict.CERTIFIED
    assert not (found and certificate.claim == "optimal")
