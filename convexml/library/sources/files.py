"""A data file by its suffix. Reading one executes nothing: no pickles, no formulas."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import DataError, instead
from ..arrays import RawData
from .archive import read_npz
from .columnar import PARQUET, read_parquet
from .libsvm import read_libsvm
from .text import read_text

if TYPE_CHECKING:
    from ..schema import DataTable

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
