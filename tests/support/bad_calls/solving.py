"""Bad calls of solve, path, cross_validate and rate_audit."""

from __future__ import annotations

import numpy as np

from support.bad_calls.things import LASSO, LEAST, LOGISTIC, PROGRAM, RIDGE, SOFTMAX, Row, changed

ROWS: dict[str, Row] = {
    "solver scipy": (
        lambda: RIDGE.solve("scipy"),
        "solver | 'scipy' | Known: newton | Take 'auto'",
    ),
    "solver lbfgs": (
        lambda: RIDGE.solve("lbfgs"),
        "solver | 'lbfgs' | Known: newton | 'newton_cg'",
    ),
    "solver liblinear": (
        lambda: LASSO.solve("liblinear"),
        "solver | 'liblinear' | Known: newton | 'working_set'",
    ),
    "a slip in a solver": (
        lambda: RIDGE.solve("clarabl"),
        "solver | 'clarabl' | Known: newton | Did you mean 'clarabel'?",
    ),
    "no solver": (lambda: RIDGE.solve(None), "solver | None | Known: newton | 'auto'"),
    "simplex": (lambda: PROGRAM.solve("simplex"), "solver | 'simplex' | Known: newton | 'highs'"),
    "Newton on the lasso": (
        lambda: LASSO.solve("newton"),
        "Lasso | newton | smooth penalty | working_set",
    ),
    "osqp on logistic": (
        lambda: LOGISTIC.solve("osqp"),
        "this problem | osqp | quadratic programs | newton_cg",
    ),
    "perceptron on ridge": (
        lambda: RIDGE.solve("perceptron"),
        "Ridge | perceptron | separation problem | Take 'auto'",
    ),
    "saga on softmax": (
        lambda: SOFTMAX.solve("saga"),
        "SoftmaxRegression | saga | scalar prediction | newton",
    ),
    "tol of 0": (lambda: RIDGE.solve(tol=0), "solve: tol | got 0 | > 0 | relative gap"),
    "tol negative": (lambda: RIDGE.solve(tol=-1), "solve: tol | -1 | > 0 | relative gap"),
    "tol nan": (lambda: RIDGE.solve(tol=np.nan), "solve: tol | nan | finite | relative gap"),
    "tol infinite": (lambda: RIDGE.solve(tol=np.inf), "solve: tol | inf | finite | relative gap"),
    "tol a word": (lambda: RIDGE.solve(tol="tight"), "solve: tol | 'tight' | number | not text"),
    "tol None": (lambda: RIDGE.solve(tol=None), "solve: tol | None | number | Pass a number"),
    "max_iter negative": (
        lambda: RIDGE.solve("newton", max_iter=-1),
        "solve: max_iter | -1 | >= 0 | None is the solver's own limit",
    ),
    "half an iteration": (
        lambda: RIDGE.solve(max_iter=1.5),
        "solve: max_iter | 1.5 | whole number | Pass 1 or 2",
    ),
    "max_iter as text": (
        lambda: RIDGE.solve(max_iter="10"),
        "solve: max_iter | '10' | number | Pass 10, not text",
    ),
    "max_seconds as text": (
        lambda: RIDGE.solve(max_seconds="5"),
        "solve: max_seconds | '5' | number | Pass 5, not text",
    ),
    "max_seconds of 0": (
        lambda: RIDGE.solve(max_seconds=0),
        "solve: max_seconds | got 0 | > 0 | None is no limit",
    ),
    "max_seconds negative": (
        lambda: RIDGE.solve(max_seconds=-5),
        "solve: max_seconds | -5 | > 0 | None is no limit",
    ),
    "seed a word": (lambda: RIDGE.solve("sgd", seed="a"), "solve: seed | 'a' | number | not text"),
    "seed negative": (
        lambda: RIDGE.solve("sgd", seed=-1),
        "solve: seed | -1 | >= 0 | Any whole number",
    ),
    "w0 too short": (
        lambda: RIDGE.solve(w0=np.zeros(2)),
        "Ridge: w0 | (2,) | one coefficient | per feature (5)",
    ),
    "nan in w0": (
        lambda: RIDGE.solve(w0=np.full(5, np.nan)),
        "Ridge: w0 | nan at entry 0 | finite | a point that is known",
    ),
    "w0 a word": (
        lambda: RIDGE.solve(w0="zeros"),
        "Ridge: w0 | 'zeros' | numbers only | pass numbers",
    ),
    "progress a word": (
        lambda: RIDGE.solve(progress="yes"),
        "solve: progress | 'yes' | True or False | True or False",
    ),
    "polish a word": (
        lambda: RIDGE.solve(polish="yes"),
        "solve: polish | 'yes' | True or False | True or False",
    ),
    "a negative step": (
        lambda: RIDGE.solve("gradient_descent", step=-1),
        "gradient_descent: step | -1 | > 0 | > 0",
    ),
    "a step by name": (
        lambda: LASSO.solve("fista", step="big"),
        "fista: step | 'big' | one of | backtracking",
    ),
    "a restart by name": (
        lambda: LASSO.solve("fista", restart="maybe"),
        "fista: restart | 'maybe' | True or False | True or False",
    ),
    "an unknown option": (
        lambda: LASSO.solve("fista", momentum=0.9),
        "fista | 'momentum' | no option | its options: step, restart",
    ),
    "an unknown option of Clarabel": (
        lambda: LASSO.solve("clarabel", foo=1),
        "clarabel | 'foo' | no option | Known:",
    ),
    "maxiter": (
        lambda: LASSO.solve("fista", maxiter=9),
        "fista | 'maxiter' | no option | Did you mean 'max_iter'?",
    ),
    "an option of a wrong type": (
        lambda: LASSO.solve("clarabel", max_step_fraction="x"),
        "clarabel | 'max_step_fraction' | is refused | Incorrect type",
    ),
    "an option of a program": (
        lambda: PROGRAM.solve("interior_point", step=3),
        "interior_point | 'step' | takes no option | linear program",
    ),
    "an option of HiGHS": (
        lambda: PROGRAM.solve(tolerance=1e-3),
        "highs | 'tolerance' | no option | takes tol",
    ),
    "no values": (lambda: RIDGE.path(), "Ridge.path | None | list of values | of lam"),
    "a path of one number": (lambda: RIDGE.path(0.1), "Ridge.path | 0.1 | list of values | of lam"),
    "a path by name": (lambda: RIDGE.path("auto"), "Ridge.path | 'auto' | list of values | of lam"),
    "a path of lists": (
        lambda: RIDGE.path([[0.1, 0.2]]),
        "Ridge.path | [[0.1, 0.2]] | list of values | of lam",
    ),
    "a negative lam on a path": (
        lambda: RIDGE.path([0.1, -1]),
        "Ridge: lam | -1 | >= 0 | 0 is no penalty",
    ),
    "a nan on a path": (
        lambda: RIDGE.path([0.1, np.nan]),
        "Ridge: lam | nan | finite | 0 is no penalty",
    ),
    "a word on a path": (lambda: RIDGE.path([0.1, "a"]), "Ridge: lam | 'a' | number | not text"),
    "a path of nothing to follow": (
        lambda: LEAST.path([0.1]),
        "LeastSquares.path | LeastSquares | follows lam, C, radius or nu | Solve it as it is",
    ),
    "one end": (
        lambda: LASSO.path([1.0], everywhere=1e-2),
        "Lasso.path | [1.0] | two ends | (high, low)",
    ),
    "everywhere of 0": (
        lambda: LASSO.path((1.0, 0.1), everywhere=0),
        "Lasso.path: everywhere | got 0 | > 0 | relative gap",
    ),
    "two equal ends": (
        lambda: LASSO.path((0.1, 0.1), everywhere=0.1),
        "Lasso.path: the ends of lam | (0.1, 0.1) | two different | finite numbers > 0",
    ),
    "outside an interval": (
        lambda: LASSO.path((1.0, 0.5), everywhere=0.1).at(5.0),
        "path: lam | 5.0 | from 0.5 to 1 | from 0.5",
    ),
    "no values to validate": (
        lambda: RIDGE.cross_validate([]),
        "Ridge.cross_validate | [] | list of values | of lam",
    ),
    "one fold": (
        lambda: RIDGE.cross_validate([0.1], folds=1),
        "Ridge.cross_validate: folds | got 1 | from 2 to | 24 samples",
    ),
    "too many folds": (
        lambda: RIDGE.cross_validate([0.1], folds=100),
        "Ridge.cross_validate: folds | got 100 | from 2 to | 24 samples",
    ),
    "folds by name": (
        lambda: RIDGE.cross_validate([0.1], folds="five"),
        "Ridge.cross_validate: folds | 'five' | integer | cross-validation object",
    ),
    "a score by name": (
        lambda: RIDGE.cross_validate([0.1], score="r2"),
        "Ridge.cross_validate: score | 'r2' | function | sklearn.metrics",
    ),
    "leave one out of the lasso": (
        lambda: LASSO.leave_one_out([0.1]),
        "Lasso | 'leave_one_out' | no attribute | cross_validate",
    ),
    "changed X": (lambda: changed(), "Ridge: X | was changed | read where it is | X.copy()"),
    "lam_max of a ridge": (lambda: RIDGE.lam_max, "Ridge | L2(lam=0.1) | no lam_max | kink at 0"),
    "a rate of Clarabel": (
        lambda: RIDGE.solve("clarabel").rate_audit(),
        "rate_audit | 'clarabel' | no theorem | gradient_descent",
    ),
    "a rate of -3 steps": (
        lambda: RIDGE.solve("gradient_descent").rate_audit(iterations=-3),
        "rate_audit: iterations | -3 | >= 0 | >= 0",
    ),
}
"""What is called; object | value | requirement | remedy."""
