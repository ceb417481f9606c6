"""Where a block of rows comes from: memory, a function of the user's, mapped files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from threading import RLock
from typing import Any
from zlib import crc32

import numpy as np

from ..errors import InputError, instead, warn
from ..numerics import Array
from ..validation import float_array
from .columns import NamedColumns, in_words
from .matrix import is_single

Loaded = tuple[Any, Any, Any]
"""(X, y, sample_weight) of one block; the weights may be None."""
Source = Callable[[], Loaded]
ONE_AT_A_TIME = RLock()


@dataclass(frozen=True)
class Passed:
    """A block that is in memory."""

    block: Loaded

    def __call__(self) -> Loaded:
        return self.block


@dataclass(frozen=True)
class Lent(Passed):
    """A block that another library keeps, and nobody writes to: it is not copied."""


@dataclass(frozen=True)
class Loader:
    """A block that a function of the user's loads: one at a time, whoever computes beside it."""

    function: Callable[[], Any]

    def __call__(self) -> Loaded:
        with ONE_AT_A_TIME:
            found = self.function()
        if callable(found):
            raise InputError(
                "its loader returns a function; it must return (X, y) or (X, y, sample_weight). "
                "Pass the function that it returns, or call that within it."
            )
        return as_block(found, "its loader must return (X, y) or (X, y, sample_weight)")


def mapped(path: Path) -> Array:
    """The array of a .npy file, mapped; InputError where it has none that can be."""
    try:
        found: Array = np.load(path, mmap_mode="r")
    except (ValueError, EOFError, OSError) as error:
        raise InputError(
            f"RowBlocks.from_npy: {path} holds no array of numbers that can be mapped, or is cut "
            "off. Write it with numpy.save."
        ) from error
    return found


@dataclass(frozen=True)
class FromNpy:
    """Some rows of .npy files, mapped when they are read and let go after that.

    Those of X are copied unless they are in single precision, which is converted as it is used.
    """

    X: Path
    y: Path
    first: int
    last: int
    weights: Path | None = None

    def __call__(self) -> Loaded:
        X, y = self._rows(self.X), np.array(self._rows(self.y))
        s = None if self.weights is None else np.array(self._rows(self.weights))
        return X if is_single(X) else np.array(X), y, s

    def _rows(self, path: Path) -> Array:
        return np.load(path, mmap_mode="r")[self.first : self.last]


@dataclass(frozen=True)
class Retried:
    """A source that is asked again so many times where it fails."""

    source: Source
    retries: int

    def __call__(self) -> Loaded:
        return self.source()


def as_block(block: Any, which: str) -> Loaded:
    """(X, y, weights) of what stands for a block."""
    if not isinstance(block, tuple | list) or len(block) not in (2, 3):
        raise InputError(f"{which}, got {type(block).__name__}.")
    X, y, *weights = block
    return X, y, weights[0] if weights else None


def checksum(y: Any, sample_weight: Any) -> int:
    """CRC-32 of all targets and weights of a block."""
    found = 0
    for each in (y, sample_weight):
        values = np.asarray(each)
        values = values.astype(str) if values.dtype.hasobject else values
        found = crc32(values.tobytes(), found)
    return found


def loaded(source: Source, name: str) -> Loaded:
    """A block; where a source is asked again a warning tells of it.

    Raises
    ------
    InputError
        Of the failure that was the last, naming the block.
    """
    retries = source.retries if isinstance(source, Retried) else 0
    for left in range(retries, -1, -1):
        try:
            return source()
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
        except Exception as error:
            failed = f"{name}: its loader failed with {type(error).__name__}: {error}"
            if not left:
                times = f" ({retries + 1} times)" if retries else ""
                raise InputError(failed + times) from error
            warn(f"{failed}. It is called again.", RuntimeWarning)
    raise AssertionError


# Rows of parquet files: which row groups make a block, and how these are read.


Groups = tuple[tuple[Path, tuple[int, ...]], ...]
"""Files, and the numbers of row groups in each."""


