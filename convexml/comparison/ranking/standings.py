"""Solver by solver: what ended how, how long it took, and who is faster than whom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, nan
from statistics import fmean, median
from typing import TYPE_CHECKING

from .profile import waited

if TYPE_CHECKING:
    from ..record import Outcome

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
