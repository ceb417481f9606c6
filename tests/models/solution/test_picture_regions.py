"""Pictures of the lecture notes: regions of classes, trees, curves and runs beside each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from support.report.looks import faults

import convexml as cml
from convexml.errors import InputError

pytest.importorskip("matplotlib")
FLOWERS, CLASSES = load_iris(return_X_y=True)
PLANE, NAMES = FLOWERS[:, 2:] + 1e-3 * np.arange(150)[:, None], np.array(["a", "b", "c"])[CLASSES]
NEIGHBOURS = cml.NearestNeighbors(PLANE, PLANE[:1], 5).solve()
x = np.linspace(-1.0, 1.0, 25)[:, None]
WAVE = np.sin(4.0 * x[:, 0])
CURVES = [cml.KernelRidge(x, WAVE, 1e-2, cml.kernels.Gaussian(s)).solve() for s in (0.2, 1.0)]
RIDGE = cml.Ridge(PLANE, FLOWERS[:, 0], 0.1)
RUNS = [RIDGE.solve("textbook.gradient_descent", step=s, max_iter=9) for s in (0.01, 0.05)]


def test_the_regions_of_neighbours_are_their_votes() -> None:
    figure = NEIGHBOURS.plot(kind="regions", labels=NAMES)
    assert faults(figure) == []
    (image,) = figure.axes[0].images
    found, (left, right, low, high) = image.get_array(), image.get_extent()
    across, up = (np.linspace(*ends, found.shape[0]) for ends in ((left, right), (low, high)))
    peer = KNeighborsClassifier(5).fit(PLANE, CLASSES)
    plane = np.column_stack([each.ravel() for each in np.meshgrid(across, up)])
    assert np.mean(peer.predict(plane) == np.ravel(found)) > 0.995  # ties are voted otherwise
    wrong = np.count_nonzero(peer.predict(PLANE) != CLASSES)
    assert f"{wrong} of 150 samples" in figure.axes[0]._left_title.get_text().replace("\n", " ")


@pytest.mark.parametrize(
    "problem",
    [
        cml.SoftmaxRegression(PLANE, NAMES, 0.1),
        cml.LogisticRegression(PLANE[:100], NAMES[:100], 0.1),
        cml.KernelSVM(PLANE[:100], NAMES[:100], 1.0, cml.kernels.Gaussian(1.0)),
    ],
    ids=lambda problem: problem.name,
)
def test_the_regions_of_a_classifier(problem: Any) -> None:
    solution = problem.solve()
    figure = solution.plot(kind="regions")
    assert faults(figure) == []
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
    figure = cml.SpanningTree(squareform(distances)).solve().plot(kind="answer")
    assert faults(figure) == []
    theirs = dendrogram(linkage(distances, "single"), no_plot=True)
    ours = [line.get_ydata() for line in figure.axes[0].lines if len(line.get_xdata()) == 4]
    heights = sorted(tuple(sorted(np.round(each, 9))) for each in ours)
    assert_allclose(heights, sorted(tuple(sorted(each)) for each in theirs["dcoord"]), atol=1e-8)
    for line in figure.axes[0].lines:  # no bracket stands on another's leg
        assert len(line.get_xdata()) != 4 or line.get_xdata()[0] != line.get_xdata()[2]


def test_curves_stand_in_one_panel() -> None:
    figure = CURVES[0].plot(kind="fit", beside=CURVES[1:])
    assert faults(figure) == []
    curves = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 400]
    for line, solution in zip(curves, CURVES, strict=True):
        at = line.get_xdata()[:, None]
        assert_allclose(line.get_ydata(), solution.decision_function(at), atol=1e-12)
        assert f"sigma={solution.problem.kernel.sigma:g}" in line.get_label()


def test_runs_stand_side_by_side_with_their_steps() -> None:
    figure = RUNS[0].plot(kind="trajectory", beside=RUNS[1:])
    assert faults(figure) == []
    assert [each._left_title.get_text().split(":")[0] for each in figure.axes] == [
        "steps 0.01",
        "steps 0.05",
    ]


@pytest.mark.parametrize(
    ("solution", "asked", "words"),
    [
        (NEIGHBOURS, {"kind": "regions"}, "needs labels=, one for each of its 150 samples"),
        (RUNS[0], {"kind": "regions"}, "needs a classifier of two features"),
        (CURVES[0], {"kind": "regions"}, "needs a classifier of two features"),
        (CURVES[0], {"kind": "fit", "beside": [RUNS[0]]}, "Ridge has 2 features"),
        (CURVES[0], {"kind": "fit", "beside": [3]}, "3 has no features"),
        (CURVES[0], {"beside": CURVES}, "beside belongs to kind='trajectory' and 'fit'"),
        (CURVES[0], {"kind": "fit", "labels": WAVE}, "labels belongs to kind='regions'"),
        (RUNS[0], {"kind": "trajectory", "beside": RUNS * 2}, "at most 3 runs"),
        (
            CURVES[0],
            {"kind": "fit", "beside": [cml.Ridge(x + 1.0, WAVE, 0.1).solve()]},
            "on the samples of this one",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused(solution: Any, asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        solution.plot(**asked)


@pytest.mark.parametrize("kind", ["binary", "real"])
def test_losses_stand_on_one_axis(kind: str) -> None:
    every = {
        "binary": [cml.losses.Hinge(), cml.losses.Logistic(), cml.losses.Exponential()],
        "real": [cml.losses.Squared(), cml.losses.Absolute(), cml.losses.Huber(1.0)],
    }[kind]
    figure = every[0].plot(beside=every[1:])
    assert faults(figure) == []
    y = 1.0 if kind == "binary" else 0.0
    for line, loss in zip(figure.axes[0].lines, every, strict=False):
        z = line.get_xdata()
        assert_allclose(line.get_ydata(), loss.value(np.full(z.size, y), z), rtol=1e-12)
    for line, loss in zip(figure.axes[1].lines, every, strict=False):
        v = line.get_xdata()
        known = loss.conjugate(np.full(v.size, y), v)
        assert_array_equal(np.isnan(line.get_ydata()), ~np.isfinite(known))
    with pytest.raises(InputError, match=f"beside must be losses of {kind} labels"):
        every[0].plot(beside=[cml.losses.Poisson()])
