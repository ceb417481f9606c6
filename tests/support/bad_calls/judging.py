"""Bad calls of certify, predict, score and what is written."""

from __future__ import annotations

import numpy as np
import pandas as pd

import convexml as cml
from support.bad_calls.things import (
    FITTED,
    INFEASIBLE,
    KERNEL,
    LOGISTIC,
    PROGRAM,
    RIDGE,
    SOFTMAX,
    SOLVED,
    YB,
    N,
    Row,
    W,
    X,
    Y,
    frame,
    put,
)

ROWS: dict[str, Row] = {
    "None for w": (lambda: RIDGE.certify(None), "Ridge: w | None | numbers | pass an array"),
    "w too short": (
        lambda: RIDGE.certify(W[:3]),
        "Ridge: w | (3,) | one coefficient per feature | (5)",
    ),
    "w with the intercept": (
        lambda: RIDGE.certify(np.zeros(6)),
        "Ridge: w | (6,) | one coefficient per feature (5) | passed apart, as b",
    ),
    "coef_ of scikit-learn": (
        lambda: RIDGE.certify(W[None]),
        "Ridge: w | (1, 5) | one coefficient per feature (5) | w.ravel()",
    ),
    "X for w": (lambda: RIDGE.certify(X), "Ridge: w | (24, 5) | one coefficient per feature | (5)"),
    "nan in w": (
        lambda: RIDGE.certify(put(W, 2, np.nan)),
        "Ridge: w | nan at entry 2 | finite | a point that is known",
    ),
    "w a word": (lambda: RIDGE.certify("w"), "Ridge: w | 'w' | numbers only | pass numbers"),
    "primal for w": (
        lambda: RIDGE.certify(SOLVED.primal),
        "Ridge: w | dict of 'w', 'b' | numbers only | primal['w']",
    ),
    "a solution for w": (
        lambda: RIDGE.certify(SOLVED),
        "Ridge: w | Solution | numbers only | solution.primal['w']",
    ),
    "an estimator for w": (
        lambda: RIDGE.certify(FITTED),
        "Ridge: w | estimator Ridge | numbers only | cml.certify(estimator, X, y)",
    ),
    "b an array": (
        lambda: RIDGE.certify(W, W),
        "Ridge: b | array([0. | one finite number | None is the best b",
    ),
    "b nan": (
        lambda: RIDGE.certify(W, np.nan),
        "Ridge: b | nan | one finite number | None is the best b",
    ),
    "b a word": (lambda: RIDGE.certify(W, "a"), "Ridge: b | 'a' | numbers only | pass numbers"),
    "b without intercept": (
        lambda: cml.Ridge(X, Y, 0.1, fit_intercept=False).certify(W, 0.5),
        "Ridge: b | 0.5 | without intercept | Leave b out",
    ),
    "u too short": (
        lambda: RIDGE.certify(W, 0.0, np.zeros(3)),
        "Ridge: u | (3,) | one entry per sample | (24)",
    ),
    "inf in u": (
        lambda: RIDGE.certify(W, 0.0, put(np.zeros(N), 1, np.inf)),
        "Ridge: u | inf at entry 1 | finite | Leave u out",
    ),
    "u on dropped rows": (
        lambda: cml.Ridge(X, Y, 0.1, sample_weight=put(np.ones(N), 0, 0)).certify(
            W, 0.0, np.ones(N)
        ),
        "Ridge: u | must be 0 | samples of weight 0 | must be 0",
    ),
    "tol of a verdict": (lambda: RIDGE.certify(W, tol=-1), "Ridge: tol | -1 | > 0 | relative gap"),
    "names that differ": (
        lambda: cml.Ridge(frame(X), Y, 0.1).certify(pd.Series(W, index=list("abcdf"))),
        "Ridge: w | has 'f' | lacks 'e' | by these names, in any order",
    ),
    "W transposed": (
        lambda: SOFTMAX.certify(np.zeros((3, 5))),
        "SoftmaxRegression: w | (3, 5) | shape (5, 3) | w.T",
    ),
    "a vector for W": (
        lambda: SOFTMAX.certify(np.zeros(5)),
        "SoftmaxRegression: w | (5,) | shape (5, 3) | shape (5, 3)",
    ),
    "b of two classes": (
        lambda: SOFTMAX.certify(np.zeros((5, 3)), np.zeros(2)),
        "SoftmaxRegression: b | array([0., 0.]) | 3 finite numbers | None is the best b",
    ),
    "w of a kernel model": (
        lambda: KERNEL.certify(W),
        "KernelRidge: q | (5,) | one entry per sample | (24)",
    ),
    "P of a short w": (
        lambda: RIDGE.objective(W[:2]),
        "Ridge: w | (2,) | one coefficient per feature | (5)",
    ),
    "D of w": (lambda: RIDGE.dual_objective(W), "Ridge: u | (5,) | one entry per sample | (24)"),
    "holds of 0": (
        lambda: SOLVED.certificate.holds(0),
        "Certificate.holds: tol | got 0 | > 0 | relative gap",
    ),
    "too few columns": (
        lambda: SOLVED.predict(X[:, :4]),
        "Ridge: X | 4 features | posed with 5 | same columns",
    ),
    "one sample": (
        lambda: SOLVED.predict(X[0]),
        "Ridge: X | (5,) | matrix of shape (n, d) | X.reshape(1, -1)",
    ),
    "None to predict": (lambda: SOLVED.predict(None), "Ridge: X | None | numbers | pass an array"),
    "nan to predict": (
        lambda: SOLVED.predict(put(X, (1, 2), np.nan)),
        "Ridge: X | nan at row 1, column 2 | finite | Impute",
    ),
    "another column": (
        lambda: cml.Ridge(frame(X), Y, 0.1).solve().predict(frame(X, "abcdf")),
        "Ridge: X | has 'f' | lacks 'e' | by these names, in any order",
    ),
    "too few columns for a kernel": (
        lambda: KERNEL.solve().predict(X[:, :4]),
        "KernelRidge: X | 4 columns | posed with 5 | same columns",
    ),
    "probabilities of ridge": (
        lambda: SOLVED.predict_proba(X),
        "predict_proba: Ridge | squared | no probabilities | LogisticRegression",
    ),
    "probabilities of a machine": (
        lambda: cml.SoftMarginSVM(X, YB).solve().predict_proba(X),
        "SoftMarginSVM | hinge | no probabilities | decision_function",
    ),
    "a short y to score": (
        lambda: SOLVED.score(X, Y[:3]),
        "Ridge.score: y | (3,) | each row of X, shape (24,) | of the same samples",
    ),
    "no y to score": (
        lambda: SOLVED.score(X, None),
        "Ridge.score: y | None | true target of each row | of the same samples",
    ),
    "labels of another kind to score": (
        lambda: LOGISTIC.solve().score(X, np.where(YB > 0, "a", "b")),
        (
            "LogisticRegression.score: y | <U1 | labels of the model are float64"
            " | labels of one kind"
        ),
    ),
    "predictions of no point": (
        lambda: INFEASIBLE.predict([[0.0]]),
        "predict: HardMarginSVM | infeasible | no point | .evidence",
    ),
    "coef_ of a kernel model": (
        lambda: KERNEL.solve().coef_,
        "coef_: KernelRidge | 'q' | no coefficient for each feature | .primal",
    ),
    "predictions of a program": (
        lambda: PROGRAM.solve().predict(X),
        "predict: LinearProgram | LinearProgram | no samples | .primal",
    ),
    "margin of ridge": (
        lambda: SOLVED.margin,
        "Ridge | margin | no margin | support vector machines",
    ),
    "a file in no folder": (
        lambda: SOLVED.to_json("/nowhere/x.json"),
        "to_json | /nowhere/x.json | no folder /nowhere | create the folder",
    ),
    "a number for a file": (lambda: SOLVED.to_json(3.5), "to_json | 3.5 | path of a file | path"),
    "a name for stored text": (
        lambda: cml.Solution.from_json("solution.json"),
        "Solution.from_json | 'solution.json' | not a stored solution | pathlib.Path",
    ),
    "a picture of no format": (
        lambda: RIDGE.solve("newton").plot("picture.foo"),
        "plot: picture.foo | 'foo' | not supported | .png",
    ),
}
"""What is called; object | value | requirement | remedy."""
