"""What the system gives: files, and processors."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import InputError

# Files that are written and read for the caller.


def writable(path: str | Path, owner: str) -> Path:
    """The path of a file to write, refused where its folder does not exist.

    Raises
    ------
    InputError
    """
    try:
        target = Path(path)
    except TypeError:
        raise InputError(f"{owner}: expected the path of a file, got {path!r}.") from None
    if not str(path):
        raise InputError(f"{owner}: expected the path of a file, got ''. Name one.")
    if not target.absolute().parent.is_dir() or target.is_dir():
        if target.is_dir():
            raise InputError(f"{owner}: {target} is a folder; name a file in it.")
        raise InputError(
            f"{owner}: {target} has no folder {target.parent} to go into; create the folder or "
            "name another file."
        )
    return target


def read_text(path: Path, owner: str) -> str:
    """What a text file holds.

    Raises
    ------
    InputError
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"{owner}: {path} cannot be read ({error}); pass the path of a file that to_json "
            "wrote, or its text."
        ) from None


# What the machine gives this process.


def cores() -> int:
    """The processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
