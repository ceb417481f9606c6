"""Slips, names of other libraries, tolerances, masks: the nearest right name, and what to do."""

from __future__ import annotations

import copy
import json
import pickle
import re
from inspect import signature
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.refusals import KERNEL, LASSO, NAMES, PROGRAM, RIDGE, SOLVED, X, Y, refused, table

import convexml as cml
from convexml import models
from convexml.errors import (
    ConvexmlError,
    InputError,
    NoSuchNameError,
    ProblemFileError,
    UnknownSolverError,
)
from convexml.library import registry
from convexml.models.posing import STATEMENTS
from convexml.show.cli.init import started

PROBLEMS = Path(__file__).resolve().parents[3] / "problems"
WORDS = table("""
cml.SoftMarginSVM(X, np.sign(Y) + 0j)
    # SoftMarginSVM: y is complex; labels are of a kind that can be ordered
cml.Ridge(sparse.csr_array((0, 5)), Y[:0], 0.1)  # Ridge: X is empty
cml.GroupLasso(X, Y, 0.1, [0.0, 0.0, np.nan, 1.0, 1.0])
    # GroupLasso: groups contains nan at entry 2
cml.GroupLasso(X, Y, 0.1, np.array([0, None, 0, 1, 0], dtype=object))
    # GroupLasso: the labels in groups cannot be ordered
cml.LearningProblem(X, Y, losses.Squared(), penalties.Box(np.zeros(3), 1.0))
    # LearningProblem: lo must have one entry per feature (5), got 3
cml.LearningProblem(X, Y, losses.Squared(), penalties.L2(1.0), loss_scale=0.0)
    # loss_scale must be > 0, got 0
cml.LeastSquares(X, Y, granularity=2)
    # LeastSquares: there is no argument 'granularity'. Known: X, y, fit_intercept
cml.assert_optimal(FITTED, X, Y, tolerance=0.001)
    # assert_optimal: there is no argument 'tolerance'. Did you mean 'gap'?
cml.Lasso(X, Y, 0.1).solve('fista', tolerance=1e-06)
    # fista: there is no option 'tolerance'; its options: step, restart. Every solve takes tol,
cml.Lasso(X, Y, 0.1).solve('clarabel', max_second=1.0)
    # Every solve takes tol, max_seconds, max_iter and polish.
solvers.supports('newton', 3)  # supports: expected a posed problem, got int
cml.Ridge(X, Y, alpha=1.0)
    # Pass lam in place of alpha of scikit-learn's Ridge: lam = alpha / S, {S}.
cml.Lasso(X, Y, alpha=1.0)  # Pass lam in place of alpha of scikit-learn's Lasso: lam = alpha.
cml.ElasticNet(X, Y, alpha=1.0, l1_ratio=0.5)  # ElasticNet: lam = alpha.
cml.LogisticRegression(XB, SIGNS, C=1.0)  # lam = 1 / (C S), {S}.
cml.SoftmaxRegression(XB, SIGNS, C=1.0)  # lam = 1 / (C S), {S}.
cml.LogisticRegression(XB, SIGNS, alpha=1.0)
    # Did you mean 'lam' (of scikit-learn's LogisticRegression: lam = 1 / (C S)
cml.PoissonRegression(X, Y, alpha=1.0)  # PoissonRegressor: lam = alpha.
cml.QuantileRegression(X, Y, 0.5, alpha=1.0)  # QuantileRegressor: lam = alpha.
cml.QuantileRegression(X, Y, quantile=0.5, lam=1.0)  # Pass tau in place of quantile of
cml.HuberRegression(X, Y, 1.0, alpha=1.0)  # lam = alpha σ / S, {S}, σ its scale_.
cml.KernelRidge(X, Y, alpha=1.0, kernel=kernels.Linear())  # lam = alpha / S
cml.GroupLasso(X, Y, alpha=1.0, groups=[0] * 5)  # there is no argument 'alpha'. Did you mean 'lam'?
cml.SoftMarginSVM(XB, SIGNS, lam=0.1)
    # Did you mean 'C' (for the mean of the losses + lam / 2 |w|^2: C = 1 / (lam S), {S})?
cml.ConstrainedLasso(X, Y, alpha=1.0)  # Did you mean 'radius'
cml.LeastSquares(X, Y, alpha=1.0)  # LeastSquares has no penalty to weigh: leave it out
cml.Lasso(X, Y, 0.1, maxiter=9)  # It is an argument of solve: Lasso(...).solve(max_iter=...).
cml.Lasso(X, Y, 0.1, random_state=0)  # Lasso(...).solve(seed=...).
cml.Lasso(X, Y, 0.1, verbose=1)  # Lasso(...).solve(progress=...).
cml.Lasso(X, Y, 0.1, warm_start=True)  # Lasso(...).solve(w0=...).
cml.SoftMarginSVM(XB, SIGNS, class_weight='balanced')
    # Give each sample the weight of its class by sample_weight
cml.Lasso(X, Y, 0.1, positive=True)  # penalties.NonnegativeElasticNet(lam)
cml.KernelSVM(XB, SIGNS, 1.0, gamma=0.5)  # kernel=kernels.Gaussian(sigma), gamma = 1 / (2 sigma^2)
cml.PrincipalComponents(X, n_components=2)  # components is k
cml.KMeansBound(X, n_clusters=2)  # The number of clusters is k
cml.Laso  # module 'convexml' has no attribute 'Laso'. Did you mean 'Lasso'?
cml.SVC  # convexml.estimators.SVC. Posed: convexml.KernelSVM (C = C). Posed: convexml.SoftM
cml.LinearRegression  # convexml.estimators.LinearRegression. Posed: convexml.LeastSquares.
cml.LinearSVC  # Fitted as scikit-learn's: convexml.estimators.LinearSVC.
cml.RidgeClassifier  # Posed: convexml.Ridge (lam = alpha / S, {S})
cml.qqq  # Known: 
RIDGE.fit  # A problem is posed with its data: problem.solve() returns a Solution.
RIDGE.alpha  # lam = alpha / S
SOLVED.coefs  # Solution has no attribute 'coefs'. It is solution.coef_.
SOLVED.w  # It is solution.primal['w'].
SOLVED.fun  # Its value is solution.objective.
SOLVED.success  # Ask solution.status == "optimal".
SOLVED.verdict  # Its certificate has it: solution.certificate.verdict.
SOLVED.certificate.status  # Ask verdict, or holds(tol).
SOLVED.certificate.relgap  # Did you mean 'relative_gap'?
""")
"""What is called, and words of the refusal; {S} is how a sum of weights is told."""


