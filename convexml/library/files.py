"""A data file by its suffix. Reading one executes nothing: no pickles, no formulas."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from ..errors import DataError, InputError, instead
from .schema import Array, RawData
from .tables import bundled, chosen_columns, read_text

if TYPE_CHECKING:
    from .schema import DataTable


# Arrays in an npz archive, read without pickles.


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


# Sparse data in the libsvm form: a label and `index:value` pairs on every line.


MOST_FEATURES = 10_000_000


def read_libsvm(path: Path, table: DataTable, supervised: bool) -> RawData:
    """Read X as a csr_array and y by scikit-learn's reader; the first index is 0 or 1.

    `n_features` fixes the number of columns, where a file does not reach the last one.
    """
    from sklearn.datasets import load_svmlight_file

    if table.target is not None:
        raise DataError(f"data.target: {path.name} says on every line what to predict; remove it")
    if isinstance(table.sample_weight, str):
        raise DataError(f"data.sample_weight: {path.name} has no named columns")
    content = path.read_bytes()
    try:
        X, y = load_svmlight_file(BytesIO(content), n_features=table.n_features)
    except (ValueError, OverflowError, IndexError, MemoryError) as error:
        raise DataError(f"{path.name}{_place(content)}: {str(error)[:200]}") from error
    if not X.shape[0] or not X.shape[1]:
        raise DataError(f"{path.name} holds no sample" if not X.shape[0] else "no feature at all")
    if X.shape[1] > MOST_FEATURES:
        raise DataError(
            f"{path.name}: an index is {X.shape[1]}; at most {MOST_FEATURES} features are read"
        )
    features = tuple(f"x{j}" for j in range(X.shape[1]))
    return RawData(sparse.csr_array(X), np.asarray(y), features)


def _place(content: bytes) -> str:
    """The first line that cannot be read alone."""
    from sklearn.datasets import load_svmlight_file

    for k, line in enumerate(content.splitlines(), start=1):
        try:
            load_svmlight_file(BytesIO(line))
        except (ValueError, OverflowError, IndexError, MemoryError):
            return f", line {k}"
    return ""


# Parquet files, or folders of them, in memory; a null is nan.


PARQUET = ".parquet"
READER = "convexml.data.sources"


@dataclass(frozen=True)
class ParquetTable:
    """The columns of parquet files."""

    path: Path
    held: Any
    names: Sequence[str]

    @property
    def rows(self) -> int:
        return self.held.num_rows

    def words(self, name: str) -> Sequence[str]:
        return [str(value) for value in self.held[name].to_pylist()]

    def numbers(self, name: str, others: Sequence[str]) -> Array:
        reader: Any = import_module(READER)
        kind = self.held[name].type
        if not reader.is_numeric(kind):
            raise DataError(
                f"{self.path.name}, column {name!r}: {kind} is not a number; one_hot = [{name!r}] "
                "makes a column of each value, features = [...] chooses numeric columns"
            )
        with _as_data(self.path):
            return reader.numbers(self.held, name)

    def labels(self, name: str) -> Array:
        reader: Any = import_module(READER)
        with _as_data(self.path):
            return reader.targets(self.held, name)


def read_parquet(path: Path, table: DataTable, supervised: bool) -> RawData:
    """Read the columns of a file, or of all files `*.parquet` of a folder by their names."""
    reader: Any = import_module(READER)
    with _as_data(path):
        tables, index = [], set()
        for file in reader.files_of("data.file", path):
            with reader.opened("data.file", file) as read:
                index |= set(reader.index_columns(read.schema_arrow))
                tables.append(read.read())
        held = reader.joined(tables)
    wanted = {table.target_column if isinstance(table.target_column, str) else None}
    names = [name for name in held.column_names if name not in index - wanted]
    if not held.num_rows:
        raise DataError(f"{path.name} holds no row")
    return chosen_columns(path, ParquetTable(path, held, names), table, supervised)


@contextmanager
def _as_data(path: Path) -> Iterator[None]:
    """Errors of the reader, in the words of a problem file."""
    try:
        yield
    except InputError as error:
        said = str(error).removeprefix("data.file: ").removeprefix("parquet: ")
        raise DataError(f"{path.name}: {said}") from error


TEXT = (".csv", ".tsv", ".txt", ".dat", ".data")
READERS: dict[str, Callable[[Path, DataTable, bool], RawData]] = {
    **dict.fromkeys(TEXT, read_text),
    ".npz": read_npz,
    ".svm": read_libsvm,
    ".libsvm": read_libsvm,
    PARQUET: read_parquet,
}
FORMATS = {"text": ".csv", "npz": ".npz", "libsvm": ".svm", "parquet": PARQUET}
ONLY = {
    "delimiter": TEXT,
    "header": TEXT,
    "n_features": (".svm", ".libsvm"),
}
"""Keys of `[data]` that speak of some kinds of files only."""


def is_file(path: Path) -> bool:
    """Whether there is a plain file; a name that no file can have is none."""
    try:
        return path.is_file()
    except OSError:  # a name that is too long
        return False


def kind_of(path: Path, table: DataTable) -> str:
    """The suffix that tells how a file is read."""
    return FORMATS[table.format] if table.format else path.suffix.lower()


def read_file(path: Path, table: DataTable, supervised: bool) -> RawData:
    """Read X, y and maybe sample weights from a file.

    Parameters
    ----------
    path : Path
        A table of text (.csv, .tsv, .txt, .dat, .data), .npz, .svm, .libsvm or .parquet.
    table : DataTable
        `target`, `sample_weight`, `features`, `one_hot` and how the file is written.
    supervised : bool
        Whether the problem needs something to predict.

    Raises
    ------
    DataError
        Naming the file, and the line and the column of what cannot be read.
    """
    suffix = kind_of(path, table)
    if not (is_file(path) or (suffix == PARQUET and path.is_dir())):
        there = sorted(p.name for p in path.parent.glob("*") if p.suffix.lower() in READERS)
        advice = instead(path.name, there[:20]) if there else ""
        missing = f"there is no data file {str(path)[:300]}"
        with suppress(OSError):
            if path.exists():
                kind = "a folder" if path.is_dir() else "no plain file"
                raise DataError(f"data.file: {path} is {kind}.{advice}")
        raise DataError(f"{missing}.{advice}")
    if suffix not in READERS:
        raise DataError(
            f"data.file: {path.name}: the suffix tells how a file is read: {', '.join(READERS)}; "
            f"for {suffix or 'none'!r} write format = 'text', 'npz', 'libsvm' or 'parquet'"
        )
    for key, suffixes in ONLY.items():
        if getattr(table, key) is not None and suffix not in suffixes:
            raise DataError(f"data.{key} has no meaning for {suffix}; remove it")
    return READERS[suffix](path, table, supervised)


# Where the data of a problem file come from: tables of the user's own, and bundled data sets.


__all__ = ["bundled", "read_file"]
