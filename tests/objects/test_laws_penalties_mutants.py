"""The laws of the penalties have teeth: a penalty with one mistake breaks them."""

from __future__ import annotations

import numpy as np
import pytest
from test_laws_penalties import LAWS

from convexml.numerics import Array
from convexml.penalties import L1, L2, L2Ball, Penalty


class WrongConjugate(L2):
    def conjugate(self, v: Array, slack: float | Array = 0.0) -> float:
        return 2.0 * super().conjugate(v, slack)


class WrongThreshold(L1):
    def prox(self, w: Array, step: float | Array) -> Array:
        return super().prox(w, 2.0 * np.asarray(step))


class WrongScale(L1):
    def domain_scale(self, v: Array, slack: float | Array = 0.0) -> float:
        return 0.5 * super().domain_scale(v, slack)


class WrongRadius(L2Ball):
    def project(self, w: Array) -> Array:
        return 1.001 * super().project(w)


class WrongFree(L2):
    def free(self, d: int) -> Array:
        return np.ones(d, dtype=bool)


@pytest.mark.parametrize(
    ("penalty", "broken"),
    [
        (WrongConjugate(1.0), {"Fenchel-Young"}),
        (WrongThreshold(1.0), {"prox"}),
        (WrongScale(1.0), {"domain scale"}),
        (WrongRadius(1.0), {"projection", "prox"}),
        (WrongFree(1.0), {"free"}),
    ],
    ids=lambda item: type(item).__name__ if isinstance(item, Penalty) else "",
)
def test_a_wrong_penalty_breaks_its_laws(penalty: Penalty, broken: set[str]) -> None:
    w, v = np.array([3.0, -0.4, 0.0, 1.0, -1.0]), np.array([0.5, -2.0, 0.3, 1.0, 4.0])
    found = set()
    for law, check in LAWS.items():
        try:
            check(penalty, w, v, 1.0)
        except AssertionError:
            found.add(law)
    assert broken <= found
