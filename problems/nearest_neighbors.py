"""The k nearest neighbours of each query as a linear program.

primal:  minimise over p   Σ_q Σ_i p_qi d_qi
         subject to        Σ_i p_qi = 1 for every query q,  p ≥ 0,  p ≤ 1/k
dual:    maximise over ν, λ⁻, λ⁺   -Σ_q ν_q - (1/k) Σ λ⁺
         subject to                d_qi + ν_q - λ⁻_qi + λ⁺_qi = 0,  λ⁻ ≥ 0,  λ⁺ ≥ 0

d_qi is the distance of sample i to query q; the queries are the rows held out. p is 1/k on the k
nearest samples, and -ν_q is any number between the k-th distance and the next: where they differ, p
is unique. What is predicted of a query is Σ_i p_i y_i, or the vote of its neighbours.
"""

import cvxpy as cp
import numpy as np


def distances(data):
    return np.array([np.linalg.norm(data.X - q, axis=1) for q in data.Q])


def primal(data, k):
    d = distances(data)
    p = cp.Variable(d.shape, name="p")

    total = (cp.sum(p, axis=1) == 1).set_label("sum")
    lower = (p >= 0).set_label("lower")
    upper = (p <= 1 / k).set_label("upper")
    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(d, p))), [total, lower, upper])


def dual(data, k):
    d = distances(data)
    nu = cp.Variable(len(d), name="nu")
    lambda_lower = cp.Variable(d.shape, name="lambda_lower")
    lambda_upper = cp.Variable(d.shape, name="lambda_upper")

    reduced = d + nu[:, None] @ np.ones((1, d.shape[1])) - lambda_lower + lambda_upper
    stationarity = (reduced == 0).set_label("stationarity")
    lower = (lambda_lower >= 0).set_label("lambda_lower")
    upper = (lambda_upper >= 0).set_label("lambda_upper")
    value = -cp.sum(nu) - cp.sum(lambda_upper) / k
    return cp.Problem(cp.Maximize(value), [stationarity, lower, upper])
