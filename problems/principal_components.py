"""Principal components: the k directions of the largest variance, as a linear objective.

primal:  minimise over P   -<S, P>
         subject to        tr P = k,  P ⪯ I,  P ⪰ 0
dual:    maximise over ν, Z_upper, Z_lower   -kν - tr Z_upper
         subject to                          Z_upper - Z_lower = S - νI,  both ⪰ 0

S is the covariance about the mean, with 1/n. The matrices 0 ⪯ P ⪯ I of trace k are the averages of
projections on k dimensions, so that a projection is optimal: that on the eigenvectors of the k
largest eigenvalues. ν is any number between the k-th and the next eigenvalue, Z_upper and Z_lower
are what the eigenvalues are above and below it.
"""

import cvxpy as cp
import numpy as np


def covariance(X):
    return np.cov(X.T, bias=True)


def primal(data, k):
    S = covariance(data.X)
    d = len(S)
    P = cp.Variable((d, d), name="P", symmetric=True)

    trace = (cp.trace(P) == k).set_label("trace")
    upper = (np.eye(d) - P >> 0).set_label("upper")
    lower = (P >> 0).set_label("lower")
    return cp.Problem(cp.Minimize(-cp.trace(S @ P)), [trace, upper, lower])


def dual(data, k):
    S = covariance(data.X)
    d = len(S)
    nu = cp.Variable(name="nu")
    Z_upper = cp.Variable((d, d), name="Z_upper", symmetric=True)
    Z_lower = cp.Variable((d, d), name="Z_lower", symmetric=True)

    slope = (Z_upper - Z_lower == S - nu * np.eye(d)).set_label("slope")
    upper = (Z_upper >> 0).set_label("upper")
    lower = (Z_lower >> 0).set_label("lower")
    return cp.Problem(cp.Maximize(-k * nu - cp.trace(Z_upper)), [slope, upper, lower])
