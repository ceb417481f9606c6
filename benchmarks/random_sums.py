"""Random sums of 2 to 4 terms whose optimum is planted: no gap may be below P - P*.

python benchmarks/random_sums.py [count] [first seed] [processes]

Every pair of losses and penalties comes in turn, of identities, differences, dense and sparse
matrices with dependent columns, units 2^-40 to 2^40, offsets to 1e8, weights and factors. P* is
known in rationals or 120 digits, from slopes that are planted with it, by no certificate. Judged
are points next to the optimum, with multipliers near the planted ones, slopes and wrong ones, and
of every fourth sum what ``minimize`` answers and ``certify`` says of such points.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
from flint import arb
from scipy import sparse

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "numerics"))

from support.exact.exact_numbers import Row, ball, dot, row, table
from test_affine_sums import LOSSES, drawn, exact_value, moved_point, slopes

import convexml as cml
from convexml import losses, penalties
from convexml.certificates import affine
from convexml.certificates.sums import certify_sum
from convexml.problem.terms import WeightedLoss

EVERY = [*LOSSES, *penalties.ALL]
TOL = 1e-6
ASKED = 4
"""Every fourth sum is also written in CVXPY, solved and certified there, which takes longest."""


class Classes:
    """A softmax loss of K classes, planted where all scores are 0; there its slopes are dyadic."""

    def __init__(self, rng: Any, units: Any, x: Any) -> None:
        self.n, self.K = int(rng.integers(1, 4)), int(rng.choice([2, 4]))
        self.y, self.c = rng.integers(0, self.K, self.n), rng.integers(1, 9, self.n) / 4.0
        own = rng.integers(-4, 5, (self.n * self.K, units.size)) * 1.0
        slope = self.c[:, None] * (1.0 / self.K - np.eye(self.K)[self.y])
        self.push, self.A, self.a = own.T @ slope.ravel(), own / units, -own @ (x / units)
        self.fits = not any(self.scores(x))

    def scores(self, x: Any) -> Row:
        rows = zip(table(self.A), row(self.a), strict=True)
        return [dot(line, row(x)) + a for line, a in rows]

    def value(self, x: Any) -> arb:
        total, z = arb(0), [ball(s) for s in self.scores(x)]
        for i, (label, weight) in enumerate(zip(self.y, self.c, strict=True)):
            scores = z[i * self.K : (i + 1) * self.K]
            total += ball(weight) * (sum((s - scores[label]).exp() for s in scores)).log()
        return total

    def term(self, x: Any) -> Any:
        scores = cp.reshape(self.A @ x + self.a, (self.n, self.K), order="C")
        return losses.Softmax()(scores, self.y, weights=self.c)


def planted(seed: int) -> tuple[Any, list[str], Any, Any, list[Any], Any, Classes | None]:
    """A generator, names, a sum, its optimum, its multipliers, P*, and classes beside it."""
    rng, m = np.random.default_rng([30, seed]), len(EVERY)
    names = [EVERY[seed % m], EVERY[seed // m % m], str(rng.choice(EVERY))]
    names = names[: int(rng.integers(1, 4))] if seed // m**2 else names[: int(rng.integers(2, 4))]
    problem, x, given, least = drawn(rng, names)
    classes = Classes(rng, problem.units.columns, x) if not rng.integers(6) else None
    square, d = problem.parts[-1].function, len(given[-1])
    if classes is None or not classes.fits or d < x.size:  # the square takes the push of all
        return rng, names, problem, x, given, least, None
    square.targets[:] += classes.push
    least = exact_value(problem, x) + classes.value(x)
    return rng, [*names, "softmax"], problem, x, given, least, classes


def faults(found: Any, excess: arb, is_optimum: bool) -> Iterator[str]:
    """What is wrong with a certificate of a point that is worse than the optimum by so much."""
    for name in ("gap", "proved_gap"):
        if np.isnan(getattr(found, name)) or ball(getattr(found, name)) < excess:
            yield f"{name} {getattr(found, name):.17g} is below P - P* = {float(excess.mid()):.17g}"
    verdict = str(found.verdict)
    if verdict == "certified" and found.claim != "optimal":
        yield f"{found.claim} is certified"
    if verdict == "certified" and excess > ball(TOL) * ball(found.scale):
        yield f"certified, though worse by {float(excess.mid()):.3g}, scale {found.scale:.3g}"
    if verdict == "refuted" and is_optimum:
        yield f"an optimum is refuted: {found.reason}"


def spelled(problem: Any, classes: Classes | None, x: Any, rng: Any) -> tuple[Any, list[Any]]:
    """The sum as users write it; losses, their predictions, and the variables that these bring."""
    total, helped = 0.0 if classes is None else classes.term(x), []
    for part in problem.parts:
        A, f = part.map.A, part.function
        z = (sparse.csr_array(A) if rng.integers(2) else A) @ x + part.map.a
        if isinstance(f, WeightedLoss):
            term = f.loss(z, f.targets, weights=f.weights)
            own = {v.name(): v for v in term.problem().variables() if v is not x}
            helped.append((f, z, own))
        else:
            term = f.factor * f.penalty(z)
        total = term + total
    return total, helped


def judged(seed: int) -> tuple[int, list[str], list[str], Counter[str], float]:
    """Seed, names, faults, how often there was what, and seconds."""
    warnings.simplefilter("ignore")
    started, wrong, seen = time.perf_counter(), [], Counter[str]()
    affine.STEPS = 4 * (seed // ASKED % 2)  # without corrections of multipliers h is large
    rng, names, problem, x, given, least, classes = planted(seed)

    def note(where: str, found: Any, excess: arb, is_optimum: bool = False) -> None:
        seen[f"{where}: {found.verdict}"] += 1
        seen[f"{where}: bounded"] += bool(found.gap < np.inf)
        wrong.extend(f"{where}: {each}" for each in faults(found, excess, is_optimum))

    for moved in (0.0, 1e-15, 1e-9, 1e-4) if classes is None else ():
        at = moved_point(rng, problem, x, moved)
        images, excess = problem.images(at), exact_value(problem, at) - least
        near = [u * (1.0 + moved * rng.normal(size=u.size)) for u in given]
        own = list(map(slopes, problem.parts, images[1:], given))
        for multipliers in (near, own, [wrongly(u, rng) for u in given]):
            dual = dict(zip([part.dual for part in problem.parts], multipliers, strict=True))
            found = certify_sum(problem, at, dual, TOL, passed=False)
            note("terms", found, excess, moved == 0.0 and multipliers is near)

    if seed % ASKED:
        return seed, names, wrong, seen, time.perf_counter() - started
    v = cp.Variable(x.size)
    written, helped = spelled(problem, classes, v, rng)

    def excess_at(at: Any) -> arb:
        return exact_value(problem, at) + (classes.value(at) if classes else 0) - least

    answer = cml.minimize(written, tol=TOL)
    if v.value is not None and np.all(np.isfinite(v.value)):
        note("minimize", answer, excess_at(v.value))
    elif str(answer.verdict) == "certified":
        wrong.append(f"minimize: {answer.claim} is certified without a point")
    moved = (0.0, 1e-9, 1e-4)[seed // ASKED % 3]
    v.value = moved_point(rng, problem, x, moved)
    for f, z, own in helped:
        for name, value in f.loss.slacks(f.targets, z.value).items():
            own[name].value = value
    posed = written.problem()
    for dual in [u for each in posed.constraints for u in each.dual_variables]:
        dual.save_value(rng.normal(size=dual.shape) if seed // ASKED % 2 else None)
    note("certify", cml.certify(posed, tol=TOL), excess_at(v.value), moved == 0.0)
    return seed, names, wrong, seen, time.perf_counter() - started


def wrongly(u: Row, rng: Any) -> Any:
    """Multipliers of another order, sign or size."""
    return rng.permutation(u) * rng.choice([-1.0, 0.0, 0.5, 1.0, 2.0**20]) + rng.normal(size=u.size)


def main(count: int = 2000, first: int = 0, processes: int = 1) -> int:
    """Print what was seen, and every fault; how many sums have one."""
    seen, slowest, bad = Counter[str](), 0.0, 0
    with get_context("spawn").Pool(processes) as pool:
        for seed, names, wrong, own, seconds in pool.imap(judged, range(first, first + count), 8):
            seen.update(own)
            slowest, bad = max(slowest, seconds), bad + bool(wrong)
            for each in wrong:
                print(f"judged({seed})  {' + '.join(names)}  {each}", flush=True)
    for name in sorted(seen):
        print(f"{name:<24}{seen[name]:>8}")
    print(f"{count} sums, {bad} with a false bound or verdict, the slowest {slowest:.1f} s")
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main(*map(int, sys.argv[1:])))
