"""Theorems, run: what is measured over many seeds beside what the bound says, and a verdict."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, instead
from ..numerics import Array
from ..pictures.style import BLUE, ORANGE, draw_panels, titled
from ..system import writable
from ..typesetting import html

FALSE_ALARM = 1e-6
"""The probability that a table of true theorems says of any row that it does not hold."""
SLACK = 100.0
"""A bound that is this many times what is measured says so."""
ROUNDED = 1e-9
"""Rounding of what is measured, relative to the largest number beside it."""
KINDS = {"upper": "<=", "lower": ">=", "equal": "=", "probability": "<="}
"""How what is measured lies to the bound; "probability" counts events."""

EXPERIMENTS: list[Experiment] = []
"""Of all the theorems; ``theory.experiments`` fills it."""


@dataclass(frozen=True)
class Experiment:
    """A theorem to be run.

    Attributes
    ----------
    bound : callable
        The function of the bound.
    kind : str
        "upper", "lower", "equal": of the mean over the draws; "probability": of events.
    statement : str
        What is measured, beside the bound.
    draw : callable
        (bound, random generator, the numbers of a problem) -> (measured, bound).
    problems : tuple of mappings
        The numbers of each problem, by name.
    each : bool
        Whether the theorem holds for each draw and each iterate, not only for the mean.
    """

    bound: Callable[..., Any]
    kind: str
    statement: str
    draw: Callable[..., tuple[Any, Any]]
    problems: tuple[Mapping[str, Any], ...]
    each: bool = False

    @property
    def theorem(self) -> str:
        """The name of the bound."""
        return self.bound.__name__


@dataclass(frozen=True)
class TheoremRow:
    """One theorem on one problem.

    Attributes
    ----------
    theorem, statement, problem, kind : str
        What was run.
    measured, bound : float
        Means over the draws; where each draw must obey, those of the tightest entry.
    error : float
        z times the standard error of measured - bound, z Student's; 0 where each must obey.
    slack : float
        bound / measured, measured / bound for a lower bound; inf where nothing was measured.
    holds : bool
        Whether the data are consistent with the theorem.
    """

    theorem: str
    statement: str
    problem: str
    kind: str
    measured: float
    bound: float
    error: float
    slack: float
    holds: bool

    @property
    def note(self) -> str:
        """Whether the theorem fails, or says little."""
        if not self.holds:
            return "DOES NOT HOLD"
        if self.kind == "equal" or not self.slack > SLACK:
            return ""
        return "slack: never seen" if np.isinf(self.slack) else f"slack: over {SLACK:g} x"


HEADER = ("theorem", "problem", "measured", "", "bound", "± z se", "slack", "")


@dataclass(frozen=True)
class Simulation:
    """Measured against bound, a row for each theorem and problem.

    Attributes
    ----------
    rows : tuple of TheoremRow
        One theorem on one problem each.
    seeds : int
        Draws of each.
    """

    rows: tuple[TheoremRow, ...]
    seeds: int
    _lines: tuple[tuple[str, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lines", tuple(map(_cells, self.rows)))

    @property
    def holds(self) -> bool:
        """Whether every row does."""
        return all(row.holds for row in self.rows)

    @property
    def table(self) -> list[dict[str, Any]]:
        """The rows as dictionaries: ``pandas.DataFrame(simulation.table)``."""
        return [{**asdict(row), "note": row.note} for row in self.rows]

    @property
    def verdict(self) -> str:
        """One line."""
        wrong = sum(not row.holds for row in self.rows)
        found = f"{wrong} do not hold" if wrong else "all hold"
        alarm = f"false alarm of the whole table: {FALSE_ALARM:g}"
        return f"{len(self.rows)} rows, {self.seeds} seeds each: {found} ({alarm})"

    def __str__(self) -> str:
        lines = [HEADER, *self._lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        return "\n".join([*text, self.verdict])

    def page(self, title: str = "Theorems, run") -> str:
        """The table as an offline page."""
        told = {row.theorem: row.statement for row in self.rows}
        body = html.paragraph(self.verdict) + html.table(self._lines, HEADER)
        return html.document(title, body + html.table(told.items(), ("theorem", "statement")))

    def to_csv(self, path: str | Path) -> None:
        """Write the rows.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        InputError
            Where it cannot be written.
        """
        with writable(path, "to_csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([each.name for each in fields(TheoremRow)])
            writer.writerows(map(astuple, self.rows))

    def plot(self, path: str | Path | None = None, *, ax: Any = None, figsize: Any = None) -> Any:
        """Draw measured (dots) and bounds (ticks), a line for each row.

        Parameters
        ----------
        path : str or Path, optional
            Where to save the picture.
        ax : matplotlib Axes, optional
            Where to draw.
        figsize : pair of float, optional
            In inches.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ConvexmlError
            Without matplotlib.
        InputError
            For axes, a size or a path that cannot be used.
        """
        size = figsize or (None if ax is not None else (9.0, max(3.0, 1.5 + 0.22 * len(self.rows))))
        panels = [partial(_draw, rows=self.rows)]
        return draw_panels("Simulation.plot", "Measured and bound", panels, path, ax, size)


def simulate(*theorems: str, seeds: int = 100) -> Simulation:
    """Run theorems, each on its problems.

    Parameters
    ----------
    *theorems : str
        Names of bounds of ``theory``; all that have an experiment where none is named.
    seeds : int
        Draws of each, at least 2.

    Returns
    -------
    Simulation
        The table: measured, bound, slack, verdict.

    Raises
    ------
    InputError
        For a theorem without an experiment, and fewer than 2 seeds.
    """
    known = dict.fromkeys(each.theorem for each in EXPERIMENTS)
    for name in theorems:
        if name not in known:
            raise InputError(f"simulate: {name!r} has no experiment.{instead(name, known)}")
    return run([e for e in EXPERIMENTS if not theorems or e.theorem in theorems], seeds)


def run(
    experiments: Sequence[Experiment], seeds: int, problems: Sequence[Mapping[str, Any]] = ()
) -> Simulation:
    """The table of some experiments, on problems of one's own where there are any.

    Raises
    ------
    InputError
        For fewer than 2 seeds, and for numbers that no problem has.
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 2:
        raise InputError(f"simulate: seeds must be a whole number >= 2, got {seeds!r}.")
    jobs = [(each, problem) for each in experiments for problem in problems or each.problems]
    level = FALSE_ALARM / max(len(jobs), 1)
    return Simulation(tuple(_row(each, problem, seeds, level) for each, problem in jobs), seeds)


