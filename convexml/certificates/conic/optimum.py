"""The certificate of a cone program: any y in K* with P w + A'y + q = 0 bounds the value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...conditions import Condition, worst
from ...errors import InputError
from ...numerics import EPS, Array
from ...objective.conic.cones import ZeroCone
from ...objective.conic.program import ConeProgram
from ..certificate import Certificate, Verdict
from ..judge import bounded, is_better, judge, refuted
from ..scale import ProgramUnits, program_scale
from .bounds import Bound, bound_of
from .units import conic_units
from .values import conic_objective, curvature_words, row_violations
from .witness import way_to_exact

WITNESS = 1e-2
"""A better point refutes only if its violations are below this share of the tolerance."""


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
        Where no exact dual point is found near y, bound the suboptimality over
        abs(x_j - xhat_j) <= R instead: ``within``.

    Returns
    -------
    Certificate
        ``gap`` = P - D, the price of a residual and that of violations included; ``inf`` where
        the price is not known, or P is not convex. Its relative size is against
        max(|P|, |D|, 1e-3 of a size that comes from the data alone), constants left out.
    """
    x = _vector(x, program.q.size, "x")
    units = conic_units(program)
    primal = conic_objective(program, x)
    slack, outside = row_violations(program, x)
    shown = None if s is None else _vector(s, slack.size, "s")
    rows = _primal_rows(program, x, slack, units, shown)
    if y is None:
        scale = program_scale(primal, primal, units.size)
        reason = "no bound: no dual point was passed"
        return judge(bounded(primal, -np.inf, rows, tol, scale=scale, reason=reason))
    y = _vector(y, slack.size, "y")
    scale = program_scale(primal, primal, units.size)
    everything = np.ones(x.size, dtype=bool)
    bound = bound_of(program, x, everything, x, y, units, primal - 0.3 * tol * scale)
    dual, price, within, reason = bound.value, bound.price, None, curvature_words(bound.curvature)
    if reason:
        dual, price = -np.inf, 0.0
    elif not np.isfinite(price):
        price, reason = 0.0, _left_words(bound)
        if R is None:
            dual = -np.inf
        else:
            dual += float(bound.left @ x) - R * float(np.abs(bound.left).sum())
            within = R
    scale = program_scale(primal, dual, units.size)
    rows += _dual_rows(program, x, y, slack, units, scale)
    certificate = bounded(
        primal + program.offset,
        dual + program.offset,
        rows,
        tol,
        scale=scale,
        rounding=price + float(np.abs(bound.y) @ np.abs(outside)),
        gap=primal - dual,
        within=within,
        reason=reason,
        repaired=float(np.max(np.abs(bound.y - y), initial=0.0)),
        dual_source="passed",
        dual={"y": bound.y, "w": bound.w},
    )
    return _refute_by(program, judge(certificate), bound.w, units)


def _left_words(bound: Bound) -> str:
    j = int(np.argmax(np.abs(bound.left)))
    return (
        f"no bound: the multiplier leaves {bound.left[j]:.3g} on x[{j}], and no exact one was "
        "found near it"
    )


def _vector(values: Any, size: int, name: str) -> Array:
    array = np.array(values, dtype=float)
    if array.shape != (size,):
        raise InputError(f"cone program: {name} must have shape ({size},), got {array.shape}.")
    if not np.all(np.isfinite(array)):
        raise InputError(f"cone program: {name} has entries that are not finite.")
    return array


def _row_sizes(program: ConeProgram, units: ProgramUnits) -> Array:
    return np.maximum(np.abs(program.b), units.rows)


def _primal_rows(
    program: ConeProgram, x: Array, slack: Array, units: ProgramUnits, s: Array | None = None
) -> list[Condition]:
    size = _row_sizes(program, units)
    rows = []
    if s is not None:
        rows.append(worst("A x + s = b", "primal_feasibility", s - slack, size))
    for name, distance, scale in _by_cone(program, slack, size, dual=False):
        error = 2.0 * EPS * np.abs(distance)  # the slack is rounded once
        rows.append(worst(f"s in the {name} cone", "primal_feasibility", distance, scale, error))
    return rows


def _dual_rows(
    program: ConeProgram, x: Array, y: Array, slack: Array, units: ProgramUnits, scale: float
) -> list[Condition]:
    size = _row_sizes(program, units)
    size = np.divide(scale, size, out=np.zeros(size.size), where=size > 0.0)
    rows = [
        worst(f"y in the dual of the {name} cone", "dual_feasibility", distance, unit)
        for name, distance, unit in _by_cone(program, y, size, dual=True)
    ]
    left, terms = program.stationarity(x, y), program.stationarity_size(x, y)
    rows.append(worst("P x + A'y + q = 0", "stationarity", left, terms))
    for kind in dict.fromkeys(
        type(cone) for cone in program.cones if not isinstance(cone, ZeroCone)
    ):
        blocks = [part for cone, part in program.blocks if isinstance(cone, kind)]
        product = [float(slack[part] @ y[part]) for part in blocks]
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


def _refute_by(
    program: ConeProgram, certificate: Certificate, w: Array, units: ProgramUnits
) -> Certificate:
    """The dual's own w may be a feasible point that is better."""
    slack, outside = row_violations(program, w)
    rows = _primal_rows(program, w, slack, units)
    if not all(row.meets(WITNESS * certificate.tol) for row in rows):
        return certificate
    value = conic_objective(program, w) + program.offset
    worth = float(np.abs(certificate.dual["y"]) @ np.abs(outside)) + 4.0 * EPS * abs(value)
    if certificate.verdict is Verdict.UNDECIDED and is_better(certificate, value, worth):
        return refuted(certificate, value, {"x": w}, worth + way_to_exact(program, w))
    return certificate
