"""Parquet files, or folders of them, in memory; a null is nan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import DataError, InputError
from ..arrays import Array, RawData
from .columns import chosen_columns

if TYPE_CHECKING:
    from ..schema import DataTable

PARQUET = ".parquet"
READER = "convexml.models.blocks.parquet"


@dataclass(frozen=True)
class ParquetTable:
    """The columns of parquet files."""

    path: Path
    held: Any
    names: Sequence[str]

    @property
    def rows(self) -> int:
        found: int = self.held.num_rows
        return found

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
            found: Array = reader.numbers(self.held, name)
            return found

    def labels(self, name: str) -> Array:
        reader: Any = import_module(READER)
        with _as_data(self.path):
            found: Array = reader.targets(self.held, name)
            return found


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
