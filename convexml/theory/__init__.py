"""Theorems: rates of convergence and statistical bounds, as functions and as checks."""

from .accelerated import AcceleratedRate, accelerated_value
from .claim import Claim
from .constants import (
    gradient_noise,
    lipschitz,
    loss_smoothness,
    loss_strong_convexity,
    penalty_slope,
    penalty_strong_convexity,
    radius,
    sample_smoothness,
    smoothness,
    strong_convexity,
)
from .gradient_descent import (
    GradientDescentRate,
    SearchedDescent,
    gradient_descent_distance,
    gradient_descent_value,
)
from .monotone import Descent, DualAscent
from .proximal_gradient import ProximalGradientRate, proximal_gradient_rate
from .subgradient import SubgradientRate, subgradient_value
from .theorem import Theorem
from .trajectory import Reference, Trajectory

__all__ = [
    "AcceleratedRate",
    "Claim",
    "Descent",
    "DualAscent",
    "GradientDescentRate",
    "ProximalGradientRate",
    "Reference",
    "SearchedDescent",
    "SubgradientRate",
    "Theorem",
    "Trajectory",
    "accelerated_value",
    "gradient_descent_distance",
    "gradient_descent_value",
    "gradient_noise",
    "lipschitz",
    "loss_smoothness",
    "loss_strong_convexity",
    "penalty_slope",
    "penalty_strong_convexity",
    "proximal_gradient_rate",
    "radius",
    "sample_smoothness",
    "smoothness",
    "strong_convexity",
    "subgradient_value",
]