@dataclass(frozen=True)
class ParquetColumns:
    """The columns of X, of y and of the weights by their names."""

    features: tuple[str, ...]
    target: str
    weights: str | None

    @property
    def names(self) -> list[str]:
        """All of them."""
        return [*self.features, self.target, *([self.weights] if self.weights else [])]


@dataclass(frozen=True)
class FromParquet:
    """The rows of some row groups, or some rows of one."""

    groups: Groups
    columns: ParquetColumns
    part: tuple[int, int] | None = None

    def __call__(self) -> Loaded:
        table = self._table()
        names, target, weights = self.columns.features, self.columns.target, self.columns.weights
        X = np.empty((table.num_rows, len(names)), order="F")
        for j, name in enumerate(names):
            X[:, j] = numbers(table, name)
        return (
            NamedColumns(X, names),
            targets(table, target),
            None if weights is None else numbers(table, weights),
        )

    def _table(self) -> Any:
        if self.part is None:
            return joined(
                [row_groups(path, groups, self.columns.names) for path, groups in self.groups]
            )
        [(path, (group,))] = self.groups
        stamp = path.stat().st_mtime_ns
        first, last = self.part
        return _kept_group(path, stamp, group, tuple(self.columns.names)).slice(first, last - first)


def joined(tables: Sequence[Any]) -> Any:
    """The rows of tables with the same columns, whose numbers may be of different types."""
    return pyarrow("lib").concat_tables(tables, promote_options="permissive")


def row_groups(path: Path, groups: Sequence[int], names: Sequence[str]) -> Any:
    """Some columns of some row groups of a file."""
    with pyarrow("parquet").ParquetFile(path) as file:
        return file.read_row_groups(list(groups), columns=list(names))


@lru_cache(maxsize=1)
def _kept_group(path: Path, stamp: int, group: int, names: tuple[str, ...]) -> Any:
    """A row group, kept until another is read: its parts follow one another."""
    return row_groups(path, (group,), names)


def numbers(table: Any, name: str) -> Array:
    """A column as float64, nan where it is null."""
    return float_array(table[name].to_numpy(), "parquet", f"column {name!r}")


def targets(table: Any, name: str) -> Array:
    """A column of numbers as they are, or of labels."""
    column, types = table[name], pyarrow("types")
    if types.is_integer(column.type) or types.is_floating(column.type):
        return column.to_numpy()
    if column.null_count:
        row = column.is_null().to_pylist().index(True)
        raise InputError(f"column {name!r} is null at row {row}; drop that sample.")
    return np.array(column.to_pylist())


def is_numeric(kind: Any) -> bool:
    """Whether a column is of integers, floats, or of true and false."""
    types = pyarrow("types")
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def pyarrow(module: str) -> Any:
    """A module of pyarrow.

    Raises
    ------
    InputError
        Where that is not installed.
    """
    try:
        return import_module(f"pyarrow.{module}")
    except ImportError:
        raise InputError(
            "parquet files are read by pyarrow, which is not installed: pip install pyarrow, or "
            "pip install 'convexml[scale]'."
        ) from None


def parquet_blocks(
    owner: str, path: Any, target: str, rows: int, features: Any, weights: str | None
) -> list[FromParquet]:
    """The blocks of the rows of a file, or of the files of a folder in the order of their names.

    Raises
    ------
    InputError
        For files that are not there, or no parquet, and for columns that are missing or no numbers.
    """
    columns: ParquetColumns | None = None
    groups: list[tuple[Path, int, int]] = []
    for file in files_of(owner, Path(path)):
        with opened(owner, file) as read:
            schema, metadata = read.schema_arrow, read.metadata
            columns = columns or _chosen(f"{owner}: {file}", schema, target, features, weights)
            _check(f"{owner}: {file}", schema, columns, complete=features is None)
            counts = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
        groups += [(file, k, n) for k, n in enumerate(counts) if n]
    if columns is None or not groups:
        raise InputError(f"{owner}: there is no row in {path}.")
    return [FromParquet(found, columns, part) for found, part in cut(groups, rows)]


