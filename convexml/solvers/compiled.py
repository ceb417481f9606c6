"""Inner loops: compiled by numba where it is installed (the extra "fast"), else plain Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib.util import find_spec
from types import FunctionType
from typing import Any, Protocol, overload

import numpy as np


class Loop(Protocol):
    """A loop that is compiled at its first call; ``plain`` is what was written."""

    plain: Any

    def __call__(self, *arguments: Any) -> Any: ...


class ByHand:
    """First argument of loops that cannot be compiled: it holds a loss or penalty of one's own."""


@overload
def compiled(loop: Callable[..., Any]) -> Loop: ...


@overload
def compiled(*, by_hand: Callable[..., Any]) -> Callable[[Callable[..., Any]], Loop]: ...


def compiled(loop: Any = None, *, by_hand: Any = None) -> Any:
    """Compile a function of arrays and numbers when it is first called, cached between runs.

    Other loops that it calls by name are compiled with it. Randomness is drawn outside, so that
    the numbers are the same with and without numba, to the rounding of scalar products.

    Parameters
    ----------
    loop : callable
        In the part of Python that numba understands.
    by_hand : callable, optional
        What to call where the first argument is a ``ByHand``; by default the loop, in plain Python.

    Returns
    -------
    Loop
    """
    if loop is None:
        return lambda function: _wrap(function, by_hand)
    return _wrap(loop, loop)


def _wrap(loop: Any, by_hand: Any) -> Any:
    @wraps(loop)
    def call(*arguments: Any) -> Any:
        if arguments and isinstance(arguments[0], ByHand):
            return by_hand(*arguments)
        if not fast():
            return loop(*arguments)
        with np.errstate(all="ignore"):
            return _build(loop)(*arguments)

    call.plain = loop  # type: ignore[attr-defined]
    return call


@cache
def fast() -> bool:
    """Whether numba is installed."""
    return find_spec("numba") is not None


@cache
def _build(loop: FunctionType) -> Callable[..., Any]:
    from numba import njit

    known = {name: loop.__globals__.get(name) for name in loop.__code__.co_names}
    called = {name: _build(v.plain) for name, v in known.items() if hasattr(v, "plain")}
    twin = FunctionType(loop.__code__, loop.__globals__ | called, loop.__name__, loop.__defaults__)
    twin.__module__, twin.__qualname__ = loop.__module__, loop.__qualname__
    try:
        return njit(twin, cache=True)
    except RuntimeError:  # no folder to keep the cache in
        return njit(twin)
