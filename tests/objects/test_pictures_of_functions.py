"""Losses and penalties have pictures of themselves and of their conjugates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.report.looks import faults

from convexml import losses, penalties
from convexml.errors import InputError
from convexml.pictures.outlines import outline

pytest.importorskip("matplotlib")
LOSSES = [
    *(losses.Hinge(), losses.Poisson(), losses.Huber(20.0)),
    *(
        pytest.param(loss, marks=pytest.mark.slow)
        for loss in (
            *(losses.Squared(), losses.Absolute(), losses.Pinball(0.2), losses.Logistic()),
            *(losses.Exponential(), losses.Softmax(), losses.HardMargin(), losses.Linex()),
            *(losses.Interpolation(), losses.EpsilonInsensitive(0.5), losses.SquaredHinge()),
            losses.SquaredEpsilonInsensitive(0.1),
        )
    ),
]
PENALTIES = [
    *(penalties.L1Ball(30.0), penalties.L1(0.1)),
    *(
        pytest.param(penalty, marks=pytest.mark.slow)
        for penalty in (
            *(penalties.L2(0.3), penalties.Zero(), penalties.ElasticNet(1.0, 0.5)),
            *(penalties.L1(0.1, [1.0, 0.0, 2.0]), penalties.GroupL2(0.2, [0, 0, 1])),
            *(penalties.L2Ball(0.01), penalties.Box(1.0, [2.0, 1.5]), penalties.Nonnegative()),
            *(penalties.NonnegativeElasticNet(1.0, 0.5), penalties.SortedL1([2.0, 1.0, 0.0])),
        )
    ),
]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_loss_and_its_conjugate(loss: Any) -> None:
    figure = loss.plot()
    assert faults(figure) == []
    value, conjugate = figure.axes
    z, l_of_z = value.lines[0].get_data()
    if not loss.is_indicator:  # the sup over the scores that are drawn is met where it touches
        (v,), (found,) = conjugate.lines[-1].get_data()
        assert found == pytest.approx(np.max(v * z - l_of_z), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_a_penalty_and_its_conjugate(penalty: Any) -> None:
    assert faults(penalty.plot()) == []


def test_the_conjugate_of_a_norm_is_the_ball_of_the_other() -> None:
    areas = [axes for axes in penalties.L1(0.1).plot().axes if axes.patches]
    (edge,) = [axes.patches[0].get_xy() for axes in areas]
    np.testing.assert_allclose(np.abs(edge).max(axis=1), 0.1, rtol=1e-5)


def test_a_ball_is_drawn_with_its_radius() -> None:
    axes = penalties.L1Ball(30.0).plot().axes[0]
    edge = axes.patches[0].get_xy()
    np.testing.assert_allclose(np.abs(edge).sum(axis=1), 30.0, rtol=1e-5)


def test_one_panel_on_axes_of_the_caller() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    assert losses.Logistic().plot(ax=figure.subplots()) is figure
    assert len(figure.axes) == 1


def test_a_penalty_of_one_coefficient_is_refused() -> None:
    with pytest.raises(InputError, match="two coefficients or more"):
        penalties.L1(0.1, [1.0]).plot()


@pytest.mark.parametrize(
    ("penalty", "corners"),
    [
        (penalties.Box(1.0, [2.0, 1.5]), [(1.0, 1.0), (2.0, 1.0), (2.0, 1.5), (1.0, 1.5)]),
        (penalties.Box(-0.1, [0.3, 2.0]), [(-0.1, -0.1), (0.3, -0.1), (0.3, 2.0), (-0.1, 2.0)]),
        (penalties.L1Ball(0.7), [(0.7, 0.0), (0.0, 0.7), (-0.7, 0.0), (0.0, -0.7)]),
    ],
)
def test_polygons_have_their_corners(penalty: Any, corners: list[tuple[float, float]]) -> None:
    edge = outline(lambda w: penalty.violation(w) == 0.0, np.mean(corners, axis=0), 3.0)
    for corner in corners:
        assert np.linalg.norm(edge - corner, axis=1).min() < 1e-5


def test_an_outline_is_that_of_the_set() -> None:
    ellipse = outline(lambda w: bool(w[0] ** 2 + 25.0 * (w[1] - 1.0) ** 2 <= 4.0), np.ones(2), 3.0)
    np.testing.assert_allclose(
        ellipse[:, 0] ** 2 + 25.0 * (ellipse[:, 1] - 1.0) ** 2, 4.0, atol=1e-5
    )
    np.testing.assert_array_equal(ellipse[0], ellipse[-1])
    half_plane = outline(lambda w: bool(w[1] <= 0.3), np.zeros(2), 1.0)
    assert np.abs(half_plane[half_plane[:, 1] < 0.3 - 1e-5]).max(axis=1).min() > 1.5  # out of sight
