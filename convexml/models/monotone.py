"""Monotone (isotonic) regression."""

from __future__ import annotations

from collections.abc import Iterator
from math import fsum
from typing import Any, ClassVar

import numpy as np

from ..certificates.shape import Monotone
from ..errors import InputError
from ..formulas import listed
from ..solvers.exact import pool_adjacent_violators
from ..validation import finite_array, yes_or_no
from .arrays import Arrays, SumProblem
from .inputs import read_weights, refuse_squares
from .latex import WEIGHTS, Latex, such_that
from .pictures.answers import draw_curve
from .solution import Solution


class MonotoneRegression(SumProblem):
    r"""Minimise sum_i s_i (y_i - w_i)^2 / 2 / sum_i s_i s.t. w_1 <= w_2 <= ... <= w_n.

    Parameters
    ----------
    y : array, shape (n,)
        Targets, in the order in which w is to rise.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0. A sample of weight 0 has no say, and the w of the one before it.
    increasing : bool
        False: w_1 >= ... >= w_n.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, bad weights, and y whose squares are beyond
        float64.

    Notes
    -----
    With c_i = s_i / sum s the multipliers alpha >= 0 of w_i <= w_{i+1} are the cumulative sums of
    residuals, alpha_i = sum_{j <= i} c_j (y_j - w_j) (with the other sign where w is to fall), and
    the gap is a sum of terms >= 0 that are computed as such, measured on max(|P|, |D|, 1e-6 P_0),
    P_0 = sum_i c_i (y_i - c'y)^2 / 2 of the mean alone. w is constant on blocks, the mean of each.

    References
    ----------
    Barlow, Bartholomew, Bremner and Brunk, *Statistical Inference under Order Restrictions* (1972).
    """

    methods: ClassVar[tuple[str, ...]] = ("pool_adjacent_violators",)
    why: ClassVar[str] = "one pass over the samples ends at the optimum"
    _asks = False
    program: Monotone
    """The problem as its certificate sees it."""

    def __init__(self, y: Any, *, sample_weight: Any = None, increasing: bool = True) -> None:
        target = finite_array(y, self.name, "y")
        if target.ndim == 2 and target.shape[1] == 1:
            target = target[:, 0]
        if target.ndim != 1 or not target.size:
            raise InputError(
                f"{self.name}: y must be a vector with one entry or more, got shape {target.shape}."
                " Pass the targets in the order in which w is to rise."
            )
        self._y, s = target, read_weights(self.name, sample_weight, len(target))
        self._sample_weight = s
        sign = 1.0 if yes_or_no(increasing, self.name, "increasing") else -1.0
        self.program = Monotone(target, s / fsum(s), sign)
        refuse_squares(self.name, "squares of y", target[s > 0.0], self.program.null)
        self._hyper = {}

    @property
    def increasing(self) -> bool:
        """Whether w rises."""
        return self.program.sign > 0.0

    # -- as the base asks ------------------------------------------------------------------------

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        program = self.program
        for w, alpha in pool_adjacent_violators(program.y, program.c, program.sign):
            yield {"w": w}, {"alpha": alpha}

    def draw(self, axes: Any, solution: Solution) -> None:
        """The targets in their order, and w."""
        w = solution.primal["w"]
        words = f"{len(np.unique(w))} levels of {w.size} samples"
        draw_curve(axes, np.arange(w.size), self.program.y, w, words)

    # -- stored, told in LaTeX -------------------------------------------------------------------

    def _formulas(self) -> Latex:
        order = r"w_i \le w_{i+1}" if self.increasing else r"w_i \ge w_{i+1}"
        step = "w_i - w_{i+1}" if self.increasing else "w_{i+1} - w_i"
        pull = r"\alpha_i - \alpha_{i-1}" if self.increasing else r"\alpha_{i-1} - \alpha_i"
        value = r"\tfrac12 \sum_i c_i (y_i - w_i)^2"
        signs, some = r"\alpha \ge 0", bool(np.any(self.program.c == 0.0))
        over, absent = ("{i : c_i > 0}", r"t_i = 0\ (i : c_i = 0)") if some else ("i", "")
        return Latex(
            rf"\min_w\ {value}" + such_that(order),
            rf"{value} + \sum_i \alpha_i ({step})",
            rf"\max_\alpha\ \sum_i y_i t_i - \sum_{over} \tfrac{{1}}{{2 c_i}} t_i^2"
            + such_that(f"t_i = {pull}", signs, absent),
            (
                f"c_i (w_i - y_i) + {pull} = 0",
                order,
                signs,
                rf"\alpha_i ({step}) = 0",
            ),
            listed(r"c_i = \tfrac{s_i}{\sum_l s_l}", r"\alpha_0 = \alpha_n = 0", WEIGHTS),
        )

    def __repr__(self) -> str:
        way = "increasing" if self.increasing else "decreasing"
        return f"{self.name}({len(self.program.y)} samples, {way})"
