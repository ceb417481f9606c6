"""Mutate certified points many times; count the verdicts, and what the oracle calls a lie.

python benchmarks/mutations.py [tries] [loss x penalty combinations] [seed]

A mutation matters where P rose, D fell or feasibility broke by more than tol, all relative and all
evaluated by ``oracle.py``; a certificate that then says CERTIFIED lies. One that says REFUTED of a
point that the oracle finds optimal within tol / 10 lies too, and so does a witness that is
infeasible or not better.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import convexml as cml
from convexml import LearningProblem, Verdict
from convexml.numerics import Array

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.cases import COMBINATIONS, Kind, make
from support.oracles.oracle import Oracle

TOL = 1e-6
SIZES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)


def perturb(x: Array, size: float, rng: np.random.Generator) -> Array:
    """Every entry moved by its own random share."""
    return x * (1.0 + size * rng.normal(size=x.size))


def push(x: Array, size: float, rng: np.random.Generator) -> Array:
    """One entry moved, relative to the largest."""
    x = x.copy()
    x[rng.integers(x.size)] += size * rng.choice([-1.0, 1.0]) * max(abs(x).max(), 1e-3)
    return x


def scale(x: Array, size: float, rng: np.random.Generator) -> Array:
    """All entries stretched or shrunk."""
    return x * (1.0 + size * rng.choice([-1.0, 1.0]))


def flip(x: Array, size: float, rng: np.random.Generator) -> Array:
    """One sign, or all."""
    signs = np.ones(x.size)
    signs[rng.integers(x.size) if rng.random() < 0.7 else slice(None)] = -1.0
    return signs * x


def permute(x: Array, size: float, rng: np.random.Generator) -> Array:
    """All entries in another order."""
    return rng.permutation(x)


def swap(x: Array, size: float, rng: np.random.Generator) -> Array:
    """Two entries exchanged."""
    i, j = rng.integers(x.size, size=2)
    x = x.copy()
    x[[i, j]] = x[[j, i]]
    return x


def violate(x: Array, size: float, rng: np.random.Generator) -> Array:
    """Every entry moved by 1e-3: balance, bounds and balls break."""
    return x + 1e-3 * rng.choice([-1.0, 1.0]) * max(abs(x).max(), 1e-3)


MUTATIONS: tuple[Callable[[Array, float, np.random.Generator], Array], ...] = (
    perturb, push, scale, flip, permute, swap, violate,
)  # fmt: skip


@dataclass(frozen=True)
class Subject:
    """A problem with a certified point; the duals of binary models are mutated as alpha = -y u."""

    name: str
    problem: LearningProblem
    oracle: Oracle
    w: Array
    b: float
    u: Array
    optimum: float
    scale: float


def subject(name: str, problem: LearningProblem) -> Subject:
    """Solve and certify, and let the oracle agree before anything is mutated."""
    solution = problem.solve(tol=1e-9)
    oracle = Oracle.of(problem.objective_parts)
    w, b = solution.primal["w"], float(solution.primal["b"])
    u = solution.dual["u"][problem._samples.kept]
    value, null = oracle.primal(w, b), problem.objective_parts.null_value
    size = max(abs(value), abs(oracle.dual(u)), 1e-6 * null if np.isfinite(null) else 0.0)
    assert solution.certificate.holds(1e-8), name
    assert oracle.primal_violation(w, b) <= 1e-9, name
    assert oracle.dual_violation(u) <= 1e-9, name
    assert value - oracle.dual(u) <= 1e-8 * size, name
    return Subject(name, problem, oracle, w, b, u, value, max(size, 1e-300))


def models(rng: np.random.Generator) -> Iterator[tuple[str, LearningProblem]]:
    """Every learning model of the library, with intercept and weights where it has them."""
    X, n = rng.normal(size=(24, 5)), 24
    y = X @ rng.normal(size=5) + 0.5 * rng.normal(size=n) + 1.0
    labels = np.where(y + rng.normal(size=n) > 1.0, 1.0, -1.0)
    side = np.where(X[:, 0] + X[:, 1] > 0.0, 1.0, -1.0)
    apart = X + np.outer(side, [1.0, 1.0, 0.0, 0.0, 0.0])
    counts, s = rng.poisson(2.0, size=n).astype(float), rng.integers(1, 4, size=n)
    yield "LeastSquares", cml.LeastSquares(X, y, sample_weight=s)
    yield "MinimumNorm", cml.MinimumNorm(X[:4], y[:4])
    yield "Ridge", cml.Ridge(X, y, 0.1)
    yield "ConstrainedRidge", cml.ConstrainedRidge(X, y, 0.7)
    yield "Lasso", cml.Lasso(X, y, 0.2)
    yield "ConstrainedLasso", cml.ConstrainedLasso(X, y, 0.8, sample_weight=s)
    yield "ElasticNet", cml.ElasticNet(X, y, 0.2, 0.5)
    yield "GroupLasso", cml.GroupLasso(X, y, 0.2, [0, 0, 1, 1, 2])
    yield "Slope", cml.Slope(X, y, [0.4, 0.3, 0.2, 0.1, 0.0])
    yield "LogisticRegression l2", cml.LogisticRegression(X, labels, 0.1)
    yield "LogisticRegression l1", cml.LogisticRegression(X, labels, 0.05, penalty="l1")
    yield "HuberRegression", cml.HuberRegression(X, y, 0.5, 0.1)
    yield "PoissonRegression", cml.PoissonRegression(X, counts, 0.1)
    yield "QuantileRegression", cml.QuantileRegression(X, y, 0.3, 0.05)
    yield "HardMarginSVM", cml.HardMarginSVM(apart, side)
    yield "SoftMarginSVM", cml.SoftMarginSVM(X, labels, 0.5, sample_weight=s)
    yield "SVR", cml.SVR(X, y, 0.5, 0.2)
    yield "HalfspaceLP", cml.HalfspaceLP(apart, side)


def subjects(combinations: int, seed: int = 0) -> Iterator[Subject]:
    """Every model, then so many loss x penalty combinations that have an attained optimum."""
    rng = np.random.default_rng(seed)
    for name, problem in models(rng):
        yield subject(name, problem)
    found = 0
    for index in rng.permutation(len(COMBINATIONS)):
        loss, penalty = COMBINATIONS[index]
        kind = Kind(int(index), intercept=bool(index % 2), weighted=bool(index % 3))
        problem = make(loss, penalty, kind)
        solution = problem.solve(tol=1e-9)
        if solution.status != "optimal" or not solution.certificate.holds(1e-8):
            continue  # unattained, or too flat for a solver
        yield subject(f"{loss!r} + {penalty!r}", problem)
        found += 1
        if found == combinations:
            return


@dataclass
class Tally:
    """What came of the tries."""

    tries: int = 0
    mattered: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    lies: list[str] = field(default_factory=list)


def attempt(case: Subject, rng: np.random.Generator, tally: Tally) -> None:
    """Mutate one of w, b, u and alpha; certify; compare the verdict with the oracle."""
    mutation, size = rng.choice(np.array(MUTATIONS)), float(rng.choice(SIZES))
    objective = case.problem.objective_parts
    w, b, u = case.w, case.b, case.u
    targets = ["w", "u", "wu"]
    targets += ["b", "wb"] if objective.fit_intercept else []
    targets += ["alpha"] if objective.loss.labels == "binary" else []
    target = str(rng.choice(targets))
    if "w" in target:
        w = mutation(w, size, rng)
    if "b" in target:
        b = float(mutation(np.array([b, 1.0]), size, rng)[0])
    if "u" in target:
        u = mutation(u, size, rng)
    if target == "alpha":
        u = -objective.y * mutation(-objective.y * u, size, rng)
    full = np.zeros(len(case.problem._samples.kept))
    full[case.problem._samples.kept] = u
    certificate = case.problem.certify(w, b, full, tol=TOL)
    what = f"{case.name}: {mutation.__name__} {target} by {size:g}"
    tally.tries += 1
    tally.verdicts[str(certificate.verdict)] += 1

    with np.errstate(over="ignore"):
        rose = (case.oracle.primal(w, b) - case.optimum) / case.scale
    fell = (case.optimum - case.oracle.dual(u)) / case.scale
    off, dual_off = case.oracle.primal_violation(w, b), case.oracle.dual_violation(u)
    if max(rose, fell, off, dual_off) > 1.01 * TOL:
        tally.mattered += 1
        if certificate.verdict is Verdict.CERTIFIED:
            tally.lies.append(
                f"{what}: certified, P {rose:.2e} D {fell:.2e} {off:.2e} {dual_off:.2e}"
            )
    if certificate.verdict is Verdict.REFUTED:
        if max(rose, off) <= 0.1 * TOL:
            tally.lies.append(f"{what}: refuted, but optimal: {certificate.reason}")
        if certificate.witness is not None:
            at, shift = certificate.witness["w"], float(certificate.witness["b"])
            if case.oracle.primal_violation(at, shift) > 1e-12:
                tally.lies.append(f"{what}: infeasible witness")
            better = case.oracle.primal(at, shift) < case.oracle.primal(w, b)
            if off <= 1e-13 and not better:  # an infeasible point may lie below all feasible ones
                tally.lies.append(f"{what}: a witness that is no better")


def run(tries: int, combinations: int, seed: int = 0) -> Tally:
    """So many tries, spread evenly over the subjects."""
    tally, rng = Tally(), np.random.default_rng(seed)
    cases = list(subjects(combinations, seed))
    for k in range(tries):
        attempt(cases[k % len(cases)], rng, tally)
    return tally


def main(tries: int = 20_000, combinations: int = 150, seed: int = 1) -> int:
    """Return the number of lies."""
    start = time.perf_counter()
    tally = run(tries, combinations, seed)
    print(f"{tally.tries} tries, of which {tally.mattered} matter; {dict(tally.verdicts)}")
    print(f"{len(tally.lies)} lies, {time.perf_counter() - start:.0f} s")
    for lie in tally.lies:
        print("  ", lie)
    return len(tally.lies)


if __name__ == "__main__":
    raise SystemExit(min(main(*(int(argument) for argument in sys.argv[1:])), 1))
