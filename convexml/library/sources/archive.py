"""Arrays in an npz archive, read without pickles."""

from __future__ import annotations

from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy

from ...errors import DataError, instead
from ..arrays import RawData

if TYPE_CHECKING:
    from ..schema import DataTable

LARGEST = 4 * 2**30
"""Bytes of all arrays: what says that it is larger is refused before it is unpacked."""
LONGEST_HEADER = 10_000


def read_npz(path: Path, table: DataTable, supervised: bool) -> RawData:
    """Read `X`, the target (`y` unless named) and the weights; arrays of objects are refused."""
    target, weight = table.target, table.sample_weight
    if target is not None and not isinstance(target, str):
        raise DataError(f"data.target: {path.name} has arrays; name one of them")
    named = target or "y"
    wanted = ["X", *([named] if supervised or target else [])]
    wanted += [weight] if isinstance(weight, str) else []
    held = _arrays(path, wanted)
    X = held["X"]
    if X.ndim != 2 or X.dtype.kind not in "biuf" or not X.size:
        raise DataError(
            f"{path.name}: X must be an (n, d) array of numbers, got {X.dtype} {X.shape}"
        )
    y = held.get(named)
    for name, array in held.items():
        kinds = "biuf" if name not in (named,) else "biufUS"
        if array.dtype.kind not in kinds:
            raise DataError(f"{path.name}: {name} must hold numbers, got {array.dtype}")
        if len(array.shape) == 0 or len(array) != len(X):
            raise DataError(f"{path.name}: X has {len(X)} rows, but {name} the shape {array.shape}")
    if y is not None and y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8", errors="replace")
    return RawData(
        X=X.astype(float),
        y=y,
        features=tuple(f"x{j}" for j in range(X.shape[1])),
        sample_weight=held[weight].astype(float) if isinstance(weight, str) else None,
    )


def _arrays(path: Path, wanted: list[str]) -> dict[str, Any]:
    try:
        with ZipFile(path) as archive:
            there = {name.removesuffix(".npy"): name for name in archive.namelist()}
            total = 0
            for name in wanted:
                if name not in there:
                    raise DataError(f"{path.name} has no array {name!r}.{instead(name, there)}")
                with archive.open(there[name]) as member:
                    shape, dtype = _header(member.read(LONGEST_HEADER))
                total += prod(shape) * max(dtype.itemsize, 8)
                if min(shape, default=0) < 0 or total > LARGEST:
                    raise DataError(
                        f"{path.name}: {name} has the shape {str(shape)[:80]}, {dtype}; at most "
                        f"{LARGEST} bytes are read, 8 at least for each number"
                    )
            held = {}
            for name in wanted:
                with archive.open(there[name]) as member:
                    held[name] = npy.read_array(member, allow_pickle=False)
            return held
    except DataError:
        raise
    except (Exception, SystemError) as error:  # whatever a damaged archive ends in
        said = str(error).split("\n")[0][:200] or type(error).__name__
        raise DataError(f"{path.name} cannot be read as npz without pickles: {said}") from error


def _header(start: bytes) -> tuple[tuple[int, ...], Any]:
    """Shape and type of an array, by the first bytes of its member."""
    stream = BytesIO(start)
    first = npy.read_magic(stream) == (1, 0)
    read = npy.read_array_header_1_0 if first else npy.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype
