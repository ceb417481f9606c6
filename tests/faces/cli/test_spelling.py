"""What was meant is suggested, and nothing where a name resembles none that there is."""

from __future__ import annotations

import random
import re
import string

import pytest

import convexml as cml
from convexml.errors import InputError, UnknownSolverError, closest

KNOWN = (
    "lam lam_max fit_intercept sample_weight column_weights max_iter tol max_seconds seed progress "
    "relative_gap objective path trace y theta Lasso Ridge KernelSVM SVR LogisticRegression "
    "KMeansBound Solution newton fista admm ecos highs sgd smo Gaussian iterations compare"
).split()
MEANT = (
    "laso Lasso, lambda lam, lamb lam, nweton newton, newto newton, relgap relative_gap, "
    "rel_gap relative_gap, objectiv objective, sample_weigth sample_weight, weight sample_weight, "
    "maxiter max_iter, max-iter max_iter, MAX_ITER max_iter, seconds max_seconds, tols tol, "
    "tolerance tol, yy y, kmeans KMeansBound, logistic LogisticRegression, sdg sgd, "
    "LogisticRegresion LogisticRegression, SVM KernelSVM, gausian Gaussian, solutoin Solution"
)
FAR_FETCHED = (
    "weather table banana tree data loss cost test beta gamma X depth weights_of_evidence "
    "selection criterion learning_rate forest score mosek cplex verbose positive residual "
    "normalize params _ q"
)


def test_what_was_meant_is_found() -> None:
    for written, meant in (pair.split() for pair in MEANT.split(", ")):
        assert closest(written, KNOWN) == meant, written


def test_nothing_is_suggested_for_what_resembles_nothing() -> None:
    for written in ("", *FAR_FETCHED.split()):
        assert closest(written, KNOWN) is None, written


def test_every_single_slip_is_understood() -> None:
    draw = random.Random(0)
    for name in (each for each in KNOWN if len(each) > 4):
        k, letter = draw.randrange(1, len(name)), draw.choice(string.ascii_lowercase)
        for written in (
            name[:k] + name[k + 1 :],
            name[:k] + letter + name[k:],
            name[:k] + letter + name[k + 1 :],
            name[: k - 1] + name[k] + name[k - 1] + name[k + 1 :],
        ):
            assert closest(written, KNOWN) == name


def test_messages_leave_out_what_is_far_fetched() -> None:
    ridge = cml.Ridge([[1.0], [2.0]], [1.0, 2.0], lam=0.1)
    with pytest.raises(AttributeError) as caught:
        ridge.weather  # noqa: B018
    assert "Did you mean" not in str(caught.value)
    with pytest.raises(InputError, match=re.escape("no option 'banana'; its options")) as refused:
        ridge.solve(banana=3)
    assert "Did you mean" not in str(refused.value)
    with pytest.raises(UnknownSolverError, match="Known: ") as unknown:
        ridge.solve("lightning")
    assert "Did you mean" not in str(unknown.value)
    with pytest.raises(AttributeError, match=r"Fitted as .*convexml.estimators.LassoCV"):
        cml.LassoCV  # noqa: B018
