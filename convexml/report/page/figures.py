"""Each chart with its takeaway in one line, and the table of its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import inf, isfinite, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from ...comparison.ranking.profile import FACTORS
from .. import formats
from .canvas import Picture, picture
from .charts import GROUPS, LABELLED, draw_claims, draw_panels, draw_profile, draw_times

if TYPE_CHECKING:
    from ...comparison import Profile, Results
    from ...comparison.ranking import Standing


class Figure(NamedTuple):
    """A chart: name, takeaway, picture (None without matplotlib), caption, and its numbers."""

    name: str
    takeaway: str
    picture: Picture | None
    caption: str
    heads: list[str]
    rows: list[list[str]]


def figures(results: Results) -> list[Figure]:
    """The charts over all solvers; none where nothing was confirmed.

    Parameters
    ----------
    results : Results
        A comparison.
    """
    standings, profile = results.standings(), results.profile()
    if not any(each.confirmed for each in standings) or not profile.problems:
        return []
    return [_profile(profile, standings), _panels(profile), _claims(standings), _times(standings)]


def _profile(profile: Profile, standings: Sequence[Standing]) -> Figure:
    names = _ranked(profile)
    best = names[:LABELLED]
    draw = partial(draw_profile, profile, best)
    label = "Share of the problems solved within a factor of the best time, for each solver"
    return Figure(
        "profile",
        _leaders(profile, names, inf, "solves the most", "solve the most")
        + " of all problems; "
        + _leaders(profile, names, 1.0, "is most often the quickest", "are the quickest equally")
        + ".",
        picture("profile", label, draw),
        f"Performance profile (Dolan and Moré, 2002) over {profile.problems} pairs of a problem "
        "that has a certificate and a tolerance: the share on which what a solver claimed was "
        "verified within its time limit and within a factor of the best time. Anything else, and "
        "what it was not made for, counts against it. Posing for CVXPY is part of the time; loops "
        "that are compiled once on a machine are not."
        + (" Grey: the other solvers, which follow below." if len(names) > len(best) else ""),
        ["Solver", *(f"within {factor:g}×" for factor in FACTORS), "at any time"],
        [
            [name, *(_percent(profile.share(name, tau)) for tau in (*FACTORS, inf))]
            for name in names
        ],
    )


def _leaders(profile: Profile, names: Sequence[str], tau: float, one: str, several: str) -> str:
    """Who leads at a factor, and with what share; of more than three only how many."""
    most = max(profile.share(name, tau) for name in names)
    first = [name for name in names if profile.share(name, tau) == most]
    who = " and ".join(first) if len(first) <= 3 else f"{len(first)} solvers"
    return f"{who} {one if len(first) == 1 else several}, {_percent(most)}"


def _panels(profile: Profile) -> Figure:
    names = _ranked(profile)
    half = sum(profile.share(name, inf) >= 0.5 for name in names)
    drawn = [name for name in names if profile.share(name, inf) > 0.0]
    none = ", ".join(name for name in names if name not in drawn)
    return Figure(
        "panels",
        f"{half} of {len(names)} solvers reach half of all problems.",
        picture(
            "panels", "The same, one panel for each solver", partial(draw_panels, profile, drawn)
        ),
        "The same curves, one panel for each solver, the best first. Dotted: the best of all "
        "solvers at each factor." + (f" Nothing was confirmed in time of {none}." if none else ""),
        [],
        [],
    )


def _claims(standings: Sequence[Standing]) -> Figure:
    wrong = {each.solver: _number(each, "not confirmed") for each in standings}
    most = max(wrong.values())
    first, *others = [name for name, number in wrong.items() if number == most]
    clean = sum(not number for number in wrong.values())
    more = "" if others else f"; {first} has the most such claims, {most}"
    if others and most:
        more = f"; none of the others has more than {most}"
    return Figure(
        "claims",
        f"{clean} of {len(wrong)} solvers made no claim that fails its certificate{more}.",
        picture("claims", "Runs of each solver by how they ended", partial(draw_claims, standings)),
        "How the runs of each solver ended. Not confirmed: a conclusion was claimed, and refuted, "
        "not proved, or another one is certified.",
        ["Solver", "runs", *GROUPS],
        [
            [each.solver, str(sum(each.kinds.values())), *(str(_number(each, g)) for g in GROUPS)]
            for each in standings
        ],
    )


def _times(standings: Sequence[Standing]) -> Figure:
    timed = [each for each in standings if isfinite(each.mean_seconds)]
    quickest = min(timed, key=lambda each: each.mean_seconds, default=None)
    takeaway = (
        f"{quickest.solver} has the least mean, each over what its solver was made for: "
        f"{_mean(quickest)} s."
        if quickest
        else "Without a time limit, what was missed has no time, and no mean is shown."
    )
    return Figure(
        "times",
        takeaway,
        picture(
            "times", "Seconds of each solver on a logarithmic axis", partial(draw_times, standings)
        ),
        "Medians over confirmed claims: compiling with CVXPY, or warming up loops, which compile "
        "once on a machine; and solving. The mean is the shifted geometric one (shift 0.01 s) over "
        "all problems that the solver was made for, posing included; what it missed counts as the "
        "time limit, or as the slowest confirmed answer where posing made that longer.",
        ["Solver", "made for", "confirmed", "compile or warm-up", "solve", "shifted mean"],
        [
            [
                each.solver,
                str(each.runs),
                str(each.confirmed),
                formats.seconds(each.compile_seconds),
                formats.seconds(each.solve_seconds),
                _mean(each),
            ]
            for each in standings
        ],
    )


def pairwise(standings: Sequence[Standing]) -> dict[str, Any]:
    """Who is faster than whom: a row a solver, shares of the problems both were made for.

    Parameters
    ----------
    standings : sequence of Standing
    """
    names = [each.solver for each in standings]
    rows = [
        (each.solver, [(_percent(s), round(10 * s)) if s is not None else ("", 0) for s in shares])
        for each in standings
        for shares in [[each.beats.get(name) for name in names]]
    ]
    return {"names": names, "rows": rows}


def _ranked(profile: Profile) -> list[str]:
    shares = {
        name: [profile.share(name, tau) for tau in (inf, *FACTORS)] for name in profile.ratios
    }
    return sorted(shares, key=lambda name: shares[name], reverse=True)


def _number(standing: Standing, group: str) -> int:
    return sum(standing.kinds.get(kind, 0) for kind in GROUPS[group][0])


def _mean(standing: Standing) -> str:
    mean = standing.mean_seconds
    return formats.DASH if isnan(mean) else formats.seconds(mean)


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"