def cut(
    groups: Iterable[tuple[Path, int, int]], rows: int
) -> Iterator[tuple[Groups, tuple[int, int] | None]]:
    """Blocks of at most so many rows: whole row groups, or parts of one that is larger."""
    pending: dict[Path, list[int]] = {}
    count = 0
    for path, group, n in groups:
        if pending and count + n > rows:
            yield tuple((file, tuple(held)) for file, held in pending.items()), None
            pending, count = {}, 0
        if n > rows:
            for first in range(0, n, rows):
                yield ((path, (group,)),), (first, min(first + rows, n))
        else:
            pending.setdefault(path, []).append(group)
            count += n
    if pending:
        yield tuple((file, tuple(held)) for file, held in pending.items()), None


def files_of(owner: str, path: Path) -> list[Path]:
    """The file, or those of a folder by their names."""
    if path.is_dir():
        found = sorted(path.glob("*.parquet"))
        if not found:
            raise InputError(f"{owner}: the folder {path} holds no file *.parquet.")
        return found
    if not path.is_file():
        raise InputError(f"{owner}: there is no file or folder {path}.")
    return [path]


def opened(owner: str, path: Path) -> Any:
    """A file, to be read and closed."""
    read = pyarrow("parquet").ParquetFile
    try:
        return read(path)
    except (OSError, ValueError) as error:
        said = str(error).split("\n")[0][:200]
        raise InputError(f"{owner}: {path} cannot be read as parquet: {said}") from error


def _chosen(
    owner: str, schema: Any, target: str, features: Any, weights: str | None
) -> ParquetColumns:
    """The columns that are asked for; without ``features`` all but the others and an index."""
    for name in chosen_names(features, target, weights):
        if not isinstance(name, str):
            raise InputError(f"{owner}: columns are named by strings, got {name}.")
    twice = [name for name in schema.names if schema.names.count(name) > 1]
    if twice:
        raise InputError(f"{owner} has {twice[0]!r} more than once; rename the columns.")
    index = [name for name in index_columns(schema) if name not in (target, weights)]
    if features is None:
        chosen = [name for name in schema.names if name not in (target, weights, *index)]
    else:
        chosen = [features] if isinstance(features, str) else list(features)
        if len({*chosen, target, weights}) < len(chosen) + 2:
            raise InputError(
                f"{owner}: features must name columns once each, besides the target {target!r} "
                f"and the weights, got {in_words(chosen)}."
            )
    if not chosen:
        raise InputError(f"{owner} has no column besides {target!r}; a feature is required.")
    return ParquetColumns(tuple(chosen), target, weights)


def chosen_names(features: Any, target: Any, weights: Any) -> list[Any]:
    """What a caller calls columns."""
    listed = isinstance(features, Iterable) and not isinstance(features, str)
    given = list(features) if listed else [] if features is None else [features]
    return [*given, target, *([] if weights is None else [weights])]


def index_columns(schema: Any) -> list[str]:
    """The columns that hold the index of a data frame."""
    listed = (schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in listed if isinstance(name, str)]


def _check(owner: str, schema: Any, columns: ParquetColumns, complete: bool) -> None:
    """Refuse columns that are missing or hold no numbers, and others than those of the first."""
    missing = [name for name in columns.names if name not in schema.names]
    if missing:
        raise InputError(
            f"{owner} has no column {missing[0]!r}.{instead(missing[0], schema.names)}"
        )
    for name in columns.names:
        kind = schema.field(name).type
        if name != columns.target and not is_numeric(kind):
            raise InputError(
                f"{owner}: column {name!r} holds {kind}, not numbers. Encode it, cast it to "
                "float64, or choose others by features."
            )
    others = {*schema.names} - {*columns.names, *index_columns(schema)}
    if complete and others:
        raise InputError(
            f"{owner} has the columns {in_words(sorted(others))}, which the first file does not "
            "have. Choose columns by features."
        )
