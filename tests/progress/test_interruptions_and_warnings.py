"""A watcher that interrupts at its first event; warnings that point to who asked."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest

import convexml as cml
from convexml.progress import Progress, at, is_watched, operation

RNG = np.random.default_rng(5)
X = RNG.normal(size=(40, 6))
Y = X @ [1.0, -2.0, 0.0, 0.5, 0.0, 0.0] + RNG.normal(size=40)
LASSO = cml.Lasso(X, Y, 0.1)


def test_a_watcher_that_interrupts_at_once_is_called_no_more() -> None:
    calls = []

    def stop(event: Progress) -> None:
        calls.append(event)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LASSO.solve(progress=stop)
    count = len(calls)
    assert not is_watched()
    assert cml.Lasso(X, Y, 0.2).solve().status == "optimal"
    assert len(calls) == count


def test_an_inner_operation_interrupted_at_once_leaves_the_outer_as_it_was() -> None:
    told: list[Progress] = []

    def stop(event: Progress) -> None:
        told.append(event)
        if len(told) == 2:
            raise KeyboardInterrupt

    with operation("outer", stop):
        with suppress(KeyboardInterrupt), operation("inner"):
            pass
        at("on")
    assert [str(stage) for stage in told[-1].stages] == ["outer on"]


def failing(event: Progress) -> None:
    raise KeyError("no such column")


DOUBTS: dict[str, Callable[[], object]] = {
    "solve": lambda: LASSO.solve(progress=failing),
    "path": lambda: LASSO.path([0.2], progress=failing),
    "compare": lambda: cml.compare(LASSO, ["fista"], progress=failing),
    "names": lambda: cml.Ridge(X, Y, 0.1).solve().predict(pd.DataFrame(X).add_prefix("x")),
    "folds": lambda: cml.estimators.LassoCV(cv=3, alphas=4, tol=1e-25).fit(X, Y),
    "ridge": lambda: cml.estimators.RidgeCV(cv=3, alphas=[1.0], tol=1e-25).fit(X, Y),
    "cross_validate": lambda: LASSO.cross_validate([0.1], folds=3, tol=1e-25),
}


@pytest.mark.parametrize("name", DOUBTS)
def test_a_warning_points_to_the_line_that_asked(name: str) -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        DOUBTS[name]()
    assert {each.filename for each in told} == {__file__}
