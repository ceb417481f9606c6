"""The rows of a comparison, and their files."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from ..files import writable
from .cards import Card
from .ranking import Profile, Standing, performance_profile, standings
from .record import Outcome, jsonable

SCHEMA = 1
NUMBERS = re.compile(r"\[\n[-+.\deE,\snul]*\]")
"""A list of numbers over several lines; a text has no line breaks in JSON."""


@dataclass(frozen=True)
class Results:
    """Every run of a comparison; ``convexml.Comparison`` says what the fields are."""

    records: tuple[Outcome, ...]
    environment: dict[str, Any]
    interrupted: bool = False
    problems: tuple[Card, ...] = ()

    def __iter__(self) -> Iterator[Outcome]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    @property
    def unverified(self) -> list[str]:
        """Problems with a tolerance at which no solver at all reached a verified answer."""
        pairs = dict.fromkeys((r.problem, r.tol) for r in self.records if r.certifiable)
        solved = {(record.problem, record.tol) for record in self.records if record.verified}
        return list(dict.fromkeys(name for name, tol in pairs if (name, tol) not in solved))

    def profile(self) -> Profile:
        """Performance profile: share of problems within a factor of the best time, per solver."""
        return performance_profile(self.records)

    def standings(self) -> list[Standing]:
        """How every solver did on the problems that it was made for, the best first."""
        return standings(self.records)

    def document(self, points: bool = False) -> dict[str, Any]:
        """The comparison as one JSON document of schema 1, as a dict.

        Parameters
        ----------
        points : bool
            With the point (w, b, u, ...) of every run, from which its numbers can be recomputed.
        """
        return {
            "schema": SCHEMA,
            "environment": jsonable(self.environment),
            "interrupted": self.interrupted,
            "problems": [jsonable(asdict(card)) for card in self.problems],
            "solvers": [jsonable(asdict(standing)) for standing in self.standings()],
            "records": [record.to_dict(points) for record in self.records],
        }

    def to_json(self, path: str | Path | None = None, points: bool = False) -> str:
        """The document as text, written to `path` where one is given.

        Numbers that are not finite are null; ``infinite`` of a record tells those that are "inf" or
        "-inf", by name. The others are not known.

        Parameters
        ----------
        path : str or Path, optional
        points : bool
            As of ``document``.
        """
        return as_text(self.document(points), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """One line per record, written to `path` where one is given.

        The KKT residuals are columns, facts are counted; "inf" and "-inf" stand for themselves.
        """
        rows = [_flat(record) for record in self.records]
        names = list(dict.fromkeys(name for row in rows for name in row))
        text = StringIO(newline="")
        writer = csv.DictWriter(text, names or ["problem", "solver"])
        writer.writeheader()
        writer.writerows(rows)
        if path is not None:
            writable(path, "to_csv").write_bytes(text.getvalue().encode())
        return text.getvalue()


def as_text(document: Mapping[str, Any], path: str | Path | None = None) -> str:
    """A JSON document as text, written to `path` where one is given."""
    text = json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False)
    text = NUMBERS.sub(lambda found: " ".join(found[0].split()), text)
    if path is not None:
        writable(path, "to_json").write_text(text + "\n", encoding="utf-8")
    return text


def _flat(record: Outcome) -> dict[str, Any]:
    row = record.to_dict()
    kkt, facts, infinite = row.pop("kkt"), row.pop("facts"), row.pop("infinite")
    del row["conditions"], row["course"]
    row |= {f"kkt_{kind}": residual for kind, residual in kkt.items()}
    names = {name: name.replace("kkt.", "kkt_") for name in infinite}
    row |= {names[name]: sign for name, sign in infinite.items() if names[name] in row}
    return row | {"facts_met": sum(fact["ok"] for fact in facts), "facts": len(facts)}
