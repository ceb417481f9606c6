"""Learning problems as people write them in CVXPY, and others that only look like them."""

from . import (
    everyday,
    likelihoods,
    margins,
    misses_of_losses,
    programs,
    robust,
    squares,
    structured,
)
from .misses import MISSES, Miss
from .statement import STATEMENTS, Statement

__all__ = [
    "MISSES",
    "STATEMENTS",
    "Miss",
    "Statement",
    "everyday",
    "likelihoods",
    "margins",
    "misses_of_losses",
    "programs",
    "robust",
    "squares",
    "structured",
]
