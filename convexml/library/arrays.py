"""What the data of a problem file becomes: plain arrays under their textbook names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class RawData:
    """A data set as its source holds it.

    Attributes
    ----------
    X : array or csr_array, shape (n, d)
    y : array, shape (n,) or (n, K), or None
        None where no column was named to be predicted.
    features : tuple of str
    class_names : tuple of str
        Of the values of y, in their order, where the source names them.
    sample_weight : array, shape (n,), or None
    categories : dict
        The values of a column of text; X holds their numbers.
    """

    X: Any
    y: Array | None
    features: tuple[str, ...]
    class_names: tuple[str, ...] = ()
    sample_weight: Array | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class ProblemData:
    """The arrays that a problem is posed with.

    Attributes
    ----------
    arrays : dict
        `X` (n, d), maybe `y` (n,) and `sample_weight` (n,); or `c`, `A_ub` ... of a linear program.
        `y` is -1 or +1 where the file names two classes.
    features : tuple of str
        Names of the columns of `X`; empty for a linear program.
    sha256 : str
        Hash of the selected numbers before they are standardised (standardising rounds, and not
        every machine rounds alike).
    held_out : dict
        `X` and `y` of the rows that `split` keeps from the problem; empty without it.
    dropped : int
        Rows that `missing = "drop"` left out.
    """

    arrays: dict[str, Any]
    features: tuple[str, ...] = ()
    sha256: str = field(default="")
    held_out: dict[str, Any] = field(default_factory=dict)
    dropped: int = 0


def sha256(arrays: dict[str, Any]) -> str:
    """Hash of names, shapes, types and values, the same on every machine for equal numbers."""
    digest = hashlib.sha256()
    for name, array in sorted(_plain(arrays).items()):
        if array.dtype.kind in "biuf":
            array = array.astype("<f8")
        else:
            array = np.char.encode(array.astype(str), "utf-8")
        digest.update(f"{name} {array.shape} {array.dtype.str}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _plain(arrays: dict[str, Any]) -> dict[str, Array]:
    """The arrays, a sparse one as the three that it consists of."""
    plain: dict[str, Array] = {}
    for name, array in arrays.items():
        if hasattr(array, "indptr"):
            parts = ("data", "indices", "indptr")
            plain |= {f"{name}.{part}": np.asarray(getattr(array, part)) for part in parts}
        else:
            plain[name] = np.asarray(array)
    return plain
