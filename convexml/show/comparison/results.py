"""The rows of a comparison, and their files."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from math import exp, inf, log, nan
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from ...solvers.registry import ALGORITHMS
from ...system import writable
from ...typesetting import html
from .entries import Card
from .runs import Outcome, jsonable

if TYPE_CHECKING:
    from ...numerics import Array


# Performance profiles.


FACTORS = (1.0, 2.0, 10.0, 100.0)
"""Of the best time, in tables."""


@dataclass(frozen=True)
class Profile:
    """Share of the problems that a solver verifiably solved within a factor of the best time.

    Attributes
    ----------
    problems : int
        How many (problem, tolerance) pairs there are; a pair that a solver did not solve, or was
        not made for, counts against it.
    ratios : dict of str to array
        Per solver: its times over the best ones, sorted, one entry for each pair that it solved.
    """

    problems: int
    ratios: dict[str, Array]

    def share(self, solver: str, tau: float) -> float:
        """rho_s(tau) = #{pairs with t_s <= tau min_s t_s} / #pairs."""
        if self.problems == 0:
            return 0.0
        return float(np.count_nonzero(self.ratios[solver] <= tau)) / self.problems

    def _repr_html_(self) -> str:
        names = sorted(self.ratios, key=lambda name: self.share(name, inf), reverse=True)
        taus = (*FACTORS, inf)
        lines = [(name, *(f"{self.share(name, tau):.0%}" for tau in taus)) for name in names]
        within = [f"within {tau:g}×" for tau in FACTORS]
        told = f"Verifiably solved, of {self.problems} problems and tolerances."
        return html.paragraph(told) + html.table(lines, ("solver", *within, "at any time"))

    @property
    def largest(self) -> float:
        """The largest factor of any solver on any problem, at least 1."""
        return max((float(r[-1]) for r in self.ratios.values() if r.size), default=1.0)


def performance_profile(records: Sequence[Outcome]) -> Profile:
    """The performance profile of Dolan and Moré (2002), over verified claims only.

    A run counts where what its solver claimed is verified, within its time limit. Its time is
    solving, and posing for CVXPY: what a user waits for. Compiling loops is left out: it happens
    once on a machine.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of a comparison.

    Returns
    -------
    Profile
        Solvers in the order of their first row; one that never ran is left out.
    """
    solvers = list(dict.fromkeys(record.solver for record in records if record.ran))
    pairs = {(record.problem, record.tol) for record in records if record.certifiable}
    ratios: dict[str, list[float]] = {name: [] for name in solvers}
    for pair in pairs:
        times = {
            record.solver: waited(record)
            for record in records
            if (record.problem, record.tol) == pair and record.solved
        }
        best = min(times.values(), default=1.0)
        for name, seconds in times.items():
            ratios[name].append(seconds / best)
    return Profile(len(pairs), {name: np.sort(np.array(r)) for name, r in ratios.items()})


def waited(record: Outcome) -> float:
    """Seconds of a run; posing for CVXPY belongs to it, compiled loops are there once for all.

    Parameters
    ----------
    record : Outcome

    Returns
    -------
    float
        At least a nanosecond, so that it can be divided by.
    """
    posing = 0.0 if record.solver in ALGORITHMS else record.compile_seconds
    return max(record.seconds + posing, 1e-9)


# Solver by solver: what ended how, how long it took, and who is faster than whom.


SHIFT = 0.01
"""Seconds added to every time before the logarithm, so that microseconds do not rule the mean."""

Pair = tuple[str, float]


@dataclass(frozen=True)
class Standing:
    """How one solver did on the problems that it was made for.

    Attributes
    ----------
    solver : str
    runs : int
        Pairs of a problem that has a certificate and a tolerance at which it ran.
    kinds : dict of str to int
        How many of its runs ended how, see ``kinds.KINDS``; all of them, certifiable or not.
    mean_seconds : float
        Shifted geometric mean exp(mean log(t_i + s)) - s over ``runs``, s = 0.01 s, where t_i is
        the time of a confirmed claim and the time limit of anything else; nan where that has none.
    compile_seconds, solve_seconds : float
        Medians over the confirmed claims: posing for CVXPY or compiling loops, and solving.
    beats : dict of str to float
        Per other solver with pairs in common: the share of them on which this one's claim is
        confirmed, and the other's is not or took longer.
    """

    solver: str
    runs: int
    kinds: dict[str, int]
    mean_seconds: float
    compile_seconds: float
    solve_seconds: float
    beats: dict[str, float]

    @property
    def confirmed(self) -> int:
        """Claims that were verified within the time limit."""
        return self.kinds.get("confirmed", 0)


def standings(records: Sequence[Outcome]) -> list[Standing]:
    """Every solver that ran; the most confirmed claims first, of equals the quickest.

    Parameters
    ----------
    records : sequence of Outcome
        The rows of a comparison.
    """
    tables: dict[str, dict[Pair, float]] = {}
    for record in records:
        if record.ran and record.certifiable:
            times = tables.setdefault(record.solver, {})
            times[record.problem, record.tol] = waited(record) if record.solved else inf
    found = [
        _standing(name, times, [r for r in records if r.solver == name and r.ran], tables)
        for name, times in tables.items()
    ]
    return sorted(found, key=lambda each: (-each.confirmed, each.mean_seconds))


def _standing(
    name: str,
    times: dict[Pair, float],
    runs: Sequence[Outcome],
    tables: dict[str, dict[Pair, float]],
) -> Standing:
    solved = [record for record in runs if record.solved]
    limits = {(r.problem, r.tol): r.max_seconds for r in runs if not r.solved}
    shares = {other: _share(times, those) for other, those in tables.items() if other != name}
    return Standing(
        solver=name,
        runs=len(times),
        kinds=dict(Counter(record.kind for record in runs)),
        mean_seconds=_shifted_mean(
            [_missed(p, limits.get(p), tables) for p in times if times[p] == inf]
            + [t for t in times.values() if t < inf]
        ),
        compile_seconds=median(r.compile_seconds for r in solved) if solved else nan,
        solve_seconds=median(r.seconds for r in solved) if solved else nan,
        beats={other: share for other, share in shares.items() if share is not None},
    )


def _missed(pair: Pair, limit: float | None, tables: dict[str, dict[Pair, float]]) -> float:
    """The time limit, or the longest that a confirmed answer took with its posing, if longer."""
    if limit is None:
        return nan
    return max(limit, *(t for those in tables.values() if (t := those.get(pair, inf)) < inf), 0.0)


def _shifted_mean(times: Sequence[float]) -> float:
    return exp(fmean(log(t + SHIFT) for t in times)) - SHIFT if times else nan


def _share(ours: dict[Pair, float], theirs: dict[Pair, float]) -> float | None:
    """The share of the common pairs on which our time is finite and less than theirs."""
    common = ours.keys() & theirs.keys()
    return sum(ours[pair] < theirs[pair] for pair in common) / len(common) if common else None


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


# Solvers over all problems: performance profiles, and how each of them did.
