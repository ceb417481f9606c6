"""The most likely probability of a one among labels 0 and 1.

primal:  minimise over p, r   -m log p - (1 - m) log r
         subject to           p + r = 1
dual:    maximise over ν      H(m) + 1 - ν + log ν

m is the share of ones, H(m) = -m log m - (1 - m) log(1 - m) its entropy. At the optimum p = m and
ν = 1; the gap of any p is the divergence KL(m ‖ p).
"""

import cvxpy as cp
import numpy as np


def primal(data):
    m = np.mean(data.y)
    p = cp.Variable(name="p")
    r = cp.Variable(name="r")

    total = (p + r == 1).set_label("total")
    objective = -m * cp.log(p) - (1 - m) * cp.log(r)
    return cp.Problem(cp.Minimize(objective), [total])


def dual(data):
    m = np.mean(data.y)
    entropy = -m * np.log(m) - (1 - m) * np.log(1 - m)
    nu = cp.Variable(name="nu")

    return cp.Problem(cp.Maximize(entropy + 1 - nu + cp.log(nu)), [])
