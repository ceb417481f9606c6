"""A constraint of CVXPY that holds several cones: each of them counts by its own size."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml

BIG = cp.Constant([1e8, 1.0])
WIDE = cp.Constant(np.array([[1e8, 1.0], [1e8, 1.0]]))


def second_order(x: cp.Variable) -> cp.Constraint:
    return cp.SOC(BIG, cp.reshape(x, (1, 2), order="F"))


def by_rows(x: cp.Variable) -> cp.Constraint:
    return cp.SOC(BIG, cp.reshape(x, (2, 1), order="F"), axis=1)


def power(x: cp.Variable) -> cp.Constraint:
    return cp.PowCone3D(BIG, BIG, x, 0.5)


def powers(x: cp.Variable) -> cp.Constraint:
    return cp.PowConeND(WIDE, x, np.full((2, 2), 0.5))


def powers_by_rows(x: cp.Variable) -> cp.Constraint:
    return cp.PowConeND(WIDE.T, x, np.full((2, 2), 0.5), axis=1)


def exponential(x: cp.Variable) -> cp.Constraint:
    return cp.ExpCone(x - BIG, BIG, BIG)  # x <= BIG, as y exp((x - y) / y) <= y says


CONES = (second_order, by_rows, power, powers, powers_by_rows, exponential)


@pytest.mark.parametrize("cones", CONES)
def test_a_small_cone_beside_a_large_one_counts_by_its_own_size(
    cones: Callable[[cp.Variable], cp.Constraint],
) -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(-x[0]), [cones(x)])
    x.value = np.array([1e8, 1.5])
    certificate = cml.certify(problem)
    assert certificate.verdict is cml.Verdict.REFUTED
    assert certificate.conditions[0].index == 1
    x.value = np.array([1e8, 0.5])
    assert cml.certify(problem).conditions[0].meets(1e-6)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimum_of_a_log_determinant_is_certified_as_it_stands(seed: int) -> None:
    """min tr(C T) - log det T at T = C^-1: little of an inner dual point is mixed in."""
    eigenvalues = np.array([0.1, 10.0**-0.5, 1.0])
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    C = (Q * eigenvalues) @ Q.T
    C = 0.5 * (C + C.T)
    inverse = np.linalg.inv(C)
    T = cp.Variable((3, 3), symmetric=True, name="T")
    T.save_value(0.5 * (inverse + inverse.T))
    found = cml.certify(cp.Problem(cp.Minimize(-cp.log_det(T) + cp.trace(C @ T))))
    assert found.verdict is cml.Verdict.CERTIFIED, str(found)
    assert found.relative_gap < 6e-7
    value = 3.0 + float(np.sum(np.log(eigenvalues)))
    assert found.primal_objective == pytest.approx(value, rel=1e-12)
    assert found.dual_objective <= value + 1e-12
