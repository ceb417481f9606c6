"""Random problems with known supports: labels that an independent solver finds, points at any gap.

The labels come from CVXPY problems written here and solved by Clarabel to 1e-12. They are given
only where both sides of complementary slackness say so by a clear margin; elsewhere "?".
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

import convexml as cml
from convexml.certificates.learning.repair import repair_dual, repair_primal
from convexml.numerics import Array

KINDS = (
    "lasso", "elastic_net", "l1_logistic", "group_lasso", "soft_margin", "soft_margin_no_intercept",
    "hard_margin",
)  # fmt: skip
CLEAR = 1e-5
"""A slack or a multiplier below this share of its scale is too close to 0 to say."""


@dataclass(frozen=True)
class Case:
    """A problem, the oracle's solution, and the labels it is sure of ("?" elsewhere)."""

    kind: str
    problem: Any
    w: Array
    b: float
    u: Array
    samples: Array
    coordinates: Array


def random_case(kind: str, seed: int, n: int = 30, d: int = 8) -> Case:
    """A well-posed random problem of a kind, some of them correlated or weighted."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    X = rng.normal(size=(n, d))
    if seed % 3 == 1:
        X[:, 1] = X[:, 0] + 0.3 * X[:, 1]
    truth = np.where(rng.random(d) < 0.5, rng.normal(size=d), 0.0)
    score = X @ truth + 0.3
    y = score + 0.5 * rng.normal(size=n)
    labels = np.where(score + 0.7 * rng.normal(size=n) > 0.3, 1.0, -1.0)
    labels[:2] = 1.0, -1.0
    weights = rng.uniform(0.5, 2.0, size=n) if seed % 2 else None
    lam = float(rng.uniform(0.02, 0.3))
    match kind:
        case "lasso":
            problem = cml.Lasso(X, y, lam, sample_weight=weights)
        case "elastic_net":
            problem = cml.ElasticNet(X, y, lam, 0.7, sample_weight=weights)
        case "l1_logistic":
            problem = cml.LogisticRegression(
                X, labels, 0.3 * lam, penalty="l1", sample_weight=weights
            )
        case "group_lasso":
            problem = cml.GroupLasso(X, y, lam, np.arange(d) // 2, sample_weight=weights)
        case "hard_margin":
            side = np.sign(score - 0.3)
            X = X + 0.5 * side[:, None] * np.sign(truth + 0.1)
            separable = np.where(X @ np.sign(truth + 0.1) > 0.0, 1.0, -1.0)
            problem = cml.HardMarginSVM(X, separable)
        case _:
            free = kind == "soft_margin"
            problem = cml.SoftMarginSVM(
                X, labels, 3.0 * lam, fit_intercept=free, sample_weight=weights
            )
    return labelled(kind, problem)


def labelled(kind: str, problem: Any) -> Case:
    """The oracle's solution, from plain data, and what it says of each sample and coefficient."""
    parts = problem.objective_parts
    X, y, c = parts.design.dense(), parts.y, parts.c
    w = cp.Variable(parts.d)
    b = cp.Variable() if parts.fit_intercept else 0.0
    z, F = cp.Variable(parts.n), 0.0
    constraints = [X @ w + b - z == 0.0]
    match kind:
        case "lasso" | "elastic_net" | "group_lasso":
            F = 0.5 * cp.sum(cp.multiply(c, cp.square(z - y)))
        case "l1_logistic":
            F = c @ cp.logistic(-cp.multiply(y, z))
        case "hard_margin":
            constraints.append(cp.multiply(y, z) >= 1.0)
        case _:
            xi = cp.Variable(parts.n)
            F = c @ xi
            constraints += [cp.multiply(y, z) >= 1.0 - xi, xi >= 0.0]
    blocks = np.arange(parts.d)
    levels = np.zeros(parts.d)
    match kind:
        case "lasso" | "l1_logistic":
            levels, omega = np.full(parts.d, problem.lam), problem.lam * cp.norm1(w)
        case "elastic_net":
            levels = np.full(parts.d, problem.lam * problem.l1_ratio)
            omega = levels[0] * cp.norm1(w)
            omega += 0.5 * problem.lam * (1.0 - problem.l1_ratio) * cp.sum_squares(w)
        case "group_lasso":
            blocks = np.unique(problem.groups, return_inverse=True)[1]
            sizes = np.bincount(blocks)
            levels = problem.lam * np.sqrt(sizes)
            omega = sum(levels[g] * cp.norm(w[blocks == g], 2) for g in range(len(sizes)))
        case _:
            omega = 0.5 * cp.sum_squares(w)
    posed = cp.Problem(cp.Minimize(F + omega), constraints)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")
        tight = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
        posed.solve(solver="CLARABEL", **tight)
    at, shift, u = (
        w.value,
        float(b.value) if parts.fit_intercept else 0.0,
        constraints[0].dual_value,
    )
    v = -X.T @ u
    samples = np.full(parts.n, "?", dtype="<U11")
    if kind in KINDS[4:]:
        margin, alpha = y * z.value, -y * u
        top = c if kind != "hard_margin" else np.inf
        size = np.minimum(c, 1.0) if kind != "hard_margin" else alpha.max()
        samples[(margin > 1.0 + CLEAR) & (alpha < CLEAR * size)] = "not_support"
        inside = (alpha > CLEAR * size) & (alpha < top - CLEAR * size)
        samples[inside & (abs(margin - 1.0) < CLEAR)] = "free"
        samples[(margin < 1.0 - CLEAR) & (alpha > top - CLEAR * size)] = "at_bound"
    else:
        samples[abs(u) > CLEAR * abs(u).max()] = "free"
    coordinates = np.full(parts.d, "?", dtype="<U11")
    norms_v = np.sqrt(np.bincount(blocks, v**2))[blocks]
    norms_w = np.sqrt(np.bincount(blocks, at**2))[blocks]
    coordinates[(norms_v < levels[blocks] * (1.0 - CLEAR)) & (norms_w < CLEAR)] = "zero"
    coordinates[abs(at) > CLEAR] = "nonzero"
    return Case(kind, problem, at, shift, u, samples, coordinates)


def point_at(case: Case, target: float, seed: int) -> tuple[Array, float, Array, float]:
    """A feasible (w, b, u) whose gap is about ``target`` times P*, and that relative gap.

    The oracle's solution is moved at random: w and u together, or one of them.
    """
    parts = case.problem.objective_parts
    rng = np.random.default_rng(seed)
    moves = ((1.0, 1.0), (1.0, 0.0), (0.0, 1.0))[seed % 3]
    dw = rng.normal(size=parts.d) * moves[0] * abs(case.w).max(initial=1e-3)
    db = rng.normal() * moves[0] * 0.3 if parts.fit_intercept else 0.0
    du = rng.normal(size=parts.n) * moves[1] * abs(case.u)

    def at(t: float) -> tuple[Array, float, Array, float]:
        point = repair_primal(parts, case.w + t * dw, case.b + t * db)
        dual = repair_dual(parts, case.u + t * du)
        scale = max(abs(point.value), abs(dual.value))
        return point.w, point.b, dual.u, (point.value - dual.value) / scale

    low, high = 1e-14, 1.0
    for _ in range(18):
        t = np.sqrt(low * high)
        low, high = (t, high) if at(t)[3] < target else (low, t)
    return at(low)
