"""No decided label is ever wrong: supports, zeros and intervals, by an independent solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.sizes import sizes
from support.support_cases import KINDS, Case, point_at, random_case

import convexml as cml
from convexml.certificates.support import enclosure, shrink_features, shrink_systems, spheres
from convexml.certificates.support.labels import CertifiedSupport, certify_support
from convexml.numerics import Array
from convexml.penalties import L1, ElasticNet, GroupL2

GAPS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
LEFT = {1e-2: 1.0, 1e-4: 0.15, 1e-6: 0.03, 1e-8: 0.01, 1e-10: 0.005}
"""At most this share of labels is left undecided, over the problems of a kind."""
oracle = cache(random_case)


def wrong_labels(found: CertifiedSupport, case: Case) -> int:
    """Decided labels that contradict the oracle's, where it is sure."""
    pairs = (found.samples, case.samples), (found.coordinates, case.coordinates)
    return sum(int(np.sum((a != "undecidable") & (b != "?") & (a != b))) for a, b in pairs)


def missed(found: CertifiedSupport, case: Case) -> int:
    """Intervals that do not hold the oracle's w, u or b, known to 1e-8."""
    triples = (
        (case.w, found.w_interval),
        (case.u, found.u_interval),
        (np.array([case.b]), found.b_interval),
    )
    count = 0
    for value, (low, high) in triples:
        room = 1e-8 * max(1.0, np.abs(value).max())
        count += int(np.any((value < np.array(low) - room) | (value > np.array(high) + room)))
    return count


def at_gap(case: Case, gap: float, seed: int) -> CertifiedSupport:
    w, b, u, reached = point_at(case, gap, seed)
    assert reached <= gap
    return certify_support(case.problem.objective_parts, w, b, u)


@pytest.mark.parametrize("problems", sizes(10, 29))
@pytest.mark.parametrize("kind", KINDS)
def test_no_decided_label_is_wrong_and_few_are_left(kind: str, problems: int) -> None:
    left: dict[float, list[float]] = {gap: [] for gap in GAPS}
    for seed in range(problems):
        case = oracle(kind, seed)
        for k in (seed, seed + 1, seed + 3):  # three of the five gaps for each problem
            gap = GAPS[k % 5]
            found = at_gap(case, gap, seed + k)
            assert wrong_labels(found, case) == 0, (kind, seed, gap)
            assert missed(found, case) == 0, (kind, seed, gap)
            labels = found.samples if "margin" in kind else found.coordinates
            left[gap].append(float(np.mean(labels == "undecidable")))
    shares = [float(np.mean(left[gap])) for gap in GAPS]
    assert all(after <= before + 0.01 for before, after in pairwise(shares))
    assert all(share <= LEFT[gap] for share, gap in zip(shares, GAPS, strict=True)), shares


def test_the_oracle_is_sure_of_nearly_everything() -> None:
    cases = [oracle(kind, seed) for kind in KINDS for seed in range(5)]
    assert sum(int(np.sum(case.coordinates == "?")) for case in cases) <= 3


def shrunk(share: float) -> Callable[[Any], Any]:
    """The same function with the radius of what it returns scaled."""

    def wrap(function: Any) -> Any:
        def mutant(*arguments: Any) -> Any:
            found = function(*arguments)
            return replace(found, radius=share * found.radius)

        return mutant

    return wrap


def scaled(share: float) -> Callable[[Any], Any]:
    """The same function with its value scaled."""
    return lambda function: lambda *arguments: share * function(*arguments)


MUTANTS = {
    "half the radius": ((spheres, shrink_systems), "sphere", shrunk(0.5)),
    "a quarter of the gap": ((spheres, enclosure), "rounded_gap", scaled(0.25)),
    "a third of the system's error": ((shrink_systems,), "enclose_solutions", shrunk(0.3)),
    "a tenth of the reach of v": ((shrink_features,), "spread", scaled(0.1)),
}


@cache
def near_cases() -> list[tuple[Case, tuple[Array, float, Array, float]]]:
    return [
        (case, point_at(case, gap, seed))
        for kind in KINDS
        for seed in range(6)
        for case in [oracle(kind, seed)]
        for gap in (1e-2, 1e-4)
    ]


def count_wrong() -> int:
    return sum(
        wrong_labels(certify_support(case.problem.objective_parts, w, b, u), case)
        for case, (w, b, u, _) in near_cases()
    )


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_bound_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    modules, function, mutate = MUTANTS[name]
    mutant = mutate(getattr(modules[0], function))
    for module in modules:
        monkeypatch.setattr(module, function, mutant)
    assert count_wrong() > 0


def test_a_wrong_inequality_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for penalty in (L1, ElasticNet, GroupL2):  # "zero" where |v_g| exceeds its level a little
        blocks = penalty.zero_blocks

        def loose(self: Any, d: int, blocks: Any = blocks) -> tuple[Array, Array]:
            index, levels = blocks(self, d)
            return index, 1.1 * levels

        monkeypatch.setattr(penalty, "zero_blocks", loose)
    assert count_wrong() > 0


@pytest.mark.parametrize("share", [1.0, 0.98])
def test_the_sphere_is_sharp(share: float) -> None:
    """With u = u* and a flat loss P - P* = mu/2 |w - w*|^2: w* lies on the sphere's surface."""
    ridge = cml.Ridge(np.full((3, 1), 1e-9), np.zeros(3), 1.0, fit_intercept=False)
    point = spheres.PrimalPoint(np.array([0.3]), 0.0, np.zeros(3), 0.045, 0.0)
    dual = spheres.DualPoint(np.zeros(3), 0.0, np.zeros(1), 0.0)
    ball = spheres.primal_sphere(ridge.objective_parts, point, dual, 0.045)
    assert ball is not None
    distance = abs(float(ball.center[0]) - 0.0)
    assert (distance <= share * ball.radius) == (share == 1.0)
    assert distance == pytest.approx(ball.radius, rel=1e-9)
