"""SLOPE: the lasso with a strength for every rank, the largest for the largest coefficient.

primal:  minimise over w, b, z   (1/2n)‖z - y‖² + Σ_j λ_j |w|_(j)     subject to  Xw + b·1 = z
dual:    maximise over u         -(n/2)‖u‖² - uᵀy
         subject to              Σ_{j≤k} |Xᵀu|_(j) ≤ Σ_{j≤k} λ_j for every k,  1ᵀu = 0

|w|_(1) ≥ |w|_(2) ≥ ... are the sizes of the coefficients, and λ_1 ≥ λ_2 ≥ ... ≥ 0. Summed by parts
the penalty is Σ_k (λ_k - λ_{k+1}) (|w|_(1) + ... + |w|_(k)), which is convex. Where the bound of k
is not met |w|_(k) = |w|_(k+1): coefficients form clusters of one size.
"""

import cvxpy as cp
import numpy as np


def primal(data, lams):
    X, y = data.X, data.y
    n, d = X.shape
    w, b, z = cp.Variable(d, name="w"), cp.Variable(name="b"), cp.Variable(n, name="z")

    predictions = (X @ w + b == z).set_label("predictions")  # its multiplier is u
    falls = -np.diff(lams, append=0.0)
    penalty = sum(falls[k] * cp.sum_largest(cp.abs(w), k + 1) for k in range(d))
    return cp.Problem(cp.Minimize(cp.sum_squares(z - y) / (2 * n) + penalty), [predictions])


def dual(data, lams):
    X, y = data.X, data.y
    n, d = X.shape
    u = cp.Variable(n, name="u")

    bounds = np.cumsum(lams)
    largest = [cp.sum_largest(cp.abs(X.T @ u), k + 1) <= bounds[k] for k in range(d)]
    labelled = [each.set_label(f"largest_{k + 1}") for k, each in enumerate(largest)]
    intercept = (cp.sum(u) == 0).set_label("b")
    objective = -n / 2 * cp.sum_squares(u) - u @ y
    return cp.Problem(cp.Maximize(objective), [*labelled, intercept])
