"""Kernel models: duality, weights, linear kernels, what is stored and refused."""

from __future__ import annotations

import time

import numpy as np
import pytest
from support.models.kernel import BINARY, KERNELS, MODELS, NEW, REAL, WEIGHTS, X

import convexml as cml
from convexml.errors import InputError
from convexml.kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed
from convexml.numerics import Array

CASES = [(name, kernel) for name in MODELS for kernel in KERNELS]


def loss_sum(name: str, y: Array, z: Array) -> float:
    """The loss of each model, written out again."""
    if name == "KernelRidge":
        return float(np.mean((y - z) ** 2)) / 2.0
    sign = np.where(y == "yes", 1.0, -1.0) if y.dtype.kind == "U" else y
    if name == "KernelLogistic":
        return float(np.mean(np.log1p(np.exp(-sign * z))))
    if name == "KernelSVM":
        return 1.5 * float(np.maximum(1.0 - sign * z, 0.0).sum())
    return 1.5 * float(np.maximum(np.abs(y - z) - 0.2, 0.0).sum())


def strength(name: str) -> float:
    return {"KernelRidge": 0.05, "KernelLogistic": 0.02}.get(name, 1.0)


@pytest.mark.parametrize(("name", "kernel"), CASES, ids=str)
def test_duality(name: str, kernel: Kernel) -> None:
    problem = MODELS[name](kernel)
    values = []
    for posed in (problem.primal, problem.dual):
        assert posed.is_dcp(dpp=True)
        assert all(constraint.label for constraint in posed.constraints)
        posed.solve(solver="CLARABEL")
        values.append(posed.value)
    solution = problem.solve()
    assert solution.status == "optimal"
    q, b, u = solution.primal["q"], solution.primal["b"], solution.dual["u"]
    y = REAL if "R" in name[6:] else BINARY
    # P from its definition, D <= P with equality, whoever evaluates them.
    K = kernel(X, X)
    primal = loss_sum(name, y, K @ q + b) + strength(name) / 2.0 * q @ K @ q
    assert solution.objective == pytest.approx(primal, rel=1e-12)
    assert problem.objective(q, b) == pytest.approx(primal, rel=1e-12)
    assert problem.dual_objective(u) == pytest.approx(solution.dual_objective, rel=1e-12)
    assert 0.0 <= solution.gap <= 1e-9 * primal
    assert values == pytest.approx([primal, primal], rel=1e-6)
    assert max(solution.kkt.values()) <= 1e-7
    certificate = problem.certify(q, b, u)
    assert certificate.holds(1e-9)
    assert problem.certify(q, b).holds(1e-9)
    np.testing.assert_allclose(solution.decision_function(X), K @ q + b, atol=1e-12)
    np.testing.assert_allclose(K @ q, -K @ u / strength(name), atol=1e-6 * np.abs(K @ q).max())
    w = problem.variables["w"].value
    assert np.linalg.norm(w) ** 2 == pytest.approx(q @ K @ q, rel=1e-10)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_integer_weights_are_repeated_samples(name: str, intercept: bool) -> None:
    s = WEIGHTS.astype(int)
    weighted = MODELS[name](Gaussian(1.0), sample_weight=WEIGHTS, fit_intercept=intercept)
    y = REAL if "R" in name[6:] else BINARY
    parameters = weighted.to_dict()["parameters"]
    twin = type(weighted)(
        np.repeat(X, s, 0), np.repeat(y, s), **parameters, kernel=Gaussian(1.0),
        fit_intercept=intercept,
    )  # fmt: skip
    ours, theirs = weighted.solve(tol=1e-9), twin.solve(tol=1e-9)
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-8)
    assert np.all(ours.primal["q"][s == 0] == 0.0)
    assert ours.primal["q"].shape == (40,)
    assert weighted.certify(ours.primal["q"], ours.primal["b"], ours.dual["u"]).holds(1e-8)
    np.testing.assert_allclose(
        ours.decision_function(NEW), theirs.decision_function(NEW), atol=1e-3
    )


@pytest.mark.parametrize("name", MODELS)
def test_what_refutes_is_judged_again(name: str) -> None:
    """The better function and the dual point have an entry a sample, also of weight 0."""
    problem = MODELS[name](Gaussian(1.0), sample_weight=WEIGHTS)
    solution = problem.solve()
    q, b = -3.0 * solution.primal["q"], solution.primal["b"]
    found = problem.certify(q, b)
    assert found.verdict is cml.Verdict.REFUTED
    better = found.witness
    assert np.all(better["q"][WEIGHTS == 0.0] == 0.0)
    again = problem.certify(better["q"], better["b"], found.dual["u"])
    assert again.primal_objective == pytest.approx(better["objective"], rel=1e-9)
    assert again.primal_objective < found.primal_objective
    assert again.dual_objective <= solution.objective * (1.0 + 1e-9)


