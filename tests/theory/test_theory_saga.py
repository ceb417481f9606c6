"""SAGA keeps its linear rate, in expectation over 64 seeds; broken versions fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.rate_cases import RATES, ROOM, applicable, audit, axes

from convexml import theory
from convexml.numerics import Array
from convexml.solvers import Iterate


@pytest.mark.parametrize("name", [name for name in applicable("saga") if name not in ROOM])
def test_saga_keeps_its_linear_rate(name: str) -> None:
    found = audit(RATES[name](), "saga", max_iter=12)
    assert found.holds, str(found)
    assert found.slack > 1.0


def test_the_factor_of_saga_is_the_textbook_one_without_a_penalty() -> None:
    L, mu, n = 3.0, 0.01, 50
    found = theory.saga_factor(step=0.25 / L, n=n, mu_f=mu)
    assert found == pytest.approx(1.0 - min(3.0 * mu / (16.0 * L), 1.0 / (3.0 * n)), rel=1e-15)
    assert theory.saga_factor(step=0.25 / L, n=10**9, mu_f=0.0, mu_g=0.1) < 1.0
    assert theory.saga_factor(step=0.1, n=2, mu_f=0.0, mu_g=1e9) == 1.0 - 1.0 / 6.0


def saga_gone_wrong(kind: str) -> Any:
    """SAGA as it is written in the paper, or with a mistake; dense and slow."""

    def iterate(objective: Any, w: Array, b: float, *, seed: int) -> Iterator[Iterate]:
        X, n, rng = objective.design.constant, objective.n, np.random.default_rng(seed)
        step = 0.25 / theory.sample_loss_smoothness(objective)
        taken = 10.0 * step if kind == "too long" else step
        sign = -1.0 if kind == "wrong sign" else 1.0
        w, T = w.copy(), 0
        table = X * (X @ w - objective.y)[:, None]
        while True:
            yield Iterate(w.copy(), 0.0, None, 0.0, {"step": step, "steps": float(T)})
            for i in rng.integers(n, size=n):
                new = X[i] * (X[i] @ w - objective.y[i])
                w = w - taken * (new - sign * (table[i] - table.mean(axis=0)))
                table[i] = table[i] if kind == "stale table" else new
                T += 1

    return iterate


@pytest.mark.parametrize("kind", ["right", "too long", "wrong sign", "stale table"])
def test_saga_gone_wrong_fails(plant: Callable[..., str], kind: str) -> None:
    name = plant(saga_gone_wrong(kind), theory.SagaRate())
    found = audit(axes(8, 4), name, max_iter=60)
    assert found.holds == (kind == "right"), str(found)


def test_a_step_of_saga_that_is_too_long_is_refused() -> None:
    found = audit(axes(), "saga", step=0.3 / 4.0, max_iter=5)
    assert "exceeds 1/(4 L_max)" in found.first_violation
