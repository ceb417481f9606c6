"""Inputs that are refused, and words that the refusal must hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

import convexml as cml
from convexml import losses, penalties
from convexml.numerics import Array
from support.model_cases import GROUPS, samples

X, Y = samples("real")
XB, YB = samples("binary")
N, D = X.shape


def put(array: Array, where: Any, value: Any) -> Array:
    """A copy of the array with one entry changed."""
    changed = array.copy()
    changed[where] = value
    return changed


def sparse_with(value: float) -> Any:
    """X as a sparse matrix whose entry (3, 2) is the value, and (0, 0) is not stored."""
    return sparse.csr_array(put(put(X, (0, 0), 0.0), (3, 2), value))


ones = np.ones(N)
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "nan in X": (
        lambda: cml.Ridge(put(X, (3, 2), np.nan), Y, 0.1),
        "Ridge: X contains nan at row 3, column 2; every entry must be finite",
    ),
    "inf in X": (
        lambda: cml.SoftMarginSVM(put(XB, (1, 4), -np.inf), YB),
        "SoftMarginSVM: X contains -inf at row 1, column 4",
    ),
    "nan in sparse X": (
        lambda: cml.Lasso(sparse_with(np.nan), Y, 0.1),
        "Lasso: X contains nan at row 3, column 2",
    ),
    "inf in sparse X": (
        lambda: cml.Lasso(sparse_with(np.inf).tocsc(), Y, 0.1),
        "Lasso: X contains inf at row 3, column 2",
    ),
    "nan in y": (
        lambda: cml.Ridge(X, put(Y, 5, np.nan), 0.1),
        "Ridge: y contains nan at entry 5; every entry must be finite",
    ),
    "inf in y, numbered as passed": (
        lambda: cml.Ridge(X, put(Y, 5, np.inf), 0.1, sample_weight=put(ones, 0, 0.0)),
        "Ridge: y contains inf at entry 5",
    ),
    "nan label, numbered as passed": (
        lambda: cml.SoftMarginSVM(XB, put(YB, 2, np.nan), sample_weight=put(ones, 0, 0.0)),
        "SoftMarginSVM: y contains nan at entry 2; every entry must be finite",
    ),
    "text in X": (
        lambda: cml.Ridge([["a", 1.0], ["b", 2.0]], [1.0, 2.0], 0.1),
        "Ridge: X must hold numbers only",
    ),
    "complex X": (lambda: cml.Ridge(X + 1j, Y, 0.1), "Ridge: X must hold real numbers"),
    "complex labels": (
        lambda: cml.SoftMarginSVM(X, np.sign(Y) + 0j),
        "SoftMarginSVM: y is complex; labels are of a kind that can be ordered",
    ),
    "complex y": (lambda: cml.Ridge(X, Y + 1j, 0.1), "Ridge: y must hold real numbers"),
    "text in y": (lambda: cml.Ridge(X, ["a"] * N, 0.1), "Ridge: y must hold numbers"),
    "a vector for X": (
        lambda: cml.Ridge(X[:, 0], Y, 0.1),
        r"Ridge: X must be a matrix of shape (n, d), got shape (24,). Use X.reshape(-1, 1)",
    ),
    "a cube for X": (lambda: cml.Ridge(X[None], Y, 0.1), "got shape (1, 24, 5)"),
    "ragged X": (lambda: cml.Ridge([[1.0], [1.0, 2.0]], [0.0, 1.0], 0.1), "Ridge: X must"),
    "y too short": (
        lambda: cml.Ridge(X, Y[:-1], 0.1),
        "Ridge: y must be a vector with one entry per row of X (24), got shape (23,)",
    ),
    "y a matrix": (lambda: cml.Ridge(X, X, 0.1), "got shape (24, 5)"),
    "no samples": (
        lambda: cml.Ridge(X[:0], Y[:0], 0.1),
        "Ridge: X is empty (shape (0, 5)); at least one sample and one feature are required",
    ),
    "no features": (lambda: cml.Ridge(X[:, :0], Y, 0.1), "Ridge: X is empty (shape (24, 0))"),
    "no sparse samples": (
        lambda: cml.Ridge(sparse.csr_array((0, 5)), Y[:0], 0.1),
        "Ridge: X is empty",
    ),
    "one class": (
        lambda: cml.LogisticRegression(XB, np.ones(N)),
        "LogisticRegression: y must hold exactly two classes, got 1 (1.0)",
    ),
    "one class left": (
        lambda: cml.SoftMarginSVM(XB, YB, sample_weight=(YB > 0).astype(float)),
        f"SoftMarginSVM: the {np.sum(YB < 0)} samples of class -1.0 have no weight; leave them out",
    ),
    "three classes": (
        lambda: cml.HardMarginSVM(XB, np.arange(N) % 3),
        "HardMarginSVM: y must hold exactly two classes, got 3 (0, 1, 2)",
    ),
    "real labels": (
        lambda: cml.LogisticRegression(XB, Y),
        "LogisticRegression: y must hold exactly two classes, got 24",
    ),
    "mixed labels": (
        lambda: cml.LogisticRegression(XB, np.array([None, "a"] * (N // 2), dtype=object)),
        "the labels in y cannot be ordered",
    ),
    "a negative count": (
        lambda: cml.PoissonRegression(X, put(np.ones(N), 7, -2.0), 0.1),
        "PoissonRegression: y must be >= 0, got -2 at entry 7",
    ),
    "negative lam": (lambda: cml.Ridge(X, Y, -0.5), "lam must be >= 0, got -0.5"),
    "nan lam": (lambda: cml.Lasso(X, Y, np.nan), "lam must be finite, got nan"),
    "text lam": (lambda: cml.Lasso(X, Y, "much"), "lam must be a number, got 'much'"),
    "negative lam, no penalty": (
        lambda: cml.LogisticRegression(XB, YB, -1.0, None),
        "lam must be >= 0, got -1",
    ),
    "C of 0": (lambda: cml.SoftMarginSVM(XB, YB, 0.0), "SoftMarginSVM: C must be > 0, got 0"),
    "C of SVR": (lambda: cml.SVR(X, Y, -1.0, 0.1), "SVR: C must be > 0, got -1"),
    "epsilon": (lambda: cml.SVR(X, Y, 1.0, -0.1), "epsilon must be >= 0, got -0.1"),
    "delta": (lambda: cml.HuberRegression(X, Y, 0.0, 0.1), "delta must be > 0, got 0"),
    "tau": (
        lambda: cml.QuantileRegression(X, Y, 1.0, 0.1),
        "tau must lie strictly between 0 and 1, got 1",
    ),
    "tau of 0": (lambda: cml.QuantileRegression(X, Y, 0.0, 0.1), "tau must lie strictly between"),
    "l1_ratio": (lambda: cml.ElasticNet(X, Y, 0.1, 1.5), "l1_ratio must"),
    "radius": (lambda: cml.ConstrainedRidge(X, Y, 0.0), "radius must be > 0, got 0"),
    "radius of the lasso": (
        lambda: cml.ConstrainedLasso(X, Y, -1.0),
        "ConstrainedLasso: radius must be > 0, got -1",
    ),
    "a number as text": (lambda: cml.Lasso(X, Y, "0.1"), "Lasso: lam must be a number, got '0.1'"),
    "a truth value": (lambda: cml.Lasso(X, Y, True), "Lasso: lam must be a number, got True"),
    "fit_intercept": (
        lambda: cml.Ridge(X, Y, 0.1, fit_intercept="no"),
        "Ridge: fit_intercept must be True or False, got 'no'",
    ),
    "nan in groups": (
        lambda: cml.GroupLasso(X, Y, 0.1, [0.0, 0.0, np.nan, 1.0, 1.0]),
        "GroupLasso: groups contains nan at entry 2",
    ),
    "groups of two kinds": (
        lambda: cml.GroupLasso(X, Y, 0.1, [0, "a", 0, "a", 0]),
        "GroupLasso: groups mixes text and 0 of type int",
    ),
    "groups without order": (
        lambda: cml.GroupLasso(X, Y, 0.1, np.array([0, None, 0, 1, 0], dtype=object)),
        "GroupLasso: the labels in groups cannot be ordered",
    ),
    "numbers and text as labels": (
        lambda: cml.LogisticRegression(XB, [1, "a"] * (N // 2)),
        "LogisticRegression: y mixes text and 1 of type int; use labels of one kind",
    ),
    "a sparse y": (
        lambda: cml.Ridge(X, sparse.csr_array(Y[None]), 0.1),
        "Ridge: y must be a dense vector; pass y.toarray().ravel()",
    ),
    "weights whose sum overflows": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=np.full(N, 1e308)),
        "Ridge: the sum of sample_weight overflows",
    ),
    "a matrix for c": (
        lambda: cml.LinearProgram([[1.0, 2.0]]),
        "LinearProgram: c must be a non-empty vector, got shape (1, 2)",
    ),
    "text for c": (lambda: cml.LinearProgram(["a"]), "LinearProgram: c must hold numbers only"),
    "groups": (
        lambda: cml.GroupLasso(X, Y, 0.1, GROUPS[:3]),
        "GroupLasso: groups must have one entry per feature (5), got 3",
    ),
    "feature weights": (
        lambda: cml.LearningProblem(X, Y, losses.Squared(), penalties.L1(1.0, np.ones(4))),
        "LearningProblem: weights must have one entry per feature (5), got 4",
    ),
    "box": (
        lambda: cml.LearningProblem(X, Y, losses.Squared(), penalties.Box(np.zeros(3), 1.0)),
        "LearningProblem: lo must have one entry per feature (5), got 3",
    ),
    "penalty": (
        lambda: cml.LogisticRegression(XB, YB, 0.1, "l3"),
        "LogisticRegression: penalty must be 'l2', 'l1' or None, got 'l3'. Did you mean 'l",
    ),
    "no loss": (
        lambda: cml.LearningProblem(X, Y, "squared", penalties.L2(1.0)),
        "LearningProblem: loss must be a Loss, got 'squared'",
    ),
    "no penalty": (
        lambda: cml.LearningProblem(X, Y, losses.Squared(), penalties.L2),
        "LearningProblem: penalty must be a Penalty, got",
    ),
    "loss_scale": (
        lambda: cml.LearningProblem(
            X, Y, losses.Squared(), penalties.L2(1.0), loss_scale="average"
        ),
        "loss_scale must be 'mean', 'sum' or a number > 0, got 'average'",
    ),
    "loss_scale of 0": (
        lambda: cml.LearningProblem(X, Y, losses.Squared(), penalties.L2(1.0), loss_scale=0.0),
        "loss_scale must be > 0, got 0",
    ),
    "a negative weight": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=put(ones, 4, -1.0)),
        "Ridge: sample_weight must be >= 0, got -1 at entry 4",
    ),
    "a nan weight": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=put(ones, 4, np.nan)),
        "Ridge: sample_weight contains nan at entry 4; every entry must be finite",
    ),
    "all weights 0": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=0.0 * ones),
        "Ridge: sample_weight is all zero; at least one must be positive",
    ),
    "too few weights": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=ones[:3]),
        "Ridge: sample_weight must have one entry per row of X (24), got shape (3,)",
    ),
    "text weights": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=["a"] * N),
        "Ridge: sample_weight must hold numbers",
    ),
}
