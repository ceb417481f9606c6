"""Arrays in an npz archive, read without pickles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np

from ...errors import DataError, instead
from ..arrays import RawData

if TYPE_CHECKING:
    from ..schema import DataTable

LARGEST = 16 * 2**30
"""Bytes of one array: what says that it is larger is refused before it is unpacked."""


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
            sizes = {i.filename.removesuffix(".npy"): i.file_size for i in archive.infolist()}
        for name in wanted:
            if name not in sizes:
                raise DataError(f"{path.name} has no array {name!r}.{instead(name, sizes)}")
            if sizes[name] > LARGEST:
                raise DataError(f"{path.name}: {name} says that it has {sizes[name]} bytes")
        with np.load(path, allow_pickle=False) as arrays:
            held = {name: arrays[name] for name in wanted}
        if not all(isinstance(array, np.ndarray) for array in held.values()):
            raise ValueError("a member is not an array")
        return held
    except DataError:
        raise
    except (Exception, SystemError) as error:  # whatever a damaged archive ends in
        said = str(error).split("\n")[0][:200] or type(error).__name__
        raise DataError(f"{path.name} cannot be read as npz without pickles: {said}") from error
