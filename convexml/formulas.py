"""What losses and penalties say of themselves: LaTeX, CVXPY's terms, optimality conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import isnan
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .data import BlockArray
from .errors import InputError
from .modelling import cp
from .numerics import Array
from .validation import finite_number, float_array, nonnegative_number, positive_number

# What losses, penalties and kernels say of themselves in LaTeX.


@dataclass(frozen=True)
class Symbol:
    r"""A vector or matrix in a formula and the names of its parts.

    Attributes
    ----------
    whole : str
        For example w, or X^\top u; what f"{w}" shows.
    entry : str
        One entry of it: w_j, or x_j^\top u.
    block : str
        The part of a group g of features: w_g, or X_g^\top u.
    index : str
        What runs over the entries: j, or {jk} for a matrix, whose norms are those of its entries.
    squared : str
        The squared Euclidean norm, where it is not written as such: q^\top K q.
    """

    whole: str
    entry: str = ""
    block: str = ""
    index: str = "j"
    squared: str = ""

    def __str__(self) -> str:
        return self.whole

    def norm(self, p: str) -> str:
        """The norm "1", "2" or "max" of the entries."""
        if self.index == "j":
            return rf"\|{self}\|_" + (r"\infty" if p == "max" else p)
        sums = {"1": rf"\sum_{self.index}", "max": rf"\max_{self.index}"}
        return rf"{sums[p]}|{self.entry}|" if p in sums else rf"\|{self}\|_F"

    def negative(self) -> Symbol:
        """The same with a minus in front."""
        return replace(self, whole=f"-{self}", entry=f"-{self.entry}", block=f"-{self.block}")

    @property
    def square(self) -> str:
        """The squared Euclidean norm."""
        return self.squared or f"{self.norm('2')}^2"


class Row(NamedTuple):
    r"""A constraint: one term \ge what is on the right, or what is on the left \le, = one term."""

    multiplier: str
    left: str
    sense: str
    right: str
    over: str = ""

    def __str__(self) -> str:
        return f"{self.left} {self.sense} {self.right}"

    @property
    def product(self) -> str:
        """The multiplier times what must be <= 0, or 0, without a sign in front."""
        if self.right == "0":
            return f"{self.multiplier} {self.left}"
        above = self.sense == r"\ge"
        first, last = (self.right, self.left) if above else (self.left, self.right)
        return rf"{self.multiplier}\left({first} - {last}\right)"

    @property
    def term(self) -> str:
        """What it adds to the Lagrangian."""
        sign = "-" if self.right == "0" and self.sense == r"\ge" else ""
        return (rf"{sign}\sum_{self.over} " if self.over else sign) + self.product

    @property
    def condition(self) -> str:
        """Feasibility, the sign of the multiplier, complementary slackness."""
        if self.sense == "=":
            return str(self)
        return rf"{self},\quad {self.multiplier} \ge 0,\quad {self.product} = 0"


class Tex(NamedTuple):
    r"""A convex function in LaTeX; what is empty is 0 (value, conjugate) or not there.

    Attributes
    ----------
    value : str
        l(y_i, z_i) of a loss, Omega(w) of a penalty, without the constraints in ``rows``.
    conjugate : str
        l*(y_i, v_i), or Omega*(v), on its domain.
    domain : str
        Where the conjugate is finite, with the abbreviations that it uses; empty for everywhere.
    slope : str
        The gradient, or a sum of subdifferentials (with \partial), multipliers included.
    rows : tuple of Row
        Constraints.
    names : str or None
        Of a loss: what its conditions name beside y_i, z_i, u_i and c_i, by statements. None: the
        loss itself, l(y_i, z_i); empty where they are variables and multipliers of the rows. Of a
        penalty: what its formulas name beside w, v and its strength.
    helpers : str
        The ``helpers`` of its ``Terms`` by what is left of the dual without them.
    """

    value: str = ""
    conjugate: str = ""
    domain: str = ""
    slope: str = ""
    rows: tuple[Row, ...] = ()
    names: str | None = None
    helpers: str = ""

    def defined(self, symbol: str) -> str:
        """The function by a symbol of its own."""
        rows = listed(*map(str, self.rows))
        return f"{symbol} = {self.value or 0}" + (rf"\ \text{{where}}\ {rows}" if rows else "")


class Weights(NamedTuple):
    """The sum over samples with its c_i, c_i alone, and v_i = u_i / c_i."""

    total: str
    each: str
    inverse: str


class Form(NamedTuple):
    """The sum of losses as one problem writes it: in z and u, or in slacks and multipliers.

    Attributes
    ----------
    rows : tuple of Row
        Its constraints.
    dual, gain : str
        The variables of the dual, and -sum_i c_i l*(y_i, u_i / c_i) in them, on ``domain``.
    push, sign : str
        -X'u = sign sum_i push x_i, with the sign - or none.
    over, cost : str
        The variables in place of the losses, and the sum of losses.
    slope : str
        Stationarity in these variables.
    helpers : str
        As of ``Tex``.
    """

    rows: tuple[Row, ...]
    dual: str
    gain: str
    push: str
    sign: str = ""
    over: str = ""
    cost: str = ""
    domain: str = ""
    slope: str = ""
    helpers: str = ""


def number(value: float) -> str:
    """A number to its last digit, in brackets where it has an exponent."""
    digits, _, exponent = repr(float(value)).partition("e")
    digits = digits.removesuffix(".0")
    return rf"({digits} \cdot 10^{{{int(exponent)}}})" if exponent else digits


def plus(*terms: str) -> str:
    """The sum of what is there."""
    return " + ".join(filter(None, terms)).replace(" + -", " - ") or "0"


def listed(*statements: str) -> str:
    """What is there, one after the other."""
    return r",\ ".join(filter(None, statements))


def times(factor: str, terms: str) -> str:
    """A product, in brackets where there are several terms outside brackets."""
    outside = terms
    while (shorter := re.sub(r"{[^{}]*}|\([^()]*\)|\[[^][]*\]|\|[^|]*\|", "", outside)) != outside:
        outside = shorter
    if factor and re.search("(?<!_)[+-]", outside):
        return rf"{factor} \left[{terms}\right]"
    return f"{factor} {terms}".strip()


def zero_where(entry: str, size: str) -> str:
    """What is not penalised at all has no slope."""
    return rf"{entry} = 0\ \text{{where}}\ {size} = 0"


def name_of(part: Any) -> str:
    """The class's name as an operator."""
    return rf"\operatorname{{{type(part).__name__}}}".replace("_", r"\_")


