"""Trend filters: squared distances from a signal, and absolute differences of some order.

- ``differences``: whether rows are differences of neighbours, and of which order.
- ``posing``: the signal, and the trend filter in its own units.
- ``verifying``: what was read against what CVXPY computes from the expressions as written.
- ``answering``: solved, filled, certified as written.
"""

from .posing import PosedTrend, pose_trend

__all__ = ["PosedTrend", "pose_trend"]
