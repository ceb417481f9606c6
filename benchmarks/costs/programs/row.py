"""A row of the table: a program, how it is solved and how the answer is certified."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import convexml as cml


@dataclass(frozen=True)
class Case:
    """A fresh program: ``solve`` leaves its answer where ``certify`` finds it."""

    solve: Callable[[], Any]
    certify: Callable[[], cml.Certificate]


@dataclass(frozen=True)
class Row:
    """``build`` makes a case, anew for each run; ``limit`` is what the ratio may be."""

    name: str
    build: Callable[[], Case]
    limit: float = 1.0


def posed(problem: Any, solver: str = "CLARABEL") -> Case:
    """A CVXPY problem: ``problem.solve()`` against ``cml.certify(problem)``."""

    def solve() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver=solver)

    return Case(solve, lambda: cml.certify(problem))
