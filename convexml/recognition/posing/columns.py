"""The design of what was read: which entries are columns, and which one is the intercept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...losses import Loss
from ...numerics import Array
from ...penalties import Penalty
from ..reading.declined import Declined, named
from ..reading.maps import LARGEST, LinearMap
from .penalising import is_coercive
from .rows import NEAR, LossRows

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
        if loss.name not in GROWING or not is_firm(_joined([self.X, *ones])):
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
    factors = [
        np.broadcast_to(np.asarray(each.multiplier, dtype=float), len(each.y)) for each in rows
    ]
    y = np.concatenate([each.y for each in rows])
    weight = np.concatenate([each.weight for each in rows])
    intercept, unit, exact = None, 1.0, True
    for key in (k for k in widths if k in free):
        found = _constant(rows, factors, key, weight, flips)
        if found is not None:
            unit, turned, exact = found
            intercept = key
            if turned is not None:
                y = np.where(turned, -y, y)
                start = 0
                for i, each in enumerate(factors):
                    here = turned[start : start + each.size]
                    factors[i] = np.where(here, -each, each)
                    start += each.size
            break
    kept = weight > 0.0
    if not kept.any():
        raise Declined("no sample counts")
    if binary and (y[kept] == y[kept][0]).all():
        if intercept is not None:
            raise Declined("all samples are of one class")
        odd, start = np.arange(y.size) % 2 == 1, 0
        odd[np.flatnonzero(kept)[-1]] = True
        if np.all(odd[kept]):
            raise Declined("one sample has no two classes")
        y = np.where(odd, -y, y)
        for i, each in enumerate(factors):
            factors[i] = np.where(odd[start : start + each.size], -each, each)
            start += each.size
    keys = [key for key in widths if key != intercept]
    columns, start = {}, 0
    for key in keys:
        columns[key] = np.arange(start, start + widths[key])
        start += widths[key]
    X = _stacked([_block(each, keys, widths, f) for each, f in zip(rows, factors, strict=True)])
    if not kept.all():
        X = (sparse.csr_array(X) if sparse.issparse(X) else X)[kept]
        y, weight = y[kept], weight[kept]
    rounded = np.concatenate([_rounds(each, f) for each, f in zip(rows, factors, strict=True)])
    exact = exact and not rounded[kept].any()
    factor = np.concatenate(factors)
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
    rows: list[LossRows], factors: list[Array], key: int, weight: Array, flips: bool
) -> tuple[float, Array | None, bool] | None:
    """The number that a variable of one entry is multiplied by in every row, up to signs.

    And whether it is the same for certain: entries that differ in their last digits may be a
    column, and classes may be separated by it.
    """
    parts, plain = [], []
    for each, factor in zip(rows, factors, strict=True):
        found: LinearMap | None = each.bundle.maps.get(key)
        if found is None or len(each.bundle.maps) == 1:
            return None
        if found.is_selection:
            entries = found.scales
        elif sparse.issparse(found.matrix) or found.copies > 1:
            return None
        else:
            entries = found.scales * found.matrix[:, 0]
        parts.append(factor * entries)
        plain.append(np.abs(entries))
    entries, kept = np.concatenate(parts), weight > 0.0
    used, raw = entries[kept], np.concatenate(plain)[kept]
    if not used.size or used[0] == 0.0 or not np.isfinite(used).all():
        return None
    size = abs(float(used[0]))
    same = bool((np.abs(used) == size).all())
    same &= bool(_keeps(np.concatenate(factors)[kept]).all() or (raw == raw[0]).all())
    if (np.abs(used - used[0]) <= NEAR * size).all():
        return float(used[0]), None, same
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
    if len(parts) == 1:
        return parts[0]
    return _joined(parts)


def _joined(parts: list[Any]) -> Any:
    dense = any(not sparse.issparse(part) for part in parts)
    if dense and parts[0].shape[0] * sum(part.shape[1] for part in parts) <= LARGEST:
        return np.hstack([p.toarray() if sparse.issparse(p) else p for p in parts])
    return sparse.csr_array(sparse.hstack(parts))


def _stacked(blocks: list[Any]) -> Any:
    if len(blocks) == 1:
        return blocks[0]
    if all(sparse.issparse(each) for each in blocks):
        return sparse.csr_array(sparse.vstack(blocks))
    if sum(each.shape[0] for each in blocks) * blocks[0].shape[1] > LARGEST:
        return sparse.csr_array(sparse.vstack([sparse.csr_array(each) for each in blocks]))
    return np.concatenate([e.toarray() if sparse.issparse(e) else e for e in blocks])
