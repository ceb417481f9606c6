r"""Evaluate the LaTeX of a formula: a small grammar, enough for what ``latex()`` prints.

A product is implicit; a sum reaches to the end of its product; ``x_i`` is a row of X and ``x_j`` a
column. Free indices are looked up in ``at``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from support.latex.commands import Commands

NUMERIC = {*"0123456789."}
RELATIONS = {r"\le", r"\ge", "=", r"\succeq", r"\preceq", r"\ne", "<", ">"}
ENDS = {"+", "-", ")", "]", "}", r"\}", ",", "&", *RELATIONS}
ENDS |= {r"\rangle", r"\where", r"\forall", ""}
SPACES = re.compile(r"\\left|\\right|\\Big|\\textstyle|\\quad|\\,|\\ |\s")
TOKENS = re.compile(r"\\[A-Za-z]+|\\[|{}]|[0-9.]+|.")


SPELLED = {
    r"(\alpha \mathbf{1}^\top + \mathbf{1} \alpha^\top)": r"\pairs ",
    r"\mathbf{1}b^\top": r"\rows ", r"\mathbf{1}": r"\one ", r"\operatorname{tr}": r"\trace ",
    r"\lambda_{\min}": r"\least ", r"M(\alpha, N)": "M", "H(q)": r"\entropy ",
    "l(y_i, z_i)": r"\loss_i ", r"P(\text{other class})": r"\other_i ", "v_0": r"\shift ",
    "x(E)": r"\total ", r"x(\pi)": r"\crossing_\pi ", r"|\pi|": r"\parts_\pi ",
    r"\sum_{\pi : e \in \delta(\pi)} y_\pi": r"\load_e ",
    r"\ \text{but for single points}": r"\where \parts_\pi < n",
}  # fmt: skip
"""What is one name, or one command, as a command."""
CONDITION = re.compile(r"(?:\\ | )\(([ik](?: :)? [^()]*)\)$")
"""A statement's (i : c_i = 0), (i \\ne j)."""


@cache
def tokens_of(text: str) -> list[str]:
    text = CONDITION.sub(lambda found: r"\where " + found[1].split(":")[-1], text)
    for spelling, command in SPELLED.items():
        text = text.replace(spelling, command)
    text = re.sub(r"\\?(\w+)_\{(?:\\text\{)?(ub|eq|lower|upper)\}?\}", r"\\\1\2 ", text)
    text = re.sub(r"\\Omega\(\w\)", r"\\Omega ", text)
    text = re.sub(r"\\(operatorname|text)\{(\w+)\}", r"\\\2 ", text)
    return [*(t for t in TOKENS.findall(SPACES.sub(" ", text)) if t != " "), ""]


@cache
def is_free(i: str, text: str) -> bool:
    text = re.sub(r"sum _ { (\w) [<>:] [^}]*}", r"sum _ \1", text)
    i = re.escape(i)
    bound = re.search(rf"sum _ ({i} |{{ [^}}]*\b{i}\b)", text) and "forall " + i not in text
    return not bound and bool(re.search(rf"_ ({i}\b|{{ [^}}]*\b{i}\b)", text))


class Unknown(Exception):
    """A name without a value, and its index."""


class Beyond(Exception):
    """An entry after the last, or before the first."""


