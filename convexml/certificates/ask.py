"""Ask a conic solver for a hint: whatever it answers is repaired and evaluated by us."""

from __future__ import annotations

import warnings
from typing import Any


def ask_clarabel(problem: Any, **settings: Any) -> bool:
    """Solve a CVXPY problem quietly; False where the solver gives up or crashes.

    A crash costs a hint, never the certificate: Rust panics, which are no ``Exception``, included.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver="CLARABEL", **settings)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        return False
    return True
