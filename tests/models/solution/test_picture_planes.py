"""Two variables or features are drawn in their plane: polytopes, regions, clusters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.report.looks import faults

import convexml as cml
from convexml.models.pictures.dual_polytope import dual_half_planes
from convexml.models.pictures.polytope import half_planes, normal_cone, vertices

pytest.importorskip("matplotlib")
rng = np.random.default_rng(1)
X = rng.normal(size=(40, 2))
LABELS = np.where(X[:, 0] ** 2 + X[:, 1] > 0.4, "in", "out")
GAUSSIAN = cml.kernels.Gaussian(0.7)


def test_the_polytope_of_a_linear_program() -> None:
    lp = cml.LinearProgram([-3.0, -2.0], A_ub=[[1, 1], [1, 3], [2, 1]], b_ub=[5, 6, 7])
    solution = lp.solve()
    figure = solution.plot()
    assert faults(figure) == []
    axes = figure.axes[0]
    named = {line.get_label(): line for line in axes.lines if ":" in str(line.get_label())}
    assert set(named) == {"ub 1: 0.2", "ub 2: 1.4"}
    rows = half_planes(lp.data, solution.dual)
    by_hand = {(0.0, 0.0), (3.5, 0.0), (3.0, 1.0), (0.0, 2.0)}
    assert {tuple(np.round(each, 9) + 0.0) for each in vertices(rows)} == by_hand
    area = axes.patches[0].get_xy()
    assert {tuple(np.round(each, 9) + 0.0) for each in area} == by_hand


@pytest.mark.parametrize(
    "program",
    [
        lambda: cml.LinearProgram([1.0, 2.0], A_eq=[[1, 1]], b_eq=[3]),
        pytest.param(lambda: cml.LinearProgram([0.0, 0.0]), marks=pytest.mark.slow),
        pytest.param(
            lambda: cml.LinearProgram([1.0, 1.0], A_ub=[[-1, -2], [-2, -1]], b_ub=[-4, -4]),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            lambda: cml.LinearProgram(
                [1.0, 1.0], A_ub=[[-1, 0], [0, -1]], b_ub=[-4000, -0.4], bounds=[(0, 9000), (0, 1)]
            ),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_other_polytopes(program: Callable[[], Any]) -> None:
    assert faults(program().solve().plot()) == []


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


def test_the_normals_add_up_to_the_cost() -> None:
    lp = cml.LinearProgram([1.0, 3.0], A_eq=[[1, 1]], b_eq=[3], bounds=[(0, 2), (None, None)])
    rows = half_planes(lp.data, lp.solve().dual)
    total = np.sum([row.multiplier * row.a for row in rows], axis=0)
    np.testing.assert_allclose(total, [-1.0, -3.0], atol=1e-9)


def test_the_dual_polytope_of_two_rows() -> None:
    """max 3 x_0 + 2 x_1: 2 y_0 + y_1 >= 3, y_0 + 3 y_1 >= 2, y >= 0; they meet at (1.4, 0.2)."""
    lp = cml.LinearProgram([-3.0, -2.0], A_ub=[[2, 1], [1, 3]], b_ub=[7, 6])
    solution = lp.solve()
    np.testing.assert_allclose(solution.dual["lambda_ub"], [1.4, 0.2])
    figure = solution.plot(kind="dual")
    assert faults(figure) == []
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("λ_ub[0]", "λ_ub[1]")
    labels = {line.get_label() for line in axes.lines if ":" in str(line.get_label())}
    assert labels == {"x_0: 3", "x_1: 1"}  # the primal answer prices the rows of the dual
    _, rows = dual_half_planes(lp.data, solution.primal["x"])
    corners = {tuple(np.round(each, 9) + 0.0) for each in vertices(rows)}
    assert corners == {(0.0, 3.0), (1.4, 0.2), (2.0, 0.0)}


def test_x_and_slacks_are_the_multipliers_of_the_dual() -> None:
    """An upper bound, a lower one that is not 0, a free variable, an equality, a row with room."""
    bounds = [(1.0, None), (None, 2.0), (None, None)]
    A, E = [[1.0, -1.0, 0.0]], [[1.0, 1.0, 1.0]]
    lp = cml.LinearProgram([1.0, -1.0, 0.5], A, [5.0], E, [4.0], bounds)
    solution = lp.solve()
    cost, rows = dual_half_planes(lp.data, solution.primal["x"])
    y = np.concatenate([solution.dual["lambda_ub"], solution.dual["nu"]])
    total = np.sum([row.multiplier * row.a for row in rows], axis=0)
    np.testing.assert_allclose(total, -cost, atol=1e-9)
    constant = lp.data.c @ np.array([1.0, 2.0, 0.0])
    assert constant - cost @ y == pytest.approx(solution.dual_objective)
    assert all(row.a @ y <= row.b + 1e-9 for row in rows)
    assert faults(solution.plot(kind="dual")) == []


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (lambda: cml.LinearProgram([1.0], [[1.0]], [1.0]), "this one has 1"),
        (lambda: cml.LinearProgram([1.0], np.eye(2)[:, :1], [1, 1], bounds=(0, 1)), "bends"),
        (lambda: cml.LeastSquares(X, X[:, 0]), "needs a solved linear program; got LeastSquares"),
    ],
)
def test_a_dual_that_is_in_no_plane_says_why(problem: Callable[[], Any], words: str) -> None:
    with pytest.raises(cml.errors.InputError, match=words):
        problem().solve().plot(kind="dual")


def test_the_regions_of_a_kernel_machine() -> None:
    solution = cml.KernelSVM(X, LABELS, 2.0, GAUSSIAN).solve()
    figure = solution.plot()
    assert faults(figure) == []
    dots = [
        c for c in figure.axes[0].collections if hasattr(c, "get_sizes") and len(c.get_offsets())
    ]
    filled = [c for c in dots if c.get_facecolors().size and len(c.get_sizes()) > 0]
    held = np.vstack([c.get_offsets() for c in filled if c.get_facecolors().size])
    assert {tuple(each) for each in X[solution.support]} <= {tuple(each) for each in held}


@pytest.mark.parametrize(
    "problem",
    [
        lambda: cml.OneClassSVM(X, 0.2, GAUSSIAN),
        pytest.param(lambda: cml.NuSVC(X, LABELS, 0.3, GAUSSIAN), marks=pytest.mark.slow),
        pytest.param(lambda: cml.LogisticRegression(X, LABELS, 0.1), marks=pytest.mark.slow),
        pytest.param(lambda: cml.SoftMarginSVM(X, LABELS), marks=pytest.mark.slow),
    ],
)
def test_other_regions(problem: Callable[[], Any]) -> None:
    assert faults(problem().solve().plot()) == []


@pytest.mark.parametrize("size", [(6.2, 4.2), (4.0, 3.0)])
def test_the_legend_of_a_polytope_covers_nothing_of_it(size: tuple[float, float]) -> None:
    from matplotlib.figure import Figure

    lp = cml.LinearProgram([-3.0, -5.0], A_ub=[[1, 0], [0, 2], [3, 2]], b_ub=[4, 12, 18])
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    lp.solve().plot(ax=axes)
    assert faults(figure) == []
    legend = axes.get_legend().get_window_extent()
    assert not legend.overlaps(axes.patches[0].get_window_extent())
    assert legend.x0 >= axes.bbox.x1


def test_an_infeasible_polytope_has_no_vertex() -> None:
    lp = cml.LinearProgram([1.0, 1.0], A_ub=[[1, 1], [-1, -1]], b_ub=[1, -2])
    zero = {"lambda_ub": np.zeros(2), "nu": [], "lambda_lower": [0, 0], "lambda_upper": [0, 0]}
    assert vertices(half_planes(lp.data, zero)).shape == (0, 2)


@pytest.mark.parametrize("d", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_a_ball_is_drawn_around_its_points(d: int) -> None:
    points = np.random.default_rng(3).normal(size=(25, d))
    solution = cml.EnclosingBall(points).solve()
    figure = solution.plot()
    assert faults(figure) == []
    axes = figure.axes[0]
    (disc,) = axes.patches
    radius = float(solution.primal["radius"])
    assert disc.get_radius() == radius
    (held,) = (c for c in axes.collections if len(c.get_offsets()))
    hollow = axes.lines[0].get_xydata()
    drawn = np.concatenate([held.get_offsets(), hollow]) - disc.get_center()
    assert np.linalg.norm(drawn, axis=1).max() <= radius * (1.0 + 1e-9)
    assert len(held.get_offsets()) == len(solution.support)
    alpha = solution.dual["alpha"][solution.support]
    assert np.array_equal(np.argsort(held.get_sizes()), np.argsort(alpha))
    told = axes.get_title("left").replace("\n", " ")
    assert ("projected from 4 features" in told) == (d == 4)
    if d == 2:
        np.testing.assert_allclose(disc.get_center(), solution.primal["center"])
        np.testing.assert_allclose(np.linalg.norm(drawn[: len(alpha)], axis=1), radius, rtol=1e-6)


def test_a_projection_says_that_it_is_one() -> None:
    wide = np.column_stack([X, X[:, 0] ** 2])
    told = cml.SoftMarginSVM(wide, LABELS).solve().plot().axes[0].get_title("left")
    assert "projected from 3 features" in told.replace("\n", " ")
    own = cml.ConvexClustering(X[:6], 0.1).solve().plot().axes[0]
    assert "projected" not in own.get_title("left")
    np.testing.assert_array_equal(own.lines[0].get_xydata(), X[:6])


def test_level_sets_pass_through_the_answer() -> None:
    y = X @ [2.0, 1.0] + 0.1 * rng.normal(size=40)
    solution = cml.ConstrainedLasso(X, y, radius=1.2).solve()
    axes = solution.plot(kind="plane").axes[0]
    w, (loss, ball) = solution.primal["w"], [line.get_xydata() for line in axes.lines[:2]]
    about, target = X - X.mean(axis=0), y - y.mean()
    values = 0.5 * np.mean((target - loss @ about.T) ** 2, axis=1)
    here = 0.5 * np.mean((target - about @ w) ** 2)
    near = np.abs(loss).max(axis=1) < 2.0
    np.testing.assert_allclose(values[near], here, rtol=1e-5)
    np.testing.assert_allclose(np.abs(ball).sum(axis=1), 1.2, rtol=1e-5)
    for corner in ((1.2, 0.0), (0.0, 1.2)):
        assert np.linalg.norm(ball - corner, axis=1).min() < 1e-5


def test_what_is_never_negative_has_one_hue() -> None:
    shares = np.full(4, 0.25)
    plan = cml.OptimalTransport(shares, shares, np.abs(X[:4, :1] - X[:4, 0])).solve().plot()
    (image,) = plan.axes[0].images
    assert (image.get_cmap().name, image.get_clim()[0]) == ("Blues", 0.0)
    signed = cml.SoftmaxRegression(X, np.arange(40) % 3, 0.1).solve().plot().axes[0].images[0]
    assert signed.get_cmap().name == "RdBu_r"
    assert signed.get_clim()[0] == -signed.get_clim()[1]
