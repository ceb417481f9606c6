"""Validation errors in the words of the file: dotted path, offending key, nearest key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel

from ..errors import ProblemFileError, instead
from .schema import ProblemTable

if TYPE_CHECKING:
    from pydantic import ValidationError


_BRANCH = re.compile(r"(str|int|float|bool|TargetTable)$|(list|constrained|function|literal)\b")
"""What pydantic calls a branch of a union."""
MOST = 8
"""Mistakes of one file that are told."""


def explain(path: Path, error: ValidationError) -> ProblemFileError:
    """One exception that names the file and every mistake that pydantic found in it."""
    reasons: dict[tuple[str | int, ...], list[str]] = {}
    for item in error.errors(include_url=False):
        location = _in_the_file(item["loc"])
        found = reasons.setdefault(location, [])
        if (reason := _reason(item, location)) not in found:
            found.append(reason)
    # Of a union, the branch that came furthest says what is wrong.
    inner = {each[:k] for each in reasons for k in range(1, len(each))}
    lines = [
        f"{dotted(location)}: {_joined(found)}" if location else _joined(found)
        for location, found in reasons.items()
        if location not in inner or not found[0].startswith("must be")
    ]
    few = [*lines[:MOST], *([f"... ({len(lines)} mistakes)"] if len(lines) > MOST else [])]
    return ProblemFileError(f"{path}: " + "\n  ".join(few))


def _joined(reasons: list[str]) -> str:
    """`must be a number or a string, got []`, where every branch of a union was refused."""
    if len(reasons) == 1 or not all(", got " in each for each in reasons):
        return "; ".join(reasons)
    got = reasons[0].partition(", got ")[2]
    wanted = [each.partition(", got ")[0].removeprefix("must be ") for each in reasons]
    return f"must be {', '.join(wanted[:-1])} or {wanted[-1]}, got {got}"


def dotted(location: Sequence[str | int]) -> str:
    """`("expected", "facts", 0, "rtol")` -> `"expected.facts[0].rtol"`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def shown(value: Any) -> str:
    """A value as it was written, in at most sixty characters."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply; a number of thousands of digits
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _reason(item: Any, location: tuple[str | int, ...]) -> str:
    if item["type"] == "extra_forbidden":
        return f"unknown key {location[-1]!r}.{instead(location[-1], _keys(location[:-1]))}"
    if item["type"] == "missing":
        return "this key is required"
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    requirement = item["msg"].replace("Input should be a valid", "must be a")
    requirement = requirement.replace("Input should be", "must be").replace("float", "number")
    requirement = requirement.replace("a integer", "an integer").replace("dictionary", "table")
    return f"{requirement}, got {shown(item['input'])}"


def _in_the_file(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Drop what pydantic adds for the branches of a union, which is in no file."""
    kept: list[str | int] = []
    table: type[BaseModel] | None = ProblemTable
    for part in location:
        if isinstance(part, int):
            kept.append(part)
        elif table is not None and not _BRANCH.match(part):
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
