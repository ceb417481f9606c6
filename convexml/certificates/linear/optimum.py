"""What HiGHS says of a linear program, in equilibrated units first: to be verified by us."""

from __future__ import annotations

from collections.abc import Iterator

from ...numerics import Array
from ...objective.linear.data import LinearData
from ..algebra.highs import Optimum, highs
from .bound import equilibrated
from .ray import find_ray


def optima(data: LinearData) -> Iterator[Optimum]:
    """The optimum found in equilibrated units, and where that is none in its own; both kept."""
    scaled = equilibrated(data)
    if scaled is not None:
        if "optimum" not in data.memo:
            found = highs(scaled.data)
            if found.x is not None and found.lambda_ub is not None and found.nu is not None:
                duals = scaled.multipliers({"lambda_ub": found.lambda_ub, "nu": found.nu})
                x = scaled.point(found.x).clip(data.lower, data.upper)
                found = Optimum(found.status, x, **duals)
            data.memo["optimum"] = found
        yield data.memo["optimum"]
        if data.memo["optimum"].x is not None:
            return
    if "own optimum" not in data.memo:
        data.memo["own optimum"] = highs(data)
    yield data.memo["own optimum"]


def rays(data: LinearData) -> Iterator[Array]:
    """Directions of descent of the recession cone, found in equilibrated units or its own."""
    scaled = equilibrated(data)
    if scaled is not None and (ray := find_ray(scaled.data)) is not None:
        yield scaled.ray(ray)
    elif (ray := find_ray(data)) is not None:
        yield ray
