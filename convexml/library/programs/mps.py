"""MPS and QPS files, read strictly.

HiGHS reads them too, but takes a number that it cannot read for 0 and an unknown column of QUADOBJ
for a new one, without a word: the answer would be that of another program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf, isfinite
from pathlib import Path
from typing import Any

from ...errors import ProblemFileError, instead, nearest
from .program import Program

SECTIONS = (
    *("NAME", "OBJSENSE", "ROWS", "COLUMNS", "RHS", "RANGES", "BOUNDS"),
    *("QUADOBJ", "QMATRIX", "QSECTION", "ENDATA"),
)
INTEGER = ("BV", "LI", "UI", "SC", "SI")
INFINITE = 1e20
"""Bounds of this size and more are none, as HiGHS has it."""


def read_mps(path: Path) -> Program:
    """Read a file in MPS or QPS form, fixed or free; names must not contain blanks.

    Raises
    ------
    ProblemFileError
        Naming the file, the line, and what is unknown, doubled, missing or not a number.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ProblemFileError(f"{path} is not a text file in UTF-8: {error}") from error
    return _Reader(path, text).program()


class _Reader:
    def __init__(self, path: Path, text: str) -> None:
        self.path, self.line = path, 0
        self.found = Program()
        self.objective: str | None = None
        self.ignored: set[str] = set()  # N rows after the first: no constraints
        self.lines = text.splitlines()

    def program(self) -> Program:
        """Read section after section, each at most once."""
        seen: list[str] = []
        for head, words in self._sections():
            if head in seen:
                raise self.error(f"there are two sections {head}")
            seen.append(head)
            if head == "NAME":
                self.found.title = " ".join(words)
            elif head == "ENDATA":
                break
            elif head == "OBJSENSE":
                self._sense([word for row in self._body() for word in row] or words)
            else:
                read: Callable[[list[str]], None] = getattr(self, f"_{head.lower()}")
                for row in self._body():
                    read(row)
        for needed in ("ROWS", "COLUMNS", "ENDATA"):
            if needed not in seen:
                raise self.error(f"the section {needed} is missing")
        for name, j in self.found.columns.items():
            if self.found.upper.get(j, 0.0) < 0.0 and j not in self.found.lower:
                raise self.error(
                    f"the upper bound of {name!r} is negative and there is no lower one: some read "
                    "this as 0, some as -inf; write LO or MI"
                )
        if not self.found.columns:
            raise self.error("there is no variable in COLUMNS")
        return self.found

    def error(self, text: str) -> ProblemFileError:
        return ProblemFileError(f"{self.path}, line {max(self.line, 1)}: {text}")

    def _sections(self) -> Iterator[tuple[str, list[str]]]:
        while self.line < len(self.lines):
            text = self.lines[self.line]
            self.line += 1
            if not text.strip() or text.startswith("*"):
                continue
            head, *words = text.split()
            if text[0].isspace() or head.upper() not in SECTIONS:
                advice = instead(head[:40], SECTIONS)
                raise self.error(f"expected a section, got {head[:40]!r}.{advice}")
            yield head.upper(), words

    def _body(self) -> Iterator[list[str]]:
        """The words of every line of a section: they start with a blank."""
        while self.line < len(self.lines):
            text = self.lines[self.line]
            if text.strip() and not text.startswith("*"):
                if not text[0].isspace():
                    return
                self.line += 1
                yield text.split()
            else:
                self.line += 1

    def _sense(self, words: list[str]) -> None:
        if len(words) != 1 or words[0].upper() not in ("MIN", "MAX", "MINIMIZE", "MAXIMIZE"):
            raise self.error(f"OBJSENSE must be MIN or MAX, got {' '.join(words)[:40]!r}")
        self.found.maximize = words[0].upper().startswith("MAX")

    def _rows(self, words: list[str]) -> None:
        kind, name = self._split(words, 2)
        if kind.upper() not in ("N", "L", "G", "E"):
            raise self.error(f"the kind of a row must be N, L, G or E, got {kind[:40]!r}")
        if name in self.found.rows or name == self.objective or name in self.ignored:
            raise self.error(f"there are two rows {name!r}")
        if kind.upper() != "N":
            self.found.rows[name] = len(self.found.rows)
            self.found.kinds.append(kind.upper())
        elif self.objective is None:
            self.objective = name
        else:
            self.ignored.add(name)

    def _columns(self, words: list[str]) -> None:
        if len(words) == 3 and words[1].strip("'").upper() == "MARKER":
            raise self.error("there are integer variables; convex problems have none")
        name, *pairs = words
        j = self.found.columns.setdefault(name, len(self.found.columns))
        for row, value in self._pairs(pairs):
            if row == self.objective:
                self._put(self.found.c, j, value, f"{row!r} of {name!r}")
            elif row not in self.ignored:
                self._put(self.found.A, (self._row(row), j), value, f"{row!r} of {name!r}")

    def _rhs(self, words: list[str]) -> None:
        for row, value in self._pairs(words[len(words) % 2 :]):
            if row == self.objective:
                self._put(self.found.constant, row, -value, f"{row!r}")
            elif row not in self.ignored:
                self._put(self.found.right, self._row(row), value, f"{row!r}")

    def _ranges(self, words: list[str]) -> None:
        for row, value in self._pairs(words[len(words) % 2 :]):
            self._put(self.found.ranges, self._row(row), value, f"{row!r}")

    def _bounds(self, words: list[str]) -> None:
        kind, *rest = words
        kind = kind.upper()
        if kind in INTEGER:
            raise self.error(
                f"the bound {kind} makes an integer variable; convex problems have none"
            )
        valued = kind in ("UP", "LO", "FX")
        if not valued and kind not in ("FR", "MI", "PL"):
            raise self.error(
                f"the kind of a bound must be UP, LO, FX, FR, MI or PL, got {kind[:40]!r}"
            )
        # The name of the set of bounds may be left out.
        known = rest[0] in self.found.columns if len(rest) == 1 + valued else False
        name, *numbers = rest if known else rest[1:] or [""]
        j = self._column(name)
        if valued:
            if not numbers:
                raise self.error(f"the bound {kind} of {name!r} needs a number")
            value = self._number(numbers[0], infinite=True)
            if kind in ("LO", "FX"):
                self._put(self.found.lower, j, value, f"a lower bound of {name!r}")
            if kind in ("UP", "FX"):
                self._put(self.found.upper, j, value, f"an upper bound of {name!r}")
        else:
            if kind in ("FR", "MI"):
                self.found.lower[j] = -inf
            if kind in ("FR", "PL"):
                self.found.upper[j] = inf

    def _quadobj(self, words: list[str]) -> None:
        """One triangle of Q, each entry once."""
        i, j, value = self._entry(words)
        self._put(self.found.Q, (i, j), value, "an entry of Q")
        if i != j:
            self._put(self.found.Q, (j, i), value, "an entry of Q")

    _qsection = _quadobj

    def _qmatrix(self, words: list[str]) -> None:
        """All of Q."""
        i, j, value = self._entry(words)
        self._put(self.found.Q, (i, j), value, "an entry of Q")

    def _entry(self, words: list[str]) -> tuple[int, int, float]:
        first, second, value = self._split(words, 3)
        return self._column(first), self._column(second), self._number(value)

    def _split(self, words: list[str], count: int) -> list[str]:
        if len(words) != count:
            raise self.error(f"expected {count} words, got {len(words)}: {' '.join(words)[:60]!r}")
        return words

    def _pairs(self, words: list[str]) -> Iterator[tuple[str, float]]:
        if not words or len(words) % 2:
            raise self.error(f"expected names and numbers in turn, got {' '.join(words)[:60]!r}")
        for name, value in zip(words[::2], words[1::2], strict=True):
            yield name, self._number(value)

    def _number(self, word: str, infinite: bool = False) -> float:
        try:
            value = float(word)
        except ValueError:
            raise self.error(f"{word[:40]!r} is not a number") from None
        if infinite and abs(value) >= INFINITE:
            return inf if value > 0.0 else -inf
        if not isfinite(value):
            raise self.error(f"{word[:40]!r} is not a finite number")
        return value

    def _put(self, table: dict[Any, float], key: Any, value: float, what: str) -> None:
        if key in table:
            raise self.error(f"{what} is there twice")
        table[key] = value

    def _row(self, name: str) -> int:
        if name not in self.found.rows:
            raise self.error(f"there is no row {name[:40]!r}.{nearest(name[:40], self.found.rows)}")
        return self.found.rows[name]

    def _column(self, name: str) -> int:
        if name not in self.found.columns:
            advice = nearest(name[:40], self.found.columns)
            raise self.error(f"there is no column {name[:40]!r}.{advice}")
        return self.found.columns[name]
