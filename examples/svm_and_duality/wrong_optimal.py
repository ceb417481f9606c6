"""A wrong "optimal", found out.

CVXPY is asked for a soft-margin support vector machine on the breast cancer data, with the hinge
loss written as one would on paper, pos(1 - y (Xw + b)). With the solver PIQP it answers "optimal"
and an objective that is 21 times too large: CVXPY's bounds of X @ w come out as NaN (it warns of
that) and pin an auxiliary variable. The solver did solve the problem that it was handed. Nothing
but a certificate from the raw data can tell.

Run `python examples/svm_and_duality/wrong_optimal.py way.png` for the picture.
"""

from __future__ import annotations

import sys
import warnings

import cvxpy as cp
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.svm import SVC

import convexml as cml


def draw(path: str, svm: cml.SoftMarginSVM, wrong: tuple, right: tuple, bound: float) -> None:
    """The objective on the way from the wrong answer to the right one, and what bounds it."""
    from matplotlib.figure import Figure

    figure, shares = Figure(figsize=(5.6, 3.4), layout="constrained"), np.linspace(0.0, 1.0, 60)
    axes = figure.subplots()
    ways = [[p + t * (q - p) for p, q in zip(wrong, right, strict=True)] for t in shares]
    axes.semilogy(shares, [svm.objective(*way) for way in ways], label="objective")
    axes.axhline(bound, color="0.6", linestyle="--", label="no point is below")
    axes.set_xlabel("from PIQP's answer to the optimum")
    axes.legend()
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[tuple, tuple]:
    data = load_breast_cancer()
    X, y = data.data, 2.0 * data.target - 1.0
    X = (X - X.mean(axis=0)) / X.std(axis=0)

    w, b = cp.Variable(30), cp.Variable()
    hinge = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    theirs = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + hinge))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # "invalid value encountered in matmul"
        theirs.solve(solver=cp.PIQP)
    print(f"PIQP says: {theirs.status}, objective {theirs.value:.6g}\n")

    svm = cml.SoftMarginSVM(X, y, C=1.0)
    refuted = svm.certify(w.value, b.value)
    print(refuted)
    witness = svm.objective(refuted.witness["w"], refuted.witness["b"])
    print(f"  The witness is in .witness; anybody can evaluate it: {witness:.6g}\n")

    solution = svm.solve()
    print(solution)
    ends = solution.primal["w"], solution.primal["b"]

    if picture is not None:
        draw(picture, svm, (w.value, b.value), ends, solution.dual_objective)
        print(f"wrote {picture}")
    libsvm = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    slack = np.maximum(1.0 - y * libsvm.decision_function(X), 0.0)
    truth = 0.5 * np.sum(libsvm.coef_**2) + slack.sum()
    claims = (refuted.verdict is cml.Verdict.REFUTED, witness < theirs.value, solution.status)
    return (solution.objective, *claims), (truth, True, True, "optimal")


if __name__ == "__main__":
    main(*sys.argv[1:])
