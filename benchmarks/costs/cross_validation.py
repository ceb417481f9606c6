"""Estimators that cross-validate against their namesakes, at equal verified gap of their folds.

Run with ``OPENBLAS_NUM_THREADS=1 python benchmarks/costs/cross_validation.py``. The tolerance of
scikit-learn is tightened until every fit on a fold is certified at a relative gap of 1e-6, by
``cml.certify`` of its coefficients on the rows of that fold; the share that is certified at the
tolerance before is shown. The two take turns; the ratio is that of the medians, theirs over ours,
in processor time, and the limit is 1. Where a tolerance would take longer than ``--longest``, the
last one counts, with the share that it certifies. Leaving one out is compared as it is, in closed
form.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold, StratifiedKFold

import convexml as cml
from convexml import estimators

sys.path.insert(0, str(Path(__file__).parents[1]))
from peers import real

GAP, LIMIT = 1e-6, 1.0
SAMPLED = 10
"""Of the strengths of a fold, every so many are certified where there are many."""


@dataclass(frozen=True)
class Row:
    """An estimator of each side on the same data.

    ``theirs`` takes a tolerance; ``fits`` gives (problem, w, b) for each of its fits on folds.
    """

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[float], Any]
    tols: tuple[float, ...] = ()
    fits: Callable[[Any, float], Any] | None = None


def lasso(name: str, X: Any, y: Any) -> Row:
    """LassoCV, 10 folds of 100 alphas."""

    def fits(fitted: Any, tol: float) -> Any:
        for train, _ in list(KFold(10).split(X))[:2]:
            mean, level = X[train].mean(axis=0), y[train].mean()
            _, W, _ = linear_model.lasso_path(
                X[train] - mean, y[train] - level, alphas=fitted.alphas_, tol=tol, max_iter=10**6
            )
            for alpha, w in list(zip(fitted.alphas_, W.T, strict=True))[::SAMPLED]:
                yield cml.Lasso(X[train], y[train], alpha), w, level - mean @ w

    return Row(
        f"LassoCV {name}",
        lambda: estimators.LassoCV(cv=10).fit(X, y),
        lambda tol: linear_model.LassoCV(cv=10, tol=tol, max_iter=10**6).fit(X, y),
        (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9),
        fits,
    )


def logistic(solver: str, X: Any, y: Any) -> Row:
    """LogisticRegressionCV, 5 folds of 10 C."""
    common = {"cv": 5, "l1_ratios": (0.0,), "scoring": None, "use_legacy_attributes": False}

    def theirs(tol: float) -> Any:
        steering = {"tol": tol, "max_iter": 10**5, "solver": solver}
        return linear_model.LogisticRegressionCV(**common, **steering).fit(X, y)

    def fits(fitted: Any, tol: float) -> Any:
        for k, (train, _) in enumerate(StratifiedKFold(5).split(X, y)):
            for C, row in zip(fitted.Cs_, fitted.coefs_paths_[k, 0, :, 0], strict=True):
                problem = cml.LogisticRegression(X[train], y[train], 1.0 / (C * len(train)))
                yield problem, row[:-1], row[-1]

    return Row(
        f"LogisticRegressionCV spambase, {solver}",
        lambda: estimators.LogisticRegressionCV(**common).fit(X, y),
        theirs,
        (1e-4, 1e-5, 1e-6, 1e-7, 1e-8),
        fits,
    )


def ridge(cv: int | None, X: Any, y: Any) -> Row:
    """RidgeCV of 20 alphas, whose folds are solved directly."""
    alphas = np.logspace(-2, 4, 20)
    return Row(
        f"RidgeCV spambase, {'leaving one out' if cv is None else f'{cv} folds'}",
        lambda: estimators.RidgeCV(alphas, cv=cv).fit(X, y),
        lambda tol: linear_model.RidgeCV(alphas, cv=cv).fit(X, y),
    )


def rows() -> list[Row]:
    leukemia, spambase = real.load("leukemia"), real.load("spambase")
    return [
        lasso("diabetes", *load_diabetes(return_X_y=True)),
        lasso("leukemia", *leukemia),
        ridge(5, *spambase),
        ridge(None, *spambase),
        logistic("lbfgs", *spambase),
        logistic("newton-cholesky", *spambase),
    ]


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def tightened(row: Row, longest: float) -> tuple[float, str]:
    """The tolerance at which their folds are certified, and in words how many were before."""
    share, known = 0.0, []
    for tol in row.tols:
        taken, fitted = seconds(lambda tol=tol: row.theirs(tol))
        assert row.fits is not None
        gaps = [problem.certify(w, b).relative_gap for problem, w, b in row.fits(fitted, tol)]
        share = float(np.mean(np.array(gaps) <= GAP))
        known.append(f"{tol:g}: {share:.0%}")
        if share == 1.0 or taken > longest:
            break
    return (tol, ", ".join(known)) if row.tols else (np.nan, "direct")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="", help="part of a name")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--longest", type=float, default=20.0, help="seconds of one fit of theirs")
    parser.add_argument("--data", type=Path, default=real.FOLDER)
    given = parser.parse_args()
    real.FOLDER = given.data
    warnings.simplefilter("ignore")
    print(f"{'row':<40}{'ours, s':>9}{'theirs, s':>10}{'ratio':>7}  their tol: certified")
    for row in rows():
        if given.rows not in row.name:
            continue
        tol, words = tightened(row, given.longest)
        row.ours()
        pairs = [
            (seconds(row.ours)[0], seconds(lambda row=row, tol=tol: row.theirs(tol))[0])
            for _ in range(given.repeats)
        ]
        ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
        below = "" if theirs >= LIMIT * ours else f"   below {LIMIT:g}"
        print(f"{row.name:<40}{ours:>9.4f}{theirs:>10.4f}{theirs / ours:>7.2f}  {words}{below}")


if __name__ == "__main__":
    main()
