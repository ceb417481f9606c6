"""The table of the hand-written solvers: name, algorithm, needs, limit, theorem."""

from __future__ import annotations

from ..theory import Descent
from .gradient_descent import gradient_descent
from .newton import newton
from .registry import register

register("newton", newton, ("smooth loss", "smooth penalty"), max_iter=100, theorem=Descent())
register(
    "gradient_descent",
    gradient_descent,
    ("smooth loss", "smooth penalty", "bounded curvature"),
    max_iter=10_000,
)
