"""The table of ratios, best peer / ours, as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

HEAD = (
    "| row | convexml, s | best peer, s | ratio (of medians) | at least | floor, s | ours / floor "
    "| memory, MB: ours, peer |\n|---|---|---|---|---|---|---|---|"
)
SMALL = 1.0
"""MB below which memory is noise."""


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


def parts(row: dict[str, Any]) -> tuple[dict[str, Any] | None, ...]:
    """The best records of the floor, of ours and of the peers."""
    groups: dict[str, list[dict[str, Any]]] = {"floor": [], "ours": [], "peers": []}
    for record in row["records"]:
        who = record["who"]
        kind = who if who == "floor" else "ours" if who.startswith("convexml") else "peers"
        groups[kind].append(record)
    return tuple(best(group) for group in groups.values())


def ratio(row: dict[str, Any], which: str = "min") -> float | None:
    """Best peer / ours, or None where one of them has no verified time."""
    _, ours, peer = parts(row)
    return None if ours is None or peer is None else peer[which] / ours[which]


def geometric_mean(values: list[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def seconds(record: dict[str, Any] | None) -> str:
    """The minimum, with a mark where there was but one repetition, and the threads."""
    if record is None:
        return "-"
    mark = " (n = 1)" if record["n"] == 1 else ""
    return f"{record['min']:.3g}{mark}, {record['threads']} thr."


def table(rows: list[dict[str, Any]]) -> str:
    """All rows, and the geometric mean of those with a ratio."""
    lines, ratios = [HEAD], []
    for row in rows:
        floor, ours, peer = parts(row)
        value, of_medians = ratio(row), ratio(row, "median")
        if value is not None:
            ratios.append(value)
        cells = [
            row["name"],
            seconds(ours),
            "-" if peer is None else f"{peer['who']} {seconds(peer)}",
            "-" if value is None else f"{value:.2g} ({of_medians:.2g})",
            "" if row["target"] is None else f"{row['target']:g}",
            "-" if floor is None else f"{floor['min']:.2g} ({row['floor']})",
            "-" if floor is None or ours is None else f"{ours['min'] / floor['min']:.3g}",
            f"{memory(ours)}, {memory(peer)}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    if ratios:
        mean = geometric_mean(ratios)
        lines += ["", f"Geometric mean {mean:.2g} over {len(ratios)} of {len(rows)} rows."]
    return "\n".join(lines)


def memory(record: dict[str, Any] | None) -> str:
    """Megabytes beyond the data."""
    if record is None or record["memory"] is None:
        return "-"
    return f"{record['memory']:.0f}" if record["memory"] >= SMALL else "< 1"
