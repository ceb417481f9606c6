"""The constants that the theorems ask for, computed from the data of an objective.

The variable is x = (w, b): X~ = [X 1] where b is free, X otherwise; r_i = |x~_i|.
"""

from .largest_curvature import (
    loss_smoothness,
    sample_loss_smoothness,
    sample_smoothness,
    smoothness,
)
from .least_curvature import loss_strong_convexity, penalty_strong_convexity, strong_convexity
from .noise import gradient_noise
from .slopes import lipschitz, penalty_slope, radius

__all__ = [
    "gradient_noise",
    "lipschitz",
    "loss_smoothness",
    "loss_strong_convexity",
    "penalty_slope",
    "penalty_strong_convexity",
    "radius",
    "sample_loss_smoothness",
    "sample_smoothness",
    "smoothness",
    "strong_convexity",
]