def told(part: Any, base: Any, method: str, value: str, *names: Any) -> Any:
    """What the part says of itself; what a subclass inherits for another value does not count."""
    kind: Any = type(part)
    return getattr(base if _is_stale(kind, method, value) else kind, method)(part, *names)


@cache
def _is_stale(kind: type, method: str, value: str) -> bool:
    """Whether a class has the value from a subclass of that which it has the words from."""
    says, is_worth = (next(c for c in kind.__mro__ if name in vars(c)) for name in (method, value))
    return says is not is_worth and issubclass(is_worth, says)


# A CVXPY expression together with the labelled constraints that give it its meaning.


class Terms(NamedTuple):
    """What a loss or a penalty contributes to a posed CVXPY problem.

    Attributes
    ----------
    value : cvxpy.Expression or float
        The contribution to the objective.
    constraints : dict
        Explicit constraints by label.
    helpers : tuple of str
        Of a conjugate: names of its variables that are no multipliers.
    """

    value: Any
    constraints: dict[str, Any]
    helpers: tuple[str, ...] = ()

    def total(self, weights: Array | None = None) -> tuple[Any, Iterable[Any]]:
        """The sum of the contributions, each times its weight, and the constraints."""
        value = self.value if weights is None else cp.multiply(weights, self.value)
        return cp.sum(value), self.constraints.values()


class CalledTerm(NamedTuple):
    """A loss or a penalty that is called.

    Attributes
    ----------
    function : Loss or Penalty
    z : cvxpy.Expression
        What it is called with, affine: a vector.
    posed : callable
        z -> its expression and constraints.
    targets, weights : array, shape (n,), or None
        Of a loss.
    """

    function: Any
    z: Any
    posed: Any
    targets: Any = None
    weights: Array | None = None

    @property
    def is_loss(self) -> bool:
        return self.targets is not None

    @property
    def value(self) -> float | None:
        """At the values of the variables; a constraint counts as 0."""
        z, f = self.z.value, self.function
        if z is None or not self.is_loss:
            return None if z is None else float(f.value(z))
        values = 0.0 if f.is_indicator else f.value(self.targets, z)
        return float(np.sum(values if self.weights is None else self.weights * values))


def called(
    function: Any,
    z: Any,
    expression: Any,
    targets: Array | None = None,
    weights: Array | None = None,
) -> ConvexSum:
    """A loss or a penalty as a sum of one term; ``expression`` poses it as ``Terms``."""
    part = CalledTerm(function, z, lambda z: expression(z).total(weights), targets, weights)
    value, constraints = part.posed(z)
    return ConvexSum(value, constraints, [(1.0, part)])


def uncalled(function: Any, _: Any) -> NoReturn:
    """Refuse a factor of a loss or a penalty that is no term yet."""
    name = type(function).__name__
    raise InputError(
        f"{name}: a factor stands before a term. First call it with an expression, as "
        f"{name}()({'z, y' if hasattr(function, 'labels') else 'w'})."
    )


