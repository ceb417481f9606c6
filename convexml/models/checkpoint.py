"""The best point of a solve in a file: written as it goes on, and taken up by the next one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, warn
from ..numerics import Array

SCHEMA = 1
EVERY, SHARE = 1.0, 20.0
"""Seconds from one writing to the next at least, and times what writing took."""
INSTEAD = "Name another file, or delete this one."


@dataclass(frozen=True)
class SavedPoint:
    """A point of a solve.

    Attributes
    ----------
    w, b
        In the problem's own coordinates.
    objective, gap : float
        As they were found on the way, the gap nan where it was not. They order points, and are
        told; nothing else is built on them.
    iteration : int
    solver : str
    """

    w: Array
    b: Any
    objective: float
    gap: float
    iteration: int
    solver: str


def refuse_for_path(owner: str, name: str, checkpoint: Any) -> None:
    """Raise InputError where solves at several values are to share one file."""
    if checkpoint is not None:
        raise InputError(
            f"{owner}: checkpoint is the file of one solve, got {str(checkpoint)!r} for a solve at "
            f"each value of {name}. Call solve for each value, with a file of its own."
        )


def without_checkpoint(owner: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a solve that keeps no checkpoint; InputError where a file is asked for."""
    others = dict(options)
    if (file := others.pop("checkpoint", None)) is not None:
        raise InputError(
            f"{owner}: this model keeps no checkpoint, got {str(file)!r}. Leave it out."
        )
    return others


class Checkpoint:
    """A file that has the best point so far.

    Parameters
    ----------
    path : Path
    identity : mapping
        What the problem is known by.
    clock : callable
        Seconds.

    Attributes
    ----------
    best : SavedPoint or None
    """

    def __init__(
        self, path: Path, identity: Mapping[str, Any], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path, self.identity, self.clock = path, identity, clock
        self.best: SavedPoint | None = None
        self.is_written, self.failed = True, False
        self.due = -inf

    @property
    def value(self) -> float:
        """The least P so far, inf before the first."""
        return inf if self.best is None else self.best.objective

    def consider(self, point: Callable[[], SavedPoint]) -> None:
        """Look at a point where it is time: what that takes counts as writing."""
        began = self.clock()
        if began >= self.due:
            self.keep(point())
            self._rest(began)

    def keep(self, point: SavedPoint) -> None:
        """Take a point whose P is less than that of those before; write it where it is time."""
        if point.objective < self.value:
            self.best, self.is_written = point, False
            if self.clock() >= self.due:
                self.flush()

    def flush(self) -> None:
        """Write the best point if it is not written; a file that cannot be is told of once."""
        if self.is_written or self.best is None:
            return
        began = self.clock()
        try:
            write(self.path, self.identity, self.best)
        except OSError as error:
            if not self.failed:
                warn(f"The checkpoint {self.path} cannot be written: {error}.", RuntimeWarning)
            self.failed = True
        self.is_written = True
        self._rest(began)

    def _rest(self, began: float) -> None:
        """Nothing more is written for a while."""
        now = self.clock()
        self.due = now + max(EVERY, SHARE * (now - began))


def write(path: Path, identity: Mapping[str, Any], point: SavedPoint) -> None:
    """Replace the file at once, so that one of the two is there whatever happens."""
    content = {"problem": identity, **vars(point)}
    content |= {"w": point.w.tolist(), "b": np.asarray(point.b).tolist()}
    text = json.dumps(content, sort_keys=True)
    document = {"checkpoint": SCHEMA, "sha256": _digest(text), "content": text}
    beside = path.with_name(f"{path.name}.part")
    with beside.open("w", encoding="ascii") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def read(path: Path, owner: str) -> tuple[dict[str, Any], SavedPoint]:
    """What the problem of a checkpoint is known by, and its point.

    Raises
    ------
    InputError
        For what is no checkpoint, or is damaged.
    """
    try:
        document = json.loads(path.read_text(encoding="ascii"))
        schema, text = document["checkpoint"], document["content"]
        whole = document["sha256"] == _digest(text)
        content = json.loads(text)
        identity = content.pop("problem")
        w, b = np.array(content.pop("w"), dtype=float), np.array(content.pop("b"), dtype=float)
        point = SavedPoint(w, b if b.ndim else float(b), **content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{owner}: {path} is no checkpoint, or damaged. {INSTEAD}") from error
    if schema != SCHEMA or not whole:
        raise InputError(f"{owner}: {path} is a checkpoint that is damaged. {INSTEAD}")
    return identity, point


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