def simulated(name: str, *problems: Mapping[str, Any], seeds: int = 100) -> Simulation:
    """``bound.simulate``: its experiments, on their problems or on those that are passed.

    Raises
    ------
    InputError
        Without an experiment, for other numbers than its problems have, and fewer than 2 seeds.
    """
    found = [each for each in EXPERIMENTS if each.theorem == name]
    if not found:
        raise InputError(f"{name}: has no experiment. theory.simulate() runs all that there are.")
    wanted = found[0].problems[0].keys()
    for problem in problems:
        if problem.keys() != wanted:
            told = ", ".join(wanted)
            raise InputError(f"{name}.simulate: a problem is a mapping of {told}; got {problem!r}.")
        found = found[:1]  # others have other numbers
    return run(found, seeds, problems)


def _row(
    experiment: Experiment, problem: Mapping[str, Any], seeds: int, level: float
) -> TheoremRow:
    draws = [
        experiment.draw(experiment.bound, np.random.default_rng(seed), **problem)
        for seed in range(seeds)
    ]
    pairs = [np.broadcast_arrays(*map(np.asarray, draw)) for draw in draws]
    judge = _each if experiment.each else _events if experiment.kind == "probability" else _mean
    measured, bound, error, holds = judge(pairs, experiment.kind, level)
    above, below = (measured, bound) if experiment.kind == "lower" else (bound, measured)
    slack = 1.0 if above == below else above / below if below > 0.0 else np.inf
    words = ", ".join(f"{name}={value}" for name, value in problem.items())
    return TheoremRow(
        experiment.theorem,
        experiment.statement,
        words,
        experiment.kind,
        measured,
        bound,
        error,
        float(slack),
        holds,
    )


