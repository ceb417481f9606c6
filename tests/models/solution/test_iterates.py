"""The iterates of a run in the open, and their pictures."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import convexml as cml
from convexml.models.iterates import kept

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2)) * [1.0, 3.0]
Y = X @ [1.0, -2.0] + 0.3 * rng.normal(size=60) + 2.0
SIDES = np.where(Y > 2.0, "yes", "no")


def objective(w, b, lam=0.1):
    return float(np.mean((Y - X @ w - b) ** 2) / 2 + lam * w @ w / 2)


def test_all_are_kept_at_first_and_some_later() -> None:
    assert list(kept(0)) == [0]
    assert list(kept(5)) == [0, 1, 2, 3, 4, 5]
    numbers = np.array(list(kept(10_000)))
    assert list(numbers[:201]) == list(range(201))
    assert numbers[-1] == 10_000
    later = numbers[numbers >= 200]
    assert np.all(np.diff(later) >= 1)
    assert np.all(later[2:-1] >= 1.02 * later[1:-2] - 1.0)
    assert len(numbers) < 450


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


@pytest.mark.parametrize("solver", ["newton", "smo", "interior_point"])
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
    pytest.importorskip("matplotlib")
    solution = cml.Ridge(X, Y, 0.1, fit_intercept=False).solve("textbook.gradient_descent")
    figure = solution.plot(kind="trajectory")
    assert_allclose(path_of(figure.axes[0]), solution.iterates.w, atol=1e-12)
    assert "level sets of P" in figure.axes[0].get_title(loc="left").replace("\n", " ")


@pytest.mark.parametrize("chosen", [(1, 2), ("b", 1), (0, "b")])
def test_coordinates_are_chosen_by_number_or_name(chosen) -> None:
    pytest.importorskip("matplotlib")
    solution = cml.Ridge(X, Y, 0.1).solve("textbook.gradient_descent")
    x = np.column_stack([solution.iterates.w, solution.iterates.b])
    columns = [2 if each == "b" else each for each in chosen]
    figure = solution.plot(kind="trajectory", coordinates=chosen)
    assert_allclose(path_of(figure.axes[0]), x[:, columns], atol=1e-12)


def test_principal_directions_end_at_the_origin_and_keep_most_of_the_way() -> None:
    pytest.importorskip("matplotlib")
    solution = cml.Ridge(X, Y, 0.1).solve("textbook.gradient_descent")
    x = np.column_stack([solution.iterates.w, solution.iterates.b])
    path = path_of(solution.plot(kind="trajectory").axes[0])
    assert_allclose(path[-1], 0.0, atol=1e-12)
    squares = np.linalg.svd(x - x[-1], compute_uv=False) ** 2
    assert_allclose((path**2).sum(), squares[:2].sum(), rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"coordinates": (0, 1)}, "coordinates belongs to kind='trajectory'"),
        ({"kind": "trajectory", "coordinates": (0, 7)}, "coordinate 7 is not one of 0"),
        ({"kind": "trajectory", "coordinates": (0, "c")}, "no coordinate is named 'c'"),
        ({"kind": "trajectory", "coordinates": (0,)}, "needs two coordinates"),
        ({"kind": "trajectory", "coordinates": (1, 1)}, "needs two coordinates"),
        ({"kind": "fit"}, "has 2 features in memory"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, words: str) -> None:
    solution = cml.Ridge(X, Y, 0.1).solve("textbook.gradient_descent")
    with pytest.raises(cml.errors.InputError, match=words):
        solution.plot(**options)


def test_a_kernel_has_no_trajectory() -> None:
    solution = cml.KernelSVM(X, SIDES, 1.0, cml.kernels.Gaussian(1.0)).solve("smo")
    with pytest.raises(cml.errors.InputError, match="over the weights"):
        solution.plot(kind="trajectory")


def test_the_fit_of_one_feature() -> None:
    pytest.importorskip("matplotlib")
    x = np.linspace(-1.0, 1.0, 30)[:, None]
    y = 3.0 * x[:, 0] + 1.0 + 0.01 * rng.normal(size=30)
    solution = cml.LeastSquares(x, y).solve()
    samples, curve = solution.plot(kind="fit").axes[0].lines[:2]
    assert_allclose(samples.get_xydata(), np.column_stack([x[:, 0], y]))
    grid, heights = curve.get_xydata().T
    slope, level = np.polyfit(x[:, 0], y, 1)
    assert_allclose(heights, slope * grid + level, rtol=1e-6)


def test_the_fit_of_a_classifier_is_its_probability() -> None:
    pytest.importorskip("matplotlib")
    x = X[:, 1:]
    solution = cml.LogisticRegression(x, SIDES, 0.1).solve()
    samples, curve = solution.plot(kind="fit").axes[0].lines[:2]
    assert set(samples.get_ydata()) == {0.0, 1.0}
    grid, heights = curve.get_xydata().T
    w, b = solution.primal["w"][0], float(solution.primal["b"])
    assert_allclose(heights, 1.0 / (1.0 + np.exp(-(w * grid + b))), rtol=1e-9)


def test_the_fit_of_counts_is_their_mean() -> None:
    pytest.importorskip("matplotlib")
    counts = rng.poisson(np.exp(0.3 * X[:, 1]))
    solution = cml.PoissonRegression(X[:, 1:], counts, 0.1).solve()
    grid, heights = solution.plot(kind="fit").axes[0].lines[1].get_xydata().T
    w, b = solution.primal["w"][0], float(solution.primal["b"])
    assert_allclose(heights, np.exp(w * grid + b), rtol=1e-9)
