"""Calls that nobody means: each ends in a true answer or a refusal that says what is wrong.

python benchmarks/nasty_calls.py [count]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
from hypothesis import HealthCheck, Phase, find, given, seed, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from nasty.draws import Call, calls, point
from nasty.judging import Eye, refutes

import convexml as cml
from convexml import Verdict
from convexml.errors import ConvexmlError

TOL = 1e-6
STATUS = ("optimal", "inaccurate", "infeasible", "unbounded", "unattained", "failed")


def answer(ask: Callable[[], Any]) -> Any:
    """What is answered; None after a refusal that says whose it is and what is wrong."""
    try:
        return ask()
    except ConvexmlError as error:
        refusal = str(error)
    owner, _, what = refusal.partition(": ")
    assert owner, refusal
    assert 0 < len(what) < 500, refusal
    return None


def check_point(eye: Eye, primal: dict[str, Any], where: str) -> None:
    """What is called optimal is not improved by plain search in long doubles."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        why = refutes(eye, primal["q"] if "q" in primal else primal["w"], primal["b"], TOL)
    assert not why, f"{where}: {why}"


def check(call: Call) -> None:
    """Pose, solve and judge: no traceback from inside, no warning, and nothing falsely optimal."""
    problem = answer(call.pose)
    if problem is None:
        return
    solution = problem.solve(tol=TOL)
    found = solution.certificate
    where = f"{call}: {found!r}"
    assert solution.status in STATUS, where
    assert found.gap >= 0.0, where
    assert solution.status != "failed" or solution.message, where
    certified = found.verdict is Verdict.CERTIFIED
    assert (solution.status in ("optimal", *STATUS[2:5])) == certified, where
    assert str(solution), where
    if solution.status == "optimal":
        assert np.isfinite(found.gap), where
        assert found.relative_gap <= TOL, where
        if "b" in solution.primal and hasattr(problem, "coefficients_shape"):
            check_point(Eye(call, problem), solution.primal, where)
    if hasattr(problem, "coefficients_shape"):
        check_judged(call, problem, np.random.default_rng(call.point))


def check_judged(call: Call, problem: Any, rng: np.random.Generator) -> None:
    """Points that somebody passes, with and without b and u."""
    w = point(problem.coefficients_shape, rng)
    b = rng.choice([None, 0.0, 1e8, 1e308]) if rng.random() < 0.5 else None
    y = call.arguments.get("y")
    u = point(np.shape(y), rng) if y is not None and rng.random() < 0.3 else None
    found = answer(lambda: problem.certify(w, b, u, tol=TOL))
    if found is None:
        return
    where = f"{call}, w = {w}, b = {b}, u = {u}: {found!r}"
    assert found.gap >= 0.0, where
    assert str(found), where
    if found.verdict is Verdict.CERTIFIED and found.claim == "optimal":
        if b is not None and hasattr(problem, "classes"):
            check_point(Eye(call, problem), {"w": w, "b": b}, where)


def sample(count: int) -> None:
    """Judge so many calls, the same ones every time."""

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @seed(10)
    @given(calls())
    def judged(call: Call) -> None:
        check(call)

    # Hypothesis also draws the constants of modules that happen to be loaded: none of them.
    with mock.patch.object(providers, "_get_local_constants", return_value=Constants()):
        judged()


def drawn(model: str) -> Call:
    """The first of 30 calls that poses this model."""

    def poses(call: Call) -> bool:
        try:
            return isinstance(call.pose(), getattr(cml, model))
        except ConvexmlError:
            return False

    return find(calls((model,)), poses, settings=settings(max_examples=30, phases=[Phase.generate]))


if __name__ == "__main__":
    sample(int(sys.argv[1]) if len(sys.argv) > 1 else 800)
    print("every answer is true, or a refusal")
