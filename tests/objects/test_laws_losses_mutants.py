"""The laws of the losses have teeth: a loss with one mistake breaks them."""

from __future__ import annotations

import numpy as np
import pytest
from test_laws_losses import LAWS

from convexml.losses import Hinge, Huber, Logistic, Loss, Poisson, Squared
from convexml.numerics import Array


class WrongConjugate(Huber):
    def conjugate(self, y: Array, v: Array) -> Array:
        return np.where(np.abs(v) <= self.delta, v**2 + v * y, np.inf)


class WrongSign(Hinge):
    def derivative(self, y: Array, z: Array) -> Array:
        return -super().derivative(y, z)


class WrongSubgradient(Hinge):
    def derivative(self, y: Array, z: Array) -> Array:
        return np.where(y * z <= 1.0, -2.0 * y, 0.0)


class WrongDomain(Logistic):
    def domain(self, y: Array) -> tuple[Array, Array]:
        return np.full_like(y, -1.0), np.full_like(y, 1.0)


class WrongStep(Squared):
    def prox(self, y: Array, z: Array, step: float | Array) -> Array:
        return (z + 2.0 * step * y) / (1.0 + 2.0 * step)


class WrongCurvature(Poisson):
    def curvature(self, y: Array, z: Array) -> Array:
        return np.exp(z) + y


class WrongBound(Squared):
    @property
    def curvature_bound(self) -> float:
        return 0.5


@pytest.mark.parametrize(
    ("loss", "broken"),
    [
        (WrongConjugate(1.0), {"conjugate", "Fenchel-Young", "Moreau"}),
        (WrongSign(), {"derivative", "corners", "Fenchel-Young"}),
        (WrongSubgradient(), {"derivative", "corners"}),
        (WrongDomain(), {"domain", "conjugate"}),
        (WrongStep(), {"prox", "Moreau"}),
        (WrongCurvature(), {"curvature"}),
        (WrongBound(), {"curvature bound"}),
    ],
    ids=lambda item: type(item).__name__ if isinstance(item, Loss) else "",
)
def test_a_wrong_loss_breaks_its_laws(loss: Loss, broken: set[str]) -> None:
    y = np.array([1.0, 1.0, -1.0, 1.0]) if loss.labels == "binary" else np.array([1.0, 2, 0, 3])
    z, v = np.array([1.0, -2.0, 1.5, 0.2]), np.array([-0.5, 0.4, 0.3, -0.9])
    found = set()
    for law, check in LAWS.items():
        try:
            with np.errstate(invalid="ignore"):
                check(loss, y, z, v, 1.0)
        except AssertionError:
            found.add(law)
    assert broken <= found
