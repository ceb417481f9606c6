"""What the data of a problem file becomes: plain NumPy arrays under their textbook names."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class RawData:
    """A learning data set as its source holds it: X (n, d), y (n,), and the names in it."""

    X: Array
    y: Array
    features: tuple[str, ...]
    class_names: tuple[str, ...] = ()
    sample_weight: Array | None = None


@dataclass(frozen=True)
class ProblemData:
    """The arrays that a problem is posed with.

    Attributes
    ----------
    arrays : dict
        `X` (n, d), `y` (n,) and maybe `sample_weight` (n,); or `c`, `A_ub` ... of a linear program.
        `y` is -1 or +1 where the file names two classes.
    features : tuple of str
        Names of the columns of `X`; empty for a linear program.
    sha256 : str
        Hash of the selected numbers before they are standardised (standardising rounds, and not
        every machine rounds alike).
    """

    arrays: dict[str, Any]
    features: tuple[str, ...] = ()
    sha256: str = field(default="")


def sha256(arrays: dict[str, Any]) -> str:
    """Hash of names, shapes, types and values, the same on every machine for equal numbers."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if array.dtype.kind in "biuf":
            array = array.astype("<f8")
        else:
            array = np.char.encode(array.astype(str), "utf-8")
        digest.update(f"{name} {array.shape} {array.dtype.str}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