class Reader(Commands):
    """One formula, with the values of its names and the ranges of its indices."""

    def __init__(self, text: str, names: dict[str, Any], ranges: dict[str, Any]) -> None:
        self.tokens = tokens_of(text)
        self.names, self.ranges, self.at, self.k = names, ranges, {}, 0
        self.open: list[str] = []

    # -- tokens ------------------------------------------------------------------------------

    @property
    def next(self) -> str:
        return self.tokens[self.k]

    def take(self, *expected: str) -> str:
        token = self.tokens[self.k]
        assert not expected or token in expected, (expected, token, self.tokens[self.k :])
        self.k += token != ""
        return token

    def took(self, token: str) -> bool:
        self.k += (found := self.tokens[self.k] == token)
        return found

    # -- statements --------------------------------------------------------------------------

    def holds(self, tol: float, first: bool = False) -> bool:
        """Whether the statement holds for all (the first) of its free indices, by ``tol``."""
        text = " ".join(self.tokens)
        free = [i for i in self.ranges if i != "l" and is_free(i, text)]
        for values in itertools.product(*(self.ranges[i] for i in free)):
            self.at, self.k = dict(zip(free, values, strict=True)), 0
            try:
                if not self.holds_here(tol):
                    return False
            except Beyond:
                continue
            if first:
                break
        return True

    def holds_here(self, tol: float) -> bool:
        sides, relations = [self.sum()], []
        while self.next in RELATIONS:
            relations.append(self.take())
            sides.append(self.sum())
        if self.took(r"\forall"):
            self.k = len(self.tokens) - 1
        if self.took(r"\where"):
            if self.tokens[self.k + 1] == r"\ne":  # i \ne j
                return self.at["i"] == self.at["j"] or self.all_hold(sides, relations, tol)
            left, relation, right = self.sum(), self.take(), self.sum()
            if not {"=": left == right, "<": left < right, r"\le": left <= right + tol}[relation]:
                return True
        assert self.next == "", self.tokens[self.k :]
        return self.all_hold(sides, relations, tol)

    def all_hold(self, sides: list[Any], relations: list[str], tol: float) -> bool:
        assert relations, self.tokens
        chain = zip(sides, relations, sides[1:], strict=False)
        return all(compare(np.asarray(a), r, np.asarray(b), tol) for a, r, b in chain)

    # -- values ------------------------------------------------------------------------------

    def value(self, **at: int) -> Any:
        self.at, self.k = at, 0
        found = self.sum()
        assert self.next == "", self.tokens[self.k :]
        return found

    def sum(self) -> Any:
        sign = -1.0 if self.took("-") else 1.0
        total = sign * self.product()
        while self.next in ("+", "-"):
            sign = 1.0 if self.take() == "+" else -1.0
            total = total + sign * self.product()
        return total

    def product(self) -> Any:
        value = self.factor()
        while not (self.next in ENDS or (self.open and self.next == self.open[-1])):
            if self.took("/"):
                value = value / self.factor()
                continue
            inner = not (self.took(r"\cdot") or self.took(r"\circ"))
            other = self.factor()
            inner = inner and np.ndim(value) > 0 and np.ndim(other) > 0
            if inner and self.names.get("0 times infinity") and value.ndim == other.ndim == 1:
                value = np.sum(times(value, other))
            else:
                value = value @ other if inner else times(value, other)
        return value

    def over(self, indices: str, combine: Any) -> Any:
        """Evaluate the rest of the product for all values of the indices."""
        start, found = self.k, []
        letters = [indices] if indices in self.ranges else [c for c in indices if c.isalpha()]
        outer = dict(self.at)
        for values in itertools.product(*(self.ranges[c] for c in letters)):
            self.at, self.k = outer | dict(zip(letters, values, strict=True)), start
            try:
                found.append(self.product())
            except Beyond:
                found.append(None)
        assert found[0] is not None, self.tokens
        if found[-1] is None:  # where the product ends
            self.at, self.k = outer | dict.fromkeys(letters, 0), start
            self.product()
        self.at = outer
        return combine([each for each in found if each is not None])

    def subscript(self) -> list[str]:
        if not self.took("{"):
            return [self.take()]
        inside = []
        while not self.took("}"):
            inside.append(self.take())
        return inside

    def factor(self) -> Any:
        value = self.base()
        while self.next in ("^", "_"):
            if self.take() == "_":
                if self.next in ("+", "-"):
                    value = np.maximum(value if self.take() == "+" else -value, 0.0)
                else:
                    index = self.subscript()
                    if index[0] == "(":  # by rank, the largest first
                        value, index = np.sort(np.ravel(value))[::-1], index[1:-1]
                    value = np.asarray(value)[tuple(self.at[c] for c in index)]
            elif self.took(r"\top"):
                value = value.T
            else:
                value = value ** self.argument()
        return value

    def argument(self) -> Any:
        if self.next != "{":
            return float(self.take()) if self.next.isdigit() else self.base()
        return self.bracketed()[0]

    def bracketed(self) -> list[Any]:
        close = {"(": ")", "[": "]", "{": "}", r"\{": r"\}", "|": "|", r"\|": r"\|"}[self.take()]
        self.open.append(close)
        values = [self.sum()]
        while self.took(","):
            values.append(self.sum())
        self.take(close)
        self.open.pop()
        return values

    def base(self) -> Any:
        token = self.next
        if token in ("(", "[", "{"):
            return self.bracketed()[0]
        if token == "|":
            if self.tokens[self.k + 1] == "g":
                self.k += 3
                return float(len(self.names["groups"][self.at["g"]]))
            return np.abs(self.bracketed()[0])
        if token == r"\|":
            return self.norm()
        self.take()
        if token[:1] in NUMERIC:
            return float(token)
        command = getattr(self, f"on_{token[1:]}", None) if token.startswith("\\") else None
        return command() if command else self.symbol(token)

    def norm(self) -> Any:
        inside = np.ravel(self.bracketed()[0])
        if not self.took("_"):
            return np.linalg.norm(inside)
        order = {"1": 1, "2": 2, "F": 2, r"\infty": np.inf}[self.take()]
        return np.linalg.norm(inside, order)

    def symbol(self, token: str) -> Any:
        if self.next == "^" and self.tokens[self.k + 1] in ("*", "+", "-"):
            token += "".join(self.tokens[self.k : self.k + 2])
            self.k += 2
        if token == "e" and self.took("^"):
            return np.exp(self.argument())
        if self.next != "_" or self.tokens[self.k + 1] in ("+", "-"):
            return self.known(token)
        self.take("_")
        return self.entry(token, self.subscript())

    def entry(self, token: str, index: list[str]) -> Any:
        names, at = self.names, self.at
        if index in (["y", "_", "i"], ["i", "y", "_", "i"]):
            label = int(names["y"][at["i"]])
            return np.eye(3)[label] if token == "e" else self.known("z")[at["i"], label]
        if token in ("x", "X") and index[0] in ("j", "g") and "X" in names:  # columns
            columns = at["j"] if index == ["j"] else names["groups"][at["g"]]
            return names["X"][:, columns]
        if token in ("w", "v") and index == ["g"]:
            return names[token][names["groups"][at["g"]]]
        values = self.known(token, tuple(index))
        where, letters = [], list(index)
        while letters:
            letter = letters.pop(0)
            place = at[letter] if letter in at else int(names.get(letter, letter)) - 1
            if letters[:1] in (["+"], ["-"]):
                place += int(letters.pop(0) + letters.pop(0))
            where.append(place + names.get(f"{token} from", 0))
        if any(not 0 <= k < size for k, size in zip(where, values.shape, strict=False)):
            raise Beyond(token)
        return values[tuple(where)]

    def known(self, token: str, index: tuple[str, ...] = ()) -> Any:
        if token in "zu" and token not in self.names and token.upper() in self.names:
            token = token.upper()  # of whose rows it is one
        if token not in self.names:
            raise Unknown(token, index)
        return self.names[token]


