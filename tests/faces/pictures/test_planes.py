"""Two variables or features are drawn in their plane: polytopes, regions, clusters, trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from support.report.looks import faultless

import convexml as cml
from convexml.errors import InputError

pytest.importorskip("matplotlib")
rng = np.random.default_rng(1)
X = rng.normal(size=(40, 2))
LABELS = np.where(X[:, 0] ** 2 + X[:, 1] > 0.4, "in", "out")
GAUSSIAN = cml.kernels.Gaussian(0.7)


def test_the_polytope_of_a_linear_program() -> None:
    lp = cml.LinearProgram([-3.0, -2.0], A_ub=[[1, 1], [1, 3], [2, 1]], b_ub=[5, 6, 7])
    solution = lp.solve()
    figure = faultless(solution.plot())
    axes = figure.axes[0]
    named = {line.get_label(): line for line in axes.lines if ":" in str(line.get_label())}
    assert set(named) == {"ub 1: 0.2", "ub 2: 1.4"}
    by_hand = {(0.0, 0.0), (3.5, 0.0), (3.0, 1.0), (0.0, 2.0)}
    area = axes.patches[0].get_xy()
    assert {tuple(np.round(each, 9) + 0.0) for each in area} == by_hand


def test_the_dual_polytope_of_two_rows() -> None:
    """max 3 x_0 + 2 x_1: 2 y_0 + y_1 >= 3, y_0 + 3 y_1 >= 2, y >= 0; they meet at (1.4, 0.2)."""
    lp = cml.LinearProgram([-3.0, -2.0], A_ub=[[2, 1], [1, 3]], b_ub=[7, 6])
    solution = lp.solve()
    np.testing.assert_allclose(solution.dual["lambda_ub"], [1.4, 0.2])
    figure = faultless(solution.plot(kind="dual"))
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("λ_ub[0]", "λ_ub[1]")
    labels = {line.get_label() for line in axes.lines if ":" in str(line.get_label())}
    assert labels == {"x_0: 3", "x_1: 1"}  # the primal answer prices the rows of the dual


@pytest.mark.parametrize(("problem", "words"), [
    (lambda: cml.LinearProgram([1.0], [[1.0]], [1.0]), "this one has 1"),
    (lambda: cml.LinearProgram([1.0], np.eye(2)[:, :1], [1, 1], bounds=(0, 1)), "bends"),
    (lambda: cml.LeastSquares(X, X[:, 0]), "needs a solved linear program; got LeastSquares"),
])  # fmt: skip
def test_a_dual_that_is_in_no_plane_says_why(problem: Callable[[], Any], words: str) -> None:
    with pytest.raises(cml.errors.InputError, match=words):
        problem().solve().plot(kind="dual")


def test_the_regions_of_a_kernel_machine() -> None:
    solution = cml.KernelSVM(X, LABELS, 2.0, GAUSSIAN).solve()
    figure = faultless(solution.plot())
    dots = [
        c for c in figure.axes[0].collections if hasattr(c, "get_sizes") and len(c.get_offsets())
    ]
    filled = [c for c in dots if c.get_facecolors().size and len(c.get_sizes()) > 0]
    held = np.vstack([c.get_offsets() for c in filled if c.get_facecolors().size])
    assert {tuple(each) for each in X[solution.support]} <= {tuple(each) for each in held}


@pytest.mark.parametrize("size", [(6.2, 4.2), (4.0, 3.0)])
def test_the_legend_of_a_polytope_covers_nothing_of_it(size: tuple[float, float]) -> None:
    from matplotlib.figure import Figure

    lp = cml.LinearProgram([-3.0, -5.0], A_ub=[[1, 0], [0, 2], [3, 2]], b_ub=[4, 12, 18])
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.add_subplot()
    lp.solve().plot(ax=axes)
    faultless(figure)
    legend = axes.get_legend().get_window_extent()
    assert not legend.overlaps(axes.patches[0].get_window_extent())
    assert legend.x0 >= axes.bbox.x1


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


FLOWERS, CLASSES = load_iris(return_X_y=True)
PLANE, NAMES = FLOWERS[:, 2:] + 1e-3 * np.arange(150)[:, None], np.array(["a", "b", "c"])[CLASSES]
NEIGHBOURS = cml.NearestNeighbors(PLANE, PLANE[:1], 5).solve()
x = np.linspace(-1.0, 1.0, 25)[:, None]
WAVE = np.sin(4.0 * x[:, 0])
CURVES = [cml.KernelRidge(x, WAVE, 1e-2, cml.kernels.Gaussian(s)).solve() for s in (0.2, 1.0)]
RIDGE = cml.Ridge(PLANE, FLOWERS[:, 0], 0.1)
RUNS = [RIDGE.solve("textbook.gradient_descent", step=s, max_iter=9) for s in (0.01, 0.05)]


def test_the_regions_of_neighbours_are_their_votes() -> None:
    figure = faultless(NEIGHBOURS.plot(kind="regions", labels=NAMES))
    (image,) = figure.axes[0].images
    found, (left, right, low, high) = image.get_array(), image.get_extent()
    across, up = (np.linspace(*ends, found.shape[0]) for ends in ((left, right), (low, high)))
    peer = KNeighborsClassifier(5).fit(PLANE, CLASSES)
    plane = np.column_stack([each.ravel() for each in np.meshgrid(across, up)])
    assert np.mean(peer.predict(plane) == np.ravel(found)) > 0.995  # ties are voted otherwise
    wrong = np.count_nonzero(peer.predict(PLANE) != CLASSES)
    assert f"{wrong} of 150 samples" in figure.axes[0]._left_title.get_text().replace("\n", " ")


@pytest.mark.parametrize("problem", [
    cml.SoftmaxRegression(PLANE, NAMES, 0.1),
    cml.LogisticRegression(PLANE[:100], NAMES[:100], 0.1),
    cml.KernelSVM(PLANE[:100], NAMES[:100], 1.0, cml.kernels.Gaussian(1.0)),
], ids=lambda problem: problem.name)  # fmt: skip
def test_the_regions_of_a_classifier(problem: Any) -> None:
    solution = problem.solve()
    figure = faultless(solution.plot(kind="regions"))
    names = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert names == list(problem.classes)
    (image,) = figure.axes[0].images
    left, right, low, high = image.get_extent()
    corners = np.array([[left, low], [right, low], [left, high], [right, high]])
    shown = np.asarray(image.get_array())[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert_array_equal(np.array(names)[shown], solution.predict(corners))
    for place, name in zip(figure.axes[0].collections, names, strict=True):
        own = PLANE[: len(problem._samples.y)][NAMES[: len(problem._samples.y)] == name]
        assert_array_equal(place.get_offsets(), own)


def test_the_tree_of_single_linkage_is_scipys() -> None:
    distances = pdist(FLOWERS[::5] + 1e-4 * np.arange(30)[:, None] ** 2)
    figure = faultless(cml.SpanningTree(squareform(distances)).solve().plot(kind="answer"))
    theirs = dendrogram(linkage(distances, "single"), no_plot=True)
    ours = [line.get_ydata() for line in figure.axes[0].lines if len(line.get_xdata()) == 4]
    heights = sorted(tuple(sorted(np.round(each, 9))) for each in ours)
    assert_allclose(heights, sorted(tuple(sorted(each)) for each in theirs["dcoord"]), atol=1e-8)
    for line in figure.axes[0].lines:  # no bracket stands on another's leg
        assert len(line.get_xdata()) != 4 or line.get_xdata()[0] != line.get_xdata()[2]


def test_curves_stand_in_one_panel() -> None:
    figure = faultless(CURVES[0].plot(kind="fit", beside=CURVES[1:]))
    curves = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 400]
    for line, solution in zip(curves, CURVES, strict=True):
        at = line.get_xdata()[:, None]
        assert_allclose(line.get_ydata(), solution.decision_function(at), atol=1e-12)
        assert f"sigma={solution.problem.kernel.sigma:g}" in line.get_label()


def test_runs_stand_side_by_side_with_their_steps() -> None:
    figure = faultless(RUNS[0].plot(kind="trajectory", beside=RUNS[1:]))
    assert [each._left_title.get_text().split(":")[0] for each in figure.axes] == [
        "steps 0.01",
        "steps 0.05",
    ]


@pytest.mark.parametrize(("solution", "asked", "words"), [
    (NEIGHBOURS, {"kind": "regions"}, "needs labels=, one for each of its 150 samples"),
    (RUNS[0], {"kind": "regions"}, "needs a classifier of two features"),
    (CURVES[0], {"kind": "regions"}, "needs a classifier of two features"),
    (CURVES[0], {"kind": "fit", "beside": [RUNS[0]]}, "Ridge has 2 features"),
    (CURVES[0], {"kind": "fit", "beside": [3]}, "3 has no features"),
    (CURVES[0], {"beside": CURVES}, "beside belongs to kind='trajectory' and 'fit'"),
    (CURVES[0], {"kind": "fit", "labels": WAVE}, "labels belongs to kind='regions'"),
    (RUNS[0], {"kind": "trajectory", "beside": RUNS * 2}, "at most 3 runs"),
    (CURVES[0], {"kind": "fit", "beside": [cml.Ridge(x + 1.0, WAVE, 0.1).solve()]},
        "on the samples of this one"),
])  # fmt: skip
def test_what_cannot_be_shown_is_refused(solution: Any, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        solution.plot(**asked)
