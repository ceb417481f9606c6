"""Losses and penalties have pictures of themselves and of their conjugates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support import catalogue
from support.report.looks import faultless

from convexml import losses, penalties
from convexml.errors import InputError

pytest.importorskip("matplotlib")


def one_of_each(functions: Any, *quick: str) -> list[Any]:
    """One of each class; those that are not quick are drawn in the slow suite."""
    return [
        pytest.param(each, marks=() if each.name in quick else pytest.mark.slow)
        for each in {type(each): each for each in reversed(functions)}.values()
    ]


LOSSES = one_of_each((*catalogue.LOSSES, *catalogue.MULTICLASS), "hinge", "poisson", "huber")
PENALTIES = one_of_each(catalogue.PENALTIES, "l1", "l1_ball")


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_a_loss_and_its_conjugate(loss: Any) -> None:
    figure = faultless(loss.plot())
    value, conjugate = figure.axes
    z, l_of_z = value.lines[0].get_data()
    if not loss.is_indicator:  # the sup over the scores that are drawn is met where it touches
        (v,), (found,) = conjugate.lines[-1].get_data()
        assert found == pytest.approx(np.max(v * z - l_of_z), rel=1e-3, abs=1e-3)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_a_penalty_and_its_conjugate(penalty: Any) -> None:
    faultless(penalty.plot())


@pytest.mark.parametrize("radius", [1e-3, 1e5])
def test_numbers_of_many_digits_lie_apart(radius: float) -> None:
    faultless(penalties.L1Ball(radius).plot())


def test_edges_are_those_of_the_sets() -> None:
    """The conjugate of a norm is the ball of the other; balls have radii, boxes corners."""
    (edge,) = [a.patches[0].get_xy() for a in penalties.L1(0.1).plot().axes if a.patches]
    np.testing.assert_allclose(np.abs(edge).max(axis=1), 0.1, rtol=1e-5)
    edge = penalties.L1Ball(30.0).plot().axes[0].patches[0].get_xy()
    np.testing.assert_allclose(np.abs(edge).sum(axis=1), 30.0, rtol=1e-5)
    edge = penalties.Box(1.0, [2.0, 1.5]).plot().axes[0].patches[0].get_xy()
    for corner in ((1.0, 1.0), (2.0, 1.0), (2.0, 1.5), (1.0, 1.5)):
        assert np.linalg.norm(edge - corner, axis=1).min() < 1e-4


def test_one_panel_on_axes_of_the_caller_and_no_picture_of_one_coefficient() -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    assert losses.Logistic().plot(ax=figure.subplots()) is figure
    assert len(figure.axes) == 1
    with pytest.raises(InputError, match="two coefficients or more"):
        penalties.L1(0.1, [1.0]).plot()
