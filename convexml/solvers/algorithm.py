"""What the package knows of a hand-written solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..naming import arguments, solve_argument
from ..numerics import Array
from ..objective import Objective
from ..theory import Theorem
from .driver import Iterate
from .reference import EVERY_SOLVE


@dataclass(frozen=True)
class Algorithm:
    """A hand-written solver: a generator of iterates, what it needs, and its theorem.

    What models bring for themselves yields points of theirs, and is never started here.
    """

    name: str
    iterate: Callable[..., Iterator[Any]]
    needs: tuple[str, ...]
    max_iter: int
    theorem: Theorem | None = None

    def start(
        self,
        objective: Objective,
        w: Array,
        b: float,
        seed: int,
        options: Mapping[str, Any],
        carried: dict[str, Any] | None = None,
    ) -> Iterator[Iterate]:
        """Begin a run; ``seed`` and ``carried`` reach the algorithms that take them.

        What a run found out about the design is left in ``carried`` for the next one on a path.

        Raises
        ------
        InputError
            For an option that the algorithm does not know.
        """
        given = {"seed": seed, "carried": {} if carried is None else carried}
        takes = list(arguments(self.iterate))[3:]
        ours = {key: value for key, value in given.items() if key in takes}
        try:
            return self.iterate(objective, w.copy(), b, **ours, **options)
        except TypeError as error:
            known = [key for key in takes if key not in given]
            unknown = next((key for key in options if key not in known), None)
            if unknown is None:
                raise InputError(f"{self.name}: {error}.") from None
            has = f"its options: {', '.join(known)}" if known else "it has none"
            raise InputError(
                f"{self.name}: there is no option {unknown!r}; {has}. {EVERY_SOLVE}"
                f"{solve_argument(unknown)}"
            ) from None
