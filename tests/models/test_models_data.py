"""What users pass: labels of any kind, sparse matrices, data frames, weights, odd shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.model_cases import MODELS, consistent, samples, weights

import convexml as cml
from convexml.numerics import Array

X, Y = samples("real")
XB, YB = samples("binary")
S = weights(len(Y))


class Frame:
    """The least that a data frame offers: ``__array__`` and ``columns``."""

    def __init__(self, values: Array, columns: list[str]) -> None:
        self.values, self.columns = values, columns

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.values, dtype=dtype)


@pytest.mark.parametrize(
    ("minus", "plus"),
    [("ham", "spam"), (0, 1), (-1, 1), (3, 7), (False, True), (0.5, 2.5), (np.int8(1), np.int8(2))],
)
@pytest.mark.parametrize("model", [cml.LogisticRegression, cml.SoftMarginSVM])
def test_labels_of_any_kind(model: Any, minus: Any, plus: Any) -> None:
    y = np.where(YB > 0.0, plus, minus)
    problem, plain = model(XB, y, 0.1), model(XB, YB, 0.1)
    assert list(problem.classes) == [minus, plus]
    solution = problem.solve()
    assert solution.primal["w"] == pytest.approx(plain.solve().primal["w"], abs=1e-6)
    predicted = solution.predict(XB)
    assert predicted.dtype == np.unique(y).dtype
    assert set(predicted) <= {minus, plus}
    assert np.array_equal(predicted == plus, solution.decision_function(XB) > 0.0)
    assert np.array_equal(predicted, model(XB, list(y), 0.1).solve().predict(XB))


def test_regression_has_no_classes() -> None:
    assert cml.Ridge(X, Y, 0.1).classes is None


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_sparse_equals_dense(case: Any, convert: Any) -> None:
    A, y = case.data()
    A = np.where(np.abs(A) < 0.4, 0.0, A)
    dense, thin = case.make(A, y), case.make(convert(A), y)
    one, two = dense.solve(), thin.solve()
    assert one.status == two.status == "optimal"
    assert two.objective == pytest.approx(one.objective, rel=1e-8)
    assert two.primal["w"] == pytest.approx(one.primal["w"], abs=1e-5)
    w, b, u = one.primal["w"], float(one.primal["b"]), one.dual["u"]
    assert thin.objective(w, b) == pytest.approx(dense.objective(w, b), rel=1e-13)
    assert thin.dual_objective(u) == pytest.approx(dense.dual_objective(u), rel=1e-12)
    assert two.decision_function(convert(A)) == pytest.approx(two.decision_function(A), abs=1e-12)
    thin.dual.solve(solver="CLARABEL")
    assert thin.dual.value == pytest.approx(one.objective, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_rows_of_weight_0_are_dropped_first(case: Any) -> None:
    A, y = case.data()
    n = len(y)
    keep = np.setdiff1d(np.arange(n), [0]) if n < 5 else np.setdiff1d(np.arange(n), [1, 4])
    s = np.zeros(n)
    s[keep] = 1.0
    outlier = A.copy()
    outlier[s == 0.0] *= 1e3  # what the dropped rows hold does not matter
    full, part = case.make(outlier, y, sample_weight=s), case.make(A[keep], y[keep])
    one, two = full.solve(), part.solve()
    assert one.status == "optimal"
    assert one.objective == pytest.approx(two.objective, rel=1e-12, abs=1e-20)
    # Gaps at rounding, 1e-16, determine the points to the root of that, some 1e-8.
    assert one.primal["w"] == pytest.approx(two.primal["w"], abs=1e-6)
    # Per-sample arrays keep the caller's numbering, and are 0 where the weight is.
    for found, reduced in ((one.dual, two.dual), (one.primal, two.primal)):
        for name, values in found.items():
            if name in ("w", "b") or np.ndim(values) == 0:
                continue
            assert values.shape == (n,)
            assert values[keep] == pytest.approx(reduced[name], abs=1e-6)
            assert np.all(values[s == 0.0] == 0.0)
    assert full.certify(one.primal["w"], one.primal["b"], one.dual["u"]).holds()
    if one.support is not None:
        assert np.array_equal(one.support, keep[two.support])


def test_integer_weights_are_repeated_rows() -> None:
    s = np.arange(len(Y)) % 3
    weighted = cml.HuberRegression(X, Y, 0.6, 0.1, sample_weight=s).solve(tol=1e-12)
    repeated = cml.HuberRegression(np.repeat(X, s, axis=0), np.repeat(Y, s), 0.6, 0.1)
    assert weighted.primal["w"] == pytest.approx(repeated.solve(tol=1e-12).primal["w"], abs=1e-9)


def test_a_data_frame_keeps_its_column_names() -> None:
    names = ["age", "sex", "bmi", "bp", "s1"]
    problem = cml.Ridge(Frame(X, names), Y, 0.3)
    solution = problem.solve()
    plain = cml.Ridge(X, Y, 0.3).solve()
    assert solution.primal["w"] == pytest.approx(plain.primal["w"], abs=1e-12)
    assert problem.features == names
    with pytest.warns(UserWarning, match="X has no column names"):
        assert np.array_equal(solution.predict(Frame(X, names)), solution.predict(X))


def test_lists_and_a_column_vector_are_read() -> None:
    expected = pytest.approx(cml.Ridge(X, Y, 0.3).solve().primal["w"], abs=1e-12)
    assert cml.Ridge(X.tolist(), Y.tolist(), 0.3).solve().primal["w"] == expected
    assert cml.Ridge(X, Y[:, None], 0.3).solve().primal["w"] == expected


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_single_precision_is_usable_and_nothing_is_modified(case: Any) -> None:
    A, y = case.data()
    A, y = A.astype(np.float32), y.astype(np.float32)
    before = A.copy(), y.copy()
    for array in (A, y):
        array.flags.writeable = False
    problem = case.make(A, y)
    solution = problem.solve("clarabel")
    assert solution.status == "optimal"
    assert solution.primal["w"].dtype == np.float64
    w, u = solution.primal["w"], solution.dual["u"]
    held = w.copy(), u.copy()
    problem.certify(w, solution.primal["b"], u)
    problem.certify(w.astype(np.float32))
    solution.predict(A)
    assert np.array_equal(w, held[0])
    assert np.array_equal(u, held[1])
    assert np.array_equal(A, before[0])
    assert np.array_equal(y, before[1])


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_a_single_feature(case: Any) -> None:
    A, y = case.data()
    if case.name == "GroupLasso":
        problem = cml.GroupLasso(A[:, :1], y, 0.3, ["a"])
    elif case.name == "Slope":
        problem = cml.Slope(A[:, :1], y, [0.3])
    elif case.name == "MinimumNorm":
        problem = cml.MinimumNorm(A[:1, :1], y[:1])
    elif case.name in ("HardMarginSVM", "HalfspaceLP"):
        problem = case.make(y[:, None] * (1.0 + np.abs(A[:, :1])), y)
    else:
        problem = case.make(A[:, :1], y)
    solution = problem.solve()
    assert solution.status == "optimal"
    assert solution.primal["w"].shape == (1,)


WITHOUT_PENALTY = ("LogisticRegression-none", "LeastSquares")
PENALISED = [case for case in MODELS if case.name not in WITHOUT_PENALTY]


@pytest.mark.parametrize("case", PENALISED, ids=lambda case: case.name)
def test_more_features_than_samples(case: Any) -> None:
    A, y = case.data() if case.name == "MinimumNorm" else (a[:4] for a in case.data())
    if set(np.unique(y)) <= {-1.0, 1.0}:
        y = np.array([1.0, -1.0, 1.0, -1.0])
    solution = case.make(A, y).solve()
    assert solution.status == "optimal"
    assert solution.relative_gap <= 1e-6


def test_least_squares_with_more_features_than_samples_fits_exactly() -> None:
    A, y = consistent()
    solution = cml.LeastSquares(A, y).solve()
    assert solution.status == "optimal"
    assert solution.objective <= 1e-20
    assert A @ solution.primal["w"] + solution.primal["b"] == pytest.approx(y)


@pytest.mark.parametrize("name", ["newton", "gradient_descent", "clarabel"])
def test_the_same_seed_gives_the_same_result(name: str) -> None:
    # Where an algorithm stops may depend on the clock; its iterates do not.
    settings = {"seed": 4, "max_iter": 4, "tol": 1e-15}
    one, two = (cml.LogisticRegression(XB, YB, 0.1).solve(name, **settings) for _ in range(2))
    assert np.array_equal(one.primal["w"], two.primal["w"])
    assert one.iterations == two.iterations
