"""`blocks = 100000`: the samples of a problem file in blocks of rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from hashlib import file_digest, sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataError, InputError, ProblemFileError
from .arrays import ProblemData
from .sources.files import kind_of

if TYPE_CHECKING:
    from .schema import DataTable

READER = "convexml.models.blocks"
WHOLE = ("positive", "classes", "rows", "one_hot", "polynomial", "missing", "split", "standardize")
"""Keys that need all rows at once."""


def refuse_blocks(constructor: Callable[..., Any] | None, name: str) -> None:
    """Raise ProblemFileError for what is not posed on blocks."""
    takes: Any = import_module(f"{READER}.taking").TakesBlocks
    if not (inspect.isclass(constructor) and issubclass(constructor, takes)):
        raise ProblemFileError(f"data.blocks: {name} takes its data in memory; remove blocks")


def is_read_by_blocks(table: DataTable, folder: Path) -> bool:
    """Whether the file need not be in memory."""
    return (
        table.blocks is not None
        and table.file is not None
        and kind_of(folder / table.file, table) == ".parquet"
    )


def read_blocks(table: DataTable, folder: Path) -> ProblemData:
    """The row groups of parquet files in blocks, read when they are needed; the hash is theirs.

    Raises
    ------
    DataError
        For what cannot be read, and for keys that need all rows.
    """
    path = folder / str(table.file)
    for key in WHOLE:
        if getattr(table, key) not in (None, False):
            raise DataError(
                f"data.{key} needs all rows of {path.name} in memory; remove blocks, or write what "
                f"{key} makes of it to the file"
            )
    target, weight, features = table.target, table.sample_weight, table.features
    names = [target, weight, *(features or [])]
    if target is None or any(
        isinstance(each, int | list) or hasattr(each, "map") for each in names
    ):
        raise DataError(
            f"data: with blocks, target, sample_weight and features of {path.name} are names of "
            "columns; target is required"
        )
    reader: Any = import_module(READER)
    try:
        blocks = reader.RowBlocks.from_parquet(
            path, target, rows=table.blocks, features=features, weights=weight
        )
    except InputError as error:
        said = str(error).removeprefix("RowBlocks.from_parquet: ")
        raise DataError(f"data.file: {said}") from error
    files = import_module(f"{READER}.parquet").files_of("data.file", path)
    whole = sha256(b"".join(_digest(file) for file in files)).hexdigest()
    return ProblemData({"X": blocks, "y": reader.BROUGHT}, sha256=whole)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()


def in_blocks(arrays: dict[str, Any], rows: int, named: Callable[[Any], Any]) -> dict[str, Any]:
    """X, y and weights that are in memory, in blocks of so many rows with ``named`` columns."""
    reader: Any = import_module(READER)
    X, y, weights = arrays["X"], arrays["y"], arrays.get("sample_weight")
    if isinstance(X, reader.RowBlocks):
        return arrays
    cuts = [slice(first, first + rows) for first in range(0, len(y), rows)]
    kept = [None if weights is None else weights[cut] for cut in cuts]
    pieces = [(named(X[cut]), y[cut], own) for cut, own in zip(cuts, kept, strict=True)]
    return {"X": reader.RowBlocks(pieces), "y": reader.BROUGHT}
