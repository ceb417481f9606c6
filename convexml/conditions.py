"""The optimality conditions of a learning problem as plain data: named rows, and what each sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from .blocks import BlockArray
from .numerics import Array

TINY = float(np.finfo(float).tiny)
LONGEST = 40
"""Characters of a name that a line of text has room for."""
KINDS = ("stationarity", "primal_feasibility", "dual_feasibility", "complementary_slackness")


@dataclass(frozen=True)
class Condition:
    """One named optimality condition, measured at the point.

    Attributes
    ----------
    name : str
        The condition as a textbook writes it.
    kind : str
        One of ``KINDS``.
    residual : float
        Absolute violation of the worst entry, the relatively largest; 0 means met.
    scale : float
        Size of the worst row in the data: feasibility counts relative to it.
    index : int or None
        Where the worst violation sits.
    rounding : float
        A bound on the error of ``residual``.
    among : int
        How many entries it is the worst of.
    column : str
        The name of the column of X that it belongs to, where it has one.
    shape : tuple of int
        Of the matrix that it is an entry of, which ``index`` counts by rows; empty for a vector.
    largest : float
        The largest absolute violation of any entry, where that is another one.
    """

    name: str
    kind: str
    residual: float
    scale: float = 1.0
    index: int | None = None
    rounding: float = 0.0
    among: int = 1
    column: str = ""
    shape: tuple[int, ...] = ()
    largest: float = 0.0

    @property
    def relative(self) -> float:
        """``residual / scale``, dimensionless; inf where it is not a number."""
        if self.residual == 0.0:
            return 0.0
        ratio = self.residual / self.scale if 0.0 < self.scale < np.inf else np.inf
        return np.inf if np.isnan(ratio) else ratio

    def meets(self, tol: float) -> bool:
        """Whether the residual is certainly at most ``tol`` relative; nan is not."""
        met = self.residual + self.rounding <= tol * self.scale < np.inf
        return bool(met) or self.residual == 0.0

    def breaks(self, tol: float) -> bool:
        """Whether the residual is certainly more than ``tol`` relative; nan is not."""
        return bool(self.residual - self.rounding > tol * self.scale)

    def where(self) -> str:
        """The index of the worst entry, with the name of its column; "" where all is met.

        Of a matrix (i, j), by rows.
        """
        if self.index is None or not self.residual > 0.0:
            return ""
        at = str(self.index)
        if len(self.shape) > 1:
            at = f"({', '.join(map(str, np.unravel_index(self.index, self.shape)))})"
        return f"{at} ({one_line(self.column)})" if self.column else at

    def of_columns(self, names: Sequence[str], outputs: int = 1) -> Condition:
        """With the name of its column, where it is the worst of one row a column and output."""
        if self.index is None or self.among != len(names) * outputs:
            return self
        shape = self.shape if outputs == 1 else (len(names), outputs)
        return replace(self, column=names[self.index // outputs], shape=shape)

    def named(self, name: str) -> Condition:
        """The same in other words."""
        return replace(self, name=name)


def one_line(name: str) -> str:
    """A name as part of a line: no character that moves the cursor, and not too long."""
    told = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in name)
    return told if len(told) <= LONGEST else f"{told[: LONGEST - 3]}..."


def worst(name: str, kind: str, residual: Any, scale: Any = 1.0, rounding: Any = 0.0) -> Condition:
    """Condense a vector of violations into the row of the relatively largest one.

    Parameters
    ----------
    name, kind : str
        As in ``Condition``.
    residual : array or float
        Violations, any shape.
    scale : array or float
        Size of each row in the data; where it is 0, only a violation of 0 is small.
    rounding : array or float
        Bounds on the errors of the violations.
    """
    found = np.abs(_numbers(residual))
    shape, values = found.shape if found.ndim > 1 else (), found.ravel()
    if values.size == 0:
        return Condition(name, kind, 0.0)
    scales, errors = (_numbers(each).ravel() for each in (scale, rounding))
    ratio = values
    if scales.size > 1 or not scales[0] > 0.0:
        with np.errstate(over="ignore"):
            ratio = values / np.fmax(scales, TINY)
    index = int(np.argmax(ratio))  # nan is the largest of all
    most, size, error = (
        float(each[index if each.size > 1 else 0]) for each in (values, scales, errors)
    )
    most = np.inf if isnan(most) else most
    largest = most if scales.size == 1 else float(np.max(values))
    largest = largest if largest > most else 0.0
    return Condition(name, kind, most, size, index, error, values.size, "", shape, largest)


def _numbers(x: Any) -> Any:
    return x if isinstance(x, BlockArray) else np.asarray(x, dtype=float)


def products(name: str, values: Array | float) -> Condition:
    """Products of multipliers and slacks: terms of the gap, which count on its scale."""
    return worst(name, "complementary_slackness", values)


class Words(NamedTuple):
    """What a loss calls u in the rows of a whole problem.

    Attributes
    ----------
    push, balance : str
        X'u, with a minus in front where it is a sum of multipliers, and the row 1'u = 0.
    slope : str
        l'(y, z), where a smooth penalty is to have its stationarity in w alone.
    """

    push: str = "X'u"
    balance: str = "1'u = 0"
    slope: str = ""


@dataclass(frozen=True, eq=False)
class AtSamples:
    """A point as a loss sees it, and the rows that every loss has.

    Attributes
    ----------
    y, c : array, shape (n,)
    z, u : array, shape (n,), or (n, K) for K classes
        Predictions and dual point.
    u_sizes : array
        The size of each u_i, in the shape that multiplies u.
    prediction : str
        z in words: Xw + b.
    slopes, domain, feasible : Condition
        u_i/c_i in dl(y_i, z_i), by Fenchel-Young terms at a kink; u/c in dom l*; z in dom l.
    """

    y: Array
    c: Array
    z: Array
    u: Array
    u_sizes: Array
    prediction: str
    row: Callable[[str], Condition]
    """Measures the last three, by name, for those that ask."""

    @cached_property
    def slopes(self) -> Condition:
        return self.row("slopes")

    @cached_property
    def domain(self) -> Condition:
        return self.row("domain")

    @cached_property
    def feasible(self) -> Condition:
        return self.row("feasible")


@dataclass(frozen=True, eq=False)
class AtFeatures:
    """A point as a penalty sees it, and the rows that every penalty has.

    Attributes
    ----------
    w, v : array, shape (d,)
        Coefficients and -X'u.
    w_sizes, v_sizes : array, shape (d,)
        The size of each of them.
    push : str
        X'u in the words of the loss.
    inclusion, domain, feasible : Condition
        -X'u in dOmega(w), by a prox step; -X'u in dom Omega*; w in dom Omega.
    slope : Condition
        As ``inclusion``, with the slope of the loss for u where the loss has words for it, and
        these for its name.
    """

    w: Array
    v: Array
    w_sizes: Array
    v_sizes: Array
    push: str
    inclusion: Condition
    domain: Condition
    feasible: Condition
    slope: Condition

    def equation(self, gradient: str) -> Condition:
        """The row X'u + ``gradient`` = 0 of a smooth penalty."""
        return self.slope.named(vanishing(self.slope.name, gradient))


def vanishing(push: str, gradient: str = "") -> str:
    """X'u + gradient = 0 in words; a sum of multipliers goes to the other side."""
    if push.startswith("-"):
        return " = ".join([gradient, push[1:]] if gradient else [push[1:], "0"])
    return " + ".join(filter(None, (push, gradient))) + " = 0"
