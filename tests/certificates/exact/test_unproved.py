"""What is not proved, and why: who states no rounding, and what is of first order only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.losses import Hinge, Squared
from convexml.penalties import L1, L2, Box, GroupL2


class Halved(Squared):
    """A loss that changes a formula, and says nothing of its rounding."""

    def value(self, y: Any, z: Any) -> Any:
        return super().value(y, z)


class Stated(Halved):
    """The same, with a word on its rounding."""

    def value_rounding(self, y: Any, z: Any, value: Any) -> Any:
        return super().value_rounding(y, z, value)


class Silent(L2):
    """A penalty with a formula of its own, and no bound of its own."""

    def conjugate(self, v: Any, slack: Any = 0.0) -> float:
        return super().conjugate(v, slack)


class SilentBox(Box):
    """A constraint that does not say by how much it may be missed."""

    def violation(self, w: Any, sizes: Any = 1.0) -> float:
        return super().violation(w, sizes)


@pytest.mark.parametrize(
    ("loss", "penalty", "missing"),
    [
        (Halved(), L2(0.1), "value_rounding"),
        (Squared(), Silent(0.1), "conjugate_bound"),
        (Squared(), SilentBox(-1.0, 1.0), "shrinkage"),
    ],
)
def test_what_does_not_state_its_rounding_is_not_proved(
    loss: Any, penalty: Any, missing: str
) -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    found = cml.LearningProblem(X, y, loss, penalty).solve().certificate
    assert found.verdict.value == "certified"
    assert found.proved_gap == np.inf
    assert missing in found.unproved
    named = loss if missing == "value_rounding" else penalty
    assert repr(named) in found.unproved


def test_what_states_its_rounding_is_proved() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    for loss, penalty in ((Stated(), L2(0.1)), (Hinge(), GroupL2(0.1, [0, 1])), (Hinge(), L1(0.1))):
        found = cml.LearningProblem(X, np.sign(y), loss, penalty).solve().certificate
        assert found.proved_gap == found.gap < np.inf
        assert found.unproved == ""


def test_rows_of_several_classes_without_a_penalty_are_not_proved() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 3, 30)
    found = cml.SoftmaxRegression(X, y, 0.0, None).solve().certificate
    assert found.verdict.value == "certified"
    assert found.proved_gap == np.inf
    assert "without a penalty" in found.unproved


def test_an_interpolation_is_not_proved() -> None:
    rng = np.random.default_rng(8)
    found = cml.MinimumNorm(rng.normal(size=(2, 4)), rng.normal(size=2)).solve().certificate
    assert found.proved_gap == np.inf
    assert "only down to rounding" in found.unproved
