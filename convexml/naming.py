"""Names of arguments and attributes: which there are, and what to say of one that is not there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache, wraps
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, TypeVar

from .errors import InputError, NoSuchNameError, instead, nearest
from .remedies import ALIASES

P = ParamSpec("P")
R = TypeVar("R")

SOLVE: Mapping[str, str] = {
    **dict.fromkeys(("maxiter", "max_iters", "maxiters", "n_iter", "iterations"), "max_iter"),
    **dict.fromkeys(("eps", "abstol", "reltol", "tolerance", "gap"), "tol"),
    **dict.fromkeys(("time_limit", "timeout", "max_time", "seconds"), "max_seconds"),
    **dict.fromkeys(("verbose", "verbosity", "disp"), "progress"),
    **dict.fromkeys(("random_state", "random_seed"), "seed"),
    **dict.fromkeys(("warm_start", "x0", "init", "coef_init"), "w0"),
    **dict.fromkeys(("method", "algorithm"), "solver"),
    **{name: name for name in ("solver", "tol", "max_seconds", "max_iter", "seed", "w0")},
    **{name: name for name in ("progress", "polish")},
}
"""What other libraries call the arguments of ``solve``, and ours."""


@cache
def arguments(call: Callable[..., Any]) -> Mapping[str, Parameter]:
    """What a function or a constructor takes, by name."""
    return signature(call).parameters


def refuse_unknown(
    call: Callable[..., Any],
    names: Iterable[str],
    owner: str,
    advice: Callable[[str], str] | None = None,
) -> None:
    """Raise InputError for a keyword that ``call`` does not take, with the nearest that it does.

    ``advice`` has words of its own for some names, else an empty string.
    """
    taken = arguments(call)
    for name in names:
        if name not in taken:
            if any(each.kind is Parameter.VAR_KEYWORD for each in taken.values()):
                return
            known = [key for key in taken if key != "self"]
            words = advice(name) if advice is not None else ""
            raise InputError(
                f"{owner}: there is no argument {name!r}.{words or instead(name, known)}"
            )


def known_keywords(owner: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a function: a keyword that it lacks is answered with the nearest that it has."""

    def decorate(call: Callable[P, R]) -> Callable[P, R]:
        known = arguments(call).keys()

        @wraps(call)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            if not known >= kwargs.keys():
                refuse_unknown(call, kwargs, owner, lambda name: solve_argument(name, known))
            return call(*args, **kwargs)

        return checked

    return decorate


def solve_argument(name: str, known: Collection[str] = SOLVE.values()) -> str:
    """Advice for a name that another library gives to one of the arguments that are known."""
    return f" Did you mean {SOLVE[name]!r}?" if SOLVE.get(name, "") in known else ""


def no_such_name(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """The error of a module that has no such attribute."""
    if name.startswith("_"):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    advice = instead(ALIASES.get(name.lower(), name), names)
    return NoSuchNameError(f"module {module!r} has no attribute {name!r}.{advice}")


class PublicNames:
    """Lists its public names, and of a name that it lacks says what there is instead."""

    elsewhere: ClassVar[Mapping[str, str]] = {}
    """What people look for here, by name, and what to do instead."""

    def __dir__(self) -> list[str]:
        hidden = ("elsewhere",)
        return [n for n in super().__dir__() if not n.startswith("_") and n not in hidden]

    def _who(self) -> str:
        return type(self).__name__

    def _advice(self, name: str) -> str:
        """What to do instead of asking for this name."""
        return f" {found}." if (found := self.elsewhere.get(name)) else ""

    if not TYPE_CHECKING:  # else every name would do

        def __getattr__(self, name: str) -> Any:  # of what an instance does not have
            if name.startswith("_"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            if hasattr(type(self), name):  # a property that raised, in its own words
                return object.__getattribute__(self, name)
            advice = self._advice(name) or nearest(name, dir(self))
            advice = advice or " dir(...) lists what it has."
            raise NoSuchNameError(f"{self._who()} has no attribute {name!r}.{advice}")