@pytest.mark.parametrize("call", WORDS)
def test_a_slip_is_told_in_words(call: str) -> None:
    assert WORDS[call] in refused(call)[0]


@pytest.mark.parametrize("file", STATEMENTS)
def test_a_model_that_became_a_statement_names_its_file(file: str) -> None:
    assert (PROBLEMS / f"{file}.py").is_file()
    told = re.escape(f"problems/{file}.py") + rf'.*cml\.solve.*statement = "{file}.py"'
    name = file.title().replace("_", "")
    for package in (cml, models):
        with pytest.raises(NoSuchNameError, match=f"no attribute '{name}'.*{told}"):
            getattr(package, name)
    for call in (started, registry.model):
        with pytest.raises(ProblemFileError, match=f"no model '{file}'.*{told}"):
            call(file)


def test_a_name_that_is_not_there_is_python_s_error_and_ours() -> None:
    for owner, name in ((cml, "Laso"), (RIDGE, "fit"), (SOLVED, "w"), (SOLVED.certificate, "gapp")):
        with pytest.raises(NoSuchNameError) as caught:
            getattr(owner, name)
        assert isinstance(caught.value, AttributeError)
        assert isinstance(caught.value, ConvexmlError)
        assert not hasattr(owner, name)
    with pytest.raises(NoSuchNameError, match=r"no attribute 'alpha' to set. Pass lam in place of"):
        RIDGE.alpha = 3.0
    for name in ("objective", "kernel", "penalty"):
        with pytest.raises(AttributeError, match=rf"no attribute '{name}' to set"):
            setattr(KERNEL, name, 3)


