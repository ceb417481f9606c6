"""How time and memory grow with n and d: log-log slopes, and pictures of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .table import SMALL, parts

Curve = list[tuple[float, float]]
"""(size, seconds or megabytes)."""


def curves(rows: list[dict[str, Any]], what: str) -> Iterator[tuple[str, str, Curve]]:
    """(row and size that grows, who, curve) of ours and of the best peer."""
    found: dict[tuple[str, str], Curve] = {}
    for row in rows:
        base, _, size = row["name"].rpartition(" ")
        letter, _, number = size.partition("=")
        _, ours, peer = parts(row)
        for who, record in (("convexml", ours), ("best peer", peer)):
            if record is not None and record[what] is not None:
                point = (float(number), max(record[what], SMALL if what == "memory" else 0.0))
                found.setdefault((f"{base}, {letter}", who), []).append(point)
    for (title, who), curve in found.items():
        yield title, who, curve


def slope(curve: Curve) -> float | None:
    """The exponent p of cost ~ size^p, by least squares in logarithms."""
    if len(curve) < 2:
        return None
    xs, ys = ([math.log(value) for value in column] for column in zip(*curve, strict=True))
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    products = sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True))
    return products / sum((a - x) ** 2 for a in xs)


def slopes(rows: list[dict[str, Any]]) -> str:
    """The table of exponents."""
    cells: dict[str, dict[str, str]] = {}
    for what in ("min", "memory"):
        for title, who, curve in curves(rows, what):
            value = slope(curve)
            text = "-" if value is None else f"{value:.2f} ({len(curve)} sizes)"
            cells.setdefault(title, {})[f"{what} {who}"] = text
    head = "| row | time: convexml | time: best peer | memory: convexml | memory: best peer |"
    lines = [head, "|---|---|---|---|---|"]
    columns = [f"{what} {who}" for what in ("min", "memory") for who in ("convexml", "best peer")]
    for title, found in cells.items():
        lines.append(f"| {title} | {' | '.join(found.get(name, '-') for name in columns)} |")
    return "\n".join(lines)


def pictures(rows: list[dict[str, Any]], folder: Path) -> None:
    """One picture of time and one of memory, a panel for each row that grows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    for what, label in (("min", "seconds"), ("memory", "MB beyond the data")):
        found = list(curves(rows, what))
        titles = list(dict.fromkeys(title for title, _, _ in found))
        if not titles:
            continue
        height = math.ceil(len(titles) / 2)
        figure, axes = plt.subplots(height, 2, figsize=(9, 3 * height), squeeze=False)
        for panel, title in zip(axes.flat, titles, strict=False):
            for _, who, curve in (each for each in found if each[0] == title):
                value = slope(curve)
                name = who if value is None else f"{who}, slope {value:.2f}"
                panel.loglog(*zip(*curve, strict=True), marker="o", label=name)
            sizes = sorted({size for each in found if each[0] == title for size, _ in each[2]})
            panel.set(title=title.rpartition(",")[0], xlabel=title[-1], ylabel=label)
            panel.set_xticks(sizes, [f"{size:.0f}" for size in sizes])
            panel.set_xticks([], minor=True)
            panel.legend()
        for panel in axes.flat[len(titles) :]:
            panel.set_axis_off()
        figure.tight_layout()
        figure.savefig(folder / f"growth_{label.split()[0].lower()}.png", dpi=120)
        plt.close(figure)
