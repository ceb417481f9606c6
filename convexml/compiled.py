"""Inner loops: compiled by numba where it is installed (the extra "fast"), else plain Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache, cached_property, partial, update_wrapper
from hashlib import sha1
from time import perf_counter
from types import FunctionType
from typing import Any

import numpy as np

from .progress import operation

ENOUGH = 1e6
"""Microseconds of a loop in plain Python, about what it takes to compile it: no process spends much
more than twice what it had to, and a small problem compiles nothing."""
COMPILING = "compiling once (numba)"


class Compiler:
    """numba, with the time that it takes of this process: imported, compiling, loading caches."""

    def __init__(self) -> None:
        start = perf_counter()
        import numba
        from numba.core import event

        class Timer(event.TimingListener):
            """Says what takes so long, besides."""

            said = ExitStack()

            def on_start(self, event: Any) -> None:
                if self._depth == 0:
                    self.said.enter_context(operation(COMPILING))
                super().on_start(event)

            def on_end(self, event: Any) -> None:
                super().on_end(event)
                if self._depth == 0:
                    self.said.close()

        self.numba, self._timer = numba, Timer()
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


def compile_seconds() -> float:
    """Seconds that this process has spent on compiling so far; they are no solver's."""
    known = compiler() if compiler.cache_info().currsize else None
    return 0.0 if known is None else known.seconds


class LoopArgument(ABC):
    """A first argument of plain Python, and what compiled loops take in its place."""

    @abstractmethod
    def for_loops(self) -> Any:
        """The same in types that numba knows."""


class ByHand:
    """A first argument that is left to plain Python: it holds objects that numba does not know."""


class Loop:
    """A function that is compiled, and cached between runs, once plain Python did enough of it.

    It may call other loops. ``plain`` is the function as written; ``work`` says about how many
    microseconds plain Python takes, from the arguments alone: no clock decides. A loop without
    that is compiled only with one that calls it.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        by_hand: Callable[..., Any] | None = None,
        work: Callable[..., float] | None = None,
    ) -> None:
        self.plain, self.by_hand, self.work = function, by_hand or function, work
        self.done, self.is_fast = 0.0, False
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        if arguments and isinstance(arguments[0], ByHand):
            return self.by_hand(*arguments)
        if self.is_fast or self.pays(*arguments):  # compiled code warns of nothing
            first, *others = arguments
            return self.fast(
                first.for_loops() if isinstance(first, LoopArgument) else first, *others
            )
        with np.errstate(all="ignore"):
            return self.plain(*arguments)

    def pays(self, *arguments: Any) -> bool:
        """Whether it runs compiled from here on: what it did before and this is ``ENOUGH``."""
        if not self.is_fast and self.work is not None:
            self.done += self.work(*arguments)
            self.is_fast = self.done > ENOUGH and compiler() is not None
        return self.is_fast

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
    function: Callable[..., Any] | None = None,
    *,
    by_hand: Callable[..., Any] | None = None,
    work: Callable[..., float] | None = None,
) -> Any:
    """Compile a function of arrays and numbers once that pays.

    Parameters
    ----------
    function : callable
        In the part of Python that numba understands.
    by_hand : callable, optional
        What runs instead where the first argument is a ``ByHand``.
    work : callable, optional
        Of the same arguments: microseconds that a call takes in plain Python, about or at most.

    Returns
    -------
    Loop
        Gives the same numbers with and without numba.
    """
    found = partial(Loop, by_hand=by_hand, work=work)
    return found if function is None else found(function)