@pytest.mark.parametrize(
    "thing", [RIDGE, SOLVED, SOLVED.certificate, cml], ids=lambda t: type(t).__name__
)
def test_dir_lists_public_names_that_are_there(thing: Any) -> None:
    names = [name for name in dir(thing) if name != "__version__"]
    assert [name for name in names if name.startswith("_")] == []
    assert len(names) > 20
    for name in {*names} - {"components", "eigengap", "lam_max", "margin"}:  # of other models
        getattr(thing, name)
    assert {"predict_proba", "score", "coef_", "trace"} <= set(dir(SOLVED))
    assert {"conditions", "verdict", "kkt"} <= set(dir(SOLVED.certificate))


def test_signatures_copies_and_subclasses() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'lam'"):
        cml.Lasso(X, Y)  # type: ignore[call-arg]
    assert [*signature(cml.Lasso).parameters] == ["X", "y", "lam", "fit_intercept", "sample_weight"]
    assert [*signature(cml.LinearProgram).parameters][:3] == ["c", "A_ub", "b_ub"]
    for twin in (copy.copy(LASSO), copy.deepcopy(LASSO), pickle.loads(pickle.dumps(LASSO))):
        assert repr(twin) == repr(LASSO)

    class Halved(cml.Lasso):
        def __init__(self, size: float, **others: Any) -> None:
            super().__init__(X, Y, size / 2.0, **others)

    assert Halved(size=0.2).lam == 0.1
    assert not Halved(size=0.2, fit_intercept=False).objective_parts.fit_intercept
    with pytest.raises(TypeError, match="intercept"):  # it says that it takes any keyword
        Halved(size=0.2, intercept=False)


@pytest.mark.parametrize("given", [1, np.float32(0.5), np.array(2.0)])
def test_hyperparameters_read_back_as_floats(given: Any) -> None:
    problem = cml.Lasso(X, Y, given)
    assert (type(problem.lam), problem.lam) == (float, float(given))
    problem.lam = given
    assert type(problem.lam) is float
    with pytest.raises(InputError, match="lam must be a number, got '3'"):
        problem.lam = "3"
    assert problem.lam == float(given)


@pytest.mark.parametrize("form", ["html", "json", "csv"])
def test_no_folder_to_write_into(form: str, tmp_path: Path) -> None:
    comparison = cml.compare([RIDGE], ["newton"])
    write = getattr(comparison, f"to_{form}")
    with pytest.raises(InputError, match=f"to_{form}: .*has no folder .*nowhere to go into"):
        write(tmp_path / "nowhere" / f"x.{form}")
    with pytest.raises(InputError, match="is a folder"):
        write(tmp_path)
    if form != "html":
        write(tmp_path / f"x.{form}")


def test_names_of_solvers_in_capitals() -> None:
    assert RIDGE.solve("CLARABEL").solver == "clarabel"
    assert PROGRAM.solve("HiGHS").solver == "highs"
    assert cml.solvers.supports("Newton", RIDGE) == (True, "")
    with pytest.raises(UnknownSolverError, match="Did you mean 'clarabel'"):
        RIDGE.solve("CLARABLE")


@pytest.mark.parametrize("solver", ["clarabel", "osqp", "ecos", "scs", "highs", "piqp"])
def test_an_unknown_option_is_named(solver: str) -> None:
    if not cml.solvers.reference.installed(solver):
        assert RIDGE.solve(solver, no_such_option=3).status == "failed"
        return
    with pytest.raises(InputError, match=f"{solver}: there is no option 'no_such_option'"):
        RIDGE.solve(solver, no_such_option=3)


# -- tolerances -----------------------------------------------------------------------------------