def times(a: Any, b: Any) -> Any:
    """a b, where 0 times infinity is 0; what is 0 but for rounding is 0 there."""
    with np.errstate(invalid="ignore"):
        found = np.asarray(a) * np.asarray(b)
        if np.isfinite(found).all():
            return found[()]
    zero = (np.abs(a) <= 1e-12) & np.isinf(b) | (np.abs(b) <= 1e-12) & np.isinf(a)
    return np.where(zero, 0.0, found)[()]


def compare(a: Any, relation: str, b: Any, tol: float) -> bool:
    """One relation, entrywise, by ``tol``."""
    if relation in (r"\succeq", r"\preceq"):
        above = a - b if relation == r"\succeq" else b - a
        return bool(np.linalg.eigvalsh(above)[0] >= -tol)
    if relation == "=":
        with np.errstate(invalid="ignore"):  # infinities that are the same
            return bool(np.all((a == b) | (np.abs(a - b) <= tol)))
    return bool(np.all(a <= b + tol if relation == r"\le" else a >= b - tol))


def statements(text: str) -> Iterator[str]:
    """The statements of a list, split at commas outside brackets."""
    depth, start = 0, 0
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and c == "," and text[k - 1] != "\\" and text[k + 1 : k + 2] == "\\":
            yield text[start:k]
            start = k + 1
    yield text[start:]
