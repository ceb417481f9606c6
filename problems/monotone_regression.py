"""Monotone regression: the nondecreasing sequence nearest to y.

primal:  minimise over w   (1/2n) Σ (y_i - w_i)²
         subject to        w_1 ≤ w_2 ≤ ... ≤ w_n
dual:    maximise over α   Σ y_i t_i - (n/2) Σ t_i²,  t_i = α_i - α_{i-1}, α_0 = α_n = 0
         subject to        α ≥ 0

At the optimum w is constant on blocks, the mean of y on each, and α_i is the sum of the residuals
(y_j - w_j)/n up to i: it is 0 where a block ends.
"""

import cvxpy as cp
import numpy as np


def primal(data):
    n = len(data.y)
    w = cp.Variable(n, name="w")

    monotone = (w[:-1] <= w[1:]).set_label("monotone")
    return cp.Problem(cp.Minimize(cp.sum_squares(w - data.y) / (2 * n)), [monotone])


def dual(data):
    n = len(data.y)
    alpha = cp.Variable(n - 1, name="alpha")

    t = np.diff(np.eye(n), axis=0).T @ -alpha
    signs = (alpha >= 0).set_label("signs")
    return cp.Problem(cp.Maximize(data.y @ t - n / 2 * cp.sum_squares(t)), [signs])
