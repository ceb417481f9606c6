"""Validation errors in the words of the file: dotted path, offending key, nearest key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from ..errors import ProblemFileError, instead
from .schema import ProblemTable

if TYPE_CHECKING:
    from pydantic import ValidationError


def explain(path: Path, error: ValidationError) -> ProblemFileError:
    """One exception that names the file and every mistake that pydantic found in it."""
    lines: dict[str, None] = {}
    for item in error.errors(include_url=False):
        location = _in_the_file(item["loc"])
        where = dotted(location)
        lines[f"{where}: {_reason(item, location)}" if where else _reason(item, location)] = None
    text = "\n  ".join(lines)
    return ProblemFileError(f"{path}: {text}")


def dotted(location: Sequence[str | int]) -> str:
    """`("expected", "facts", 0, "rtol")` -> `"expected.facts[0].rtol"`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _reason(item: Any, location: tuple[str | int, ...]) -> str:
    if item["type"] == "extra_forbidden":
        return f"unknown key {location[-1]!r}.{instead(location[-1], _keys(location[:-1]))}"
    if item["type"] == "missing":
        return "this key is required"
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    requirement = item["msg"].replace("Input should be a valid", "must be a")
    requirement = requirement.replace("Input should be", "must be").replace("float", "number")
    return f"{requirement}, got {item['input']!r}"


def _in_the_file(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Drop what pydantic adds for the branches of a union, which is in no file."""
    kept: list[str | int] = []
    table: type[BaseModel] | None = ProblemTable
    for part in location:
        if isinstance(part, int):
            kept.append(part)
        elif table is not None:
            kept.append(part)
            table = _child(table, part)
    return tuple(kept)


def _keys(location: Sequence[str | int]) -> list[str]:
    table: type[BaseModel] | None = ProblemTable
    for part in location:
        if isinstance(part, str) and table is not None:
            table = _child(table, part)
    return [f.alias or name for name, f in table.model_fields.items()] if table else []


def _child(table: type[BaseModel], key: str) -> type[BaseModel] | None:
    """The pydantic model that a key of `table` holds, directly, in a list or as an option."""
    field = table.model_fields.get(key)
    pending: list[Any] = [field.annotation] if field else []
    while pending:
        kind = pending.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
        pending.extend(get_args(kind))
    return None
