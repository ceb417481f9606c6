"""The smallest relaxation that makes a cone program feasible; its multipliers are Farkas' own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ....numerics import Array
from ....objective.conic.cones import NonnegativeCone, ZeroCone
from ....objective.conic.program import ConeProgram
from ...algebra.highs import highs
from ..values import linear_rows
from .interior import inward
from .scaling import solve_scaled


class Relaxation(NamedTuple):
    """The relaxed point, how much each row is moved, the total, and the multipliers.

    ``phase`` is the program that was solved; ``primal`` and ``dual`` are its answer. ``ways`` is E.
    """

    x: Array
    shift: Array
    total: float
    y: Array
    phase: ConeProgram
    primal: Array
    dual: Array
    ways: Any

    def evidence(self, y: Array) -> dict[str, Any]:
        """What is told of it beside multipliers with b'y = -1.

        y / max(E'y) is feasible for the dual of the relaxed program: no total is below its
        value, 1 / max(E'y).
        """
        pull = float(np.max(self.ways.T @ y, initial=0.0))
        noise = 1e-7 * max(1.0, float(np.max(np.abs(self.shift), initial=0.0)))
        return {
            "relaxation": np.where(np.abs(self.shift) <= noise, 0.0, self.shift),
            "relaxation_total": self.total,
            "relaxation_bound": 1.0 / pull if pull > 0.0 else np.inf,
        }


def relax(program: ConeProgram, soft: Array) -> Relaxation:
    """Minimise sum(t) subject to A x + s = b + E t, s in K, t >= 0.

    E moves equalities both ways, inequalities apart, and other cones along a direction inside
    them: (1, 0) of a second-order cone, the identity of a semidefinite one. The multipliers y of
    the rows satisfy A'y = 0, y in K* and -b'y = sum(t): where that is positive, no point is
    feasible.

    Parameters
    ----------
    program : ConeProgram
        Its objective plays no part.
    soft : mask, shape (m,)
        The rows that may be relaxed.

    Returns
    -------
    Relaxation
        As Clarabel found it: to be verified.

    Raises
    ------
    SolverError
        Where Clarabel breaks down.
    """
    ways = moves(program, soft)
    phase = _phase(program, ways)
    return _read(program, ways, phase, *solve_scaled(phase))


def relax_by_vertex(program: ConeProgram, soft: Array) -> Relaxation | None:
    """``relax`` by HiGHS, whose multipliers are sparse and about exact; linear programs only."""
    if not program.is_polyhedral:
        return None
    ways = moves(program, soft)
    phase = _phase(program, ways)
    data, rows = linear_rows(phase)
    found = highs(data)
    if found.x is None or found.lambda_ub is None or found.nu is None:
        return None
    y = np.zeros(phase.b.size)
    y[rows] = np.concatenate([found.lambda_ub, found.nu])
    return _read(program, ways, phase, found.x, y)


def _phase(program: ConeProgram, ways: Any) -> ConeProgram:
    (m, n), k, A = program.A.shape, ways.shape[1], program.A
    last = ways.indptr[1:]  # a row t >= 0 ends each column
    data = np.concatenate([A.data, np.insert(-ways.data, last, -1.0)])
    rows = np.concatenate([A.indices, np.insert(ways.indices, last, m + np.arange(k))])
    ends = np.concatenate([A.indptr, A.nnz + last + np.arange(1, k + 1)])
    A = sparse.csc_array((data, rows, ends), shape=(m + k, n + k))
    return ConeProgram(
        sparse.csc_array((n + k, n + k)),
        np.concatenate([np.zeros(n), np.ones(k)]),
        A,
        np.concatenate([program.b, np.zeros(k)]),
        (*program.cones, *((NonnegativeCone(k),) if k else ())),
    )


def _read(program: ConeProgram, ways: Any, phase: ConeProgram, x: Array, y: Array) -> Relaxation:
    n = program.q.size
    t = np.maximum(x[n:], 0.0)
    return Relaxation(x[:n], ways @ t, float(t.sum()), y[: program.b.size], phase, x, y, ways)


def moves(program: ConeProgram, soft: Array) -> sparse.csc_array:
    """E: one column for each way in which a soft row or cone can move."""
    rows, owners, values = [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)], [np.zeros(0)]
    count = 0
    for cone, run in program.runs:
        if isinstance(cone, ZeroCone | NonnegativeCone):
            free, ways = run.ravel()[soft[run.ravel()]], np.ones(1)
            if isinstance(cone, ZeroCone):
                ways = np.array([1.0, -1.0])
            at, part = np.repeat(free, ways.size), np.tile(ways, free.size)
            own = np.arange(at.size)
        else:
            whole, way = run[np.all(soft[run], axis=1)], inward(cone)
            at, part = whole.ravel(), np.tile(way, len(whole))
            own = np.repeat(np.arange(len(whole)), way.size)
        rows.append(at)
        owners.append(count + own)
        values.append(part)
        count += int(own[-1]) + 1 if own.size else 0
    at, own, part = (np.concatenate(each) for each in (rows, owners, values))
    at, own, part = (each[part != 0.0] for each in (at, own, part))
    return sparse.csc_array((part, (at, own)), shape=(program.b.size, count))
