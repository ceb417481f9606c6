"""The design matrix behind one protocol."""

from .base import Design
from .dense import DenseDesign
from .scaled import ScaledDesign, last_scores, last_slopes, remember_scores, unscaled
from .sparse import SparseDesign
from .stacked import StackedDesign
from .wrap import as_design

__all__ = [
    "DenseDesign",
    "Design",
    "ScaledDesign",
    "SparseDesign",
    "StackedDesign",
    "as_design",
    "last_scores",
    "last_slopes",
    "remember_scores",
    "unscaled",
]
