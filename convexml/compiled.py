"""Inner loops: compiled by numba where it is installed (the extra "fast"), else plain Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, partial, update_wrapper
from hashlib import sha1
from time import perf_counter
from types import FunctionType
from typing import Any

import numpy as np


class Compiler:
    """numba, with the time that it takes of this process: imported, compiling, loading caches."""

    def __init__(self) -> None:
        start = perf_counter()
        import numba
        from numba.core import event

        self.numba, self._timer = numba, event.TimingListener()
        event.register("numba:compiler_lock", self._timer)
        self._imported = perf_counter() - start

    @property
    def seconds(self) -> float:
        """So far."""
        return self._imported + (self._timer.duration if self._timer.done else 0.0)


@cache
def compiler() -> Compiler | None:
    """The compiler of this process; None without numba."""
    try:
        return Compiler()
    except ImportError:
        return None


def loaded() -> Compiler | None:
    """The compiler, where something was compiled before: nothing is loaded for it."""
    return compiler() if compiler.cache_info().currsize else None


def compile_seconds() -> float:
    """Seconds that this process has spent on compiling so far; they are no solver's."""
    known = loaded()
    return 0.0 if known is None else known.seconds


class ByHand:
    """A first argument that is left to plain Python: it holds objects that numba does not know."""


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
        if self.fast is not self.plain:  # compiled code warns of nothing
            return self.fast(*arguments)
        with np.errstate(all="ignore"):
            return self.plain(*arguments)

    def settled(self, *arguments: Any) -> Callable[..., Any]:
        """The same for arguments of exactly these types, at which it does not look again.

        To look at tuples of arrays takes numba longer than a short loop.
        """
        known_compiler = compiler()
        if known_compiler is None or (arguments and isinstance(arguments[0], ByHand)):
            return self
        fast: Any = self.fast
        found: Callable[..., Any] = fast.compile(tuple(map(known_compiler.numba.typeof, arguments)))
        return found

    @property
    def called(self) -> dict[str, Loop]:
        """The loops that it calls, by name."""
        written: Any = self.plain
        known = {name: written.__globals__.get(name) for name in written.__code__.co_names}
        return {name: each for name, each in known.items() if isinstance(each, Loop)}

    @property
    def mark(self) -> str:
        """A digest of its code, of its constants and of what it calls, wherever that is written."""
        written: Any = self.plain
        code, known = written.__code__, written.__globals__
        numbers = [known[k] for k in code.co_names if isinstance(known.get(k), int | float)]
        constants = [each for each in code.co_consts if not hasattr(each, "co_code")]
        marks = [each.mark for each in self.called.values()]
        text = repr((code.co_code, code.co_names, constants, numbers, marks))
        return sha1(text.encode(), usedforsecurity=False).hexdigest()[:8]

    @cached_property
    def fast(self) -> Callable[..., Any]:
        """The compiled function, or the plain one without numba."""
        return self._compile(lambda numba: numba.njit)

    @cached_property
    def pointer(self) -> Any:
        """The same for three numbers and a number back, as a value that other loops can call.

        All such values are of one type: what takes them is compiled once.
        """
        return self._compile(lambda numba: partial(numba.cfunc, "f8(f8, f8, f8)"))

    def _compile(self, how: Callable[[Any], Callable[..., Any]]) -> Any:
        known_compiler = compiler()
        if known_compiler is None:
            return self.plain
        numba = known_compiler.numba
        written: Any = self.plain
        known = written.__globals__ | {name: each.fast for name, each in self.called.items()}
        function = FunctionType(written.__code__, known, written.__name__, written.__defaults__)
        # numba looks for its cache under this name, and at the date of this one file.
        function.__qualname__ = f"{written.__name__}_{self.mark}"
        function.__module__ = written.__module__
        try:
            return how(numba)(cache=True)(function)
        except RuntimeError:  # no folder to keep the cache in
            return how(numba)()(function)


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
