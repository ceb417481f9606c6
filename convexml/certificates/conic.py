"""The certificate of a cone program: any y in K* with P w + A'y + q = 0 bounds the value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import ROUNDING, Array
from ..objective.cone_program import ConeProgram
from .certificate import Certificate, Condition, Verdict, worst
from .conic_repair import DualPair, repair_conic_dual


def certify_conic(
    program: ConeProgram,
    x: Any,
    s: Any = None,
    y: Any = None,
    *,
    tol: float = 1e-6,
    R: float | None = None,
) -> Certificate:
    """Judge a point of a cone program.

    Parameters
    ----------
    program : ConeProgram
        Minimise x'Px / 2 + q'x + offset subject to A x + s = b, s in K.
    x : array, shape (n,)
        The point, judged as it is.
    s : array, shape (m,), optional
        Its slack; b - A x is what counts.
    y : array, shape (m,), optional
        The multiplier; without it there is no bound.
    tol : float
        For the relative gap and the feasibilities, relative to their rows.
    R : float, optional
        Where a dual residual r remains, bound the suboptimality over abs(x_j - xhat_j) <= R:
        ``evidence`` {"localized_gap", "R"}.

    Returns
    -------
    Certificate
        ``gap`` = P - D bounds P - P* also where x is slightly infeasible; ``inf`` where the
        dual residual cannot be removed. Its relative size is gap / max(1, |P|, |D|).
    """
    x = _vector(x, program.q.size, "x")
    slack = program.slack(x)
    primal = program.objective(x)
    rows = _primal_rows(program, x, slack, None if s is None else _vector(s, slack.size, "s"))
    if y is None:
        certificate = _certificate(program, rows, primal, -np.inf, tol)
        certificate = replace(certificate, reason="no bound: no dual point was passed")
        return _judge(certificate)
    y = _vector(y, slack.size, "y")
    rows += _dual_rows(program, x, y, slack)
    pair = repair_conic_dual(program, x, y)
    exact = not np.any(pair.left)
    dual = program.dual_objective(pair.w, pair.y) if exact else -np.inf
    certificate = _certificate(program, rows, primal, dual, tol)
    certificate = replace(
        certificate,
        repaired=pair.moved if exact else 0.0,
        dual_source="passed",
        dual={"y": pair.y, "w": pair.w},
    )
    if not exact:
        certificate = _localized(program, certificate, x, pair, R)
    return _refute_by(program, _judge(certificate), pair.w)


def _vector(values: Any, size: int, name: str) -> Array:
    array = np.array(values, dtype=float)
    if array.shape != (size,):
        raise InputError(f"cone program: {name} must have shape ({size},), got {array.shape}.")
    if not np.all(np.isfinite(array)):
        raise InputError(f"cone program: {name} has entries that are not finite.")
    return array


def floor_of(values: Array, data: Array) -> float:
    """Below this an entry is small: the size of the largest, at most 1; 1 for data of 0."""
    typical = float(np.max(np.abs(data), initial=0.0))
    return min(1.0, max(typical, float(np.max(np.abs(values), initial=0.0)))) if typical else 1.0


def _primal_rows(program: ConeProgram, x: Array, slack: Array, s: Array | None) -> list[Condition]:
    size = abs(program.A) @ np.abs(x) + np.abs(program.b)
    size = np.maximum(size, floor_of(size, program.b))
    rows = []
    if s is not None:
        rows.append(worst("A x + s = b", "primal_feasibility", s - slack, size))
    for name, distance, scale in _by_cone(program, slack, size, dual=False):
        rows.append(worst(f"s in the {name} cone", "primal_feasibility", distance, scale))
    return rows


def _dual_rows(program: ConeProgram, x: Array, y: Array, slack: Array) -> list[Condition]:
    size = np.maximum(np.abs(y), floor_of(y, program.q))
    rows = [
        worst(f"y in the dual of the {name} cone", "dual_feasibility", distance, scale)
        for name, distance, scale in _by_cone(program, y, size, dual=True)
    ]
    left = program.stationarity(x, y)
    rows.append(worst("P x + A'y + q = 0", "stationarity", left, program.stationarity_size(x, y)))
    for kind in dict.fromkeys(type(cone) for cone in program.cones):
        blocks = [rows_ for cone, rows_ in program.blocks if isinstance(cone, kind)]
        product = [float(slack[part] @ y[part]) for part in blocks]
        scale = [float(np.abs(slack[part]) @ np.abs(y[part])) for part in blocks]
        name = f"s'y = 0 ({_name(kind)})"
        rows.append(worst(name, "complementary_slackness", product, scale))
    return rows


def _by_cone(
    program: ConeProgram, values: Array, size: Array, dual: bool
) -> list[tuple[str, Array, Array]]:
    """(name, distances, scales) of each kind of cone that is there."""
    table: dict[str, list[tuple[Array, Array]]] = {}
    for cone, rows in program.blocks:
        part = values[rows]
        distance = cone.distance_dual(part) if dual else cone.distance(part)
        scale = size[rows] if cone.is_polyhedral else np.array([np.linalg.norm(size[rows])])
        table.setdefault(_name(type(cone)), []).append((distance, scale))
    return [
        (name, *(np.concatenate(parts) for parts in zip(*found, strict=True)))  # type: ignore[misc]
        for name, found in table.items()
    ]


def _name(kind: type) -> str:
    return {"SecondOrder": "second-order"}.get(kind.__name__, kind.__name__.lower())


def _certificate(
    program: ConeProgram, rows: list[Condition], primal: float, dual: float, tol: float
) -> Certificate:
    gap = primal - dual
    finite = np.isfinite(gap)
    relative = abs(gap) / max(1.0, abs(primal), abs(dual)) if finite else np.inf
    return Certificate("optimal", primal, dual, gap, relative, tuple(rows), Verdict.UNDECIDED, tol)


def _localized(
    program: ConeProgram, certificate: Certificate, x: Array, pair: DualPair, R: float | None
) -> Certificate:
    """P(x') >= D + r'x' for every feasible x', so a bound on x' bounds the suboptimality."""
    j = int(np.argmax(np.abs(pair.left)))
    reason = (
        f"no bound: the multiplier leaves {pair.left[j]:.3g} on x[{j}] (64 eps of its terms are "
        f"{ROUNDING * program.stationarity_size(pair.w, pair.y)[j]:.1g}), which no small change "
        "of it removes"
    )
    if R is None:
        return replace(certificate, reason=reason)
    value = program.dual_objective(pair.w, pair.y) + float(pair.left @ x)
    bound = certificate.primal_objective - value + R * float(np.abs(pair.left).sum())
    reason += f"; over |x_j - xhat_j| <= {R:g} the suboptimality is at most {bound:.3g}"
    return replace(certificate, reason=reason, evidence={"localized_gap": bound, "R": R})


def _judge(certificate: Certificate) -> Certificate:
    broken = [row for row in certificate.conditions if row.relative > certificate.tol]
    primal = [row for row in broken if row.kind == "primal_feasibility"]
    if primal:
        row = primal[0]
        reason = f"{row.name} is violated by {row.residual:.3g} at index {row.index}"
        return replace(certificate, verdict=Verdict.REFUTED, reason=reason)
    if certificate.holds():
        return replace(certificate, verdict=Verdict.CERTIFIED)
    if certificate.reason:
        return certificate
    dual = [row for row in broken if row.kind == "dual_feasibility"]
    reason = (
        f"{dual[0].name} is violated by {dual[0].residual:.3g}"
        if dual
        else (f"the gap is {certificate.gap:.3g}")
    )
    return replace(certificate, reason=reason)


def _refute_by(program: ConeProgram, certificate: Certificate, w: Array) -> Certificate:
    """The dual's own w may be a feasible point that is better."""
    if certificate.verdict is not Verdict.UNDECIDED:
        return certificate
    value, primal = program.objective(w), certificate.primal_objective
    worse = primal - value > certificate.tol * max(1.0, abs(primal), abs(value))
    rows = _primal_rows(program, w, program.slack(w), None) if worse else []
    if not worse or any(row.relative > ROUNDING for row in rows):
        return certificate
    reason = f"a feasible point has the objective {value:.10g}, lower by {primal - value:.3g}"
    return replace(certificate, verdict=Verdict.REFUTED, witness={"x": w}, reason=reason)
