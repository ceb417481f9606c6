"""Bad calls of y and weights."""

from __future__ import annotations

import numpy as np
from scipy import sparse

import convexml as cml
from support.bad_calls.things import CODES, YB, N, Row, X, Y, put

ROWS: dict[str, Row] = {
    "None for y": (
        lambda: cml.Ridge(X, None, 0.1),
        "Ridge: y | None | one entry per row of X (24) | one target for each row",
    ),
    "y too short": (
        lambda: cml.Ridge(X, Y[:-1], 0.1),
        "Ridge: y | (23,) | one entry per row of X (24) | of the same samples",
    ),
    "two targets": (
        lambda: cml.Ridge(X, np.c_[Y, Y], 0.1),
        "Ridge: y | (24, 2) | vector | one of its columns",
    ),
    "a row for y": (lambda: cml.Ridge(X, Y[None], 0.1), "Ridge: y | (1, 24) | vector | y.ravel()"),
    "text for y": (
        lambda: cml.Ridge(X, ["a"] * N, 0.1),
        "Ridge: y | 'a' at entry 0 | numbers only | classification models",
    ),
    "a name for y": (
        lambda: cml.Ridge(X, "price", 0.1),
        "Ridge: y | 'price' | one entry per row | frame['price']",
    ),
    "a number for y": (
        lambda: cml.Ridge(X, 1.0, 0.1),
        "Ridge: y | 1.0 | one entry per row | one target for each row",
    ),
    "a dict for y": (
        lambda: cml.Ridge(X, {"y": 1}, 0.1),
        "Ridge: y | {'y': 1} | one entry per row | one target for each row",
    ),
    "nan in y": (
        lambda: cml.Ridge(X, put(Y, 5, np.nan), 0.1),
        "Ridge: y | nan at entry 5 | finite | Impute or drop that sample",
    ),
    "complex y": (
        lambda: cml.Ridge(X, Y + 1j, 0.1),
        "Ridge: y | complex128 | real numbers | Pass the real part",
    ),
    "sparse y": (
        lambda: cml.Ridge(X, sparse.csr_array(Y[:, None]), 0.1),
        "Ridge: y | must be a dense | vector | y.toarray().ravel()",
    ),
    "dates for y": (
        lambda: cml.Ridge(X, np.array(["2020-01-01"] * N, dtype="datetime64[D]"), 0.1),
        "Ridge: y | datetime64[D] | real numbers | days since a date",
    ),
    "one class": (
        lambda: cml.LogisticRegression(X, np.ones(N)),
        "LogisticRegression: y | got 1 (1.0) | exactly two classes | Pass samples of both",
    ),
    "three classes": (
        lambda: cml.SoftMarginSVM(X, CODES),
        "SoftMarginSVM: y | got 3 (0, 1, 2) | exactly two classes | SoftmaxRegression",
    ),
    "real labels": (
        lambda: cml.LogisticRegression(X, Y),
        "LogisticRegression: y | got 24 ( | exactly two classes | take a regression",
    ),
    "indicators of classes": (
        lambda: cml.SoftmaxRegression(X, np.eye(3)[CODES], 0.1),
        "SoftmaxRegression: y | (24, 3) | vector | y.argmax(axis=1)",
    ),
    "labels of two kinds": (
        lambda: cml.LogisticRegression(X, [1, "a"] * (N // 2)),
        "LogisticRegression: y | 1 of type int | mixes text | labels of one kind",
    ),
    "a nan label": (
        lambda: cml.LogisticRegression(X, put(YB, 2, np.nan)),
        "LogisticRegression: y | nan at entry 2 | finite | Drop that sample",
    ),
    "None among labels": (
        lambda: cml.LogisticRegression(X, np.array([None, "a"] * (N // 2), dtype=object)),
        "LogisticRegression | NoneType and str | cannot be ordered | use one type",
    ),
    "one class for softmax": (
        lambda: cml.SoftmaxRegression(X, ["a"] * N, 0.1),
        "SoftmaxRegression: y | 'a' | at least two classes | Pass samples of both",
    ),
    "a negative count": (
        lambda: cml.PoissonRegression(X, -np.ones(N), 0.1),
        "PoissonRegression: y | -1 at entry 0 | >= 0 | other regressions",
    ),
    "too few weights": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=np.ones(3)),
        "Ridge: sample_weight | (3,) | one entry per row of X (24) | weights of the rows",
    ),
    "negative weights": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=-np.ones(N)),
        "Ridge: sample_weight | -1 at entry 0 | >= 0 | 0 leaves a sample out",
    ),
    "no weight at all": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=np.zeros(N)),
        "Ridge: sample_weight | all zero | at least one | positive",
    ),
    "a nan weight": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=put(np.ones(N), 4, np.nan)),
        "Ridge: sample_weight | nan at entry 4 | finite | 0 leaves a sample out",
    ),
    "balanced": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight="balanced"),
        "Ridge: sample_weight | 'balanced' | one number for each row | class_weight",
    ),
    "weights by class": (
        lambda: cml.LogisticRegression(X, YB, 0.1, sample_weight={1: 2, -1: 1}),
        ("LogisticRegression: sample_weight | dict of 1, -1 | numbers | one number for each row"),
    ),
    "one weight": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=2.0),
        "Ridge: sample_weight | 2.0 | vector | one number for each",
    ),
    "weights in a column": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=np.ones((N, 1))),
        "Ridge: sample_weight | (24, 1) | vector | sample_weight.ravel()",
    ),
    "a class without weight": (
        lambda: cml.LogisticRegression(X, YB, 0.1, sample_weight=(YB > 0) * 1.0),
        "LogisticRegression | class -1.0 | no weight | positive sample_weight",
    ),
    "weights that overflow": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=np.full(N, 1e308)),
        "Ridge: the sum of sample_weight | sum | overflows | scale the weights down",
    ),
    "a coin with three sides": (
        lambda: cml.BernoulliLikelihood(CODES),
        "BernoulliLikelihood: x | got 2 | 0 and 1 only | CategoricalLikelihood",
    ),
    "a label of no class": (
        lambda: cml.CategoricalLikelihood(["a", "b"], ["a", "c"]),
        "CategoricalLikelihood: labels | 'b' | not among the classes ['a', 'c'] | Pass all classes",
    ),
}
"""What is called; object | value | requirement | remedy."""
