"""A frame whose objective is in units of its own size, once an answer has told it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..errors import InputError
from .frame import ORDINARY, Frame, power_near


def resized(frame: Frame, size: float) -> Frame:
    """The same coordinates with the objective in units of a power of two near ``size``.

    Weights over many orders hide how small P* is, and a solver's tolerances are beside 1.
    """
    inner, factor = frame.objective, power_near(size / frame.factor, ORDINARY)
    try:
        penalty = inner.penalty.in_units(np.ones(inner.d), 1.0 / factor)
    except InputError:  # a strength beyond float64
        return frame
    c = inner.c if inner.loss.is_indicator else inner.c / factor
    if factor == 1.0 or penalty is None or not (np.all(np.isfinite(c)) and np.all(c > 0.0)):
        return frame
    inner = replace(inner, penalty=penalty, c=c)
    return replace(frame, objective=inner, factor=factor * frame.factor, is_trivial=False)
