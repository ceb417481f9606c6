"""Problem files on the disk: found, and read without their data."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ValidationError

from ..errors import ProblemFileError, closest
from .messages import explain
from .schema import ProblemTable

PROGRAMS = (".mps", ".qps")
"""What programs in MPS and QPS form end with."""


def read_table_of(path: str | Path) -> ProblemTable:
    """Read and validate a problem file without loading its data (cheap, for listings)."""
    path = Path(path)
    if path.is_dir():
        raise ProblemFileError(f"{path} is a folder; a problem file is needed")
    if not path.is_file():
        raise ProblemFileError(f"there is no problem file {path}.{_neighbours(path)}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ProblemFileError(f"{path} is not valid TOML: {error}{_named_in(path)}") from error
    except UnicodeDecodeError as error:
        raise ProblemFileError(f"{path} is not a text file in UTF-8: {error}") from error
    except ValueError:
        raise ProblemFileError(f"{path}: a number has thousands of digits") from None
    except RecursionError:
        raise ProblemFileError(f"{path}: tables or lists are nested too deeply") from None
    try:
        return ProblemTable.model_validate(content)
    except ValidationError as error:
        raise explain(path, error) from error


def discover(path: str | Path) -> list[Path]:
    """The problem files at `path`: the file itself, or every *.toml of the folder, sorted.

    Raises
    ------
    ProblemFileError
        When there is no such path, or no problem file in the folder.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.toml"))
        if not files:
            raise ProblemFileError(f"the folder {path} holds no problem file (*.toml)")
        return files
    if not path.exists():
        raise ProblemFileError(f"there is no file or folder {path}.{_neighbours(path)}")
    return [path]


def _named_in(path: Path) -> str:
    """Advice for what is no problem file by its name: a table, as a rule."""
    if path.suffix.lower() == ".toml":
        return ""
    return (
        ". A problem file says what is asked of the data (`convexml init` prints one; name these "
        f'in it: file = "{path.name}")'
    )


def _neighbours(path: Path) -> str:
    """Advice for a path that is not there: the nearest problem file of its folder, else some."""
    there = sorted(p.name for p in path.parent.glob("*.toml"))
    if not there:
        return "" if path.parent.is_dir() else f" There is no folder {path.parent} either."
    found = closest(path.stem, [Path(name).stem for name in there])
    if found is not None:
        return f" Did you mean {found + '.toml'!r}?"
    few = there if len(there) <= 5 else [*there[:5], f"... ({len(there)} files)"]
    return f" Problem files there: {', '.join(few)}"
