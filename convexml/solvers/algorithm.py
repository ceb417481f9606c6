"""What the package knows of a hand-written solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

from ..errors import InputError
from ..numerics import Array
from ..objective import Objective
from ..theory import Theorem
from .driver import Iterate
from .reference import EVERY_SOLVE


@dataclass(frozen=True)
class Algorithm:
    """A hand-written solver: a generator of iterates, what it needs, and its theorem."""

    name: str
    iterate: Callable[..., Iterator[Iterate]]
    needs: tuple[str, ...]
    max_iter: int
    theorem: Theorem | None = None

    def start(
        self, objective: Objective, w: Array, b: float, seed: int, options: Mapping[str, Any]
    ) -> Iterator[Iterate]:
        """Begin a run; ``seed`` reaches the algorithms that take one.

        Raises
        ------
        InputError
            For an option that the algorithm does not know.
        """
        chance = {"seed": seed} if "seed" in signature(self.iterate).parameters else {}
        try:
            return self.iterate(objective, w.copy(), b, **chance, **options)
        except TypeError as error:
            known = [key for key in list(signature(self.iterate).parameters)[3:] if key != "seed"]
            unknown = next((key for key in options if key not in known), None)
            if unknown is None:
                raise InputError(f"{self.name}: {error}.") from None
            has = f"its options: {', '.join(known)}" if known else "it has none"
            raise InputError(
                f"{self.name}: there is no option {unknown!r}; {has}. {EVERY_SOLVE}"
            ) from None