LINEAR = {
    "KernelRidge": lambda **kw: cml.Ridge(X, REAL, 0.05, **kw),
    "KernelLogistic": lambda **kw: cml.LogisticRegression(X, BINARY, 0.02, **kw),
    "KernelSVM": lambda **kw: cml.SoftMarginSVM(X, BINARY, 1.5, **kw),
    "KernelSVR": lambda **kw: cml.SVR(X, REAL, 1.5, 0.2, **kw),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_linear_kernel_is_the_linear_model(name: str) -> None:
    ours = MODELS[name](Linear(), fit_intercept=True).solve(tol=1e-9)
    linear = LINEAR[name]().solve(tol=1e-9)
    assert ours.objective == pytest.approx(linear.objective, rel=1e-9)
    np.testing.assert_allclose(X.T @ ours.primal["q"], linear.primal["w"], atol=1e-5)
    np.testing.assert_allclose(ours.dual["u"], linear.dual["u"], atol=1e-5)
    assert ours.problem.objective_parts.d == 3  # the factor has the rank of K


def test_multipliers_have_their_signs() -> None:
    dual = MODELS["KernelSVM"](Gaussian(1.0)).solve().dual
    assert np.all(dual["alpha"] >= 0.0)
    assert np.all(dual["beta"] >= -1e-12)
    np.testing.assert_allclose(dual["alpha"] + dual["beta"], 1.5)
    sign = np.where(BINARY == "yes", 1.0, -1.0)
    np.testing.assert_allclose(dual["u"], -sign * dual["alpha"], atol=1e-12)
    names = {"alpha", "alpha_star", "beta", "beta_star", "u"}
    assert set(MODELS["KernelSVR"](Gaussian(1.0)).solve().dual) == names


@pytest.mark.parametrize("name", MODELS)
def test_hyperparameters_are_set(name: str) -> None:
    problem = MODELS[name](Gaussian(1.0))
    problem.primal  # noqa: B018
    for parameter in problem.to_dict()["parameters"]:
        setattr(problem, parameter, 0.3)
    fresh = type(problem)(
        X, REAL if "R" in name[6:] else BINARY, **problem.to_dict()["parameters"],
        kernel=Gaussian(1.0),
    )  # fmt: skip
    assert problem.solve().objective == pytest.approx(fresh.solve().objective, rel=1e-9)
    values = [s.objective for s in problem.path([0.1, 0.2])]
    assert len(values) == 2


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kernel", [KERNELS[-1], Precomputed()], ids=repr)
def test_solutions_are_stored(name: str, kernel: Kernel) -> None:
    y = REAL if "R" in name[6:] else BINARY
    samples = Gaussian(1.0)(X, X) if kernel == Precomputed() else X
    parameters = MODELS[name](Linear()).to_dict()["parameters"]
    problem = type(MODELS[name](Linear()))(
        samples, y, **parameters, kernel=kernel, sample_weight=WEIGHTS
    )
    solution = problem.solve()
    again = cml.Solution.from_json(solution.to_json())
    assert again.status == "optimal"
    assert again.problem.kernel == kernel
    np.testing.assert_allclose(again.primal["q"], solution.primal["q"], atol=1e-9)
    worse = solution.to_json().replace('"q": [', '"q": [1.5, ', 1)
    with pytest.raises(InputError, match="q must have one entry per sample"):
        cml.Solution.from_json(worse)
    q = solution.primal["q"]
    solution.primal["q"] = np.where(q != 0.0, q + 0.5, q)
    assert cml.Solution.from_json(solution.to_json()).status == "inaccurate"


def test_what_is_refused() -> None:
    with pytest.raises(InputError, match=r"KernelSVM: kernel matrix: must be positive semi.* -1"):
        cml.KernelSVM(np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1], 1.0, Precomputed())
    with pytest.raises(InputError, match=r"matrix of shape \(n, n\), got \(40, 3\)"):
        cml.KernelRidge(X, REAL, 1.0, Precomputed())
    with pytest.raises(InputError, match=r"kernel must be one of convexml\.kernels, got 'rbf'"):
        cml.KernelRidge(X, REAL, 1.0, "rbf")
    with pytest.raises(InputError, match="overflows"):
        cml.KernelRidge(1e100 * X, REAL, 1.0, Polynomial(4))
    problem = MODELS["KernelRidge"](Gaussian(1.0), sample_weight=WEIGHTS)
    with pytest.raises(InputError, match="q must be 0 on the samples of weight 0"):
        problem.certify(np.ones(40))
    with pytest.raises(InputError, match="X has 2 columns, the model was posed with 3"):
        problem.solve().predict(NEW[:, :2])


def test_latex_and_repr() -> None:
    for name, make in MODELS.items():
        problem = make(Gaussian(1.0))
        text = problem.latex()
        assert text.count("{") == text.count("}")
        assert "K" in text
        assert repr(problem).startswith(f"{name}(n=40, kernel=Gaussian(sigma=1.0), ")


@pytest.mark.parametrize("sigma", [1.0, 5.0])
def test_a_thousand_points(sigma: float) -> None:
    """Posed without a PSD failure, solved and certified at 1e-6 in under 10 s."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(1000, 5))
    f = np.sin(2.0 * points[:, 0]) + points[:, 1] * points[:, 2] + 0.3 * rng.normal(size=1000)
    start = time.perf_counter()
    solution = cml.KernelSVM(points, np.sign(f), 1.0, Gaussian(sigma)).solve(tol=1e-6)
    assert solution.status == "optimal"
    assert solution.relative_gap <= 1e-6
    assert time.perf_counter() - start < 10.0


@pytest.mark.parametrize("name", LINEAR)
def test_the_dual_point_of_a_certificate_is_judged_again(name: str) -> None:
    problem = LINEAR[name](sample_weight=WEIGHTS)
    w = problem.solve().primal["w"]
    found = problem.certify(w)
    assert np.all(found.dual["u"][WEIGHTS == 0.0] == 0.0)
    again = problem.certify(w, None, found.dual["u"])
    assert again.gap == pytest.approx(found.gap, rel=1e-3, abs=1e-9)
