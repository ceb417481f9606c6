"""What a learning problem says of a point that somebody passes: its values, its certificate."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...certificates import Certificate, Verdict, certify_objective
from ...certificates.support.labels import CertifiedSupport, certify_support
from ...errors import InputError
from ...numerics import Array
from ...validation import positive_number
from ..reading.inputs import expand, read_coefficients, read_dual
from ..reading.names import match_coefficients
from .posed import PosedLearning


def primal_value(problem: PosedLearning, w: Any, b: Any) -> float:
    """P(w, b); inf where a constraint is violated beyond rounding, or numbers overflow."""
    w, b = _read_point(problem, w, b)
    with np.errstate(over="ignore", invalid="ignore"):
        value = problem.objective_parts.primal(w, b)
    return np.inf if np.isnan(value) else value  # inf - inf, after an overflow


def dual_value(problem: PosedLearning, u: Any) -> float:
    """D(u); -inf where u is infeasible beyond rounding, or numbers overflow."""
    u = read_dual(problem.name, u, problem._samples)
    with np.errstate(over="ignore", invalid="ignore"):
        value = problem.objective_parts.dual(u)
    return -np.inf if np.isnan(value) else value


def certify(problem: PosedLearning, w: Any, b: Any, u: Any, tol: float) -> Certificate:
    """Judge (w, b) with the dual point passed, or with one constructed."""
    tol = positive_number(tol, problem.name, "tol")
    found = certify_objective(problem.objective_parts, *_read(problem, w, b, u), tol=tol)
    return in_own_rows(problem, found)


def in_own_rows(problem: PosedLearning, found: Certificate) -> Certificate:
    """With u, and the coefficients q of a better function, for rows of weight 0 too."""
    samples = problem._samples
    if samples.layout is not None or len(samples.kept) == samples.total:
        return found
    dual, witness = dict(found.dual), None if found.witness is None else dict(found.witness)
    for told, name in ((dual, "u"), (witness, "q")):
        if told and name in told:
            told[name] = expand(told[name], samples)
    return found.but(dual=dual, witness=witness)


def certify_solved(
    problem: PosedLearning, w: Array, b: Any, u: Array | None, tol: float
) -> Certificate:
    """The certificate of what a solver returned; its u competes with the constructed one.

    A u that is as good but for rounding may cost more of that: where it decides, both are judged.
    """
    objective = problem.objective_parts
    found = certify_objective(objective, w, b, tol=tol, solver_dual=u, refute=False)
    if u is None or found.verdict is Verdict.CERTIFIED or not found.rounding > tol * found.scale:
        return found
    other = certify_objective(objective, w, b, tol=tol, refute=False)
    return min(found, other, key=lambda each: each.relative_gap)


def label_support(problem: PosedLearning, w: Any, b: Any, u: Any) -> CertifiedSupport:
    """Label the samples and coefficients of every solution; for one output only."""
    if problem._samples.outputs:
        raise InputError(
            f"{problem.name}: certified_support labels problems with one output; this one has "
            "several."
        )
    if problem._samples.layout is not None:
        raise InputError(
            f"{problem.name}: certified_support labels samples in memory; these lie in blocks. "
            "Pose the problem on X and y."
        )
    found = certify_support(problem.objective_parts, *_read(problem, w, b, u))
    return found.expanded(problem._samples.kept, problem._samples.total)


def _read(problem: PosedLearning, w: Any, b: Any, u: Any) -> tuple[Array, Any, Array | None]:
    problem._samples.refuse_changed(problem.name)
    w, b = _read_point(problem, w, b)
    return w, b, None if u is None else read_dual(problem.name, u, problem._samples)


def _read_point(problem: PosedLearning, w: Any, b: Any) -> tuple[Array, Any]:
    """(w, b) as floats; a series of coefficients by the names of the columns."""
    w = match_coefficients(problem.name, w, problem._samples.feature_names)
    return read_coefficients(problem.name, w, b, problem.objective_parts)