VARIABLE = cp.Variable(name="x", value=1.0)
PROBLEM = cp.Problem(cp.Minimize(VARIABLE**2), [VARIABLE >= 1.0])
STORED = json.loads(SOLVED.to_json())
TAKE_A_TOL = """
RIDGE.solve(tol=tol)
PROGRAM.solve(tol=tol)
cml.solve(PROBLEM, tol=tol)
RIDGE.certify(W, 0.1, tol=tol)
PROGRAM.certify([3.0, 0.0], tol=tol)
PROGRAM.certify_infeasible({"lambda_ub": [1.0]}, tol=tol)
PROGRAM.certify_unbounded([1.0, 0.0], [3.0, 0.0], tol=tol)
PROGRAM.find_evidence(tol=tol)
cml.certify(PROBLEM, tol=tol)
cml.certify(FITTED, X, Y, tol=tol)
cml.assert_optimal(FITTED, X, Y, gap=tol)
SOLVED.certificate.holds(tol)
cml.compare([RIDGE], ["newton"], tols=(1e-3, tol))
cml.Solution.from_json(json.dumps(STORED | {"tol": tol}))
""".strip().splitlines()


def take(call: str, tol: Any) -> Any:
    return eval(call, NAMES | globals() | {"tol": tol})


@pytest.mark.parametrize("call", TAKE_A_TOL)
def test_a_tolerance_is_a_finite_number_above_0(call: str) -> None:
    for tol in (np.nan, np.inf, -np.inf, 0.0, -1.0, "a", "1e-6", True, [1e-6]):
        with pytest.raises(InputError, match=r"(tol|gap|a tolerance) must be (a number|finite|>)"):
            take(call, tol)
    if "from_json" in call:
        return
    for tol in (1e-6, 1, np.float64(1e-3), np.float32(1e-3), np.array(1e-3)):
        try:
            take(call, tol)
        except AssertionError:
            assert "assert_optimal" in call  # a judgement, not a refusal


@pytest.mark.parametrize("tol", ["nan", "0", "-1", "a"])
def test_a_tolerance_of_the_command_line(tol: str, repository: Path, run: Any) -> None:
    file = str(repository / "problems" / "ridge_diabetes.toml")
    for command in (["solve", file, "--tol", tol], ["compare", file, "--tols", tol]):
        run(*command, code=2)


# -- masked entries -------------------------------------------------------------------------------

READ = table("""
cml.Ridge(a, Y, 0.1)  # X of X
cml.Ridge(X, a, 0.1)  # y of Y
cml.PoissonRegression(X, a, 0.1)  # y of np.arange(N)
cml.Ridge(X, Y, 0.1, sample_weight=a)  # sample_weight of np.ones(N)
penalties.GroupL2(0.1, np.arange(D), a)  # weights of np.ones(D)
penalties.Box(a, 3.0)  # lo of W
cml.Lasso(X, Y, a)  # lam of 0.1
losses.Huber(a)  # delta of 0.5
RIDGE.certify(a)  # w of W
RIDGE.certify(W, a)  # b of 0.5
RIDGE.certify(W, 0.0, a)  # u of np.zeros(N)
cml.LinearProgram(a)  # c of [1.0, 2.0]
cml.LinearProgram([1.0], bounds=a)  # bounds of [[0.0, 1.0]]
PROGRAM.certify(a)  # x of [1.0, 0.0]
PROGRAM.certify([1.0, 0.0], {"lambda_ub": a})  # multiplier lambda_ub of [1.0]
""")
"""What reads a masked array ``a``; the name that it is refused by, and its numbers."""


@pytest.mark.parametrize("call", READ)
def test_masked_entries_are_refused_by_name(call: str) -> None:
    name, numbers = READ[call].split(" of ")
    array = np.array(eval(numbers, NAMES))
    mask = np.zeros(array.shape, dtype=bool)
    eval(call, NAMES | {"a": np.ma.masked_array(array, mask)})  # which hides nothing
    mask.flat[-1] = True
    with pytest.raises(InputError, match=f"{name} has masked entries; fill or drop them first"):
        eval(call, NAMES | {"a": np.ma.masked_array(array, mask)})
