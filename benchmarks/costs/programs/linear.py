"""Linear and quadratic programs: NETLIB, Maros and Meszaros, and generated ones."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse
from scipy.optimize import linprog

import convexml as cml

from .row import Case, Row, posed

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests"))
from support.programs.maros import maros
from support.programs.netlib import netlib

Arrays = tuple[Any, Any, Any, Any, Any, Any]
"""c, A_ub, b_ub, A_eq, b_eq, bounds."""


def arrays(name: str) -> Arrays:
    """Those of a program of NETLIB, as HiGHS reads it."""
    data = netlib(name).data
    bounds = np.column_stack([data.lower, data.upper])
    return data.c, data.A_ub, data.b_ub, data.A_eq, data.b_eq, bounds


def generated(m: int, n: int, free: bool = False, seed: int = 0) -> Arrays:
    """A x <= b with some 5 entries a row, 4 n / 5 rows active; x >= 0, or free."""
    rng = np.random.default_rng(seed)
    A = sparse.random_array((m, n), density=5.0 / n, rng=rng, data_sampler=rng.standard_normal)
    A, active = sparse.csr_array(A), np.arange(m) < 4 * n // 5
    zero = (rng.random(n) < 0.3) & (not free)
    x = np.where(zero, 0.0, rng.random(n))
    c = np.where(zero, rng.random(n), 0.0) - A.T @ np.where(active, rng.random(m), 0.0)
    b = A @ x + np.where(active, 0.0, rng.random(m))
    bounds = np.column_stack([np.full(n, -np.inf if free else 0.0), np.full(n, np.inf)])
    return c, A, b, sparse.csr_array((0, n)), np.zeros(0), bounds


def by_highs(make: Callable[[], Arrays], duals: bool = True) -> Case:
    """SciPy's HiGHS against ``LinearProgram.certify`` of its point, with or without multipliers."""
    arrays, found = make(), {}

    def solve() -> None:
        c, A_ub, b_ub, A_eq, b_eq, bounds = arrays
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found["run"] = linprog(c, A_ub, b_ub, A_eq, b_eq, bounds, method="highs")

    def certify() -> cml.Certificate:
        run = found["run"]
        program = cml.LinearProgram(*arrays)
        given = {"lambda_ub": -run.ineqlin.marginals, "nu": -run.eqlin.marginals}
        return program.certify(run.x, given if duals else None)

    return Case(solve, certify)


def written(make: Callable[[], Arrays]) -> cp.Problem:
    """The program as people write it in CVXPY: bounds are rows."""
    c, A_ub, b_ub, A_eq, b_eq, bounds = make()
    x, low, high = cp.Variable(c.size), bounds[:, 0], bounds[:, 1]
    rows = [A_ub @ x <= b_ub] if b_ub.size else []
    rows += [A_eq @ x == b_eq] if b_eq.size else []
    below, above = (np.flatnonzero(np.isfinite(side)) for side in (low, high))
    rows += [x[below] >= low[below]] if below.size else []
    rows += [x[above] <= high[above]] if above.size else []
    return cp.Problem(cp.Minimize(c @ x), rows)


def by_cvxpy(make: Callable[[], Arrays]) -> Case:
    """``problem.solve()`` and ``cml.certify`` of the program in CVXPY."""
    return posed(written(make))


def quadratic(name: str) -> Case:
    """A quadratic program of Maros and Meszaros."""
    return posed(maros(name))


FEASIBLE = ("bandm", "brandy", "e226", "israel", "lotfi")
QUADRATIC = ("DUALC1", "HS268", "QBRANDY", "QFORPLAN", "QISRAEL", "QPCBOEI2", "QSHELL", "YAO")
SIZES = ((500, 100), (5000, 1000))

ROWS = [
    *(Row(f"{k}, HiGHS", partial(by_highs, partial(arrays, k)), 3.0) for k in FEASIBLE),
    *(Row(f"{k}, CVXPY", partial(by_cvxpy, partial(arrays, k)), 3.0) for k in FEASIBLE),
    *(Row(f"{k}, CVXPY", partial(quadratic, k), 3.0) for k in QUADRATIC),
    *(
        Row(f"LP {m}x{n}{free * ' free'}, {how}", partial(by, partial(generated, m, n, free)), 3.0)
        for m, n in SIZES
        for free in (False, True)
        for how, by in (("HiGHS", by_highs), ("CVXPY", by_cvxpy))
    ),
]
