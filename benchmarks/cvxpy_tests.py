"""Certify and solve every continuous DCP problem that CVXPY's own tests solve.

python benchmarks/cvxpy_tests.py [test_atoms.py ...]

The tests of the installed ``cvxpy.tests`` are run; after each of at most 12 solves a test the
problem is certified as the solver left it, and a copy is solved by ``cml.solve``. Told are errors
that are not convexml's own, refutations of points whose objective and violations, from CVXPY, are
those of Clarabel at 1e-10, certified optima that are not, and the reasons of what is undecided.
A problem whose optimum is 0 has no unit: a point that is near it is worse by any share.
"""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml.errors import ConvexmlError

MOST, TOL, ZERO = 12, 1e-6, 1e-7
LEFT_OUT = {"test_interfaces.py", "test_python_backends.py", "test_openmp_conflict.py"}
TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}
solved = cp.Problem.solve


@contextmanager
def kept(problem: cp.Problem) -> Iterator[None]:
    """What stands in a problem stands there afterwards."""
    variables = [(v, v.value) for v in problem.variables()]
    duals = [(d, d.value) for c in problem.constraints for d in c.dual_variables]
    status, value = problem._status, problem._value
    try:
        yield
    finally:
        for variable, known in (*variables, *duals):
            variable.save_value(known)
        problem._status, problem._value = status, value


def violation(problem: cp.Problem) -> float:
    """The largest violation of a constraint or an attribute, by CVXPY; nan where it has none."""
    try:
        found = [float(np.max(c.violation(), initial=0.0)) for c in problem.constraints]
        for v in problem.variables():
            found.append(float(np.max(np.abs(v.project(v.value) - v.value), initial=0.0)))
    except Exception:
        return np.nan
    return max(found, default=0.0)


class Watch:
    """Asks after each solve, and counts what it hears."""

    def __init__(self) -> None:
        self.test, self.solves, self.busy = "", 0, False
        self.verdicts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.errors: list[str] = []
        self.refused: Counter[str] = Counter()
        self.refuted: list[str] = []
        self.false: list[str] = []
        self.seconds = [0.0, 0.0]

    def pytest_runtest_setup(self, item: Any) -> None:
        """A test begins."""
        self.test, self.solves = item.nodeid.split("/")[-1], 0

    def heard(self, problem: cp.Problem) -> None:
        """A problem was solved by its test."""
        with kept(problem), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.asked("certify", problem, lambda: cml.certify(problem))
        with kept(problem), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            copy = cp.Problem(problem.objective, problem.constraints)
            self.asked("solve", copy, lambda: cml.solve(copy))

    def asked(self, what: str, problem: cp.Problem, ask: Callable[[], Any]) -> None:
        """One question: its verdict goes on record."""
        began = time.process_time()
        try:
            found = ask()
        except ConvexmlError as error:
            self.refused[re.sub(r"[\d.]+", "#", str(error))[:100]] += 1
            return
        except Exception as error:
            self.errors.append(f"{what} {self.test}: {type(error).__name__}: {error}")
            return
        finally:
            self.seconds[what == "solve"] += time.process_time() - began
        self.verdicts[f"{what}: {found.verdict}, {found.claim}"] += 1
        if found.verdict is cml.Verdict.UNDECIDED:
            self.reasons[re.sub(r"[-+]?\d[\d.e+-]*", "#", found.reason)[:120]] += 1
        elif found.claim == "optimal":
            self.compared(what, problem, found)

    def compared(self, what: str, problem: cp.Problem, found: Any) -> None:
        """A verdict on an optimum, beside Clarabel's."""
        broken = violation(problem)
        try:
            solved(problem, solver=cp.CLARABEL, **TIGHT)
        except Exception:
            return
        if problem.status != "optimal":
            return
        best, P = float(np.real(np.ravel(problem.value)[0])), found.primal_objective
        near = abs(P - best) <= 2.0 * TOL * max(abs(best), abs(P), ZERO)
        words = f"{what} {self.test}: P = {P:.9g}, best {best:.9g}, violated by {broken:.2g}"
        if found.verdict is cml.Verdict.REFUTED and near and broken <= TOL and abs(best) > ZERO:
            self.refuted.append(f"{words}: {found.reason[:150]}")
        if found.verdict is cml.Verdict.CERTIFIED and not near and abs(best) > ZERO:
            self.false.append(words)


def main(names: list[str]) -> int:
    """Return the number of errors, refutations to look at, and false certificates."""
    watch, folder = Watch(), Path(cp.__file__).parent / "tests"

    def solve(problem: cp.Problem, *args: Any, **options: Any) -> Any:
        if watch.busy:
            return solved(problem, *args, **options)
        watch.busy = True
        try:
            value = solved(problem, *args, **options)
            other = any(options.get(name) for name in ("gp", "qcp", "nlp"))
            plain = not other and problem.is_dcp() and not problem.is_mixed_integer()
            if plain and watch.solves < MOST:
                watch.solves += 1
                watch.heard(problem)
            return value
        finally:
            watch.busy = False

    cp.Problem.solve = solve
    paths = [path for path in sorted(folder.glob("test*.py")) if path.name not in LEFT_OUT]
    chosen = [str(path) for path in paths if not names or path.name in names]
    options = ["-q", "-c", os.devnull, "-p", "no:cacheprovider", "-W", "ignore"]
    pytest.main([*options, *chosen], plugins=[watch])
    for title, told in (
        ("verdicts", watch.verdicts),
        ("refused", watch.refused),
        ("reasons of what is undecided", watch.reasons),
    ):
        print(f"\n{title}")
        for words, count in told.most_common(40):
            print(f"  {count:5} {words}")
    for title, rows in (
        ("errors that are not convexml's", watch.errors),
        ("refuted beside Clarabel's optimum", watch.refuted),
        ("certified beside another optimum", watch.false),
    ):
        print(f"\n{title}: {len(rows)}", *(f"  {row}" for row in rows), sep="\n")
    print(f"\ncertify {watch.seconds[0]:.0f} s, solve {watch.seconds[1]:.0f} s of processor time")
    return len(watch.errors) + len(watch.refuted) + len(watch.false)


if __name__ == "__main__":
    raise SystemExit(min(main(sys.argv[1:]), 1))
