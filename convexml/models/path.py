"""What ``path`` returns: the solutions for some values of a hyperparameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .pictures.along import PicturedPath


class SolutionPath(PicturedPath, list[Any]):
    """Solutions in the order of ``lams``: a list, with a picture.

    Parameters
    ----------
    name : str
        The hyperparameter: "lam", "C", "radius" or "nu".
    lams : sequence of float, shape (m,)
        Its values.
    solutions : sequence of Solution
        One for each value.
    """

    def __init__(self, name: str, lams: Any, solutions: Sequence[Any]) -> None:
        list.__init__(self, solutions)
        self.name, self.lams = name, np.asarray(lams, dtype=float)
