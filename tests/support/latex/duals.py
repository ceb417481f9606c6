"""What ``dualize(...).latex()`` prints, evaluated at numbers: a line that is false, or unreadable.

Every symbol has its value from the caller; a symbol without one cannot be read. Matrices count as
vectors, column by column, and so does what is semidefinite. The length of a vector of ones is that
for which its line can be read.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np

from convexml.typesetting.documents import rows
from support.latex.page import FAILURES
from support.latex.reader import Reader, statements

CONE = re.compile(r"(\\left\(.*\\right\)) \\in \\mathcal\{K\}_\{\\exp\}(\^\*)?")
SYMBOL = re.compile(r"\\symbol[A-Z]+")


class DualReader(Reader):
    """One statement, with lengths for its vectors of ones, in order."""

    def __init__(self, text: str, names: dict[str, Any], lengths: tuple[int, ...] = ()) -> None:
        super().__init__(text, names, {})
        at = [k for k, token in enumerate(self.tokens) if token == r"\one"]
        self.lengths = dict(zip(at, lengths, strict=False))

    def on_one(self) -> Any:
        return np.ones(self.lengths[self.k - 1])

    def all_hold(self, sides: list[Any], relations: list[str], tol: float) -> bool:
        if {*relations} & {r"\succeq", r"\preceq"}:
            size = round(np.sqrt(max(np.size(side) for side in sides)))
            sides = [side * np.ones(size**2) for side in sides]
            sides = [np.reshape(side, (size, size)) for side in sides]
            if not all(np.allclose(side, side.T) for side in sides):
                return False
        return super().all_hold(sides, relations, tol)


@dataclass
class DualPage:
    """The text of a dual, the values of its symbols and the optimal value."""

    text: str
    symbols: dict[str, Any]
    value: float
    tol: float = 1e-5

    def __post_init__(self) -> None:
        letters = itertools.product(ascii_uppercase, repeat=2)
        self.tokens = {name: rf"\symbol{''.join(next(letters))}" for name in self.symbols}
        self.names: dict[str, Any] = {
            self.tokens[name]: np.squeeze(each)[()] for name, each in self.symbols.items()
        }
        self.sizes = sorted({n for each in self.names.values() for n in np.shape(each)})
        self.lines: dict[str, list[str]] = {}
        self.readings: dict[str, list[tuple[int, ...]]] = {}
        label = ""
        for told, formula in rows(self.text):
            label = told if told not in ("", "s.t.") else label
            self.lines.setdefault(label, []).append(self._substituted(formula))
        assert [*self.lines] == ["primal", "Lagrangian", "dual"], [*self.lines]
        self.sense = -1.0 if self.lines["primal"][0].startswith(r"\max") else 1.0

    def _substituted(self, text: str) -> str:
        named = sorted(self.tokens, key=len, reverse=True)
        pattern = "|".join(rf"(?<![A-Za-z\\]){re.escape(n)}(?![A-Za-z_])" for n in named)
        return re.sub(pattern, lambda found: self.tokens[found[0]] + " ", text)

    # -- what is said ----------------------------------------------------------------------------

    def goal(self, label: str) -> str:
        """The function without "min", "max" and "L(...)"."""
        line = self.lines[label][0].replace(r"\text{ (of } -f \text{)}", "")
        return line.partition(") = " if label == "Lagrangian" else "\\ ")[2]

    def variables(self, label: str) -> list[str]:
        """What the line minimises or maximises over; of the Lagrangian the primal ones."""
        ends = ";" if label == "Lagrangian" else "\\ "
        return SYMBOL.findall(self.lines[label][0].partition(ends)[0])

    def told(self, label: str) -> Iterator[str]:
        """The constraints, one at a time."""
        for line in self.lines[label][1:]:
            yield from (each.removeprefix(r"\quad").strip() for each in statements(line))

    # -- what it is worth ------------------------------------------------------------------------

    def at(self, text: str, names: dict[str, Any], tol: float | None = None) -> Any:
        """The value of a formula, or whether a statement holds by ``tol``: in all readings."""
        found, failed = {}, ValueError(text)
        every = itertools.product(self.sizes, repeat=text.count(r"\mathbf{1}"))
        for lengths in self.readings.get(text, every):
            try:
                with np.errstate(all="ignore"):
                    found[lengths] = self._read(DualReader(text, names, lengths), text, tol)
            except ValueError as error:  # shapes
                failed = error
        if not found:
            raise failed
        self.readings[text] = [*found]
        value, *others = found.values()
        assert np.allclose(others, value, equal_nan=True), f"{text} has several values"
        return value

    @staticmethod
    def _read(reader: DualReader, text: str, tol: float | None) -> Any:
        if tol is None:
            value = reader.value()
            assert np.ndim(value) == 0, f"{text} is no number"
            return value
        cone = CONE.fullmatch(text)
        if not cone:
            return reader.holds(tol)
        reader.at, reader.k = {}, 0
        a, b, c = np.broadcast_arrays(*reader.bracketed())
        if cone[2]:  # -a exp(b/a) <= e c, a < 0
            return bool(np.all((a < 0.0) & (-a * np.exp(b / a - 1.0) <= c + tol)))
        return bool(np.all((b > 0.0) & (b * np.exp(a / b) <= c + tol)))

    # -- what is checked -------------------------------------------------------------------------

    def faults(self, beside: bool = True) -> list[str]:
        """Every line that is false at the numbers (or ``beside`` them), or that cannot be read."""
        found = []
        for label in self.lines:
            try:
                value = self.at(self.goal(label), self.names)
                wanted = self.value * (self.sense if label == "Lagrangian" else 1.0)
                if not abs(value - wanted) <= self.tol * (1.0 + abs(wanted)):
                    found.append(f"{label} is {value}, not {wanted}")
                found += [
                    f"{label}: {text} does not hold"
                    for text in self.told(label)
                    if not self.at(text, self.names, self.tol)
                ]
            except (*FAILURES, ValueError) as failed:
                found.append(f"{label}: {failed!r}")
        labels = self.lines if beside and not found else ()
        return found + [each for label in labels for each in self.passed(label)]

    def passed(self, label: str) -> list[str]:
        """Where the function is on the wrong side of the value, at a point that is allowed.

        The primal is nowhere below, the dual nowhere above; the Lagrangian is neither where only
        variables, or only multipliers with the signs that are printed, are others.
        """
        wanted = self.value * (self.sense if label == "Lagrangian" else 1.0)
        sense = 1.0 if label == "Lagrangian" else self.sense
        given, names = [*self.told(label)], self.variables(label)
        tries = [(sense if label != "dual" else -sense, names, given)]
        if label == "Lagrangian" and {*self.multipliers()} <= {*self.variables("dual")}:
            signs = [text for text in self.told("dual") if not text.endswith("= 0")]
            tries.append((-1.0, self.multipliers(), signs))
        for side, moving, limits in tries:
            for moved in self.moved(moving):
                if all(self.at(text, moved, 1e-9) for text in limits):
                    value = self.at(self.goal(label), moved)
                    if not side * (value - wanted) >= -self.tol * (1.0 + abs(wanted)):
                        return [f"{label} passes {wanted}: {value}"]
        return []

    def multipliers(self) -> list[str]:
        """What the Lagrangian has after its variables."""
        return SYMBOL.findall(self.lines["Lagrangian"][0].partition(";")[2].partition(") = ")[0])

    def moved(self, names: list[str]) -> Iterator[dict[str, Any]]:
        """The values with others: all by chance or in proportion, one entry, or two of one."""
        rng = np.random.default_rng(0)
        for size in (0.003, -0.003, 0.1, -0.1, 0.5):
            yield self.names | {name: (1.0 + size) * self.names[name] for name in names}
            for _ in range(3):
                draws = {name: rng.normal(size=np.shape(self.names[name])) for name in names}
                yield self.names | {name: self.names[name] + size * draws[name] for name in names}
            for name in names:
                own = self.names[name]
                units = np.reshape(np.eye(np.size(own)), (-1, *np.shape(own)))
                pairs = [one - other for one, other in itertools.combinations(units, 2)]
                for unit in (*units, *pairs):
                    yield self.names | {name: own + size * unit}
