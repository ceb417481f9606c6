"""What a student wrote: the arguments it asks for, and the iterates that it yields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ..errors import InputError, instead
from ..numerics import Array
from ..solvers.printed import Printed, level

HYPERPARAMETERS = ("C", "radius", "delta", "eps", "tau")


def arguments(page: Printed, problem: Any, step: Any, seed: int) -> dict[str, Any]:
    """What a solver may ask for, by the names of its parameters."""
    objective = page.objective
    known = {
        "X": page.X[:, :-1].copy(),
        "y": objective.y.copy(),
        "lam": level(objective),
        "n": objective.n,
        "d": objective.d,
        "w": np.zeros(objective.d),
        "b": 0.0,
        "step": step,
        "rho": step,
        "seed": seed,
        "rng": np.random.default_rng(seed),
        "problem": problem,
    }
    return known | {n: getattr(problem, n) for n in HYPERPARAMETERS if hasattr(problem, n)}


def iterates(
    solver: Callable[..., Any], page: Printed, known: dict[str, Any], count: int
) -> tuple[list[Array], str]:
    """The first points (w, b), at most ``count``, and what the solver raised, in words."""
    asked = inspect.signature(solver).parameters
    wanted = [p for p in asked.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    missing = [p.name for p in wanted if p.name not in known and p.default is p.empty]
    if missing:
        raise InputError(
            f"grade: the solver has a parameter {missing[0]!r}; it may ask for "
            f"{', '.join(name for name in known if name != 'asked')}.{instead(missing[0], known)}"
        )
    points: list[Array] = []
    told = ""
    with np.errstate(all="ignore"):
        try:
            run = solver(**{p.name: known[p.name] for p in wanted if p.name in known})
            if not isinstance(run, Iterator):
                raise InputError(
                    f"grade: the solver must be a generator of iterates (w, or w and b); it "
                    f"returned {type(run).__name__}. Write yield where an iterate is reached."
                )
            for point in islice(run, count):
                points.append(packed(point, page))
        except InputError:
            raise
        except Exception as error:
            told = f"{type(error).__name__}: {error}"
    return points, told


def packed(point: Any, page: Printed) -> Array:
    """(w, b) as one new array; b is 0 where it was not yielded."""
    d = page.objective.d
    if isinstance(point, tuple) and len(point) == 2:
        x = np.append(np.ravel(np.asarray(point[0], dtype=float)), float(point[1]))
    else:
        x = np.array(point, dtype=float).ravel()
        x = np.append(x, 0.0) if len(x) == d else x
    if len(x) != d + 1:
        raise InputError(
            f"grade: an iterate must be w of {d} numbers, or (w, b); it has {np.size(x)} numbers."
        )
    return x
