"""Every model on hard data: dependent columns, columns of any size, no minimiser, no penalty."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from support.hard.every_model import (
    ALONE,
    KERNEL,
    ROWS,
    UNWEIGHTED,
    kind,
    over,
    targets,
    three,
    with_column,
)
from support.model_cases import GROUPS, binary, count, optimal, real, samples, separable
from support.sizes import by_turns

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.losses import HardMargin, Logistic
from convexml.penalties import (
    L1,
    L2,
    Box,
    L1Ball,
    L2Ball,
    Nonnegative,
    NonnegativeElasticNet,
    Penalty,
    Zero,
)

Array = np.ndarray


# -- columns that depend ---------------------------------------------------------------------------

UNPENALISED = ("LeastSquares", "LogisticRegression-none", "HalfspaceLP")
GAUSSIAN = ("GaussianLikelihood", "DiscriminantAnalysis", "DiscriminantAnalysis-own")
SHARED = ("Lasso", "LogisticRegression-l1", "QuantileRegression")
"""An l1 norm is the same however two equal columns share a coefficient."""


def dependent(X: Array, how: str) -> Array:
    """X with its last column a combination of others, exactly."""
    whole = np.round(8.0 * X) / 8.0
    columns = {
        "a column twice": whole[:, 0],
        "a sum": whole[:, 0] - 2.0 * whole[:, 2],
        "a column of 0": np.zeros(len(X)),
    }
    return with_column(whole, 4, columns[how])


@over(ROWS, turn=0)
def test_columns_that_depend_exactly(case: Any) -> None:
    for how in ("a column twice", "a sum", "a column of 0"):
        X, y = case.data()
        Z = dependent(X, how)
        if case.name == "MinimumNorm":
            y = Z @ [1.0, 2.0, -1.0, 0.5, 0.25]
        solution = optimal(case.make(Z, y))
        assert solution.certificate.verdict is Verdict.CERTIFIED
        alone = case.name in UNPENALISED
        assert ("The minimiser is not unique: column " in solution.message) == alone
        if kind(case) == "more" or solution.problem.objective_parts.w_shape != (5,):
            return
        unique = solution.certified_support().unique
        assert unique.answer != "yes" or solution.problem.objective_parts.penalty.name != "zero"
        shared = case.name in SHARED and how == "a column twice" and unique.answer != "yes"
        if alone or shared:
            assert unique.answer == "no"
            ones = np.full(len(Z), float(solution.problem.objective_parts.fit_intercept))
            E = np.column_stack([Z, ones])
            assert np.linalg.norm(unique.direction) > 0.5
            assert np.max(np.abs(E @ unique.direction)) <= 1e-12 * np.max(np.abs(E))


DEAR = ("NuSVC", "KMeansBound", "SoftmaxRegression-l1", "SoftmaxRegression-group")


@over([*ROWS, *ALONE, *UNWEIGHTED], *DEAR, turn=1)
def test_columns_that_depend_up_to_rounding(case: Any) -> None:
    X, y = case.data()
    Z = with_column(X, 4, X[:, 0] + X[:, 1])  # rounded: of full rank
    if case.name == "MinimumNorm":
        y = Z @ np.ones(5)
    solution = case.make(pd.DataFrame(Z, columns=list("abcde")), y).solve()
    certificate = solution.certificate
    if case.name in ("LeastSquares", "LogisticRegression-none", *GAUSSIAN):
        assert (solution.status, certificate.verdict) == ("inaccurate", Verdict.UNDECIDED)
        words = r"'?[abe]'? is a combination of other columns.*Drop the column"
        if case.name not in GAUSSIAN:
            words = r"the unpenalised columns \('.*Drop one, or use lam > 0\."
            assert certificate.within is not None
            assert 1e6 < certificate.within < np.inf
            assert "unique" not in solution.message
        assert re.search(f"Up to rounding, but not exactly, {words}", certificate.reason, re.S)
    else:
        assert (solution.status, certificate.verdict) == ("optimal", Verdict.CERTIFIED)
        assert certificate.within is None


@over([*ALONE, *UNWEIGHTED], "KMeansBound")
def test_models_of_x_alone_where_columns_depend(case: Any) -> None:
    X, y = case.data()
    many = np.hstack([X, np.random.default_rng(1).normal(size=(len(y), 60))])
    for how in ("a column twice", "a column of 0", "many columns"):
        Z = many if how == "many columns" else dependent(X, how)
        solution = case.make(Z, y).solve()
        assert solution.certificate.verdict is Verdict.CERTIFIED
        constant = case.name == "GaussianLikelihood-l1" and how == "a column of 0"
        if not (case.name in GAUSSIAN or constant):
            assert solution.status == "optimal"
            continue
        assert solution.status == "unbounded"
        found = np.array([*solution.evidence["ray"]])
        within = y if case.name.startswith("Discriminant") else 0.0 * y
        own = case.name.endswith("own")  # of the first class that is singular
        groups = [Z[within == label] for label in np.unique(within)]
        left = [float(np.max(np.abs((rows - rows.mean(axis=0)) @ found))) for rows in groups]
        assert (min(left) if own else max(left)) <= 1e-12 * np.max(np.abs(Z)) * np.abs(found).sum()
        words = {"a column of 0": "is constant", "many columns": "samples span no more than"}
        assert words.get(how, "is a combination of other columns") in solution.certificate.reason


# -- units, and constants at their ends ------------------------------------------------------------

SPREAD = 2.0 ** np.array([-27, 13, 0, -13, 27])
"""From about 1e-8 to 1e8; powers of two, so that the rescaled problem is the same one exactly."""


def rescaled(penalty: Penalty) -> Penalty | None:
    """The penalty of the coefficients of X, given that of X * SPREAD; None where there is none."""
    match penalty:
        case L2():
            return L2(penalty.lam, weights=1.0 / SPREAD**2)
        case L1():
            return L1(penalty.lam, weights=1.0 / SPREAD)
        case Zero():
            return penalty
    return None


@over([*ROWS, *ALONE, *UNWEIGHTED], *DEAR, turn=0)
def test_columns_of_any_unit(case: Any) -> None:
    X, y = case.data()
    solution = optimal(case.make(X * SPREAD, y), tol=1e-8 if case in ROWS else 1e-6)
    assert solution.certificate.verdict is Verdict.CERTIFIED
    if case.name == "GaussianLikelihood" or case.name.startswith("Discriminant"):
        there = case.make(X, y).solve()
        shift = 2.0 * float(np.log(SPREAD).sum())
        assert solution.objective - shift == pytest.approx(there.objective, abs=1e-10)
        Theta = solution.primal["Theta"] * np.outer(SPREAD, SPREAD)
        np.testing.assert_allclose(Theta, there.primal["Theta"], rtol=1e-9, atol=1e-12)
    if case not in ROWS or case.name.startswith("Kernel") or kind(case) == "more":
        return
    parts = solution.problem.objective_parts
    penalty = rescaled(parts.penalty)
    if penalty is not None:
        size = float(parts.c[0]) if parts.c[0] != 1.0 / len(y) else "mean"
        twin = LearningProblem(
            X, y, parts.loss, penalty, fit_intercept=parts.fit_intercept, loss_scale=size
        ).solve(tol=1e-8)
        assert twin.status == solution.status
        assert solution.objective == pytest.approx(twin.objective, rel=1e-7, abs=1e-12)


LARGE: dict[str, Callable[[float], Any]] = {
    "SoftMarginSVM": partial(cml.SoftMarginSVM, *binary()),
    "SoftMarginSVM, separable": partial(cml.SoftMarginSVM, *separable()),
    "SVR": lambda C: cml.SVR(*real(), C, 0.1),
    "KernelSVM": lambda C: cml.KernelSVM(*binary(), C, KERNEL),
    "KernelSVR": lambda C: cml.KernelSVR(*real(), C, 0.1, KERNEL),
}
SMALL: dict[str, Callable[[float], Any]] = {
    "Ridge": partial(cml.Ridge, *real()),
    "Lasso": partial(cml.Lasso, *real()),
    "ElasticNet": partial(cml.ElasticNet, *real(), l1_ratio=0.5),
    "GroupLasso": partial(cml.GroupLasso, *real(), groups=GROUPS),
    "LogisticRegression": partial(cml.LogisticRegression, *binary()),
    "LogisticRegression, separable": partial(cml.LogisticRegression, *separable()),
    "LogisticRegression-l1": partial(cml.LogisticRegression, *binary(), penalty="l1"),
    "LogisticRegression-l1, separable": partial(cml.LogisticRegression, *separable(), penalty="l1"),
    "SoftmaxRegression": partial(cml.SoftmaxRegression, *three()),
    "HuberRegression": partial(cml.HuberRegression, *real(), 0.6),
    "PoissonRegression": partial(cml.PoissonRegression, *count()),
    "QuantileRegression": partial(cml.QuantileRegression, *real(), 0.3),
    "MultiTaskLasso": partial(cml.MultiTaskLasso, *targets()),
    "KernelRidge": partial(cml.KernelRidge, *real(), kernel=KERNEL),
    "KernelLogistic": partial(cml.KernelLogistic, *binary(), kernel=KERNEL),
}


@pytest.mark.parametrize("name", LARGE)
def test_an_enormous_price_of_slack(name: str) -> None:
    for C in (1e6, 1e8):
        solution = optimal(LARGE[name](C))
    if name == "SoftMarginSVM, separable":  # its slack costs too much: it is the hard margin
        assert solution.objective == pytest.approx(
            cml.HardMarginSVM(*separable()).solve().objective, rel=1e-6
        )


@pytest.mark.parametrize("name", SMALL)
def test_next_to_no_penalty(name: str) -> None:
    """P* is between that of no penalty and lam times its penalty more."""
    solution = optimal(SMALL[name](lam=1e-12))
    before = SMALL[name](lam=1e-9).solve()
    assert solution.objective <= before.objective * (1.0 + 1e-6) + 1e-12
    if "separable" not in name and not name.startswith("Kernel"):
        free = optimal(SMALL[name](lam=0.0))
        assert solution.objective == pytest.approx(free.objective, rel=2e-6)


def test_no_way_is_left_where_a_box_pins_all() -> None:
    for box in (Box(0.0, 0.0), Box(-1e-300, 1e-300)):
        solution = optimal(LearningProblem(*real(), cml.losses.Squared(), box))
        assert np.all(np.abs(solution.primal["w"]) <= 1e-300)


# -- no minimiser ----------------------------------------------------------------------------------

A, SIGNS = separable()
"""A nonnegative normal separates them."""


def quasi() -> tuple[Array, Array]:
    """Two samples of unlike labels at one point of the plane; the others are apart."""
    X = np.vstack([A * (SIGNS[:, None] * A > 0.0), np.zeros((2, 5))])
    return X, np.append(SIGNS, [1.0, -1.0])


def logistic(penalty: Penalty, **named: Any) -> Callable[[Array, Array], Any]:
    return lambda X, y: LearningProblem(X, y, Logistic(), penalty, **named)


ONE_SIDE = Box([-np.inf, 0, 0, 0, 0], [0.0, *[np.inf] * 4])
FREE: dict[str, Callable[[Array, Array], Any]] = {
    "no penalty": lambda X, y: cml.LogisticRegression(X, y, 0.0, None),
    "l2 at 0": lambda X, y: cml.LogisticRegression(X, y, 0.0),
    "l1 at 0": lambda X, y: cml.LogisticRegression(X, y, 0.0, "l1"),
    "softmax": lambda X, y: cml.SoftmaxRegression(X, y, 0.0),
    "w >= 0": logistic(Nonnegative()),
    "w >= 0, no b": logistic(Nonnegative(), fit_intercept=False),
    "0 <= w, w_0 <= 0": lambda X, y: logistic(ONE_SIDE)(X * [-1.0, 1, 1, 1, 1], y),
}


@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize("data", [separable, quasi], ids=["complete", "quasi"])
def test_separable_classes_have_no_minimiser(name: str, data: Callable[[], Any]) -> None:
    X, y = data()
    if name == "w >= 0, no b":  # of these b is a part of what separates them
        X = X * (y[:, None] * X >= 0.0)
    problem = FREE[name](X, y)
    solution = problem.solve()
    assert solution.status == "unattained"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    assert "A penalty on w, with lam > 0, keeps it from going there." in solution.certificate.reason
    for solver in ("newton", "clarabel") if name == "no penalty" else ():
        assert problem.solve(solver, max_iter=200).status == "unattained"
    w, b = solution.evidence["w"], solution.evidence["b"]
    signs = [-1.0, 1.0, 1.0, 1.0, 1.0] if "w_0" in name else np.ones(5)
    z = (X * signs) @ w + b
    z = z if w.ndim == 1 else z[:, 1] - z[:, 0]
    assert np.min(y * z) >= -1e-12
    assert np.max(y * z) > 0.1
    if w.ndim == 1:
        assert np.all(signs * w >= 0.0) or not problem.objective_parts.penalty.is_constraint
        values = [problem.objective(t * w, t * float(b)) for t in (0.0, 1.0, 10.0, 100.0)]
        assert np.all(np.diff(values) < 0.0)


def test_what_is_suggested_does() -> None:
    for data in (separable, quasi):
        for penalty in (L2(0.1), L1(0.01), NonnegativeElasticNet(0.01), L2Ball(3.0), L1Ball(2.0)):
            assert logistic(penalty)(*data()).solve().status == "optimal"
    assert cml.SoftMarginSVM(*binary()).solve().status == "optimal"
    X, _ = samples("count")
    solution = cml.PoissonRegression(X, np.zeros(24), 0.1).solve()
    assert solution.status == "unattained"
    assert "lam > 0" not in solution.certificate.reason
    assert "fit_intercept=False does." in solution.certificate.reason
    free = cml.PoissonRegression(X, np.zeros(24), 0.1, fit_intercept=False)
    assert free.solve().status == "optimal"


def margin(penalty: Penalty) -> Callable[[Array, Array], Any]:
    return lambda X, y: LearningProblem(X, y, HardMargin(), penalty)


MARGINS: dict[str, Callable[[Array, Array], Any]] = {
    "HardMarginSVM": cml.HardMarginSVM,
    "HalfspaceLP": lambda X, y: cml.HalfspaceLP(X, y, fit_intercept=True),
    "a ball": margin(L2Ball(2.0)),
    "an l1 ball": margin(L1Ball(2.0)),
    "a box": margin(Box(-1.0, 1.0)),
    "signs": margin(Nonnegative()),
}


def in_hull(point: Array, X: Array) -> float:
    """How far a point is from the convex hull of rows: by a linear program, in the largest norm."""
    n, d = X.shape
    columns = np.column_stack([X.T, -np.ones(d)]), np.column_stack([-X.T, -np.ones(d)])
    found = optimize.linprog(
        np.append(np.zeros(n), 1.0),
        A_ub=np.vstack(columns),
        b_ub=np.concatenate([point, -point]),
        A_eq=np.append(np.ones(n), 0.0)[None],
        b_eq=[1.0],
    )
    return float(found.fun)


@pytest.mark.parametrize("name", MARGINS)
def test_inseparable_classes_share_a_point(name: str) -> None:
    X, y = binary()
    solution = MARGINS[name](X, y).solve()
    assert solution.status == "infeasible"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    reason = solution.certificate.reason
    assert "SoftMarginSVM pays for samples on the wrong side instead." in reason
    assert ("shared" in solution.evidence) or name == "signs"
    if "shared" in solution.evidence:
        shared = solution.evidence["shared"]
        assert f"their hulls share the point ({shared[0]:.4g}, {shared[1]:.4g}, " in reason
        for label in (1.0, -1.0):
            assert in_hull(shared, X[y == label]) <= 1e-9
    alpha = solution.evidence["alpha"]
    assert np.all(alpha >= 0.0)
    assert alpha @ y == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "penalty", [L2Ball(0.01), L1Ball(0.01), Box(-0.01, 0.01), Box(-np.inf, 0.0)], ids=repr
)
def test_a_constraint_on_w_may_be_what_is_in_the_way(penalty: Penalty) -> None:
    solution = margin(penalty)(A, SIGNS).solve()
    assert solution.status == "infeasible"
    assert solution.certificate.verdict is Verdict.CERTIFIED
    assert "shared" not in solution.evidence
    reason = solution.certificate.reason
    assert "no w of the constraint has a margin above" in reason
    assert "Widen the constraint. SoftMarginSVM pays for samples" in reason


@over([case for case in ROWS if kind(case) == "two"])
def test_every_classifier_answers_for_classes_apart_or_not(case: Any) -> None:
    for data in (separable(), binary(), quasi()):
        solution = case.make(*data).solve()
        assert solution.status in ("optimal", "unattained", "infeasible")
        assert solution.certificate.verdict is Verdict.CERTIFIED


X, Y = samples("real")
XB, YB = samples("binary")


def test_the_evidence_of_a_hard_margin_is_in_the_callers_numbering() -> None:
    s = np.ones(len(YB))
    s[[0, 7]] = 0.0
    solution = cml.HardMarginSVM(XB, YB, sample_weight=s).solve()
    assert solution.evidence["alpha"].shape == (len(YB),)
    assert np.all(solution.evidence["alpha"][[0, 7]] == 0.0)


def test_one_solution_is_polished_to_rounding_whatever_the_tolerance() -> None:
    for tol in (1e-2, 1e-6):
        assert cml.Lasso(X, Y, 0.3).solve(tol=tol).relative_gap <= 1e-12
    rough = cml.Lasso(X, Y, 0.3).solve("clarabel", polish=False)
    assert rough.relative_gap > 1e-14


@pytest.mark.parametrize(("seed", "offset"), by_turns([(5, 1e7), (2, 1e8)]))
def test_of_answers_that_are_not_verified_the_lowest_is_kept(seed: int, offset: float) -> None:
    """A relative gap of 1 at an enormous P is no better answer than w = 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(23, 9)) * 10.0 ** rng.uniform(-6, 6, size=9) + offset
    y = np.where(rng.normal(size=23) > 0.0, 1.0, -1.0)
    loss, penalty = cml.losses.Hinge(), cml.penalties.L2(1e-7)
    problem = cml.LearningProblem(X, y, loss, penalty, fit_intercept=False)
    assert problem.solve().objective <= problem.objective(np.zeros(9))