Judged = tuple[float, float, float, bool]


def _each(pairs: list[Any], kind: str, level: float) -> Judged:
    """The entry that is nearest to failing, and whether it does."""
    measured, bound = (np.concatenate([np.ravel(p[k]) for p in pairs]) for k in (0, 1))
    past = _past(kind, measured - bound)
    room = np.concatenate(
        [np.full(p[0].size, ROUNDED * max(np.abs(p[0]).max(), np.abs(p[1]).max())) for p in pairs]
    )
    holds = bool(np.all(past <= room))  # nan fails
    with np.errstate(divide="ignore", invalid="ignore"):
        tight = np.nan_to_num(past / np.abs(bound), nan=-np.inf)
    tight = np.where(np.abs(measured) > room, tight, -np.inf)
    at = int(np.argmax(tight if holds else past - room))
    return float(measured[at]), float(bound[at]), 0.0, holds


def _mean(pairs: list[Any], kind: str, level: float) -> Judged:
    """Student's test of the mean over the seeds."""
    from scipy.special import stdtrit

    measured, bound = (np.array([float(np.mean(p[k])) for p in pairs]) for k in (0, 1))
    z = float(stdtrit(len(pairs) - 1, 1.0 - (0.5 * level if kind == "equal" else level)))
    error = z * float(np.std(measured - bound, ddof=1)) / len(pairs) ** 0.5
    room = ROUNDED * float(max(np.abs(measured).max(), np.abs(bound).max()))
    holds = bool(_past(kind, np.mean(measured - bound)) - error <= room)
    return float(measured.mean()), float(bound.mean()), error, holds


def _events(pairs: list[Any], kind: str, level: float) -> Judged:
    """The binomial test of a frequency against a probability."""
    from scipy.special import bdtrc

    events = np.concatenate([np.ravel(p[0]) for p in pairs])
    count, delta = float(np.sum(events)), float(np.mean([np.mean(p[1]) for p in pairs]))
    chance = float(bdtrc(count - 1.0, len(events), min(delta, 1.0))) if count > 0.0 else 1.0
    return count / len(events), delta, 0.0, chance >= level


def _past(kind: str, difference: Any) -> Any:
    """By how much the bound is passed."""
    return {"lower": np.negative, "equal": np.abs}.get(kind, np.positive)(difference)


def _cells(row: TheoremRow) -> tuple[str, ...]:
    error = f"{row.error:.2g}" if row.error else ""
    slack = "" if row.kind == "equal" else f"{row.slack:.3g}"
    numbers = (f"{row.measured:.4g}", KINDS[row.kind], f"{row.bound:.4g}")
    return (row.theorem, row.problem, *numbers, error, slack, row.note)


def _draw(axes: Any, rows: Sequence[TheoremRow]) -> None:
    places = np.arange(len(rows))[::-1]
    measured: Array = np.array([row.measured for row in rows])
    unit = np.array([abs(row.bound) or 1.0 for row in rows])
    axes.scatter(measured / unit, places, color=BLUE, s=14, label="measured")
    bounds = np.array([row.bound for row in rows]) / unit
    axes.scatter(bounds, places, color=ORANGE, marker="|", s=60, label="bound")
    axes.set_yticks(places, [row.theorem for row in rows], fontsize=7)
    axes.set_xlabel("share of the bound")
    axes.legend(loc="best", fontsize=8)
    titled(axes, "A dot left of its tick keeps an upper bound; lower bounds are kept to the right")
