"""Every model has a picture; paths, runs and gaps show what was computed, and what is certified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import Lasso
from support.model_rows import ROWS, Row
from support.report.looks import faultless
from support.sizes import by_turns

import convexml as cml
from convexml.errors import InputError

pytest.importorskip("matplotlib")
SAMPLE = 4
rng = np.random.default_rng(0)
X = rng.normal(size=(24, 3)) + 1.0
Y = X @ [1.0, 0.0, -2.0] + rng.normal(size=24)
LABELS = np.where(Y > np.median(Y), 1.0, -1.0)
ALSO: dict[str, Callable[[], Any]] = {
    "an infeasible one": lambda: cml.LinearProgram([1.0], A_ub=[[1.0]], b_ub=[-1.0]),
    "one feature": lambda: cml.SoftMarginSVM(X[:, :1], LABELS),
}


def sampled(cases: Sequence[Any]) -> list[Any]:
    """A seeded sample by default, all of them in the slow suite."""
    few = set(np.random.default_rng(7).permutation(len(cases))[:SAMPLE].tolist())
    marks = [() if k in few else pytest.mark.slow for k in range(len(cases))]
    names = [getattr(case, "name", case) for case in cases]
    return [
        pytest.param(c, id=name, marks=m) for c, name, m in zip(cases, names, marks, strict=True)
    ]


@pytest.mark.parametrize("row", sampled(ROWS))
def test_the_picture_of_a_model(row: Row) -> None:
    faultless(row.pose().solve().plot())


@pytest.mark.parametrize("name", ALSO)
def test_other_pictures(name: str) -> None:
    faultless(ALSO[name]().solve().plot())


def test_the_margin_is_that_of_the_answer() -> None:
    solution = cml.SoftMarginSVM(X, LABELS).solve()
    points = np.concatenate([c.get_offsets() for c in solution.plot().axes[0].collections])
    scores = X @ solution.primal["w"] + solution.primal["b"]
    np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(scores), atol=1e-12)
    filled = [c for c in solution.plot().axes[0].collections if c.get_facecolors().size]
    assert sum(len(c.get_offsets()) for c in filled) == len(solution.support)


draws = np.random.default_rng(4)
FIVE = draws.normal(size=(30, 5))
MIXED = FIVE @ [2.0, -1.0, 0.0, 0.0, 0.5] + draws.normal(size=30)
LASSO = cml.Lasso(FIVE, MIXED, lam=0.1)
LAMS = LASSO.lam_max * np.geomspace(1.5, 0.02, 9)


def test_a_path_shows_its_coefficients_zeros_and_gaps() -> None:
    path = LASSO.path(LAMS, tol=1e-9)
    figure = faultless(path.plot())
    lines, zeros, gaps = figure.axes[:3]
    centred = np.abs((FIVE - FIVE.mean(axis=0)).T @ (MIXED - MIXED.mean())).max() / len(MIXED)
    places = lines.lines[0].get_xdata()
    own = [k for k, lam in enumerate(places) if lam in np.asarray(LAMS)]
    drawn = np.array([line.get_ydata() for line in lines.lines[: FIVE.shape[1]]])
    np.testing.assert_array_equal(drawn.T[own][::-1], [each.primal["w"] for each in path])
    (kink,) = set(range(len(places))) - set(own)  # where lines break: all are 0 at lam_max
    assert places[kink] == pytest.approx(centred, rel=1e-9)
    assert not drawn.T[kink].any()
    (mark,) = [line for line in lines.lines if line.get_label() == "lam_max"]
    assert mark.get_xdata()[0] == pytest.approx(centred, rel=1e-9)
    tones = np.ma.filled(zeros.collections[0].get_array(), np.nan).reshape(FIVE.shape[1], -1)
    peers = [Lasso(lam, tol=1e-12, max_iter=100_000).fit(FIVE, MIXED).coef_ for lam in LAMS[::-1]]
    np.testing.assert_array_equal(tones == 0.0, np.array(peers).T == 0.0)
    assert np.max(gaps.lines[0].get_ydata()) <= 1e-9


def test_an_interval_shows_its_bound_everywhere() -> None:
    path = LASSO.path((LAMS[1], LAMS[4]), everywhere=1e-3)
    figure = faultless(path.plot())
    (curve,) = [line for line in figure.axes[2].lines if line.get_label() == "everywhere between"]
    assert 1e-6 < np.max(curve.get_ydata()) <= path.worst_gap <= 1e-3


def test_a_way_in_the_plane_touches_every_ball() -> None:
    ball = cml.ConstrainedRidge(FIVE[:, :2], MIXED, radius=1.0)
    figure = faultless(ball.path([0.2, 0.5, 1.0]).plot(kind="plane"))
    (way,) = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 3]
    np.testing.assert_allclose(np.hypot(*way.get_data()), [0.2, 0.5, 1.0], rtol=1e-6)
    faultless(cml.Lasso(FIVE[:, :2], MIXED, lam=0.5).solve().plot(kind="plane"))


def test_features_of_several_classes_are_named_with_their_class() -> None:
    solution = cml.SoftmaxRegression(FIVE[:, :2], np.arange(len(FIVE)) % 3, 0.1).solve(
        "fista", max_iter=3
    )
    axes = solution.plot(kind="gap").axes[1]
    told = [label.get_text() for label in axes.get_xticklabels()]
    assert told[:4] == ["0, 0", "0, 1", "0, 2", "1, 0"]
    assert len(told) == 6


def test_what_pulls_at_nothing_has_no_arrow() -> None:
    solution = cml.LogisticRegression(FIVE[:, :2], MIXED > np.median(MIXED), lam=0.0).solve()
    axes = solution.plot(kind="plane").axes[0]
    assert len(axes.texts) == 0
    assert "nothing pulls" in axes.get_title("left")
    pulled = cml.LogisticRegression(FIVE[:, :2], MIXED > np.median(MIXED), lam=0.1).solve()
    axes = pulled.plot(kind="plane").axes[0]
    assert len(axes.texts) == 1
    assert "dashed: the penalty; arrow: -X'u" in axes.get_title("left")


def test_the_parts_of_the_gap_add_up() -> None:
    ridge = cml.Ridge(FIVE, MIXED, lam=0.1, sample_weight=np.where(np.arange(30) < 25, 1.0, 0.0))
    rough = ridge.solve("gradient_descent", max_iter=4, polish=False)
    figure = faultless(rough.plot(kind="gap"))
    drawn = [np.concatenate([line.get_ydata() for line in axes.lines]) for axes in figure.axes]
    total = sum(part[:-1].sum() for part in drawn)  # the last one is the largest, in orange
    w, b, u, Z, t = (
        rough.primal["w"], rough.primal["b"], rough.dual["u"][:25], FIVE[:25], MIXED[:25],
    )  # fmt: skip
    P = 0.5 * np.mean((t - Z @ w - b) ** 2) + 0.5 * ridge.lam * w @ w
    D = -12.5 * u @ u - t @ u - np.sum((Z.T @ u) ** 2) / (2.0 * ridge.lam)
    assert total == pytest.approx(P - D, rel=1e-9)
    assert P - D > 1e-4


def test_parts_beyond_floats_are_drawn_at_the_edge() -> None:
    rough = cml.Ridge(FIVE * 1e140, MIXED * 1e140, 0.1).solve("fista", max_iter=2, polish=False)
    figure = faultless(rough.plot(kind="gap"))
    assert all(np.isfinite(line.get_ydata()).all() for axes in figure.axes for line in axes.lines)


def test_convergence_is_the_trace_above_its_floor() -> None:
    solution = LASSO.solve("fista", tol=1e-9)
    figure = faultless(solution.plot(kind="convergence"))
    passes, seconds = (axes.lines[0].get_xdata() for axes in figure.axes)
    np.testing.assert_array_equal(passes, [record.passes for record in solution.trace])
    np.testing.assert_array_equal(seconds, [record.seconds for record in solution.trace])
    certificate = solution.certificate
    floor = certificate.rounding / certificate.scale
    assert figure.axes[0].patches[0].get_extents().y1 == pytest.approx(
        figure.axes[0].transData.transform((0.0, floor))[1]
    )


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
    "terms": (lambda: cml.LinearProgram([1.0]).solve().plot(kind="gap"),
        "needs a solved problem of a loss and a penalty.*kind='quality'"),
    "outputs": (lambda: cml.MultiTaskLasso(FIVE, np.c_[MIXED, -MIXED],
        0.1).solve().plot(kind="gap"), "kind='gap' needs a solved problem of a loss and a penalty"),
    "no path": (lambda: LASSO.path([]).plot(), "no solution to draw; pass values of lam"),
    "path": (lambda: LASSO.path([1.0]).plot(kind="gap"), "kind must be None or 'plane'"),
    "file": (lambda: LASSO.path([1.0]).plot("x.unheard"), "Name it .png or .svg"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_there_is_refused(name: str) -> None:
    ask, words = REFUSED[name]
    with pytest.raises(InputError, match=words):
        ask()


ARGUMENTS = [-3.0, -5.0], [[1, 0], [0, 2], [3, 2]], [4.0, 12.0, 18.0]


@pytest.fixture(scope="module")
def program() -> Any:
    """Two variables, three rows, of which two hold x = (2, 6)."""
    return cml.LinearProgram(*ARGUMENTS).solve()


@pytest.mark.parametrize(("size", "rows"), by_turns([((6.0, 2.8), 1), ((3.5, 5.4), 2)]))
def test_the_least_sizes_leave_nothing_outside_and_nothing_on_top(
    program: Any, size: Any, rows: int
) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 10)), np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    names = [f"{k} is a long name of a feature" for k in range(10)]
    lasso = cml.Lasso(pandas.DataFrame(X, columns=names), y, 0.01).solve()
    for each in (program, lasso):
        figure = faultless(each.plot(figsize=size))
        panels = [axes for axes in figure.axes if axes.get_subplotspec() is not None]
        assert panels[0].get_subplotspec().get_gridspec().nrows == rows
        sides = [axes.get_window_extent().size / figure.dpi for axes in panels]
        assert np.min(sides) > 0.8
        assert [label for label in panels[-1].get_yticklabels() if label.get_text()]


@pytest.mark.parametrize("size", [(3, 3), (5.9, 4), (0.5, 0.5), (3.4, 9.0)])
def test_what_is_too_small_to_be_read_is_refused_with_the_least_size(
    program: Any, size: Any
) -> None:
    told = r"too small to be read.* 6 x 2\.8 with its 2 panels beside each other, 3\.5 x 5\.4"
    with pytest.raises(cml.errors.InputError, match=told):
        program.plot(figsize=size)
    with pytest.raises(cml.errors.InputError, match=r"at least 3 x 2\.8\."):
        program.plot(kind="answer", figsize=(2.9, 2.8))


@pytest.mark.parametrize(
    ("size", "layout"), [((4, 3), None), ((8, 3), None), ((4, 3), "constrained")]
)
def test_a_legend_covers_no_vertex(program: Any, size: Any, layout: Any) -> None:
    figure = Figure(figsize=size, layout=layout)
    axes = figure.add_subplot()
    program.plot(ax=axes)
    figure.canvas.draw()
    legend = axes.get_legend().get_window_extent()
    for vertex in ([0, 0], [4, 0], [4, 3], [2, 6], [0, 6]):
        assert not legend.contains(*axes.transData.transform(vertex))
        assert axes.get_window_extent().padded(2.0).contains(*axes.transData.transform(vertex))
