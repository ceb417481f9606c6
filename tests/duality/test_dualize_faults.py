"""Faults planted in the construction of the dual are noticed by the comparison."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.dualize_cases import HELPERS, holds

from convexml.duality import assemble, eliminate, forms, parts
from convexml.duality.forms import Matrix

PROBES = ("lp_2", "socp_1", "expcone_1", "pcp_2", "sdp_2", "qp_0")


def probes() -> list[Any]:
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(6, 3)), rng.normal(size=6)
    y = cp.Variable(3, name="y", nonneg=True)
    fits = cp.sum_squares(A @ y - b) + cp.norm1(y) + cp.norm(A @ y) + cp.max(A @ y)
    problem = cp.Problem(cp.Minimize(fits), [cp.sum(y) == 1.0, y[0] >= 0.2])
    return [problem, *(HELPERS[name]().prob for name in PROBES)]


def flipped_argument(name: str) -> Any:
    original = parts._argument

    def argument(constraint: Any, position: int, owner: Any) -> Any:
        expression, sign, flipped = original(constraint, position, owner)
        wrong = type(constraint).__name__ == name
        return expression, -sign if wrong else sign, flipped

    return argument


FAULTS = {
    **{
        f"sign of {name}": (parts, "_argument", flipped_argument(name))
        for name in ("Inequality", "Equality", "SOC", "PSD", "ExpCone", "PowCone3D")
    },
    "inverse": (
        Matrix,
        "inverse",
        lambda self, original=Matrix.inverse: original(self) and original(self) * -1.0,
    ),
    "constants": (eliminate.Lagrangian, "constants", lambda self: forms.AffineForm(1)),
    "factor": (
        assemble,
        "conjugate_factor",
        lambda P, original=assemble.conjugate_factor: (2.0 * original(P)[0], original(P)[1]),
    ),
    "cones": (assemble, "_membership", lambda member, y: iter(())),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_noticed(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert all(holds(problem) for problem in probes())
    monkeypatch.setattr(*FAULTS[fault])
    assert not all(holds(problem) for problem in probes())
