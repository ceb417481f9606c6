"""Known facts about a solution, and what the solution says about each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ProblemFileError, instead
from .schema import FactTable


@dataclass(frozen=True)
class FactCheck:
    """One fact beside what was found; it holds if |found - value| <= atol + rtol·|value|."""

    name: str
    expected: float | list[float]
    found: float | list[float]
    holds: bool
    source: str


PLAIN = ("objective", "lam_max", "margin", "nonzeros", "support_size")
LINEAR = {
    "dual": ("lambda_ub", "nu", "lambda_lower", "lambda_upper"),
    "shadow_prices": ("ub", "eq", "lower", "upper"),
}


def check_names(facts: Sequence[FactTable], problem: Any) -> None:
    """Refuse facts of what the problem does not have, before anything is solved.

    Raises
    ------
    ProblemFileError
        With the dotted path of the name, and the nearest one that exists.
    """
    statement = not hasattr(problem, "certify")
    for i, fact in enumerate(facts):
        if fact.name in _quick(problem) or (statement and "." in fact.name):
            continue
        variables = problem.var_dict if statement else problem.variables
        hidden = ("w", "z") if hasattr(problem, "kernel") else ("z",)
        known = [*_quick(problem), *(name for name in variables if name not in hidden)]
        known += [] if statement else _tables(problem)
        if fact.name not in known:
            raise ProblemFileError(
                f"expected.facts[{i}].name: nothing is called {fact.name!r} in this problem."
                + instead(fact.name, known)
            )


def _quick(problem: Any) -> tuple[str, ...]:
    """Names that need no posing with CVXPY to be known."""
    if hasattr(problem, "kernel"):
        return (*PLAIN, "q", "b")
    return (*PLAIN, "w", "b") if hasattr(problem, "objective_parts") else PLAIN


def _tables(problem: Any) -> list[str]:
    """The names of the dual values, and of the shadow prices of a linear program."""
    tables: Mapping[str, Sequence[str]] = LINEAR
    if hasattr(problem, "multiplier_names"):
        tables = {"dual": ["u", *problem.multiplier_names.values()]}
    return [f"{table}.{name}" for table, names in tables.items() for name in names]


def check_fact(fact: FactTable, problem: Any, solution: Any) -> FactCheck:
    """Compare a fact of the problem file with a solution.

    Parameters
    ----------
    fact : FactTable
        Name, value, tolerances and source.
    problem : posed problem or cvxpy.Problem
        Where `lam_max` (or a variable of a statement) is looked up.
    solution : Solution or Certificate
        What was found.
    """
    found = np.asarray(measure(fact.name, problem, solution), dtype=float)
    expected = np.asarray(fact.value, dtype=float)
    same_shape = found.shape == expected.shape
    holds = same_shape and bool(np.allclose(found, expected, rtol=fact.rtol, atol=fact.atol))
    return FactCheck(fact.name, fact.value, found.tolist(), holds, fact.source)


def measure(name: str, problem: Any, solution: Any) -> Any:
    """The quantity that a fact is about.

    Names
    -----
    objective, margin : of the solution
    lam_max : of the problem
    nonzeros : the number of entries of w that are not exactly 0
    support_size : the number of support vectors
    dual.NAME, shadow_prices.NAME : a named multiplier
    NAME : a variable of the primal, such as w, b or x
    """
    if name == "objective":
        # A statement is solved to a certificate, a model to a solution.
        is_solution = hasattr(solution, "objective")
        return solution.objective if is_solution else solution.primal_objective
    if name == "lam_max":
        return problem.lam_max
    if name == "margin":
        return solution.margin
    if name == "nonzeros":
        return np.count_nonzero(solution.primal["w"])
    if name == "support_size":
        return len(solution.support)
    table, _, key = name.rpartition(".")
    if table in ("dual", "shadow_prices"):
        return getattr(solution, table)[key]
    values = getattr(solution, "primal", None)
    if values is None:
        values = {key: variable.value for key, variable in problem.var_dict.items()}
    if name not in values:
        raise ProblemFileError(f"expected.facts: nothing is called {name!r} in this problem")
    return values[name]
