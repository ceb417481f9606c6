"""Half planes, vertices and normal cones of linear programs in the plane, by hand."""

from __future__ import annotations

import numpy as np

import convexml as cml
from convexml.models.pictures.polytope import dual_half_planes, half_planes, normal_cone, vertices


def test_the_cost_points_into_the_normal_cone() -> None:
    lp = cml.LinearProgram([-3.0, -2.0], A_ub=[[1, 1], [1, 3], [2, 1]], b_ub=[5, 6, 7])
    rows = half_planes(lp.data, lp.solve().dual)
    for point, ends in (
        ([3.0, 1.0], [[2.0, 1.0], [1.0, 3.0]]),  # the cone of -c = (3, 2)
        ([3.5, 0.0], [[0.0, -1.0], [2.0, 1.0]]),
        ([1.0, 0.0], [[0.0, -1.0]]),
    ):
        by_hand = np.array(ends) / np.linalg.norm(ends, axis=1)[:, None]
        cone = normal_cone(rows, np.array(point))
        np.testing.assert_allclose(cone[[0, -1]], by_hand[[0, -1]], atol=1e-12)
    assert normal_cone(rows, np.array([1.0, 1.0])).size == 0
    shut = cml.LinearProgram([1.0, 1.0], bounds=[(1, 1), (1, 1)])
    assert normal_cone(half_planes(shut.data, shut.solve().dual), np.ones(2)).size == 0
    assert {tuple(np.round(each, 9) + 0.0) for each in vertices(rows)} == {
        *((0.0, 0.0), (3.5, 0.0), (3.0, 1.0), (0.0, 2.0))
    }


def test_the_dual_polytope_of_two_rows() -> None:
    lp = cml.LinearProgram([-3.0, -2.0], A_ub=[[2, 1], [1, 3]], b_ub=[7, 6])
    _, rows = dual_half_planes(lp.data, lp.solve().primal["x"])
    corners = {tuple(np.round(each, 9) + 0.0) for each in vertices(rows)}
    assert corners == {(0.0, 3.0), (1.4, 0.2), (2.0, 0.0)}
