"""Bad calls of cml.certify, cml.solve, compare, load, register, and of linear programs."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from sklearn import ensemble, linear_model, neighbors

import convexml as cml
from convexml import solvers
from support.bad_calls.things import FITTED, PROGRAM, RIDGE, SOLVED, VARIABLE, Row, W, X, Y, put

ROWS: dict[str, Row] = {
    "certify a number": (
        lambda: cml.certify(3),
        ("certify | got 3 | cvxpy.Problem or a fitted scikit-learn estimator | problem.certify("),
    ),
    "certify None": (
        lambda: cml.certify(None),
        "certify | None | cvxpy.Problem or a fitted scikit-learn estimator | problem.certify(",
    ),
    "certify a name": (
        lambda: cml.certify("model.pkl"),
        (
            "certify | 'model.pkl' | cvxpy.Problem or a fitted scikit-learn estimator"
            " | joblib or pickle"
        ),
    ),
    "certify a class": (
        lambda: cml.certify(linear_model.Ridge, X, Y),
        "certify | Ridge is a class | fitted instance | Ridge(...).fit(X, y)",
    ),
    "certify what is not fitted": (
        lambda: cml.certify(linear_model.Ridge(), X, Y),
        "certify: Ridge | Ridge | not fitted yet | fit(X, y) first",
    ),
    "certify without data": (
        lambda: cml.certify(FITTED),
        "certify | 0 arrays | training data | certify(estimator, X, y)",
    ),
    "certify without y": (
        lambda: cml.certify(FITTED, X),
        "certify: Ridge | Ridge | fitted with y | certify(estimator, X, y)",
    ),
    "the estimator last": (
        lambda: cml.certify(X, Y, FITTED),
        "certify | ndarray | fitted scikit-learn estimator | The estimator comes first",
    ),
    "other columns": (
        lambda: cml.certify(FITTED, X[:, :3], Y),
        "certify: Ridge | X has 3 | fitted on 5 features | data that it was fitted on",
    ),
    "other rows": (
        lambda: cml.certify(FITTED, X, Y[:3]),
        "certify: Ridge: y | (3,) | one entry per row of X | (24)",
    ),
    "a forest": (
        lambda: cml.certify(ensemble.RandomForestRegressor(2).fit(X, Y), X, Y),
        ("certify | RandomForestRegressor | convex function that it minimises | What is judged:"),
    ),
    "neighbours": (
        lambda: cml.certify(neighbors.KNeighborsRegressor().fit(X, Y), X, Y),
        "certify | KNeighborsRegressor | convex function that it minimises | What is judged:",
    ),
    "least angles": (
        lambda: cml.certify(linear_model.Lars().fit(X, Y), X, Y),
        "certify | Lars | no convex function | LassoLars is judged",
    ),
    "a slip in an argument": (
        lambda: cml.certify(FITTED, X, Y, sample_weights=Y),
        "certify | 'sample_weights' | no argument | Did you mean 'sample_weight'?",
    ),
    "certify at 0": (
        lambda: cml.certify(FITTED, X, Y, tol=0),
        "certify: tol | got 0 | > 0 | relative gap",
    ),
    "certify with nan": (
        lambda: cml.certify(FITTED, put(X, (0, 0), np.nan), Y),
        "certify: Ridge: X | nan at row 0, column 0 | finite | Impute",
    ),
    "certify a dict": (
        lambda: cml.certify(SOLVED.primal),
        (
            "certify | dict | cvxpy.Problem or a fitted scikit-learn estimator"
            " | judged by its problem"
        ),
    ),
    "certify a solution": (
        lambda: cml.certify(SOLVED),
        (
            "certify | Solution | cvxpy.Problem or a fitted scikit-learn estimator"
            " | solution.certificate"
        ),
    ),
    "certify a posed problem": (
        lambda: cml.certify(RIDGE),
        (
            "certify | Ridge | cvxpy.Problem or a fitted scikit-learn estimator"
            " | has its own .certify"
        ),
    ),
    "an unsolved problem of CVXPY": (
        lambda: cml.certify(cp.Problem(cp.Minimize(cp.sum_squares(VARIABLE)))),
        "certify | x | no value | solve the problem first",
    ),
    "no convex problem": (
        lambda: cml.certify(cp.Problem(cp.Minimize(cp.sqrt(cp.sum(VARIABLE))))),
        "certify: the problem | not DCP | CVXPY's rules | rewrite it",
    ),
    "integers": (
        lambda: cml.certify(cp.Problem(cp.Minimize(cp.sum(cp.Variable(2, integer=True))))),
        "certify: the problem | integer variables | continuous convex | Relax or fix them",
    ),
    "an expression": (
        lambda: cml.certify(cp.sum_squares(VARIABLE)),
        "certify | quad_over_lin | cvxpy.Problem | cp.Problem(cp.Minimize(...))",
    ),
    "data beside a problem of CVXPY": (
        lambda: cml.certify(cp.Problem(cp.Minimize(cp.sum_squares(VARIABLE))), X),
        "certify | cvxpy.Problem | no other argument | than tol",
    ),
    "a parameter without a value": (
        lambda: cml.solve(
            cp.Problem(cp.Minimize(cp.Parameter(nonneg=True, name="a") * cp.sum_squares(VARIABLE)))
        ),
        "solve | parameter a | no value | set it first",
    ),
    "assert of a bare problem": (
        lambda: cml.assert_optimal(RIDGE),
        "assert_optimal | Ridge | holds no point | assert_optimal(problem, w, b)",
    ),
    "assert at 0": (
        lambda: cml.assert_optimal(RIDGE, W, gap=0),
        "assert_optimal: gap | got 0 | > 0 | relative gap",
    ),
    "solve a number": (lambda: cml.solve(3), "solve | int | expected | cvxpy.Problem"),
    "solve a posed problem": (
        lambda: cml.solve(RIDGE),
        "solve | Ridge | cvxpy.Problem | has its own .solve(...)",
    ),
    "solve an estimator": (
        lambda: cml.solve(FITTED),
        "solve | Ridge | cvxpy.Problem | a fit of its own",
    ),
    "an unknown reference solver": (
        lambda: cml.solve(cp.Problem(cp.Minimize(cp.sum_squares(VARIABLE))), "gurobi"),
        "solve | 'gurobi' | no reference solver | clarabel, osqp",
    ),
    "dualize a number": (lambda: cml.dualize(3), "dualize | int | expected | cvxpy.Problem"),
    "compare nothing": (
        lambda: cml.compare([]),
        "compare | none | at least one problem | at least one problem",
    ),
    "compare a number": (
        lambda: cml.compare([3]),
        "compare | 3 of type int | posed problems | and paths",
    ),
    "compare by no solver": (
        lambda: cml.compare([RIDGE], ["newto"]),
        "solver | 'newto' | Known: newton | Did you mean 'newton'?",
    ),
    "compare at 0": (
        lambda: cml.compare([RIDGE], ["newton"], tols=[0]),
        "compare: a tolerance | got 0 | > 0 | > 0",
    ),
    "compare no time": (
        lambda: cml.compare([RIDGE], ["newton"], max_seconds=0),
        "compare: max_seconds | got 0 | positive | positive",
    ),
    "compare no file": (
        lambda: cml.compare(["nope.toml"]),
        "nope.toml | nope.toml | there is no file or folder | file or folder",
    ),
    "load no file": (
        lambda: cml.load("nope.toml"),
        "problem file | nope.toml | there is no problem file | problem file",
    ),
    "load a number": (
        lambda: cml.load(3),
        "load | got 3 | path of a problem file | path of a problem file",
    ),
    "a name that is taken": (
        lambda: solvers.register("newton", print),
        "register | 'newton' | solver name | is taken",
    ),
    "an unknown need": (
        lambda: solvers.register("mine", print, ("gradients",)),
        "register | 'gradients' | unknown need | Known:",
    ),
    "supports no solver": (
        lambda: solvers.supports("foo", RIDGE),
        "solver | 'foo' | Known: newton | 'auto' chooses",
    ),
    "a matrix of costs": (
        lambda: cml.LinearProgram([[1.0, 2.0]]),
        "LinearProgram: c | (1, 2) | non-empty vector | vector",
    ),
    "too many columns": (
        lambda: cml.LinearProgram([1.0, 1.0], [[1.0, 1.0, 1.0]], [1.0]),
        "LinearProgram: A_ub | (1, 3) | one column for each | 2 entries of c",
    ),
    "no right-hand side": (
        lambda: cml.LinearProgram([1.0, 1.0], [[1.0, 1.0]]),
        "LinearProgram: A_ub | b_ub is not | is given | give both or neither",
    ),
    "bounds swapped": (
        lambda: cml.LinearProgram([1.0, 1.0], bounds=(1, 0)),
        "LinearProgram: bounds[0] | (1, 0) | is empty | lower bound must not exceed",
    ),
    "bounds by name": (
        lambda: cml.LinearProgram([1.0, 1.0], bounds="free"),
        "LinearProgram: bounds | 'free' | numbers only | pass numbers",
    ),
    "x too long": (
        lambda: PROGRAM.certify([1.0, 2.0, 3.0]),
        "LinearProgram: x | (3,) | shape (2,) | shape (2,)",
    ),
    "an unknown multiplier": (
        lambda: PROGRAM.certify([1.0, 0.0], {"lambda": [1.0]}),
        "LinearProgram: no multiplier | 'lambda' | The names are | Did you mean 'lambda_ub'?",
    ),
    "multipliers in a list": (
        lambda: PROGRAM.certify([1.0, 0.0], [1.0]),
        "LinearProgram: multipliers | list | dict by name | lambda_ub, nu",
    ),
}
"""What is called; object | value | requirement | remedy."""
