"""What a model takes in place of, or beside, X and y: the rows held out as queries."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..errors import ProblemFileError
from .arrays import ProblemData


def suited(constructor: Callable[..., Any], name: str, data: ProblemData) -> ProblemData:
    """The data as the constructor takes them.

    "Q", queries, are the rows that `split` holds out.

    Raises
    ------
    ProblemFileError
        Where there are none.
    """
    taken, arrays = inspect.signature(constructor).parameters, dict(data.arrays)
    if "Q" not in taken:
        return data
    if "X" not in data.held_out:
        raise ProblemFileError(
            f"data.split is required by {name}: its queries are the rows that are held out; write "
            "split = 0.25"
        )
    arrays["Q"] = data.held_out["X"]
    return ProblemData(arrays, data.features, data.sha256)
