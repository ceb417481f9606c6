"""What stands in a CVXPY problem while it is solved, and what it shows in the end."""

from __future__ import annotations

from typing import Any

from ...certificates.certificate import Certificate, Verdict
from ...duality.inner import record, store, stored
from .reading.point import Posed


def clear(posed: Posed) -> None:
    """No values and no dual values."""
    for variable in posed.problem.variables():
        variable.save_value(None)
    for constraint in posed.problem.constraints:
        for dual in constraint.dual_variables:
            dual.save_value(None)


def empty(posed: Posed) -> bool:
    """Whether a variable has no value."""
    return any(variable.value is None for variable in posed.problem.variables())


def state(posed: Posed) -> dict[str, Any]:
    """The values and dual values that stand."""
    return {
        "variables": [(v, stored(v)) for v in posed.problem.variables()],
        "duals": [
            (dual, dual.value) for c in posed.problem.constraints for dual in c.dual_variables
        ],
    }


def restore(posed: Posed, certificate: Certificate, name: str, state: dict[str, Any]) -> None:
    """Let a state stand again, as the answer of a solver."""
    for variable, value in state["variables"]:
        store(variable, value)
    for dual, value in state["duals"]:
        dual.save_value(value)
    told(posed.problem, certificate, name, state["stats"])


def told(problem: Any, certificate: Certificate, name: str, stats: dict[str, Any]) -> None:
    """What CVXPY shows of a problem, as the certificate has it, and who found it how fast.

    Other claims have the words of CVXPY that are nearest: of an infimum that is not attained
    there is a point, and an inaccurate one.
    """
    certified, claim = certificate.verdict is Verdict.CERTIFIED, certificate.claim
    if claim in ("optimal", "unattained"):
        status = "optimal" if certified and claim == "optimal" else "optimal_inaccurate"
    else:
        status = claim if certified else f"{claim}_inaccurate"
        for variable in problem.variables():
            variable.save_value(None)
    record(problem, certificate.primal_objective, status, name, **stats)
