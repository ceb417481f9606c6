"""Inner loops: compiled by numba where it is installed (the extra "fast"), else plain Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from types import FunctionType
from typing import Any

import numpy as np


class ByHand:
    """A first argument that loops take as Python does: it holds objects that numba does not know."""


class Loop:
    """A function that is compiled when it is first called, cached between runs.

    It may call other loops. ``plain`` is the function as written.
    """

    def __init__(
        self, function: Callable[..., Any], by_hand: Callable[..., Any] | None = None
    ) -> None:
        self.plain, self.by_hand = function, by_hand or function
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        if arguments and isinstance(arguments[0], ByHand):
            return self.by_hand(*arguments)
        with np.errstate(all="ignore"):
            return self.fast(*arguments)

    @cached_property
    def fast(self) -> Callable[..., Any]:
        """The compiled function, or the plain one without numba."""
        try:
            import numba
        except ImportError:
            return self.plain
        written: Any = self.plain
        known = dict(written.__globals__)
        known |= {
            name: each.fast
            for name, each in known.items()
            if isinstance(each, Loop) and name in written.__code__.co_names
        }
        function = FunctionType(written.__code__, known, written.__name__, written.__defaults__)
        function.__module__, function.__qualname__ = written.__module__, written.__qualname__
        try:
            return numba.njit(function, cache=True)  # type: ignore[no-any-return]
        except RuntimeError:  # no folder to keep the cache in
            return numba.njit(function)  # type: ignore[no-any-return]


def compiled(
    function: Callable[..., Any] | None = None, *, by_hand: Callable[..., Any] | None = None
) -> Any:
    """Compile a function of arrays and numbers when it is first called.

    Parameters
    ----------
    function : callable
        In the part of Python that numba understands.
    by_hand : callable, optional
        What runs instead where the first argument is a ``ByHand``.

    Returns
    -------
    Loop
        Gives the same numbers with and without numba.
    """
    return partial(Loop, by_hand=by_hand) if function is None else Loop(function, by_hand)
