"""The smallest enclosing ball: the centre from which the farthest point is nearest.

primal:  minimise over c, r   r²
         subject to           ‖x_i - c‖ ≤ r
dual:    maximise over α      Σ α_i ‖x_i‖² - ‖Σ α_i x_i‖²
         subject to           Σ α_i = 1,  α ≥ 0

At the optimum c = Σ α_i x_i, and α_i > 0 only where ‖x_i - c‖ = r. The ball moves with the points:
here their mean is moved to 0 first, and c is told from there. Then a gap is measured in the size of
the ball, however far away it lies.
"""

import cvxpy as cp
import numpy as np


def primal(data):
    X = data.X - data.X.mean(axis=0)
    n, d = X.shape
    center, radius = cp.Variable(d, name="center"), cp.Variable(name="radius")

    away = X - np.ones((n, 1)) @ cp.reshape(center, (1, d), order="C")
    enclosed = (cp.norm(away, 2, axis=1) <= radius).set_label("enclosed")
    return cp.Problem(cp.Minimize(cp.square(radius)), [enclosed])


def dual(data):
    X = data.X - data.X.mean(axis=0)
    alpha = cp.Variable(len(X), name="alpha")

    total = (cp.sum(alpha) == 1).set_label("sum")
    signs = (alpha >= 0).set_label("signs")
    value = np.sum(X**2, axis=1) @ alpha - cp.sum_squares(X.T @ alpha)
    return cp.Problem(cp.Maximize(value), [total, signs])