class ConvexSum:
    """A sum of convex functions of CVXPY's variables, with the constraints that pose it.

    Losses and penalties that are called with an affine expression give one. Sums add up, with each
    other and with convex expressions of CVXPY on their right, and take factors >= 0.

    Attributes
    ----------
    expression : cvxpy.Expression
        A scalar.
    constraints : list of cvxpy.Constraint
        A constraint such as w >= 0 counts whatever its factor is.
    parts : list of (factor, CalledTerm or cvxpy.Expression)
        The terms.
    """

    __array_ufunc__ = None  # a factor that is one of NumPy's numbers is left to __rmul__

    def __init__(self, expression: Any, constraints: Iterable[Any] = (), parts: Any = ()) -> None:
        if isinstance(expression, float | int | np.number):
            expression = cp.Constant(finite_number(expression, "ConvexSum", "a term"))
        if not isinstance(expression, cp.Expression) or expression.size != 1:
            raise InputError(
                "ConvexSum: a term must be a loss or a penalty that is called, as L1()(w), a "
                "convex scalar of CVXPY or a number, got "
                f"{type(expression).__name__} of shape {np.shape(expression)}. Pass cp.sum of an "
                "array; constraints go to minimize(f, [w >= 0])."
            )
        self.expression, self.constraints = expression, list(constraints)
        self.parts = list(parts) or [(1.0, expression)]

    def __add__(self, other: Any) -> ConvexSum:
        more = other if isinstance(other, ConvexSum) else ConvexSum(other)
        constraints = self.constraints + more.constraints
        return ConvexSum(self.expression + more.expression, constraints, self.parts + more.parts)

    __radd__ = __add__

    def __sub__(self, other: Any) -> ConvexSum:
        return self + (-other)

    def __neg__(self) -> ConvexSum:
        raise InputError(
            "ConvexSum: minus a sum of convex terms is not convex. Add terms, with factors >= 0."
        )

    def __mul__(self, factor: Any) -> ConvexSum:
        if isinstance(factor, float | int | np.number):
            factor = nonnegative_number(factor, "ConvexSum", "a factor")
        elif not (
            isinstance(factor, cp.Expression) and factor.is_constant() and factor.is_nonneg()
        ):
            raise InputError(
                "ConvexSum: a factor must be one number >= 0 or a Parameter that is declared so, "
                f"got {type(factor).__name__} of shape {np.shape(factor)}. Pass a float, or "
                "cp.Parameter(nonneg=True) on the right, as f * lam."
            )
        parts = [(factor * own, part) for own, part in self.parts]
        return ConvexSum(factor * self.expression, self.constraints, parts)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> ConvexSum:
        return self * (1.0 / positive_number(divisor, "ConvexSum", "a divisor"))

    def __float__(self) -> float:  # CVXPY asks where its expression stands on the left
        raise InputError(
            "ConvexSum: a sum of terms is no number, and CVXPY cannot take it. Put what is "
            "CVXPY's on the right, as f + cp.norm(w) or f * lam; the number is in its value."
        )

    @property
    def value(self) -> float | None:
        """At the values of its variables, constraints apart; None where one has none."""
        total = 0.0
        for factor, part in self.parts:
            if part.value is None:
                return None
            total += float(getattr(factor, "value", factor)) * float(part.value)
        return total

    def split(self) -> tuple[ConvexSum, list[Any]]:
        """The same sum, each loss and penalty of a vector of its own, and what these equal.

        The multipliers of these equations are the terms' slopes, with a minus.
        """
        total, links = ConvexSum(0.0), []
        for factor, part in self.parts:
            if not isinstance(part, CalledTerm):
                total += ConvexSum(part) * factor
                continue
            own = cp.Variable(part.z.shape)
            links.append(own == part.z)
            total += ConvexSum(*part.posed(own)) * factor
        return total, links

    def problem(self, constraints: Iterable[Any] = ()) -> Any:
        """Minimise the sum, its own constraints and these given, as a CVXPY problem."""
        return cp.Problem(cp.Minimize(self.expression), [*self.constraints, *constraints])

    def __repr__(self) -> str:
        return f"ConvexSum({self.expression})"


def affine(z: Any, owner: str, name: str) -> Any:
    """An affine expression of CVXPY, real; arrays are constants."""
    if not isinstance(z, cp.Expression):
        z = cp.Constant(float_array(z, owner, name))
    if not z.is_affine() or z.is_complex():
        kind = "complex" if z.is_complex() else z.curvature.lower()
        raise InputError(
            f"{owner}: {name} must be affine in the variables and real, got an expression that is "
            f"{kind}. Pass X @ w + b, or the variable itself."
        )
    return z


def constant(value: Any, name: str) -> Any:
    """Numbers as CVXPY prints them, by a name; an expression as it is."""
    return value if isinstance(value, cp.Expression) else cp.Constant(value, name=name)


def entries(x: Any, index: Any, name: str) -> Any:
    """Some entries of a vector: x where they are all, else by rows of I under a name."""
    from scipy import sparse

    return (
        x if len(index) == x.size else constant(sparse.eye_array(x.size).tocsr()[index], name) @ x
    )


# The optimality conditions of a learning problem as plain data: named rows, and what each sees.


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
