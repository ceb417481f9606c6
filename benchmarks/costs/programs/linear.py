"""Linear and quadratic programs: NETLIB, Maros and Meszaros, and generated ones."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse
from scipy.io import loadmat
from scipy.optimize import linprog

import convexml as cml

from .row import Case, Row, posed

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"
Arrays = tuple[Any, Any, Any, Any, Any, Any]
"""c, A_ub, b_ub, A_eq, b_eq, bounds."""


def netlib(name: str) -> Arrays:
    """A program of NETLIB, as HiGHS reads it."""
    import highspy

    reader = highspy.Highs()
    reader.setOptionValue("output_flag", False)
    reader.readModel(str(DATA / "netlib" / f"{name}.mps"))
    lp = reader.getLp()
    entries = (lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_)
    A = sparse.csr_array(sparse.csc_array(entries, shape=(lp.num_row_, lp.num_col_)))
    low, high = np.array(lp.row_lower_), np.array(lp.row_upper_)
    equal = low == high
    above, below = np.isfinite(high) & ~equal, np.isfinite(low) & ~equal
    return (
        np.array(lp.col_cost_),
        sparse.vstack([A[above], -A[below]], format="csr"),
        np.concatenate([high[above], -low[below]]),
        A[equal],
        low[equal],
        np.column_stack([lp.col_lower_, lp.col_upper_]),
    )


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


def by_cvxpy(make: Callable[[], Arrays]) -> Case:
    """The program as people write it in CVXPY: bounds are rows."""
    c, A_ub, b_ub, A_eq, b_eq, bounds = make()
    x, low, high = cp.Variable(c.size), bounds[:, 0], bounds[:, 1]
    rows = [A_ub @ x <= b_ub] if b_ub.size else []
    rows += [A_eq @ x == b_eq] if b_eq.size else []
    below, above = (np.flatnonzero(np.isfinite(side)) for side in (low, high))
    rows += [x[below] >= low[below]] if below.size else []
    rows += [x[above] <= high[above]] if above.size else []
    return posed(cp.Problem(cp.Minimize(c @ x), rows))


def maros(name: str) -> Case:
    """A quadratic program of Maros and Meszaros, written with CVXPY."""
    data = loadmat(DATA / "maros" / f"{name}.mat")
    q, low, high = (np.ravel(data[key]).astype(float) for key in ("q", "l", "u"))
    A, x = sparse.csr_array(data["A"]), cp.Variable(q.size)
    equal = low == high
    below, above = (low > -1e19) & ~equal, (high < 1e19) & ~equal
    rows = [A[equal] @ x == low[equal]] if np.any(equal) else []
    rows += [A[below] @ x >= low[below]] if np.any(below) else []
    rows += [A[above] @ x <= high[above]] if np.any(above) else []
    bent = cp.quad_form(x, cp.psd_wrap(sparse.csc_array(data["P"])))
    objective = 0.5 * bent + q @ x + float(np.ravel(data["r"])[0])
    return posed(cp.Problem(cp.Minimize(objective), rows))


FEASIBLE = ("bandm", "brandy", "e226", "israel", "lotfi")
QUADRATIC = ("DUALC1", "HS268", "QBRANDY", "QFORPLAN", "QISRAEL", "QPCBOEI2", "QSHELL", "YAO")
SIZES = ((500, 100), (5000, 1000))

ROWS = [
    *(Row(f"{k}, HiGHS", partial(by_highs, partial(netlib, k)), 3.0) for k in FEASIBLE),
    *(Row(f"{k}, CVXPY", partial(by_cvxpy, partial(netlib, k)), 3.0) for k in FEASIBLE),
    *(Row(f"{k}, CVXPY", partial(maros, k), 3.0) for k in QUADRATIC),
    *(
        Row(f"LP {m}x{n}{free * ' free'}, {how}", partial(by, partial(generated, m, n, free)), 3.0)
        for m, n in SIZES
        for free in (False, True)
        for how, by in (("HiGHS", by_highs), ("CVXPY", by_cvxpy))
    ),
]
