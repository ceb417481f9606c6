"""The page on problems/: solvers end at the engine's objective, or name a theorem with its T."""

from __future__ import annotations

import re
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.library import load_file, read_table_of

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
FILES = sorted(PROBLEMS.glob("*.toml"))
FILES = [path for path in FILES if read_table_of(path).statement is None]
PAIRS = [(name, path.stem) for path in FILES for name in cml.solvers.printed()]
SAMPLE = np.random.default_rng(28).choice(len(PAIRS), 100, replace=False)
NAMES_T = re.compile(r"; f - f\* <= \S+ takes T = ([\d.e+]+) at most \([A-Z]\w+.*\)")
SAYS_WHY = re.compile(r"no theorem: \w+.*")


@cache
def problem_of(stem: str) -> Any:
    return load_file(PROBLEMS / f"{stem}.toml").problem


@cache
def best_of(stem: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return problem_of(stem).solve()


def ends_well(name: str, stem: str) -> str:
    """Certified at the engine's objective, or in words: what is wrong otherwise."""
    problem, best = problem_of(stem), best_of(stem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = problem.solve(name, max_iter=300)
    if solution.status == "optimal" == best.status:
        away, room = solution.objective - best.objective, 3e-6 * best.certificate.scale
        return "" if abs(away) <= room else f"{solution.objective} for {best.objective}"
    if solution.status == best.status:  # there is no minimiser, with evidence
        return ""
    if found := NAMES_T.search(solution.message):
        if float(found[1]) > solution.iterations:
            return ""
    return "" if SAYS_WHY.search(solution.message) else f"{solution.status}: {solution.message!r}"


def suited(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(n, p) for n, p in pairs if cml.solvers.supports(n, problem_of(p))[0]]


def test_a_sample_ends_at_the_engines_objective_or_names_its_theorem() -> None:
    pairs = suited([PAIRS[k] for k in SAMPLE if "kernel" not in PAIRS[k][1]])
    assert len(pairs) > 10
    assert {pair: said for pair in pairs if (said := ends_well(*pair))} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", cml.solvers.printed())
def test_each_ends_at_the_engines_objective_or_names_its_theorem(name: str) -> None:
    pairs = suited([pair for pair in PAIRS if pair[0] == name])
    assert {pair: said for pair in pairs if (said := ends_well(*pair))} == {}
