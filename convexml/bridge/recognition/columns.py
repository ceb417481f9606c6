"""The design of what was read: which entries are columns, and which one is the intercept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

from ...errors import InputError
from ...losses import Loss
from ...models.posing import with_penalty
from ...models.problem import LearningProblem
from ...numerics import EPS, Array
from ...penalties import Penalty
from .affine import Affine
from .losses import NEAR, Bundle, LossRows
from .maps import Declined, LinearMap, concatenated, named, transposed
from .penalties import is_coercive
from .terms import LinearTerm, Reading

SYMMETRIC = ("squared", "absolute", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")
"""l(y, z) = l(-y, -z), as binary losses have it too."""
GROWING = (*SYMMETRIC, "pinball")
"""Losses that grow both ways."""
FIRM = 1e-6
"""Directions that a design sees less of than this share must be penalised."""
CLEAR = 1e-8
"""The square of a share that is larger by far."""
ENTRIES = 5_000_000
"""Of a design in which such directions are looked for."""


@dataclass(frozen=True)
class SampleDesign:
    """X, y and weights of all rows; what the columns and the intercept stand for.

    Attributes
    ----------
    X, y, weight
        Of the samples, those of weight 0 left out.
    columns : dict
        The columns of each variable, by its id; of all of its entries.
    kept, factor : array
        Of all rows: which are samples; and X w + b over this is the prediction z of the bundle.
    intercept : int or None
        The variable, of one entry, that is the intercept.
    unit : float
        The intercept is ``unit`` times this variable.
    exact : bool
        Whether X and the intercept are what was read: no row was scaled by a number that rounds.
    """

    X: Any
    y: Array
    weight: Array
    columns: dict[int, Array]
    kept: Array
    factor: Array
    intercept: int | None = None
    unit: float = 1.0
    exact: bool = True

    def require_held(self, loss: Loss, penalty: Penalty, said: Any) -> None:
        """Declined where rounding of X may let a coefficient go that nothing else holds."""
        if self.exact or is_coercive(penalty, self.X.shape[1]):
            return
        ones = [np.ones((self.X.shape[0], 1))] if self.intercept is not None else []
        if loss.name not in GROWING or not is_firm(concatenated([self.X, *ones])):
            why = "its rows are scaled with rounding, and their rank decides: nothing holds w"
            raise Declined(f"{named(said)}: {why}")


def is_firm(matrix: Any) -> bool:
    """Whether the columns are independent by far: no rounding changes their rank."""
    n, d = matrix.shape
    if n < d or n * d > ENTRIES:
        return False
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    sizes = np.linalg.norm(dense, axis=0)
    if not (np.isfinite(sizes) & (sizes > 0.0)).all():
        return False
    even = dense / sizes
    squares = np.linalg.eigvalsh(even.T @ even)
    if squares[0] >= CLEAR * squares[-1]:  # beyond what rounds in a product with itself
        return True
    values = np.linalg.svd(even, compute_uv=False)
    return bool(values[-1] >= FIRM * values[0])


def assemble(rows: list[LossRows], widths: dict[int, int], free: set[int]) -> SampleDesign:
    """The design of rows of one loss; ``free`` are the variables that may be an intercept."""
    loss = rows[0].loss
    binary = loss.labels == "binary"
    flips = binary or loss.name in SYMMETRIC
    factor = np.concatenate([np.broadcast_to(each.multiplier, each.y.size) for each in rows])
    y = np.concatenate([each.y for each in rows])
    weight = np.concatenate([each.weight for each in rows])
    intercept, unit, exact = None, 1.0, True
    for key in (k for k in widths if k in free):
        found = _constant(rows, factor, key, weight, flips)
        if found is not None:
            unit, turned, exact = found
            intercept = key
            y, factor = np.where(turned, -y, y), np.where(turned, -factor, factor)
            break
    kept = weight > 0.0
    if not kept.any():
        raise Declined("no sample counts")
    if binary and (y[kept] == y[kept][0]).all():
        if intercept is not None:
            raise Declined("all samples are of one class")
        odd = np.arange(y.size) % 2 == 1
        odd[np.flatnonzero(kept)[-1]] = True
        if np.all(odd[kept]):
            raise Declined("one sample has no two classes")
        y, factor = np.where(odd, -y, y), np.where(odd, -factor, factor)
    keys = [key for key in widths if key != intercept]
    columns, start = {}, 0
    for key in keys:
        columns[key] = np.arange(start, start + widths[key])
        start += widths[key]
    own = np.split(factor, np.cumsum([each.y.size for each in rows])[:-1])
    every = list(zip(rows, own, strict=True))
    X = concatenated([_block(each, keys, widths, f) for each, f in every], axis=0)
    if not kept.all():
        X = (sparse.csr_array(X) if sparse.issparse(X) else X)[kept]
        y, weight = y[kept], weight[kept]
    rounded = np.concatenate([_rounds(each, f) for each, f in every])
    exact = exact and not rounded[kept].any()
    return SampleDesign(X, y, weight, columns, kept, factor, intercept, unit, exact)


def _rounds(rows: LossRows, factor: Array) -> Array:
    """Whether a row of X, times its factor, may be rounded: not where each entry is +-2^k."""
    maps = list(rows.bundle.maps.values())
    if len(maps) == 1 and maps[0].is_selection and bool(_keeps(maps[0].scales).all()):
        return np.zeros(factor.size, dtype=bool)
    return ~_keeps(factor)


def _keeps(factor: Array) -> Array:
    """Whether a product with each factor is exact: it is a power of 2, up to its sign."""
    return np.asarray(np.abs(np.frexp(factor)[0]) == 0.5)


def _constant(
    rows: list[LossRows], factor: Array, key: int, weight: Array, flips: bool
) -> tuple[float, Array, bool] | None:
    """The number that a variable of one entry is multiplied by in every row, up to signs.

    And whether it is the same for certain: entries that differ in their last digits may be a
    column, and classes may be separated by it.
    """
    parts = []
    for each in rows:
        found: LinearMap | None = each.bundle.maps.get(key)
        if found is None or len(each.bundle.maps) == 1:
            return None
        if found.is_selection:
            parts.append(found.scales)
        elif sparse.issparse(found.matrix) or found.copies > 1:
            return None
        else:
            parts.append(found.scales * found.matrix[:, 0])
    plain, kept = np.concatenate(parts), weight > 0.0
    entries, raw = factor * plain, np.abs(plain)[kept]
    used = entries[kept]
    if not used.size or used[0] == 0.0 or not np.isfinite(used).all():
        return None
    size = abs(float(used[0]))
    same = bool((np.abs(used) == size).all())
    same &= bool(_keeps(factor[kept]).all() or (raw == raw[0]).all())
    if (np.abs(used - used[0]) <= NEAR * size).all():
        return float(used[0]), np.zeros(entries.size, dtype=bool), same
    if flips and (np.abs(np.abs(used) - size) <= NEAR * size).all():
        return size, entries < 0.0, same
    return None


def _block(rows: LossRows, keys: list[int], widths: dict[int, int], factor: Array) -> Any:
    """X of one bundle; the user's own matrix where nothing is to be done to it."""
    maps = rows.bundle.maps
    here = [key for key in keys if key in maps]
    plain = (factor == 1.0).all()
    parts: list[Any] = []
    for key in keys:
        if key in here:
            each = maps[key] if plain else maps[key].scaled(factor)
            parts.append(each.full())
        else:
            parts.append(sparse.csr_array((rows.bundle.rows, widths[key])))
    return concatenated(parts)


# A line c'w that is g'z for predictions z = Xw + b: X'y that was taken out of a likelihood.
#
# Any g with X'g = c says the same, and 1'g = the line's slope in b. For squares it is free; the
# slopes of a count, g_i = -W_i t_i, have t_i >= 0, those of a label 0 <= t_i <= 1.


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
    design = concatenated([bundle.maps[key].full() for key in keys])
    return np.asarray(design.toarray() if sparse.issparse(design) else design)


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


# The posed problem of a design, a loss and a penalty.


def repenalised(problem: LearningProblem, penalty: Penalty) -> LearningProblem:
    """The same samples and loss with another penalty."""
    try:
        return with_penalty(problem, penalty)
    except InputError as error:
        raise Declined(str(error)) from None


def learning(
    X: Any, y: Array, weight: Array, loss: Loss, penalty: Penalty, intercept: bool
) -> LearningProblem:
    """A sum over samples; equal weights are one factor."""
    same = bool((weight == weight[0]).all())
    try:
        return LearningProblem(
            X,
            y,
            loss,
            penalty,
            fit_intercept=intercept,
            sample_weight=None if same else weight,
            loss_scale=float(weight[0]) if same else "sum",
        )
    except InputError as error:
        raise Declined(str(error)) from None
