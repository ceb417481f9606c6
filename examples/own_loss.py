"""A loss of your own: log cosh, a smooth cousin of the absolute value.

    l(y, z) = log cosh(z - y)      l'(y, z) = tanh(z - y)      l''(y, z) = 1 - tanh²(z - y)
    l*(y, v) = yv + ½ [(1 + v) log(1 + v) + (1 - v) log(1 - v)]      for |v| ≤ 1

Written once to the protocol of ``convexml.losses.Loss``, it is posed, dualised, solved, certified
and printed like those of the library. A mistake in the conjugate shows as a gap that stays open.
"""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.optimize import minimize
from scipy.special import xlog1py
from sklearn.datasets import load_diabetes

import convexml as cml
from convexml.terms import Terms
from convexml.tex import Tex


class LogCosh(cml.losses.Loss):
    """l(y, z) = log cosh(z - y), without overflow."""

    name = "log_cosh"
    is_strictly_convex = True
    curvature_bound = 1.0

    def value(self, y, z):
        r = np.abs(z - y)
        return r + np.log1p(np.exp(-2.0 * r)) - np.log(2.0)

    def derivative(self, y, z):
        return np.tanh(z - y)

    def curvature(self, y, z):
        return 1.0 - np.tanh(z - y) ** 2

    def conjugate(self, y, v):
        inside = np.clip(v, -1.0, 1.0)
        entropy = xlog1py(1.0 + inside, inside) + xlog1py(1.0 - inside, -inside)
        return np.where(np.abs(v) <= 1.0, y * inside + 0.5 * entropy, np.inf)

    def domain(self, y):
        return -np.ones_like(y), np.ones_like(y)

    def prox(self, y, z, step):
        lo, hi = np.minimum(y, z), np.maximum(y, z)  # x + step tanh(x - y) = z: bisect
        for _ in range(60):
            x = 0.5 * (lo + hi)
            above = x + step * np.tanh(x - y) > z
            lo, hi = np.where(above, lo, x), np.where(above, x, hi)
        return 0.5 * (lo + hi)

    def expression(self, y, z, theta):
        return Terms(cp.logistic(2.0 * (z - y)) - (z - y) - np.log(2.0), {})

    def conjugate_expression(self, y, u, c, theta):
        v = cp.multiply(1.0 / c, u)
        entropy = -cp.entr(1.0 + v) - cp.entr(1.0 - v)
        return Terms(cp.multiply(y, u) + cp.multiply(0.5 * c, entropy), {})

    def tex(self):
        conjugate = r"y_i v_i + \tfrac12 (1 + v_i) \log(1 + v_i) + \tfrac12 (1 - v_i) \log(1 - v_i)"
        return Tex(r"\log \cosh(z_i - y_i)", conjugate, r"|v_i| \le 1", r"\tanh(z_i - y_i)")


def main() -> tuple[tuple, tuple]:
    X, y = load_diabetes(return_X_y=True)
    X, y, lam = X / X.std(axis=0), (y - y.mean()) / y.std(), 0.05
    problem = cml.LearningProblem(X, y, LogCosh(), cml.penalties.L2(lam))
    solution = problem.solve()
    print(f"{solution}\n\nprimal and dual by CVXPY + Clarabel:")
    print(problem.primal.solve(solver=cp.CLARABEL), problem.dual.solve(solver=cp.CLARABEL))

    def by_hand(point):
        w, r = point[:10], X @ point[:10] + point[10] - y
        slope = np.tanh(r) / len(y)
        value = np.mean(np.log(np.cosh(r))) + 0.5 * lam * w @ w
        return value, np.append(X.T @ slope + lam * w, slope.sum())

    best = minimize(by_hand, np.zeros(11), jac=True, method="BFGS", options={"gtol": 1e-11})
    ours = (solution.primal["w"], solution.objective, problem.primal.value, problem.dual.value)
    return ours, (best.x[:10], *[best.fun] * 3)


if __name__ == "__main__":
    main()
