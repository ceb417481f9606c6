"""The iterates of a run in the open, their pictures, and the panel of quality."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import convexml as cml

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2)) * [1.0, 3.0]
Y = X @ [1.0, -2.0] + 0.3 * rng.normal(size=60) + 2.0
SIDES = np.where(Y > 2.0, "yes", "no")


def objective(w, b, lam=0.1):
    return float(np.mean((Y - X @ w - b) ** 2) / 2 + lam * w @ w / 2)


def test_gradient_descent_step_by_step() -> None:
    """x_{t+1} = x_t - step grad P(x_t), and P, each from the arrays."""
    ridge = cml.Ridge(X, Y, 0.1)
    run = ridge.solve("textbook.gradient_descent", step=0.05, max_iter=12).iterates
    assert list(run.iterations) == list(range(13))
    assert len(run) == 13
    for t in range(12):
        left = X @ run.w[t] + run.b[t] - Y
        assert_allclose(
            run.w[t + 1], run.w[t] - 0.05 * (X.T @ left / 60 + 0.1 * run.w[t]), rtol=1e-9
        )
        assert_allclose(run.b[t + 1], run.b[t] - 0.05 * left.mean(), rtol=1e-9)
    assert_allclose(run.objective, [objective(*point) for point in zip(run.w, run.b, strict=True)])
    assert_allclose(run.step, 0.05)
    best = objective(*np.split(np.linalg.solve(
        np.block([[X.T @ X / 60 + 0.1 * np.eye(2), X.mean(axis=0)[:, None]],
                  [X.mean(axis=0)[None], np.ones((1, 1))]]),
        np.append(X.T @ Y / 60, Y.mean())), [2]))  # fmt: skip
    assert np.all(run.gap >= run.objective - best - 1e-12)


@pytest.mark.parametrize("solver", ["newton", "dual_coordinate_descent", "interior_point"])
def test_the_end_is_the_answer_in_its_own_units(solver: str) -> None:
    svm = cml.SoftMarginSVM(1e3 * X + 50.0, SIDES, 1e-4)
    problem = cml.LogisticRegression(1e3 * X + 50.0, SIDES, 1.0) if solver == "newton" else svm
    solution = problem.solve(solver, polish=False, tol=1e-8)
    run = solution.iterates
    assert run.iterations[-1] == solution.iterations
    value = problem.objective(run.w[-1], float(run.b[-1]))
    assert_allclose(value, run.objective[-1], rtol=1e-6)
    assert_allclose(run.objective[-1], solution.objective, rtol=1e-6)


def test_softmax_and_kernels_have_their_shapes() -> None:
    labels = rng.integers(3, size=60)
    run = cml.SoftmaxRegression(X, labels, 0.1).solve("fista").iterates
    assert run.w.shape == (len(run), 2, 3)
    assert run.b.shape == (len(run), 3)
    kernel = cml.KernelSVM(X, SIDES, 1.0, cml.kernels.Gaussian(1.0)).solve("smo")
    assert kernel.iterates.w.shape == (len(kernel.iterates), 60)


def test_without_a_run_there_are_none() -> None:
    with pytest.raises(cml.errors.InputError, match="clarabel left no iterates"):
        _ = cml.Ridge(X, Y, 0.1).solve("clarabel").iterates


def path_of(axes):
    return axes.lines[0].get_xydata()


def test_the_trajectory_is_that_of_the_coefficients() -> None:
    solution = cml.Ridge(X, Y, 0.1, fit_intercept=False).solve("textbook.gradient_descent")
    figure = solution.plot(kind="trajectory")
    assert_allclose(path_of(figure.axes[0]), solution.iterates.w, atol=1e-12)
    assert "level sets of P" in figure.axes[0].get_title(loc="left").replace("\n", " ")


@pytest.mark.parametrize("chosen", [(1, 2), ("b", 1), (0, "b")])
def test_coordinates_are_chosen_by_number_or_name(chosen) -> None:
    solution = cml.Ridge(X, Y, 0.1).solve("textbook.gradient_descent")
    x = np.column_stack([solution.iterates.w, solution.iterates.b])
    columns = [2 if each == "b" else each for each in chosen]
    figure = solution.plot(kind="trajectory", coordinates=chosen)
    assert_allclose(path_of(figure.axes[0]), x[:, columns], atol=1e-12)


def test_principal_directions_end_at_the_origin_and_keep_most_of_the_way() -> None:
    solution = cml.Ridge(X, Y, 0.1).solve("textbook.gradient_descent")
    x = np.column_stack([solution.iterates.w, solution.iterates.b])
    path = path_of(solution.plot(kind="trajectory").axes[0])
    assert_allclose(path[-1], 0.0, atol=1e-12)
    squares = np.linalg.svd(x - x[-1], compute_uv=False) ** 2
    assert_allclose((path**2).sum(), squares[:2].sum(), rtol=1e-9)


@pytest.mark.parametrize(("options", "words"), [
    ({"coordinates": (0, 1)}, "coordinates belongs to kind='trajectory'"),
    ({"kind": "trajectory", "coordinates": (0, 7)}, "coordinate 7 is not one of 0"),
    ({"kind": "trajectory", "coordinates": (0, "c")}, "no coordinate is named 'c'"),
    ({"kind": "trajectory", "coordinates": (0,)}, "needs two coordinates"),
    ({"kind": "trajectory", "coordinates": (1, 1)}, "needs two coordinates"),
    ({"kind": "fit"}, "has 2 features in memory"),
])  # fmt: skip
def test_what_cannot_be_drawn_is_refused(options, words: str) -> None:
    solution = cml.Ridge(X, Y, 0.1).solve("textbook.gradient_descent")
    with pytest.raises(cml.errors.InputError, match=words):
        solution.plot(**options)


def test_a_kernel_has_no_trajectory() -> None:
    solution = cml.KernelSVM(X, SIDES, 1.0, cml.kernels.Gaussian(1.0)).solve("smo")
    with pytest.raises(cml.errors.InputError, match="over the weights"):
        solution.plot(kind="trajectory")


def test_the_fit_of_one_feature() -> None:
    x = np.linspace(-1.0, 1.0, 30)[:, None]
    y = 3.0 * x[:, 0] + 1.0 + 0.01 * rng.normal(size=30)
    solution = cml.LeastSquares(x, y).solve()
    samples, curve = solution.plot(kind="fit").axes[0].lines[:2]
    assert_allclose(samples.get_xydata(), np.column_stack([x[:, 0], y]))
    grid, heights = curve.get_xydata().T
    slope, level = np.polyfit(x[:, 0], y, 1)
    assert_allclose(heights, slope * grid + level, rtol=1e-6)


def test_the_fit_of_a_classifier_is_its_probability() -> None:
    x = X[:, 1:]
    solution = cml.LogisticRegression(x, SIDES, 0.1).solve()
    samples, curve = solution.plot(kind="fit").axes[0].lines[:2]
    assert set(samples.get_ydata()) == {0.0, 1.0}
    grid, heights = curve.get_xydata().T
    w, b = solution.primal["w"][0], float(solution.primal["b"])
    assert_allclose(heights, 1.0 / (1.0 + np.exp(-(w * grid + b))), rtol=1e-9)


pytest.importorskip("matplotlib")
draws = np.random.default_rng(4)
FIVE = draws.normal(size=(30, 5))
MIXED = FIVE @ [2.0, -1.0, 0.0, 0.0, 0.5] + draws.normal(size=30)


def test_the_conditions_that_are_left_out_are_the_smallest() -> None:
    solution = cml.Lasso(FIVE, MIXED, lam=0.1).solve("clarabel")
    (row,) = solution.certificate.conditions[:1]
    rows = [replace(row, name="little", residual=8e-18, scale=1.0)]
    rows += [replace(row, name=f"none {k}", residual=0.0, scale=1.0) for k in range(10)]
    certificate = solution.certificate.but(conditions=tuple(rows))
    axes = replace(solution, certificate=certificate).plot(kind="quality").axes[-1]
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert "little" in names
    assert "none 8" not in names
    assert "12 of 12 within tol (dashed), 2 smaller ones" in axes.get_title("left")
    fewer = certificate.but(conditions=tuple(rows[:-1]))
    axes = replace(solution, certificate=fewer).plot(kind="quality").axes[-1]
    assert axes.get_title("left").replace("\n", " ").endswith("1 smaller one")


def test_an_infeasible_program_names_only_what_it_has() -> None:
    lp = cml.LinearProgram([1.0, 1.0], A_ub=[[1, 1], [-1, -1]], b_ub=[1, -2])
    solution = lp.solve()
    told = solution.explain()
    assert "λ_lower" in told
    assert not [name for name in ("λ_upper", "b_eq", "ν", "radius") if name in told]
    assert "b_ubᵀ λ_ub − lowerᵀ λ_lower < 0" in told
    title = solution.plot(kind="quality").axes[-1].get_title("left")
    assert title == "4 of 4 within tol (dashed)"
    free = cml.LinearProgram([1.0], A_eq=[[1.0], [1.0]], b_eq=[1.0, 2.0], bounds=(None, None))
    assert "b_eqᵀ ν < 0" in free.solve().explain()
    assert "b_ub" not in free.solve().explain()
    capped = cml.LinearProgram([1.0], A_ub=[[-1.0]], b_ub=[-2.0], bounds=(0.0, 1.0))
    told = capped.solve().explain(columns=120)
    assert "b_ubᵀ λ_ub − lowerᵀ λ_lower + upperᵀ λ_upper < 0" in told
