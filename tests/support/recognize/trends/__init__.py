"""Trend filters as people write them in CVXPY, and what only looks like one."""

from .posed import NO_TRENDS, SIGNAL, TRENDS

__all__ = ["NO_TRENDS", "SIGNAL", "TRENDS"]
