"""The size of a picture, and legends that cover nothing in axes of any size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from support.report.looks import faults

import convexml as cml
from convexml.conditions import worst
from convexml.losses import Huber
from convexml.penalties import L1

ARGUMENTS = [-3.0, -5.0], [[1, 0], [0, 2], [3, 2]], [4.0, 12.0, 18.0]


@pytest.fixture(scope="module")
def program() -> Any:
    """Two variables, three rows, of which two hold x = (2, 6)."""
    return cml.LinearProgram(*ARGUMENTS).solve()


def test_every_picture_takes_a_size(program: Any) -> None:
    X = np.arange(12.0).reshape(6, 2) % 5.0
    path = cml.Lasso(X, X[:, 0], 0.1).path([0.5, 0.1])
    race = cml.convergence(cml.Ridge(X, X[:, 0], 0.1), ["newton"])
    for each in (program, path, Huber(1.0), L1(0.5), race):
        assert tuple(each.plot(figsize=(9, 4)).get_size_inches()) == (9.0, 4.0)
    upright = Huber(1.0).plot(figsize=(4, 8)).axes
    assert upright[0].get_subplotspec().get_gridspec().get_geometry() == (2, 1)


@pytest.mark.parametrize(("size", "rows"), [((6.0, 2.8), 1), ((3.5, 5.4), 2)])
def test_the_least_sizes_leave_nothing_outside_and_nothing_on_top(
    program: Any, size: Any, rows: int
) -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 10)), np.where(np.arange(12) % 2 == 0, 1.0, -1.0)
    names = [f"{k} is a long name of a feature" for k in range(10)]
    lasso = cml.Lasso(pandas.DataFrame(X, columns=names), y, 0.01).solve()
    for each in (program, lasso, cml.SoftMarginSVM(X, y).solve()):
        figure = each.plot(figsize=size)
        assert faults(figure) == []
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


@pytest.mark.parametrize("size", [(1,), (0, 3), (3, -1), (np.nan, 3), (3, np.inf), "ab", 4, None])
def test_no_size_is_told(program: Any, size: Any) -> None:
    if size is None:  # the default
        assert tuple(program.plot().get_size_inches()) == (11.0, 4.2)
        return
    with pytest.raises(cml.errors.InputError, match=r"Solution\.plot: figsize must be a width"):
        program.plot(figsize=size)


def test_a_size_beside_axes_is_refused(program: Any) -> None:
    with pytest.raises(cml.errors.InputError, match="ax has its own; leave one out"):
        program.plot(ax=Figure().add_subplot(), figsize=(4, 3))


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


def test_entries_of_a_matrix_are_found_by_row_and_column() -> None:
    violations = np.zeros((3, 4))
    violations[1, 2] = 5.0
    assert worst("A", "dual_feasibility", violations).where() == "(1, 2)"
    assert worst("A", "dual_feasibility", violations.ravel()).where() == "6"
    of_classes = worst("A", "dual_feasibility", violations.ravel()).of_columns(["a", "b", "c"], 4)
    assert of_classes.where() == "(1, 2) (b)"


def test_coefficients_of_a_path_are_zero_at_lam_max() -> None:
    X = np.arange(12.0).reshape(6, 2) % 5.0
    problem = cml.Lasso(X, X[:, 0], 0.1)
    least = problem.lam_max
    axes = problem.path([2.0 * least, 0.1 * least]).plot().axes[0]
    for line in axes.lines[:2]:
        assert np.interp(least, line.get_xdata(), line.get_ydata()) == 0.0
    assert np.any(axes.lines[0].get_ydata())
