"""The first iterates of consensus ADMM, against plain NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
import pytest
from support.solvers.by_hand import A, D, N, X, Y, agree, soft

import convexml as cml
from convexml.numerics import Array
from convexml.solvers.registry import ALGORITHMS


@pytest.mark.parametrize("rho", [1e-4, 0.05, 40.0])
def test_admm_and_its_changes_of_rho(rho: float) -> None:
    lam, blocks = 0.2, 3
    rows = np.split(np.arange(N), [5, 10])
    tau = np.append(np.sum(X**2, axis=0), float(N)) / blocks
    changes, residuals = [], []

    def expected() -> Iterator[Array]:
        strength = rho
        v = np.zeros(D + 1)
        x, t = np.zeros((blocks, D + 1)), np.zeros((blocks, D + 1))
        p, s = np.zeros(N), np.zeros(N)
        yield v
        for iteration in range(1, 100):
            z = (Y / N + strength * (p - s)) / (1.0 / N + strength)
            mean = np.mean(x - t, axis=0)
            v = np.append(soft(mean[:D], lam / (strength * tau[:D] * blocks)), mean[D])
            x_old, p_old = x.copy(), p.copy()
            for k, at in enumerate(rows):  # least squares for (v + t_k, z + s) on p = X x
                M = np.vstack([A[at], np.diag(np.sqrt(tau))])
                goal = np.append(z[at] + s[at], np.sqrt(tau) * (v + t[k]))
                x[k] = np.linalg.lstsq(M, goal, rcond=None)[0]
                p[at] = A[at] @ x[k]
            s, t = s + z - p, t + v - x
            primal = np.sum((z - p) ** 2) + np.sum(tau * (v - x) ** 2)
            dual = np.sum((p - p_old) ** 2) + np.sum(tau * (x - x_old) ** 2)
            residuals.append((primal, dual))
            yield v
            ratio = np.sqrt(primal / dual)
            if iteration % 5 == 0 and not 1 / 3 < ratio < 3:
                factor = 2.0 if ratio > 1.0 else 0.5
                changes.append(factor)
                strength, s, t = strength * factor, s / factor, t / factor

    objective = cml.Lasso(X, Y, lam).objective_parts
    run = ALGORITHMS["admm"].start(objective, np.zeros(D), 0.0, 0, {"rho": rho, "blocks": blocks})
    found = list(islice(run, 18))
    agree(found, expected())
    assert bool(changes) == (rho != 0.05)
    told = [(each.facts["primal"], each.facts["dual"]) for each in found[1:]]
    assert np.allclose(told, residuals[: len(told)], rtol=1e-7)
    assert found[-1].facts["rho"] != rho or rho == 0.05
