"""The design matrix behind one protocol."""

from .ahead import ahead
from .base import Design
from .blocked import BlockedDesign
from .by_blocks import OneByOne, by_blocks, in_blocks, rows_in_blocks
from .dense import DenseDesign
from .scaled import ScaledDesign, last_scores, last_slopes, remember_scores, unscaled
from .single import SingleDesign, cached_rows, is_single
from .some_rows import SomeRows
from .sparse import SparseDesign
from .stacked import StackedDesign
from .wrap import as_design

__all__ = [
    "BlockedDesign",
    "DenseDesign",
    "Design",
    "OneByOne",
    "ScaledDesign",
    "SingleDesign",
    "SomeRows",
    "SparseDesign",
    "StackedDesign",
    "ahead",
    "as_design",
    "by_blocks",
    "cached_rows",
    "in_blocks",
    "is_single",
    "last_scores",
    "last_slopes",
    "remember_scores",
    "rows_in_blocks",
    "unscaled",
]
