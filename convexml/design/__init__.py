"""The design matrix behind one protocol."""

from .base import Design
from .blocked import BlockedDesign, in_blocks
from .dense import DenseDesign
from .scaled import ScaledDesign, last_scores, last_slopes, remember_scores, unscaled
from .sparse import SparseDesign
from .stacked import StackedDesign
from .wrap import as_design

__all__ = [
    "BlockedDesign",
    "DenseDesign",
    "Design",
    "ScaledDesign",
    "SparseDesign",
    "StackedDesign",
    "as_design",
    "in_blocks",
    "last_scores",
    "last_slopes",
    "remember_scores",
    "unscaled",
]
