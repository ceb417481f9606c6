"""Known facts about a solution, and what the solution says about each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from convexml.errors import ProblemFileError
from convexml.library.schema import FactTable


@dataclass(frozen=True)
class FactCheck:
    """One fact beside what was found; it holds if |found - value| <= atol + rtol·|value|."""

    name: str
    expected: float | list[float]
    found: float | list[float]
    holds: bool
    source: str


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
