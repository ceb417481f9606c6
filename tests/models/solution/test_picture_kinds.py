"""Pictures of paths, runs and gaps show what was computed, and refuse what is not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from support.report.looks import faults

import convexml as cml
from convexml.errors import InputError
from convexml.models.pictures.contributions import gap_terms

pytest.importorskip("matplotlib")
rng = np.random.default_rng(4)
X = rng.normal(size=(30, 5))
y = X @ [2.0, -1.0, 0.0, 0.0, 0.5] + rng.normal(size=30)
LABELS = np.where(y > np.median(y), 1.0, -1.0)
LASSO = cml.Lasso(X, y, lam=0.1)
LAMS = LASSO.lam_max * np.geomspace(1.5, 0.02, 9)
KERNEL = cml.kernels.Gaussian(1.5)


def test_a_path_shows_its_coefficients_zeros_and_gaps() -> None:
    path = LASSO.path(LAMS, tol=1e-9)
    figure = path.plot()
    assert faults(figure) == []
    lines, zeros, gaps = figure.axes[:3]
    centred = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    places = lines.lines[0].get_xdata()
    own = [k for k, lam in enumerate(places) if lam in np.asarray(LAMS)]
    drawn = np.array([line.get_ydata() for line in lines.lines[: X.shape[1]]])
    np.testing.assert_array_equal(drawn.T[own][::-1], [each.primal["w"] for each in path])
    (kink,) = set(range(len(places))) - set(own)  # where lines break: all are 0 at lam_max
    assert places[kink] == pytest.approx(centred, rel=1e-9)
    assert not drawn.T[kink].any()
    (mark,) = [line for line in lines.lines if line.get_label() == "lam_max"]
    assert mark.get_xdata()[0] == pytest.approx(centred, rel=1e-9)
    tones = np.ma.filled(zeros.collections[0].get_array(), np.nan).reshape(X.shape[1], -1)
    peers = [Lasso(lam, tol=1e-12, max_iter=100_000).fit(X, y).coef_ for lam in LAMS[::-1]]
    np.testing.assert_array_equal(tones == 0.0, np.array(peers).T == 0.0)
    assert np.max(gaps.lines[0].get_ydata()) <= 1e-9


def test_an_interval_shows_its_bound_everywhere() -> None:
    path = LASSO.path((LAMS[1], LAMS[4]), everywhere=1e-3)
    figure = path.plot()
    assert faults(figure) == []
    (curve,) = [line for line in figure.axes[2].lines if line.get_label() == "everywhere between"]
    assert 1e-6 < np.max(curve.get_ydata()) <= path.worst_gap <= 1e-3


def test_a_way_in_the_plane_touches_every_ball() -> None:
    ball = cml.ConstrainedRidge(X[:, :2], y, radius=1.0)
    figure = ball.path([0.2, 0.5, 1.0]).plot(kind="plane")
    assert faults(figure) == []
    (way,) = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 3]
    np.testing.assert_allclose(np.hypot(*way.get_data()), [0.2, 0.5, 1.0], rtol=1e-6)
    assert faults(cml.Lasso(X[:, :2], y, lam=0.5).solve().plot(kind="plane")) == []


def test_the_gap_of_several_classes_has_its_parts() -> None:
    classes = np.arange(len(X)) % 3
    solution = cml.SoftmaxRegression(X, classes, 0.1).solve("fista", max_iter=3)
    samples, features = gap_terms("plot", solution)
    total = solution.objective - solution.dual_objective
    assert samples.sum() + features.sum() == pytest.approx(total, rel=1e-6, abs=1e-12)


def test_features_of_several_classes_are_named_with_their_class() -> None:
    solution = cml.SoftmaxRegression(X[:, :2], np.arange(len(X)) % 3, 0.1).solve(
        "fista", max_iter=3
    )
    axes = solution.plot(kind="gap").axes[1]
    told = [label.get_text() for label in axes.get_xticklabels()]
    assert told[:4] == ["0, 0", "0, 1", "0, 2", "1, 0"]
    assert len(told) == 6


def test_what_pulls_at_nothing_has_no_arrow() -> None:
    solution = cml.LogisticRegression(X[:, :2], y > np.median(y), lam=0.0).solve()
    axes = solution.plot(kind="plane").axes[0]
    assert len(axes.texts) == 0
    assert "nothing pulls" in axes.get_title("left")
    pulled = cml.LogisticRegression(X[:, :2], y > np.median(y), lam=0.1).solve()
    axes = pulled.plot(kind="plane").axes[0]
    assert len(axes.texts) == 1
    assert "dashed: the penalty; arrow: -X'u" in axes.get_title("left")


def test_the_normal_ends_inside_of_the_picture() -> None:
    draws = np.random.default_rng(0)
    Z = draws.normal(size=(60, 2))
    target = Z @ [1.0, 0.2] + 0.1 * draws.normal(size=60)
    axes = cml.Lasso(Z, target, lam=0.3).solve().plot(kind="plane").axes[0]
    (normal,) = axes.texts
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    assert left < normal.xy[0] < right
    assert low < normal.xy[1] < high


def test_the_title_of_a_course_tells_its_end() -> None:
    svm = cml.SoftMarginSVM(X, np.where(y > np.median(y), 1.0, -1.0), C=1.0)
    rough = svm.solve("subgradient", max_iter=300)
    title = rough.plot(kind="convergence").axes[0].get_title("left")
    last, end = rough.trace[-1].relative_gap, rough.certificate.relative_gap
    assert f"{last:.1e}" in title
    assert f"{end:.1e}" in title
    sides = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    apart = cml.LogisticRegression(X, sides, lam=0.0).solve("gradient_descent", max_iter=50)
    assert apart.status == "unattained"
    assert "unattained" in apart.plot(kind="convergence").axes[0].get_title("left")


def test_the_parts_of_the_gap_add_up() -> None:
    ridge = cml.Ridge(X, y, lam=0.1, sample_weight=np.where(np.arange(30) < 25, 1.0, 0.0))
    rough = ridge.solve("gradient_descent", max_iter=4, polish=False)
    figure = rough.plot(kind="gap")
    assert faults(figure) == []
    drawn = [np.concatenate([line.get_ydata() for line in axes.lines]) for axes in figure.axes]
    total = sum(part[:-1].sum() for part in drawn)  # the last one is the largest, in orange
    w, b, u, Z, t = rough.primal["w"], rough.primal["b"], rough.dual["u"][:25], X[:25], y[:25]
    P = 0.5 * np.mean((t - Z @ w - b) ** 2) + 0.5 * ridge.lam * w @ w
    D = -12.5 * u @ u - t @ u - np.sum((Z.T @ u) ** 2) / (2.0 * ridge.lam)
    assert total == pytest.approx(P - D, rel=1e-9)
    assert P - D > 1e-4


def test_the_parts_of_a_kernel_problem_add_up() -> None:
    rough = cml.KernelSVM(X, LABELS, 1.0, KERNEL).solve("smo", max_iter=1, polish=False)
    assert faults(rough.plot(kind="gap")) == []
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2) / 1.5**2)
    q, u = rough.primal["q"], rough.dual["u"]
    f = K @ q
    P = 0.5 * q @ f + np.maximum(1.0 - LABELS * (f + rough.primal["b"]), 0.0).sum()
    gap = P - (-LABELS @ u - 0.5 * u @ K @ u)
    samples, penalty = gap_terms("plot", rough)
    assert samples.sum() + penalty.sum() == pytest.approx(gap, rel=1e-9, abs=1e-9)


def test_parts_beyond_floats_are_drawn_at_the_edge() -> None:
    rough = cml.Ridge(X * 1e140, y * 1e140, 0.1).solve("fista", max_iter=2, polish=False)
    figure = rough.plot(kind="gap")
    assert faults(figure) == []
    assert all(np.isfinite(line.get_ydata()).all() for axes in figure.axes for line in axes.lines)


def test_convergence_is_the_trace_above_its_floor() -> None:
    solution = LASSO.solve("fista", tol=1e-9)
    figure = solution.plot(kind="convergence")
    assert faults(figure) == []
    passes, seconds = (axes.lines[0].get_xdata() for axes in figure.axes)
    np.testing.assert_array_equal(passes, [record.passes for record in solution.trace])
    np.testing.assert_array_equal(seconds, [record.seconds for record in solution.trace])
    certificate = solution.certificate
    floor = certificate.rounding / certificate.scale
    assert figure.axes[0].patches[0].get_extents().y1 == pytest.approx(
        figure.axes[0].transData.transform((0.0, floor))[1]
    )


def test_a_race_has_the_floor_of_its_best() -> None:
    race = cml.convergence(LASSO, ["fista", "coordinate_descent"], tols=[1e-6])
    figure = race.plot()
    assert faults(figure) == []
    floors = [course.floor for course in race.courses]
    assert all(0.0 < floor < 1e-10 for floor in floors)
    assert figure.axes[0].patches[0].get_y() + figure.axes[0].patches[0].get_height() == min(floors)


def test_axes_of_the_caller() -> None:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    places = figure.subplots(1, 2)
    solution = LASSO.solve()
    assert solution.plot(ax=places) is figure
    assert solution.plot(ax=figure.add_subplot(), kind="gap") is figure
    assert len(figure.axes) == 3
    with pytest.raises(InputError, match=r"2 panels, and ax 3 axes; pass 2 of them, or one"):
        solution.plot(ax=figure.axes)
    with pytest.raises(InputError, match="ax must be Axes of matplotlib, got 3"):
        solution.plot(ax=3)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "kind": (lambda: LASSO.solve().plot(kind="gaps"), "kind must be .* got 'gaps'.*Did you mean"),
    "course": (lambda: LASSO.solve("clarabel").plot(kind="convergence"), "clarabel left none"),
    "plane": (lambda: LASSO.solve().plot(kind="plane"), r"weights of shape \(5,\). Pose it on two"),
    "terms": (
        lambda: cml.LinearProgram([1.0]).solve().plot(kind="gap"),
        "needs a solved problem of a loss and a penalty.*kind='quality'",
    ),
    "outputs": (
        lambda: cml.MultiTaskLasso(X, np.c_[y, -y], 0.1).solve().plot(kind="gap"),
        "kind='gap' needs a solved problem of a loss and a penalty",
    ),
    "residuals": (
        lambda: cml.SquareRootLasso(X, y, 0.1).solve().plot(kind="gap"),
        "kind='gap' needs a solved problem of a loss and a penalty",
    ),
    "differences": (
        lambda: cml.GeneralizedLasso(X, y, 0.1, np.eye(5)).solve().plot(kind="gap"),
        "kind='gap' needs a solved problem of a loss and a penalty",
    ),
    "no path": (lambda: LASSO.path([]).plot(), "no solution to draw; pass values of lam"),
    "path": (lambda: LASSO.path([1.0]).plot(kind="gap"), "kind must be None or 'plane'"),
    "file": (lambda: LASSO.path([1.0]).plot("x.unheard"), "Name it .png or .svg"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_there_is_refused(name: str) -> None:
    ask, words = REFUSED[name]
    with pytest.raises(InputError, match=words):
        ask()


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        lambda: cml.SoftMarginSVM(X, LABELS).path([0.1, 1.0, 10.0]),
        lambda: cml.KernelSVM(X, LABELS, 1.0, KERNEL).path([0.1, 1.0]),
        lambda: cml.NuSVC(X, LABELS, 0.5).path((0.6, 0.3), everywhere=1e-2),
        lambda: cml.SoftmaxRegression(X, LABELS, 0.1).path([0.1, 0.01]),
        lambda: cml.ConvexClustering(X[:8], 0.1).path([0.01, 0.1, 1.0]),
        lambda: cml.GaussianLikelihood(X, 0.1).path([0.1, 0.05]),
        lambda: cml.ConstrainedLasso(X, y, 1.0).path([0.5, 1.0]),
        lambda: cml.TrendFilter(y, 0.1).path([0.1]),
        lambda: cml.MultiTaskLasso(X, np.column_stack([y, X[:, 1]]), 0.1).path([0.1, 0.2]),
    ],
)
def test_paths_of_other_models(path: Callable[[], Any]) -> None:
    assert faults(path().plot()) == []
