"""The table of ratios, best peer / ours, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from .rows import CLARABEL

SMALL = 1.0
"""MB below which memory is noise: taken for so much in a ratio."""
SPARING = 1.3
"""Times the best peer's memory that ours may take."""
KEPT = 2.0 / 3.0
"""Share of an earlier ratio that is to be kept."""


def pipes(*cells: str) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def line(record: dict[str, Any]) -> str:
    """A record, for the terminal."""
    name = f"{record['who']}, {record['threads']} threads"
    if not record["n"]:
        return f"{name}: {record['outcome']}"
    text = f"{name}: {record['min']:.4g} s (median {record['median']:.4g}, n = {record['n']})"
    return f"{text} {record['outcome']}"


def best(records: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """The fastest record that is verified, by its minimum."""
    valid = [each for each in records if each["n"] and not each["outcome"]]
    return min(valid, key=lambda each: each["min"], default=None)


def is_ours(record: dict[str, Any]) -> bool:
    return record["who"].startswith("convexml")


def of_ours(row: dict[str, Any]) -> dict[str, Any]:
    """The best record of ours, or why there is none."""
    ours = [each for each in row["records"] if is_ours(each)]
    return best(ours) or ours[0]


def parts(row: dict[str, Any]) -> tuple[dict[str, Any] | None, ...]:
    """The best records of the floor, of ours and of the peers."""
    groups: dict[str, list[dict[str, Any]]] = {"floor": [], "ours": [], "peers": []}
    for record in row["records"]:
        kind = "ours" if is_ours(record) else record["who"]
        groups.get(kind, groups["peers"]).append(record)
    return tuple(best(group) for group in groups.values())


def over(peer: dict[str, Any] | None, ours: dict[str, Any] | None, what: str) -> float | None:
    """The ratio of two records, or None where one of them has no verified time."""
    return None if ours is None or peer is None else peer[what] / ours[what]


def ratio(row: dict[str, Any], which: str = "min") -> float | None:
    """Best peer / ours."""
    _, ours, peer = parts(row)
    return over(peer, ours, which)


def over_conic(row: dict[str, Any]) -> float | None:
    """CVXPY with CLARABEL / ours."""
    conic = best(each for each in row["records"] if each["who"] == CLARABEL)
    return over(conic, parts(row)[1], "min")


def over_memory(row: dict[str, Any]) -> float | None:
    """Ours / best peer."""
    _, ours, peer = parts(row)
    if ours is None or peer is None or None in (ours["memory"], peer["memory"]):
        return None
    return max(ours["memory"], SMALL) / max(peer["memory"], SMALL)


def geometric_mean(values: list[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def seconds(record: dict[str, Any] | None) -> str:
    """The minimum, with a mark where there was but one repetition, and the threads."""
    if record is None:
        return "-"
    mark = " (n = 1)" if record["n"] == 1 else ""
    threads = "" if record["threads"] == 1 else f", {record['threads']} thr."
    return f"{record['min']:.3g}{mark}{threads}"


def memory(record: dict[str, Any] | None) -> str:
    """Megabytes beyond the data."""
    if record is None or record["memory"] is None:
        return "-"
    return f"{record['memory']:.0f}" if record["memory"] >= SMALL else "< 1"


def shown(value: float | None, holds: bool) -> str:
    """A ratio, in bold letters where it misses what is asked."""
    if value is None:
        return "-"
    return f"{value:.2g}" if holds else f"**{value:.2g}**"


def reached(value: float | None, target: float | None) -> bool:
    return target is None or (value is not None and value >= target)


COLUMNS = (
    "row",
    "convexml, s",
    "best peer, s",
    "ratio (of medians)",
    "at least",
    "ours / floor",
    "CLARABEL / ours",
    "at least",
    "memory, MB: ours, peer",
    "ours / peer",
)


def table(rows: list[dict[str, Any]], earlier: list[dict[str, Any]] | tuple[()] = ()) -> str:
    """All rows, what is left of an earlier run's ratios, their mean, and what is missed."""
    before = {row["name"]: ratio(row) for row in earlier}
    columns = [*COLUMNS, "share of earlier ratio"] if before else list(COLUMNS)
    lines, ratios, missed = [pipes(*columns), pipes(*["---"] * len(columns))], [], []
    for row in rows:
        floor, ours, peer = parts(row)
        value, of_medians = ratio(row), ratio(row, "median")
        target, conic, space = row["target"], over_conic(row), over_memory(row)
        if value is not None:
            ratios.append(value)
        if not reached(value, target):
            factor = math.inf if value is None else target / value
            missed.append((factor, row["name"]))
        cells = [
            row["name"],
            seconds(ours),
            "-" if peer is None else f"{peer['who']} {seconds(peer)}",
            "-" if value is None else f"{shown(value, reached(value, target))} ({of_medians:.2g})",
            "" if target is None else f"{target:g}",
            "-" if floor is None or ours is None else f"{ours['min'] / floor['min']:.3g}",
            "" if row["conic"] is None else shown(conic, reached(conic, row["conic"])),
            "" if row["conic"] is None else f"{row['conic']:g}",
            f"{memory(ours)}, {memory(peer)}",
            shown(space, space is not None and space <= SPARING),
        ]
        if before:
            old = before.get(row["name"])
            share = None if old is None or value is None else value / old
            cells.append(shown(share, reached(share, KEPT)))
        lines.append(pipes(*cells))
    if ratios:
        mean = geometric_mean(ratios)
        lines += ["", f"Geometric mean {mean:.2g} over {len(ratios)} of {len(rows)} rows."]
    if missed:
        text = ", ".join(f"{name} ({factor:.2g})" for factor, name in sorted(missed, reverse=True))
        lines += ["", f"Missed, by what factor: {text}."]
    return "\n".join(lines)
