"""Constructors of models, which take row blocks in place of X and y."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ClassVar

import numpy as np

from ...errors import InputError
from ..reading.inputs import Samples, read_samples
from .collections import collection_blocks, is_collection
from .reading import read_row_blocks
from .row_blocks import BROUGHT, RowBlocks


def brings_targets(start: Callable[..., None]) -> Callable[..., None]:
    """Let the constructor of a model take row blocks in place of X and y."""

    @wraps(start)
    def started(self: Any, *args: Any, **named: Any) -> None:
        given = args[0] if args else named.get("X")
        if is_collection(given):
            y = args[1] if args[1:] else named.pop("y", None)
            weights = named.pop("sample_weight", None)
            given = collection_blocks(self.name, given, y, weights)
            args, named = (given, BROUGHT, *args[2:]), {k: v for k, v in named.items() if k != "X"}
        if isinstance(given, RowBlocks) and "y" not in named:
            if len(args) > 1 and (args[1] is None or np.ndim(args[1]) > 0):
                raise InputError(f"{self.name}: row blocks carry y; leave it out.")
            if len(args) < 2 or args[1] is not BROUGHT:
                named |= {"y": BROUGHT} if not args[1:] else {}
                args = args if not args[1:] else (given, BROUGHT, *args[1:])
        start(self, *args, **named)

    return started


def refuse_blocks(kind: type[Any], *given: Any) -> None:
    """Raise InputError where a model that needs its samples in memory is given row blocks."""
    if getattr(kind, "takes_blocks", False):
        return
    if any(isinstance(each, RowBlocks) for each in given):
        named = signature(kind.fit if hasattr(kind, "fit") else kind).parameters
        if "X" in named:
            what, instead = "its samples are", " and ".join(n for n in ("X", "y") if n in named)
        else:
            what, instead = "its arrays are", "arrays"
        raise InputError(
            f"{kind.__name__}: {what} needed in memory, got row blocks. These are for models of "
            "a loss of each sample and a penalty on w, as Ridge(blocks, lam=0.1); pass "
            f"{instead} here."
        )


class TakesBlocks:
    """Models whose constructors take row blocks."""

    takes_blocks: ClassVar[bool] = True

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if "__init__" in vars(cls):
            cls.__init__ = brings_targets(cls.__init__)  # type: ignore[method-assign]


def read_any(owner: str, X: Any, y: Any, sample_weight: Any, labels: str) -> Samples:
    """Samples in memory or in blocks, validated."""
    read = read_row_blocks if isinstance(X, RowBlocks) else read_samples
    return read(owner, X, y, sample_weight, labels)
