"""A line c'w that is g'z for predictions z = Xw + b: X'y that was taken out of a likelihood.

Any g with X'g = c says the same, and 1'g = the line's slope in b. For squares it is free; the
slopes of a count, g_i = -W_i t_i, have t_i >= 0, those of a label 0 <= t_i <= 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from ...numerics import EPS, Array
from ...penalties import Penalty
from ..reading.affine import Affine
from ..reading.declined import Declined, named
from ..reading.maps import transposed
from ..reading.terms import LinearTerm, Reading
from .bundles import Bundle
from .columns import is_firm
from .penalising import is_coercive
from .rows import NEAR

CEILINGS = {"square": np.inf, "exp": np.inf, "logistic": 1.0}
NEWTON, HALVINGS, MET = 50, 40, 1e-9
CORRECTIONS = 5
LEVEL = 64.0 * EPS
"""Near the end of Newton's method sums are equal but for their rounding."""
LARGEST = 5_000_000
"""Entries of a design in which slopes are looked for."""


def trade(reading: Reading, found: list[Bundle], lines: list[LinearTerm]) -> None:
    """Count lines among the predictions of the one bundle there is.

    Raises
    ------
    Declined
        If there are no slopes that say the same.
    """
    said = lines[0].source if lines else None
    if not lines or len(found) != 1 or {p.term.kind for p in found[0].parts} - CEILINGS.keys():
        raise Declined(f"{named(said)} is linear and belongs to no loss")
    (bundle,) = found
    wanted = {key: np.zeros(each.width) for key, each in bundle.maps.items()}
    for line in lines:
        if not line.affine.maps.keys() <= wanted.keys():
            raise Declined(f"{named(line.source)} is linear and belongs to no loss")
        for key, each in line.affine.maps.items():
            wanted[key] += transposed(each, line.weight)
    slope = _slopes(bundle, wanted)
    if slope is None:
        raise Declined(f"{named(said)} is linear, and no targets of {named(bundle.said)} give it")
    whole = LinearTerm(slope, Affine(bundle.rows, bundle.maps, np.zeros(bundle.rows)), None)
    bundle.slope = bundle.slope + slope
    bundle.lines.append(whole)
    bundle.traded += lines
    reading.constant += sum(float(each.weight @ each.affine.offset) for each in lines)
    gone = {id(each) for each in lines}
    reading.linear[:] = [each for each in reading.linear if id(each) not in gone] + [whole]


def require_firm(bundle: Bundle, penalty: Penalty, d: int) -> None:
    """Refuse lines whose rounding, in a direction that hardly counts otherwise, is a slope."""
    if not is_firm(_design(bundle, list(bundle.maps))):
        require_coercive(penalty, d, bundle.traded[0])


def require_coercive(penalty: Penalty, d: int, line: LinearTerm) -> None:
    """Refuse a line where the penalty leaves a direction to it alone."""
    if not is_coercive(penalty, d):
        raise Declined(f"{named(line.source)} is linear, and nothing else holds some coefficients")


def _design(bundle: Bundle, keys: list[int]) -> Array:
    parts = [bundle.maps[key].full() for key in keys]
    return np.hstack([p.toarray() if sparse.issparse(p) else p for p in parts])


def _slopes(bundle: Bundle, wanted: dict[int, Array]) -> Array | None:
    if bundle.rows * sum(each.size for each in wanted.values()) > LARGEST:
        return None
    design = _design(bundle, list(wanted))
    c = np.concatenate(list(wanted.values()))
    kinds = {part.term.kind for part in bundle.parts}
    if kinds == {"square"}:
        return _refined(design, c, np.zeros(bundle.rows))
    if len(bundle.parts) > 1 or np.any(bundle.slope):
        return None
    (part,) = bundle.parts
    unit = part.term.weight * part.s
    if kinds == {"exp"}:
        with np.errstate(over="ignore"):
            unit = unit * np.exp(part.o)
    if not np.isfinite(unit).all():
        return None
    t = _targets(design * -unit[:, None], c, CEILINGS[part.term.kind])
    return None if t is None else -unit * t


