"""Samples whose rows lie in blocks: in memory, in files, or wherever a function finds them."""

from .row_blocks import BROUGHT, RowBlocks

__all__ = ["BROUGHT", "RowBlocks"]
