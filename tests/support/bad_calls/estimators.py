"""Bad calls of the estimators; where scikit-learn's own checks speak, the class is theirs."""

from __future__ import annotations

import numpy as np

from convexml import estimators, theory
from support.bad_calls.things import YB, N, Row, X, Y, put

ROWS: dict[str, Row] = {
    "a solver of SciPy": (
        lambda: estimators.Ridge(solver="bicgstab").fit(X, Y),
        "Ridge.fit: solver | 'bicgstab' | must be one of | auto",
    ),
    "an estimator to tol 0": (
        lambda: estimators.Lasso(tol=0).fit(X, Y),
        "Lasso: tol | got 0 | > 0 | relative gap",
    ),
    "an estimator of one class": (
        lambda: estimators.LogisticRegression().fit(X, np.ones(N)),
        "LogisticRegression.fit: y | 1.0 | one class | two classes are needed",
    ),
    "an estimator with negative weights": (
        lambda: estimators.Ridge().fit(X, Y, sample_weight=-np.ones(N)),
        "Ridge.fit: sample_weight | -1 at entry 0 | >= 0 | 0 leaves a sample out",
    ),
    "an unknown estimator": (
        lambda: estimators.LassoLarz,
        "convexml.estimators | 'LassoLarz' | no attribute | Did you mean 'Lasso",
    ),
    "not fitted": (
        lambda: estimators.Ridge().predict(X),
        "Ridge | This Ridge instance | not fitted yet | Call 'fit'",
    ),
    "alpha negative": (
        lambda: estimators.Ridge(alpha=-1).fit(X, Y),
        "Ridge | -1 | 'alpha' parameter | [0.0, inf)",
    ),
    "alpha a word": (
        lambda: estimators.Lasso(alpha="a").fit(X, Y),
        "Lasso | 'a' | 'alpha' parameter | [0.0, inf)",
    ),
    "an estimator with C of 0": (
        lambda: estimators.LogisticRegression(C=0).fit(X, YB),
        "LogisticRegression | Got 0 | 'C' parameter | (0.0, inf]",
    ),
    "an estimator with nan": (
        lambda: estimators.Ridge().fit(put(X, (1, 1), np.nan), Y),
        "Ridge.fit: X | nan at row 1, column 1 | finite | drop that sample",
    ),
    "an unknown kernel of SVC": (
        lambda: estimators.SVC(kernel="rbff").fit(X, YB),
        "SVC | 'rbff' | 'kernel' parameter | 'rbf'",
    ),
    "a quantile of 2": (
        lambda: estimators.QuantileRegressor(quantile=2).fit(X, Y),
        "QuantileRegressor | Got 2 | 'quantile' parameter | (0.0, 1.0)",
    ),
    "other columns to predict": (
        lambda: estimators.Ridge().fit(X, Y).predict(X[:, :3]),
        "Ridge | X has 3 features | expecting 5 | expecting 5 features",
    ),
    "a theorem that is not there": (
        lambda: theory.PerceptronBond,
        "convexml.theory | 'PerceptronBond' | no attribute | Did you mean 'PerceptronBound'?",
    ),
}
"""What is called; object | value | requirement | remedy."""