def shares_of_classes(X: Any, weight: Array, C: Array, sums: Array | None) -> Array | None:
    """T >= 0, a row for each sample, with X'T = C, T 1 = weight, and 1'T = ``sums``."""
    n, K = weight.size, C.shape[1]
    if n * K * (C.size + n) > LARGEST:
        return None
    X = X.toarray() if sparse.issparse(X) else X
    X, C = (X, C) if sums is None else (np.column_stack([X, np.ones(n)]), np.vstack([C, sums]))
    A = np.hstack([np.kron(np.eye(K), X), np.tile(np.eye(n), (K, 1))])
    t = _targets(A, np.concatenate([C.ravel(order="F"), weight]), np.inf)
    return None if t is None else t.reshape((n, K), order="F")


def _targets(A: Array, c: Array, ceiling: float) -> Array | None:
    """t with A't = c, 0 <= t <= ceiling, to rounding; whole numbers where these do."""
    ones = A.sum(axis=0)
    level = float(ones @ c) / max(float(ones @ ones), float(np.finfo(float).tiny))
    start = np.full(A.shape[0], np.clip(level, 0.0, min(ceiling, max(level, 0.0))))
    if ceiling == 1.0:
        start[:] = 0.5
    t = _refined(A, c, start)
    if t is None:
        return None
    whole = np.round(t)
    if _meets(A, c, whole) and ((whole >= 0.0) & (whole <= ceiling)).all():
        return np.asarray(whole)
    if ((t >= 0.0) & (t <= ceiling)).all():
        return t
    inner = _inside(A, c, ceiling)
    t = None if inner is None else _refined(A, c, inner)
    return t if t is not None and ((t >= 0.0) & (t <= ceiling)).all() else None


def _inside(A: Array, c: Array, ceiling: float) -> Array | None:
    """t with A't = c between the ends: the means of the likelihood whose X'y is c, by Newton.

    They are the slopes g'(Aq) where sum g(Aq) - c'q is least, g = e^z, or log(1 + e^z).
    """
    q, value = np.zeros(A.shape[1]), np.inf
    step = q
    for _ in range(NEWTON):
        for _ in range(HALVINGS):
            z = A @ (q + step)
            with np.errstate(over="ignore"):
                found = float(np.sum(np.exp(z) if ceiling > 1.0 else np.logaddexp(0.0, z)))
            found -= float(c @ (q + step))
            if found <= value + LEVEL * abs(value) or not step.any():
                break
            step = 0.5 * step
        else:
            return None
        q, value = q + step, found
        t = np.exp(z) if ceiling > 1.0 else expit(z)
        slope = A.T @ t - c
        if (np.abs(slope) <= MET * (np.abs(A).T @ t + np.abs(c))).all():
            return np.asarray(t)
        curvature = t if ceiling > 1.0 else t * (1.0 - t)
        root = np.sqrt(curvature)[:, None] * A
        step = -np.linalg.lstsq(root.T @ root, slope, rcond=None)[0]
    return None


def _refined(A: Array, c: Array, t: Array) -> Array | None:
    """The point nearest to t with A't = c, to rounding; None where there is none."""
    near = _corrected(A, c, t)
    if near is not None:
        return near
    for _ in range(3):
        t = t + np.linalg.lstsq(A.T, c - A.T @ t, rcond=None)[0]
    return t if _meets(A, c, t) else None


def _corrected(A: Array, c: Array, t: Array) -> Array | None:
    """The same by t + A (A'A)^-1 (c - A't), repeated; None where A'A is too near to singular."""
    if A.shape[0] < A.shape[1]:
        return None
    try:
        factor = cho_factor(A.T @ A, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    for _ in range(CORRECTIONS):
        t = t + A @ cho_solve(factor, c - A.T @ t, check_finite=False)
        if _meets(A, c, t):
            return t
    return None


def _meets(A: Array, c: Array, t: Array) -> bool:
    return bool((np.abs(A.T @ t - c) <= NEAR * (np.abs(A).T @ np.abs(t) + np.abs(c))).all())
