"""Verified evidence that a CVXPY problem has no optimum, by the user's names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...certificates.certificate import Certificate, Verdict
from ...certificates.conic.infeasible import certify_infeasible
from ...certificates.conic.unbounded import certify_unbounded
from ...certificates.judge import absent
from ...conditions import Condition
from ...duality.canonical import Canonical
from ...duality.checking import substituted
from ...numerics import Array
from .reading.labels import moves_by_label, multipliers_by_label, soft_rows
from .reading.point import Posed, primal_rows, violations
from .reading.rows import read_duals
from .rounding.coefficients import rounded_data
from .rounding.copied import is_copied


def certify_absence(posed: Posed, claim: str, *, tol: float = 1e-6) -> Certificate:
    """Look for evidence of "infeasible" or "unbounded", the claim first, and verify it.

    Returns
    -------
    Certificate
        CERTIFIED with ``evidence``, or UNDECIDED: a solver's word is never repeated unchecked.
    """
    if posed.curvature:
        return absent(claim, (), tol, reason=posed.curvature)
    posed = replace(posed, canonical=_accounted(posed))
    order = (infeasibility, unboundedness)
    first, second = order if claim == "infeasible" else order[::-1]
    certificate = first(posed, tol)
    if certificate.verdict is Verdict.CERTIFIED:
        return certificate
    other = second(posed, tol)
    return other if other.verdict is Verdict.CERTIFIED else certificate


def _accounted(posed: Posed) -> Canonical:
    """The conic form with what its data may be off by."""
    canonical = posed.canonical
    if is_copied(posed.problem):
        return canonical
    rounded = rounded_data(posed.problem, canonical)
    return replace(canonical, program=replace(canonical.program, rounded=rounded))


def infeasibility(posed: Posed, tol: float = 1e-6) -> Certificate:
    """``certify_infeasible``; ``evidence`` has multipliers and moves by label."""
    given, program = read_duals(posed), posed.program
    passed = given.y if given.mask.any() and not given.broken else None
    certificate = certify_infeasible(program, lambda: posed.units, soft_rows(posed), passed, tol)
    if certificate.verdict is Verdict.CERTIFIED and posed.doubt:
        certificate = certificate.but(reason=f"{certificate.reason}; {posed.doubt}")
    evidence = dict(certificate.evidence)
    if evidence:
        evidence |= multipliers_by_label(posed, certificate.dual["y"])
    if "relaxation" in evidence:
        evidence["relaxation"] = moves_by_label(posed, evidence["relaxation"])
    value = posed.canonical.sign * np.inf
    return certificate.but(primal_objective=value, dual_objective=value, evidence=evidence)


def unboundedness(posed: Posed, tol: float = 1e-6) -> Certificate:
    """``certify_unbounded``; ``evidence``: "ray" and "point", {variable name: array}."""

    def rows_at(x: Array) -> list[Condition]:
        with substituted(posed.values(x)):
            return primal_rows(posed, x, violations(posed))

    sign, soft = posed.canonical.sign, soft_rows(posed)
    certificate = certify_unbounded(posed.canonical.program, soft, rows_at, tol, sign)
    # Values are linear in x where attributes do not cut.
    evidence = {name: posed.point(x) for name, x in certificate.evidence.items()}
    return certificate.but(evidence=evidence)
