"""What losses, penalties and kernels say of themselves in LaTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple


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