def test_no_warning_where_scores_of_classes_are_far_apart() -> None:
    X = np.random.default_rng(2).normal(size=(14, 54))
    problem = cml.SoftmaxRegression(X, np.arange(14) % 3, 3.9e-7, "l1")
    assert problem.solve().status == "optimal"


def test_no_warning_where_a_curvature_is_not_known() -> None:
    X = np.random.default_rng(11).normal(size=(8, 12))
    X[:, 1] = X[:, 0]
    problem = cml.LogisticRegression(X, np.where(X[:, 0] > 0.0, 1, -1), 1e-6, "l1")
    assert problem.solve().certified_support().coordinates.shape == (12,)


RNG = np.random.default_rng(0)
SQUARE, NOISE = RNG.normal(size=(40, 40)), RNG.normal(size=40)


def test_softmax_with_a_norm_is_solved_before_it_is_posed_as_cones() -> None:
    """As cones it has n d K entries and K n exponential cones."""
    y = np.arange(40) % 4
    solution = cml.SoftmaxRegression(SQUARE, y, 0.01, penalty="l1").solve()
    assert (solution.status, solution.solver) == ("optimal", "fista")


def test_no_other_solver_is_asked_where_rounding_is_all_that_is_left() -> None:
    y = SQUARE @ np.arange(40.0) + NOISE
    for tol in (1e-14, 1e-16):
        solution = cml.Lasso(SQUARE, y, 0.01).solve(tol=tol)
        certificate = solution.certificate
        assert (solution.status, solution.solver) == ("inaccurate", "coordinate_descent")
        assert certificate.rounding > tol * certificate.scale
        assert "answered" not in solution.choice
    assert cml.Lasso(SQUARE, y, 0.01).solve(tol=1e-11).status == "optimal"
