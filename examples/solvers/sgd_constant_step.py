"""Why SGD with a constant step stops short.

    minimise over w   f(w) = (1/n) Σ f_i(w),   f_i(w) = (1/2)(x_i·w - y_i)² + (λ/2)‖w‖²

A step follows one sample, w ← w - γ ∇f_i(w), with i drawn at random. On average that is a step of
gradient descent. But at the minimiser w* the ∇f_i do not vanish, only their mean does: their
variance σ² keeps w moving for ever. The theorem, for γ ≤ 1/(2 L_max), is

    E‖w_T - w*‖² ≤ (1 - γμ)^T ‖w_0 - w*‖² + 2 (γ/μ) σ²

The first term dies out, the second is a floor. And the floor is real, as this example shows without
chance: with e = (w - w*, 1) a step is e ← A_i e, so that E[e eᵀ] ← E[A_i e eᵀ A_iᵀ] is a linear
map, whose powers give E‖w_T - w*‖² exactly. The runs over 64 seeds lie where it says.

Halving γ halves the floor and doubles the time. The mean of the iterates goes far below it.

Run `python examples/solvers/sgd_constant_step.py floor.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.datasets import load_diabetes

import convexml as cml
from convexml import theory

LAM, EPOCHS = 0.1, 60


def second_moments(X: np.ndarray, y: np.ndarray, w: np.ndarray, step: float) -> np.ndarray:
    """The matrix of E[e eᵀ] ← E[A_i e eᵀ A_iᵀ], A_i = [I - γ H_i, -γ ∇f_i(w*); 0, 1]."""
    n, d = X.shape
    A = np.zeros((n, d + 1, d + 1))
    A[:, :d, :d] = np.eye(d) - step * (X[:, :, None] * X[:, None, :] + LAM * np.eye(d))
    A[:, :d, d] = -step * (X * (X @ w - y)[:, None] + LAM * w)
    A[:, d, d] = 1.0
    return np.einsum("nij,nkl->ikjl", A, A).reshape((d + 1) ** 2, -1) / n


def after(K: np.ndarray, start: np.ndarray, T: int) -> float:
    """E‖w_T - w*‖², from w_0 - w* = ``start``."""
    e = np.append(start, 1.0)
    moments = np.linalg.matrix_power(K, T) @ np.outer(e, e).ravel()
    return float(np.trace(moments.reshape(len(e), -1)[:-1, :-1]))


def floor(K: np.ndarray, d: int) -> float:
    """The limit of the same, from the equation M = K M with 1 in its last entry."""
    fixed = np.linalg.solve(np.eye(len(K) - 1) - K[:-1, :-1], K[:-1, -1])
    return float(np.trace(np.append(fixed, 1.0).reshape(d + 1, -1)[:-1, :-1]))


def main(picture: str | None = None) -> tuple[list[object], list[object]]:
    X, y = load_diabetes(return_X_y=True)
    X, y = X / X.std(axis=0), (y - y.mean()) / y.std()
    problem = cml.Ridge(X, y, lam=LAM, fit_intercept=False)
    best = np.linalg.solve(X.T @ X + len(y) * LAM * np.eye(X.shape[1]), X.T @ y)
    longest = 0.5 / theory.sample_smoothness(problem.objective_parts)

    computed: list[object] = []
    expected: list[object] = []
    print(f"E‖w_T - w*‖² after {EPOCHS} passes; the upper end of the 99 % interval over 64 seeds\n")
    print(f"{'step':>10}{'exact':>12}{'64 seeds':>12}{'exact floor':>14}{'bound':>12}")
    for step in (longest, longest / 2.0):
        K = second_moments(X, y, best, step)
        run = problem.solve("sgd", tol=1e-15, step=step, max_iter=EPOCHS)
        (claim,) = run.rate_audit().claims
        exact, limit = after(K, -best, EPOCHS * len(y)), floor(K, X.shape[1])
        measured, bound = claim.measured[-1], claim.bound[-1]
        print(f"{step:>10.5f}{exact:>12.3e}{measured:>12.3e}{limit:>14.3e}{bound:>12.3e}")
        computed += [exact, "below" if exact <= measured <= bound else "above"]
        expected += [limit, "below"]

    last = problem.solve("sgd", tol=1e-15, max_iter=EPOCHS)
    mean = problem.solve("sgd", tol=1e-15, max_iter=EPOCHS, average=True)
    print(f"\nBest gap met by the iterates {last.gap:.1e}, by their mean {mean.gap:.1e}.")
    if picture is not None:
        last.plot(picture, kind="convergence")
        print(f"wrote {picture}")
    computed.append("the mean" if mean.gap < last.gap else "the iterates")
    return computed, [*expected, "the mean"]


if __name__ == "__main__":
    main(*sys.argv[1:])
