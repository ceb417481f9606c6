"""Samples whose rows lie in blocks: in memory, in files, or wherever a function finds them."""

from .row_blocks import RowBlocks

__all__ = ["RowBlocks"]
