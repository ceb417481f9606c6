"""How many draws a test makes: a few in every run, all of them in the slow suite."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable
from functools import wraps
from typing import Any

import pytest


def sizes(few: int, full: int) -> list[Any]:
    """Of a parameter: ``few``, and the full number for pytest -m slow."""
    return [few, pytest.param(full, marks=pytest.mark.slow)]


def by_turns(cases: Iterable[Any], every: int = 2, turn: int = 0) -> list[Any]:
    """Of a parameter: one case of so many, by turns, and the others for pytest -m slow."""
    found = []
    for k, case in enumerate(cases):
        values, name = getattr(case, "values", case), getattr(case, "id", None)
        values = values if isinstance(values, tuple) else (case,)
        marks = (*getattr(case, "marks", ()), *([pytest.mark.slow] if k % every != turn else []))
        found.append(pytest.param(*values, id=name, marks=marks))
    return found


def quick(cases: Iterable[Any], always: Container[Any]) -> list[Any]:
    """Of a parameter: those cases always, and the others for pytest -m slow."""
    marks = {True: (), False: pytest.mark.slow}
    return [pytest.param(case, marks=marks[case in always]) for case in cases]


def each_seed(seeds: Iterable[int]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Judge every seed in one test: of hundreds of small ones, most of the time was pytest's.

    An error says at which seed. Called with its arguments, seed first, it judges that seed alone.
    """

    def over(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run(*one: Any, **given: Any) -> None:
            if one:
                return test(*one, **given)
            for seed in seeds:
                try:
                    test(seed=seed, **given)
                except Exception as error:
                    error.add_note(f"seed {seed}")
                    raise

        own = inspect.signature(test)
        others = [each for name, each in own.parameters.items() if name != "seed"]
        run.__signature__ = own.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return over
