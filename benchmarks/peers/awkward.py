"""Whether awkward and real data keep the verdict, and the time of easy data of the same size.

"KIND NxD" is easy, normal columns with correlation 0.5^|j-k|; "KIND NxD ~ CASE" is what became of
it. The real sets are those of a folder ``shared/data`` beside the repository; without it their
rows say so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .rows import Row
from .table import of_ours, pipes

ALLOWED = 5.0
"""Times the easy time."""
STRONG, WEAK, WEAKER = "C = 1e4", "lam = 1e-4 lam_max", "alpha = 1e-4"
ANYBODY = ("columns 1e-3 ... 1e3", "repeated rows", "90 % zero weights")
CORRELATED = "rho = .99"
ANY_X = (CORRELATED, *ANYBODY)
SPARSE = 0.11
"""Share of the entries of a9a that are not 0."""


def easy(kind: str, n: int, d: int, level: float, density: float | None = None) -> Row:
    """A row without peers; some ``density`` makes it sparse."""
    data = "correlated" if kind in ("lasso", "ridge") else "correlated_labels"
    if density is not None:
        data = "sparse_labels"
    if kind == "kernel svm":
        data = "moons"
    return Row(f"{kind} {n}x{d}", kind, data, (), level, "", None, n, d, density=density or 1e-3)


TABLE: tuple[tuple[Row, tuple[str, ...]], ...] = (
    (easy("lasso", 2000, 500, 0.1), (*ANY_X, WEAK)),
    (easy("lasso", 500, 2000, 0.1), (*ANY_X, WEAK)),
    (easy("l1 logistic", 2000, 500, 0.1), (*ANY_X, WEAK)),
    (easy("l1 logistic", 72, 7129, 0.1), ("leukemia",)),
    (easy("l1 logistic", 62, 2000, 0.1), ("colon",)),
    (easy("l1 logistic", 4601, 57, 0.01), ("spambase",)),
    (easy("l1 logistic", 32_561, 123, 0.01, SPARSE), ("a9a",)),
    (easy("l2 logistic", 5000, 100, 1.0), (*ANY_X, STRONG)),
    (easy("l2 logistic", 72, 7129, 1.0), ("leukemia",)),
    (easy("l2 logistic", 4601, 57, 1.0), ("spambase",)),
    (easy("l2 logistic", 32_561, 123, 1.0, SPARSE), ("a9a",)),
    (easy("l2 logistic", 7291, 256, 1.0), ("zip digits",)),
    (easy("ridge", 5000, 200, 1.0), (*ANY_X, WEAKER)),
    (easy("svm", 2000, 30, 1.0), (*ANY_X, STRONG)),
    (easy("svm", 72, 7129, 1.0), ("leukemia",)),
    (easy("svm", 62, 2000, 1.0), ("colon",)),
    (easy("svm", 4601, 57, 1.0), ("spambase",)),
    (easy("svm", 32_561, 123, 1.0, SPARSE), ("a9a",)),
    (easy("svm", 7291, 256, 1.0), ("zip digits",)),
    (easy("kernel svm", 1000, 2, 1.0), (*ANYBODY, STRONG)),
)
"""The easy rows, and what happens to each."""


def rows() -> list[Row]:
    """Every easy row, followed by its cases."""
    return [each for row, cases in TABLE for each in (row, *(cased(row, c) for c in cases))]


def cased(row: Row, case: str) -> Row:
    """The same row where it is not easy; C is 1 / level of logistic regression."""
    level = {WEAK: 1e-4, WEAKER: 1e-4}.get(case, row.level)
    if case == STRONG:
        level = 1e-4 if row.kind == "l2 logistic" else 1e4
    return replace(row, name=f"{row.name} ~ {case}", level=level, case=case)


def changed(
    case: str, rng: np.random.Generator, X: Any, y: np.ndarray
) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Samples and weights after what the case does to them."""
    n, d = X.shape
    if case == ANYBODY[0]:
        return X * 10.0 ** rng.uniform(-3.0, 3.0, d), y, None
    if case == ANYBODY[1]:
        kept = rng.integers(n // 10, size=n)
        return X[kept], y[kept], None
    if case == ANYBODY[2]:
        weights = np.zeros(n)
        weights[rng.choice(n, n // 10, replace=False)] = 1.0
        return X, y, weights
    return X, y, None


def table(measured: list[dict[str, Any]]) -> str:
    """The time of every case, relative to the easy one, and what is not answered or too slow."""
    lines = [pipes("row", "s", "times the easy time"), pipes("---", "---", "---")]
    times: dict[str, float] = {}
    for row in measured:
        ours, (base, _, case) = of_ours(row), row["name"].partition(" ~ ")
        if not ours["n"] or ours["outcome"]:
            lines.append(pipes(row["name"], f"**{ours['outcome']}**", "-"))
            continue
        seconds = ours["min"]
        text = ""
        if not case:
            times[base] = seconds
        elif base in times:
            share = seconds / times[base]
            text = f"{share:.2g}" if share <= ALLOWED else f"**{share:.2g}**"
        lines.append(pipes(row["name"], f"{seconds:.3g}", text))
    return "\n".join(lines)
