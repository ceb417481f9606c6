"""The reference solvers, through CVXPY: compile and solve time apart, every failure recorded."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ...deadline import LATE
from ...duality.checking import unvalued
from ...duality.interface import Compiled
from ...duality.interface import compiled as compile_problem
from ...errors import InputError, instead
from ...modelling import cp
from ...progress import at
from . import process
from .process import hushed

REFERENCE = ("clarabel", "osqp", "ecos", "scs", "highs", "piqp")
QP_ONLY = ("osqp", "highs", "piqp")
UNTIMED = ("ecos", "piqp")
"""Those that know no limit of time: where one is asked for, they run in a process of their own."""
STOPPED = "max_seconds"
"""Claimed for a solver whose process was stopped."""
ITERATIONS = {
    "ecos": ("max_iters",),
    "scs": ("max_iters",),
    "highs": ("simplex_iteration_limit", "qp_iteration_limit"),
}
"""What a limit on iterations is called, where it is not ``max_iter``."""
EVERY_SOLVE = "Every solve takes tol, max_seconds, max_iter and polish."
"""Said to who passes an option that is not there."""


@dataclass(frozen=True)
class ReferenceRun:
    """What a reference solver said; the values stand in the CVXPY variables."""

    claimed: str
    seconds: float
    compile_seconds: float
    iterations: int
    message: str = ""

    @property
    def has_point(self) -> bool:
        return self.claimed in ("optimal", "optimal_inaccurate", "user_limit")


def installed(name: str) -> bool:
    """Whether CVXPY finds the package of this reference solver."""
    return name.upper() in packages()


@cache
def packages() -> list[str]:
    """What CVXPY finds: it looks for every solver that it knows, which takes milliseconds."""
    return cp.installed_solvers()


def suits(name: str, problem: Any) -> tuple[bool, str]:
    """Whether the solver takes this CVXPY problem, and why not."""
    if name in QP_ONLY and not problem.is_qp():
        return False, f"{name} solves linear and quadratic programs; this problem has other cones."
    return True, ""


def tolerances(name: str, tol: float, max_seconds: float | None) -> dict[str, Any]:
    """The solver's own words for "a tenth of tol" and for the time limit."""
    eps = max(0.1 * tol, 1e-10)
    table: dict[str, dict[str, Any]] = {
        "clarabel": {"tol_gap_abs": eps, "tol_gap_rel": eps, "tol_feas": eps},
        "osqp": {"eps_abs": 0.1 * eps, "eps_rel": 0.1 * eps, "max_iter": 50_000},
        "ecos": {"abstol": eps, "reltol": eps, "feastol": eps},
        "scs": {"eps_abs": eps, "eps_rel": eps, "max_iters": 50_000},
        # Its active set method goes round for ever on a degenerate quadratic program.
        "highs": {"qp_iteration_limit": 50_000},
        "piqp": {"eps_abs": eps, "eps_rel": eps},
    }
    options = table[name]
    limit = {"clarabel": "time_limit", "osqp": "time_limit", "highs": "time_limit"}
    limit["scs"] = "time_limit_secs"
    if max_seconds is not None and name in limit:
        options[limit[name]] = float(max_seconds)
    return options


def run_reference(
    problem: Any,
    name: str,
    *,
    tol: float,
    max_seconds: float | None = None,
    max_steps: int | None = None,
    form: Compiled | None = None,
    **options: Any,
) -> ReferenceRun:
    """Compile and solve a CVXPY problem; never raises for what the solver does.

    A crash is an outcome: Rust panics, which are no ``Exception``, included. With ``max_steps`` 0,
    of which solvers make different things, none is run; it goes before what their options say.
    ``form`` is the problem as it was compiled for this solver before.

    Raises
    ------
    InputError
        For an option that the solver does not know.
    """
    if max_steps == 0:
        return ReferenceRun("max_iter", 0.0, 0.0, 0, f"{name} was allowed no iteration")
    if max_steps is not None:
        options |= dict.fromkeys(ITERATIONS.get(name, ("max_iter",)), max_steps)
    start = time.perf_counter()
    compiled = start
    at(f"{name}: compiling")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with unvalued(problem):
                form = form or compile_problem(problem, name)
            if max_seconds is not None and time.perf_counter() - start > max_seconds + LATE:
                raise TimeoutError
            at(name)
            compiled = time.perf_counter()
            settings = tolerances(name, tol, max_seconds) | options
            if name in UNTIMED and max_seconds is not None:
                raw, compiled = process.ask((form.interface, form.plain, settings), max_seconds)
            else:
                with hushed(name):
                    raw = form.run(settings)
            solved = time.perf_counter()
            form.fill(raw)
            _forget_nan(problem)
    except TimeoutError:
        had, whole = max(max_seconds or 0.0, process.LEAST), time.perf_counter() - start
        message = f"{name} was stopped after {had:g} s"
        if compiled == start:
            had, message = 0.0, f"{name} was not run: posing the problem took {whole:.1f} s"
        return ReferenceRun(STOPPED, had, max(whole - had, 0.0), 0, message)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        now = time.perf_counter()
        _refuse_options(name, options, error)
        message = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        return ReferenceRun("error", now - compiled, compiled - start, 0, message[:300])
    stats = problem.solver_stats
    iterations = int(getattr(stats, "num_iters", None) or 0)
    return ReferenceRun(str(problem.status), solved - compiled, compiled - start, iterations)


def _forget_nan(problem: Any) -> None:
    """Drop values that are not finite: CVXPY starts the next solve, by whomever, from them."""
    for variable in problem.variables():
        if variable.value is not None and not np.all(np.isfinite(variable.value)):
            variable.save_value(None)


def _refuse_options(name: str, options: Mapping[str, Any], error: BaseException) -> None:
    """Raise InputError where the solver's complaint is of an option that was passed."""
    kinds = TypeError | ValueError | AttributeError | KeyError
    if not isinstance(error, kinds) and "Unrecognized setting" not in str(error):
        return
    for option in options:
        if re.search(rf"\b{re.escape(option)}\b", str(error)):
            known = _known_options(name)
            if option in known:
                raise InputError(f"{name}: option {option!r} is refused: {error}") from None
            raise InputError(
                f"{name}: there is no option {option!r}."
                + (instead(option, known) if known else f" {name} says: {error}.")
                + f" {EVERY_SOLVE}"
            ) from None


def _known_options(name: str) -> list[str]:
    """The options of a solver whose package lists them."""
    if name == "highs":
        import highspy

        listed = dir(highspy.HighsOptions)
    elif name == "clarabel":
        import clarabel

        listed = dir(clarabel.DefaultSettings)
    else:
        return []
    return [key for key in listed if not key.startswith("_")]
