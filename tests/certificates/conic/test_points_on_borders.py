"""A point on the border of a curved cone is near to an exact one where the cone has room."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

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
