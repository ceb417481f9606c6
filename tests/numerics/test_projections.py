"""An exactly feasible dual point lies as near to a computed one as its projection tells."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from flint import fmpq
from support.exact import exact_numbers as q

import convexml as cml
from convexml.certificates.generalized_lasso import Generalized
from convexml.numerics import Array


def drawn(rng: np.random.Generator) -> cml.GeneralizedLasso:
    """Of any units and offsets; columns may be 0, or depend on others, exactly or nearly."""
    n, d, m = (int(rng.integers(1, most)) for most in (7, 4, 4))
    X = rng.normal(size=(n, d)) * 2.0 ** rng.integers(-40, 41, d) + rng.choice([0.0, 0.0, 1e8])
    kinds = [X[:, 0], 0.0 * X[:, 0], 0.3 * X[:, 0], X[:, 0] * (1.0 + 1e-6 * rng.normal(size=n))]
    X = np.column_stack([X, [*kinds, *rng.normal(size=(3, n))][rng.integers(7)]])
    A = rng.integers(-2, 3, (m, d + 1)) * 2.0 ** rng.integers(-40, 41)
    y = rng.normal(size=n) * 2.0 ** rng.integers(-40, 41)
    lam = rng.choice([0.0, 0.1, 0.5]) * np.abs(X.T @ y).max() / n / (np.abs(A).max() or 1.0)
    options = {"fit_intercept": bool(rng.integers(2)), "sample_weight": rng.uniform(0.1, 1.0, n)}
    return cml.GeneralizedLasso(X, y, float(lam), A, **options)


def images(program: Generalized, w: Array) -> list[q.Row]:
    """X w - y and A w."""
    r, z = ([q.dot(line, q.row(w)) for line in q.table(K)] for K in (program.X, program.A))
    return [[a - y for a, y in zip(r, q.row(program.y), strict=True)], z]


def value(program: Generalized, w: Array) -> fmpq:
    r, z = images(program, w)
    fit = sum(c * a * a for c, a in zip(q.row(program.c), r, strict=True))
    return q.HALF * fit + q.exact(program.lam) * sum((abs(v) for v in z), q.ZERO)


def correction(program: Generalized, u: Array, s: Array) -> tuple[q.Row, q.Row]:
    """M A G^-1 g of u and s together, which leaves nothing of any column, and M."""
    above, two = q.table(np.vstack([program.X, program.A])), len(program.stack.measure.rows) > 1
    M = q.row(program.c) + [q.exact(program.stack.kappa) ** 2 if two else q.ZERO] * s.size
    kept = [[line[j] for j in program.stack.columns] for line in above]
    columns, given = list(zip(*kept, strict=True)), q.row(np.append(u, s))
    weighed = [[m * a for m, a in zip(M, column, strict=True)] for column in columns]
    G = [[q.dot(a, b) for b in columns] for a in weighed]
    step = q.solve_consistent(G, [q.dot(column, given) for column in columns])
    assert step is not None
    change = [m * q.dot(line, step) for m, line in zip(M, kept, strict=True)]
    ends = [v - dv for v, dv in zip(given, change, strict=True)]
    assert not any(q.dot(column, ends) for column in zip(*above, strict=True))
    return change, M


@pytest.mark.parametrize("seed", range(3))
def test_an_exactly_feasible_point_is_as_near_as_is_told(seed: int) -> None:
    rng, known = np.random.default_rng(seed), 0
    for _ in range(40):
        program = drawn(rng).program
        measure, first = program.stack.measure, partial(program._measured, exactly=False)
        start = [program.c * rng.normal(size=program.c.size), rng.normal(size=len(program.A))]
        near = measure.corrected(first(start), first)
        for exactly in (False, True):
            near = program._measured(near.parts, exactly=exactly)
            most = measure.distance(near)
            if most < np.inf:
                known += 1
                pairs = zip(*correction(program, *near.parts), strict=True)
                assert all(dv * dv <= m * q.exact(most) ** 2 for dv, m in pairs)
    assert known >= 50


@pytest.mark.parametrize("seed", range(3))
def test_no_gap_is_less_than_what_a_better_point_proves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(15):
        problem = drawn(rng)
        program, best = problem.program, problem.solve(tol=1e-10).primal
        ones = np.ones(int(program.fit_intercept))
        for size in (1e-6, 1e-2, 1.0):
            w, b = best["w"] * (1.0 + size * rng.normal(size=best["w"].size)), best["b"]
            at = np.append(w, b * ones)
            found = program.images((w, float(b)))
            for (told, error), true in zip(found, images(program, at), strict=True):
                pairs = zip(q.row(told), q.row(error), true, strict=True)
                assert all(abs(a - v) <= e for a, e, v in pairs)
            u = program.c * found[0][0]  # for which, and the signs of A w, nothing is left
            s = problem.lam * np.sign(found[1][0])
            least = value(program, at) - value(program, np.append(best["w"], b * ones))
            for dual in ({"u": u, "s": s}, {"s": s}, {}):
                assert not q.ball(problem.certify(w, b, **dual).gap) < q.ball(least)
