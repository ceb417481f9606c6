"""Kernel models: duality, closed forms, scikit-learn's values, linear kernels, wrong solutions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as SkKernelRidge
from sklearn.svm import SVC
from sklearn.svm import SVR as SkSVR

import convexml as cml
from convexml.certificates.learning import kernel as kernel_certificate
from convexml.errors import InputError
from convexml.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Precomputed
from convexml.numerics import Array

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
F = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2]
REAL = F + 0.2 * RNG.normal(size=40)
BINARY = np.where(F + 0.5 * RNG.normal(size=40) > 0.0, "yes", "no")
WEIGHTS = RNG.integers(0, 4, size=40).astype(float)
NEW = RNG.normal(size=(9, 3))

KERNELS = [
    Gaussian(1.0),
    Laplacian(2.0),
    Linear(),
    Polynomial(2, coef0=1.0),
    0.5 * Gaussian(0.5) + Linear() * Gaussian(3.0),
]
MODELS: dict[str, Callable[..., Any]] = {
    "KernelRidge": lambda k, **kw: cml.KernelRidge(X, REAL, 0.05, k, **kw),
    "KernelLogistic": lambda k, **kw: cml.KernelLogistic(X, BINARY, 0.02, k, **kw),
    "KernelSVM": lambda k, **kw: cml.KernelSVM(X, BINARY, 1.5, k, **kw),
    "KernelSVR": lambda k, **kw: cml.KernelSVR(X, REAL, 1.5, 0.2, k, **kw),
}
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


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_kernel_ridge_is_its_closed_form(kernel: Kernel) -> None:
    problem, n = MODELS["KernelRidge"](kernel), len(X)
    solution = problem.solve()
    exact = np.linalg.solve(kernel(X, X) + n * 0.05 * np.eye(n), REAL)
    assert solution.objective == pytest.approx(problem.objective(exact), rel=1e-12)
    np.testing.assert_allclose(solution.primal["q"], exact, atol=1e-8)
    np.testing.assert_allclose(problem.closed_form()["q"], exact, atol=1e-10)
    assert problem.certify(exact).holds(1e-10)
    sk = SkKernelRidge(alpha=n * 0.05, kernel=lambda a, b: kernel(a[None], b[None])[0, 0])
    np.testing.assert_allclose(sk.fit(X, REAL).dual_coef_, exact, atol=1e-10)
    np.testing.assert_allclose(solution.predict(NEW), sk.predict(NEW), atol=1e-8)


def test_closed_form_with_intercept_and_weights() -> None:
    problem = MODELS["KernelRidge"](Gaussian(1.0), fit_intercept=True, sample_weight=WEIGHTS)
    form, solution = problem.closed_form(), problem.solve()
    assert problem.objective(form["q"], form["b"]) == pytest.approx(solution.objective, rel=1e-12)
    assert form["q"] @ np.ones(40) == pytest.approx(0.0, abs=1e-12)


SVMS = [
    (Gaussian(1.0), {"kernel": "rbf", "gamma": 0.5}),
    (Polynomial(3, 1.0, 0.5), {"kernel": "poly", "degree": 3, "coef0": 1.0, "gamma": 0.5}),
    (Linear(), {"kernel": "linear"}),
]


@pytest.mark.parametrize(("kernel", "options"), SVMS, ids=["rbf", "poly", "linear"])
def test_scikit_learn_svc(kernel: Kernel, options: dict[str, Any]) -> None:
    # (With zero weights libsvm numbers the support among the samples that are left.)
    problem = cml.KernelSVM(X, BINARY, 1.5, kernel, sample_weight=WEIGHTS + 0.5)
    model = SVC(C=1.5, tol=1e-10, **options).fit(X, BINARY, sample_weight=WEIGHTS + 0.5)
    q = np.zeros(len(X))
    q[model.support_] = model.dual_coef_[0]
    certificate = problem.certify(q, float(model.intercept_[0]), tol=1e-6)
    assert certificate.holds()
    solution = problem.solve()
    assert solution.objective <= problem.objective(q, model.intercept_[0]) * (1.0 + 1e-12)
    assert solution.objective == pytest.approx(certificate.primal_objective, rel=1e-6)
    assert np.array_equal(solution.support, np.sort(model.support_))
    assert np.array_equal(solution.predict(NEW), model.predict(NEW))
    np.testing.assert_allclose(
        solution.decision_function(NEW), model.decision_function(NEW), atol=1e-4
    )
    np.testing.assert_allclose(solution.dual["alpha"], np.abs(q), atol=1e-4)


def test_scikit_learn_svr_and_a_precomputed_kernel() -> None:
    kernel = Gaussian(1.0)
    K = kernel(X, X)
    model = SkSVR(C=1.5, epsilon=0.2, gamma=0.5, tol=1e-10).fit(X, REAL)
    for problem, new in (
        (MODELS["KernelSVR"](kernel), NEW),
        (cml.KernelSVR(K, REAL, 1.5, 0.2, Precomputed()), kernel(NEW, X)),
    ):
        solution = problem.solve()
        q = np.zeros(len(X))
        q[model.support_] = model.dual_coef_[0]
        assert problem.certify(q, float(model.intercept_[0])).holds(1e-6)
        np.testing.assert_allclose(solution.predict(new), model.predict(NEW), atol=1e-5)
        alpha, alpha_star = solution.dual["alpha"], solution.dual["alpha_star"]
        np.testing.assert_allclose(alpha - alpha_star, q, atol=1e-5)
        assert np.array_equal(solution.support, np.sort(model.support_))


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
def test_the_gap_bounds_and_is_tight(name: str) -> None:
    problem = MODELS[name](Gaussian(1.0))
    best = problem.solve(tol=1e-9)
    q, b, least = best.primal["q"], float(best.primal["b"]), best.dual_objective
    rng = np.random.default_rng(5)
    intercept = problem.objective_parts.fit_intercept
    for size in np.geomspace(1e-6, 10.0, 25):
        point = q + size * rng.normal(size=len(q))
        shift = b + size * rng.normal() if intercept else 0.0
        certificate = problem.certify(point, shift)
        loss = problem.objective(point, shift) - least
        assert certificate.gap >= loss * (1.0 - 1e-9)
        if size < 1e-3:
            assert certificate.gap <= 1.5 * loss + 1e-10 * abs(least)


@pytest.mark.parametrize("name", MODELS)
def test_wrong_solutions_are_never_certified(name: str) -> None:
    """80 mutations a model: certified only where the objective is in fact within tol."""
    problem = MODELS[name](Gaussian(1.0))
    best = problem.solve(tol=1e-9)
    q, b, u = best.primal["q"], float(best.primal["b"]), best.dual["u"]
    rng, tried = np.random.default_rng(6), 0
    intercept = problem.objective_parts.fit_intercept
    for k in range(80):
        point, shift, dual = q.copy(), b, u.copy()
        size = 10.0 ** rng.uniform(-3.0, 1.0)
        j = rng.integers(len(q))
        match k % 5:
            case 0:
                point[j] += size
            case 1:
                shift += size if intercept else 0.0
                point *= 1.0 if intercept else 1.0 + size
            case 2:
                dual[j] += size
            case 3:
                dual = -dual
            case 4:
                point = np.roll(point, 1)
        certificate = problem.certify(point, shift, dual)
        loss = problem.objective(point, shift) - best.dual_objective
        assert certificate.gap >= loss - 1e-12 * abs(best.objective)
        if loss > 1.1e-6 * best.objective:
            tried += 1
            assert not certificate.holds(1e-6)
            assert certificate.verdict is not cml.Verdict.CERTIFIED
    assert tried > 30


def test_a_refutation_shows_a_better_function() -> None:
    problem = MODELS["KernelSVM"](Gaussian(1.0))
    certificate = problem.certify(np.zeros(40), 0.0)
    assert certificate.verdict is cml.Verdict.REFUTED
    witness = certificate.witness
    assert witness is not None
    assert problem.objective(witness["q"], witness["b"]) == pytest.approx(witness["objective"])
    assert witness["objective"] < problem.objective(np.zeros(40), 0.0)


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


def test_interpolation_without_penalty() -> None:
    solution = cml.KernelRidge(X, REAL, 0.0, Gaussian(1.0)).solve()
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.predict(X), REAL, atol=1e-8)


def test_separable_kernel_logistic_without_penalty_is_unattained() -> None:
    solution = cml.KernelLogistic(X, BINARY, 0.0, Gaussian(0.3)).solve()
    assert solution.status == "unattained"
    sign = np.where(BINARY == "yes", 1.0, -1.0)
    f = Gaussian(0.3)(X, X) @ solution.evidence["q"] + solution.evidence["b"]
    assert np.all(sign * f >= -1e-9)
    assert np.any(sign * f > 0.0)


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


@pytest.mark.parametrize("name", MODELS)
def test_a_solution_is_told_in_q_only(name: str) -> None:
    problem = MODELS[name](Gaussian(1.0))
    solution = problem.solve()
    assert "w" not in solution.primal
    given = [solution.primal[key] for key in ("q", "b")]
    assert problem.certify(*given).verdict is cml.Verdict.CERTIFIED
    assert problem.solve("newton" if "Logistic" in name else "clarabel", w0=given[0]).status
    assert cml.Solution.from_json(solution.to_json()).status == "optimal"


def test_the_margin_is_that_of_the_function() -> None:
    problem = MODELS["KernelSVM"](Gaussian(1.0))
    solution = problem.solve()
    q = solution.primal["q"]
    assert solution.margin == pytest.approx((q @ Gaussian(1.0)(X, X) @ q) ** -0.5, rel=1e-12)


def test_a_start_is_given_in_q() -> None:
    problem = MODELS["KernelLogistic"](Gaussian(1.0))
    q = problem.solve(tol=1e-10).primal["q"]
    warm = problem.solve("newton", tol=1e-8, w0=q)
    assert warm.iterations < problem.solve("newton", tol=1e-8).iterations
    with pytest.raises(cml.errors.InputError, match="w0 must have one entry per sample"):
        problem.solve("newton", w0=q[:-1])


def test_a_best_intercept_pays_what_a_passed_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = kernel_certificate.coordinates

    def vague(*given: object) -> tuple[np.ndarray, np.ndarray]:
        w, error = exact(*given)
        return w, error + 1e-3  # so that what w may be off by can be seen

    monkeypatch.setattr(kernel_certificate, "coordinates", vague)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), 3.0 + rng.normal(size=12)
    problem = cml.KernelRidge(X, y, 0.1, cml.kernels.Gaussian(1.0), fit_intercept=True)
    q = rng.normal(size=12)
    f = problem.kernel(X, X) @ q
    chosen, passed = problem.certify(q), problem.certify(q, float(np.mean(y - f)))
    assert chosen.rounding == pytest.approx(passed.rounding, rel=1e-6)
