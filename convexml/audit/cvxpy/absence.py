"""Verified evidence that a CVXPY problem has no optimum: infeasible, or unbounded."""

from __future__ import annotations

from ...certificates.certificate import Certificate, Verdict
from .infeasibility import infeasibility
from .reading.point import Posed
from .unboundedness import unboundedness


def certify_absence(posed: Posed, claim: str, *, tol: float = 1e-6) -> Certificate:
    """Look for evidence of "infeasible" or "unbounded", the claim first, and verify it.

    Returns
    -------
    Certificate
        CERTIFIED with ``evidence``, or UNDECIDED: a solver's word is never repeated unchecked.
    """
    order = (infeasibility, unboundedness)
    first, second = order if claim == "infeasible" else order[::-1]
    certificate = first(posed, tol)
    if certificate.verdict is Verdict.CERTIFIED:
        return certificate
    other = second(posed, tol)
    return other if other.verdict is Verdict.CERTIFIED else certificate
