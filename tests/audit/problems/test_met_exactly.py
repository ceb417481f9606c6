"""Whether the values of variables meet constraints exactly, and which rows exclude any point."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from convexml.audit.cvxpy.reading.domain import domains_of
from convexml.audit.cvxpy.rounding.met import meets_exactly
from convexml.certificates.conic.feasible import _binding
from convexml.certificates.conic.search.fit import fitted
from convexml.certificates.conic.units import conic_units
from convexml.duality.checking import constraint_names
from convexml.objective.conic.cones import NonnegativeCone, ZeroCone
from convexml.objective.conic.program import ConeProgram

UP = np.nextafter(1.0, 2.0)


def met(value: Any, constraint: Any, objective: Any = cp.sum, **attributes: Any) -> bool:
    x = cp.Variable(np.shape(value), **attributes)
    x.save_value(np.array(value))
    problem = cp.Problem(cp.Minimize(objective(x)), [constraint(x)])
    return meets_exactly(problem, domains_of(problem, constraint_names(problem)))


@pytest.mark.parametrize(
    ("value", "constraint"),
    [
        (1.0, lambda x: x <= 1),
        ([0.5, 0.5], lambda x: cp.norm(x, 2) <= 1),
        ([1.0, -2.0], lambda x: cp.abs(x) <= [1, 2]),
        ([0.25, 3.0], lambda x: 2 * x[0] + cp.square(x[1]) <= 9.5),
    ],
)
def test_what_holds_is_seen(value: Any, constraint: Any) -> None:
    assert met(value, constraint)


@pytest.mark.parametrize(
    ("value", "constraint", "more"),
    [
        (UP, lambda x: x <= 1, {}),
        # In floats 1e16 + 1 is 1e16.
        (1.0, lambda x: x + 1e16 <= 1e16, {}),
        ([1.0, 2.0**-60], lambda x: cp.sum(x) <= 1, {}),
        ([1.0, 1e-9], lambda x: cp.norm(x, 2) <= 1, {}),
        (1.0, lambda x: x == 1, {}),
        (1.0, lambda x: x <= 2, {"bounds": [UP, 2.0]}),
        (-1e-300, lambda x: x <= 1, {"nonneg": True}),
        (0.5, lambda x: x <= 1, {"objective": cp.neg, "boolean": True}),
        (0.0, lambda x: x <= 1, {"objective": lambda x: -cp.log(x)}),
        (-1.0, lambda x: x <= 1, {"objective": lambda x: -cp.sqrt(x)}),
        (np.nan, lambda x: x <= 1, {}),
        (np.eye(2), lambda x: x >> 0, {"symmetric": True}),
    ],
)
def test_what_does_not_hold_for_certain_is_not_claimed(
    value: Any, constraint: Any, more: dict[str, Any]
) -> None:
    assert not met(value, constraint, **more)


def feasible(A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any) -> bool:
    n = A_ub.shape[1]
    if not b_ub.size + b_eq.size:
        return True
    parts = [part if part.shape[0] else None for part in (A_ub, b_ub, A_eq, b_eq)]
    return linprog(np.zeros(n), *parts, bounds=(None, None)).status == 0


def test_rows_left_out_exclude_no_point() -> None:
    rng, fewer, empty = np.random.default_rng(0), 0, 0
    for _ in range(120):
        n, p, m = int(rng.integers(2, 6)), int(rng.integers(0, 3)), int(rng.integers(2, 8))
        A = rng.integers(-1, 2, (p + m, n)) * (rng.random((p + m, n)) < 0.5)
        b = rng.integers(-2, 2, p + m).astype(float)
        A = sparse.csc_array(A.astype(float))
        flat, cones = sparse.csc_array((n, n)), (ZeroCone(p), NonnegativeCone(m))
        program = ConeProgram(flat, np.ones(n), A, b, cones)
        left = _binding(fitted(program, conic_units(program)))
        whole = feasible(A[p:].toarray(), b[p:], A[:p].toarray(), b[:p])
        rest = feasible(left.A_ub.toarray(), left.b_ub, left.A_eq.toarray(), left.b_eq)
        assert whole == rest
        fewer += left.b_ub.size + left.b_eq.size < p + m
        empty += not whole
    assert fewer > 60
    assert empty > 20


def test_a_definition_of_an_entry_is_no_constraint() -> None:
    x, t = cp.Variable(4), cp.Variable(4)
    problem = cp.Problem(cp.Minimize(cp.sum(t)), [t >= x, t >= -x])
    data = problem.get_problem_data("CLARABEL")[0]
    b = np.asarray(data["b"])
    flat = sparse.csc_array((data["c"].size,) * 2)
    cones = (NonnegativeCone(b.size),)
    program = ConeProgram(flat, data["c"], sparse.csc_array(data["A"]), b, cones)
    left = _binding(fitted(program, conic_units(program)))
    assert left.b_ub.size == left.b_eq.size == 0
