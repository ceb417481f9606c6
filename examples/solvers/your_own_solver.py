"""From the page of gradient descent to your own solver, graded.

The page has one line: x_{t+1} = x_t - γ∇f(x_t). For ridge, f(w) = (1/2n)‖Xw - y‖² + (λ/2)‖w‖², so
that ∇f(w) = Xᵀ(Xw - y)/n + λw; L is the largest eigenvalue of XᵀX/n + λI, μ the least.

Three students write it down. One forgets 1/n, one the penalty, one nothing. `cml.grade` puts their
first steps beside the page's, names what differs, and certifies where they end. The theorem of the
page, f(x_T) - f* <= ‖x_0 - x*‖²/(2γT), then says how near the third one is, and it is nearer.
Run `python examples/solvers/your_own_solver.py run.png` for the picture of its run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice

import numpy as np
from sklearn.datasets import load_diabetes

import convexml as cml
from convexml import textbook, theory

LAM = 0.1


def forgets_n(X: np.ndarray, y: np.ndarray, lam: float, step: float) -> Iterator[np.ndarray]:
    w = np.zeros(X.shape[1])
    while True:
        yield w
        w = w - step * (X.T @ (X @ w - y) + lam * w)


def forgets_lam(X: np.ndarray, y: np.ndarray, step: float) -> Iterator[np.ndarray]:
    w = np.zeros(X.shape[1])
    while True:
        yield w
        w = w - step * X.T @ (X @ w - y) / len(y)


def forgets_nothing(X: np.ndarray, y: np.ndarray, lam: float, step: float) -> Iterator[np.ndarray]:
    w = np.zeros(X.shape[1])
    while True:
        yield w
        w = w - step * (X.T @ (X @ w - y) / len(y) + lam * w)


def main(picture: str | None = None) -> tuple[list[object], list[object]]:
    X, y = load_diabetes(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    n, d = X.shape
    problem = cml.Ridge(X, y, LAM, fit_intercept=False)

    said = []
    for student in (forgets_n, forgets_lam, forgets_nothing):
        found = cml.grade(student, problem, kind="gradient_descent", iterations=600)
        said.append(found.mistakes[0] if found.mistakes else "passed")
        print(f"{student.__name__} -> {found}\n")

    hessian = X.T @ X / n + LAM * np.eye(d)
    mu, *_, L = np.linalg.eigvalsh(hessian)
    best = np.linalg.solve(hessian, X.T @ y / n)

    def value(w: np.ndarray) -> float:
        return float((y - X @ w) @ (y - X @ w) / (2 * n) + LAM * w @ w / 2)

    page = textbook.gradient_descent(lambda w: hessian @ w - X.T @ y / n, np.zeros(d), 1 / L)
    pairs = islice(zip(page, forgets_nothing(X, y, LAM, 1 / L), strict=False), 200)
    apart, start, kept = max(np.abs(a - b).max() for a, b in pairs), best @ best, True
    print(f"{'T':>5}{'f - f*':>12}{'theorem, at most':>19}")
    for T, w in enumerate(islice(forgets_nothing(X, y, LAM, 1 / L), 201)):
        if T in (1, 10, 50, 100, 200):
            gap = value(w) - value(best)
            linear = L / 2 * theory.gradient_descent_distance(T, step=1 / L, mu=mu, distance=start)
            bound = min(theory.gradient_descent_value(T, step=1 / L, distance=start), linear)
            print(f"{T:>5}{gap:>12.3e}{float(bound):>19.3e}")
            kept = kept and gap <= bound

    ended = problem.solve("textbook.gradient_descent", max_iter=20)
    print(f"\nafter 20 iterations of the page: {ended.message}")
    if picture is not None:
        problem.solve("textbook.gradient_descent").plot(picture, kind="convergence")
    seen = "kept" if kept else "broken", "the page" if apart < 1e-9 else "another page"
    computed = [*said, *seen, found.certificate.primal_objective]
    return computed, ["sum", "no penalty", "passed", "kept", "the page", value(best)]


if __name__ == "__main__":
    main(*sys.argv[1:])
