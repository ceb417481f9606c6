"""Duals of learning problems as people pose them, and programs that only look like one."""

from .posed import DUALS, KERNEL, NO_DUALS, S, X, margin, of_a_kernel, sides, y

__all__ = ["DUALS", "KERNEL", "NO_DUALS", "S", "X", "margin", "of_a_kernel", "sides", "y"]
