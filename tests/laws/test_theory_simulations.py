"""Theorems as experiments: the true ones hold, wrong constants are seen."""

from __future__ import annotations

import csv
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.sizes import by_turns

import convexml as cml
from convexml import theory
from convexml.theory import simulation
from convexml.theory.simulation import EXPERIMENTS, Experiment

ROWS = [pytest.param(each, id=f"{each.theorem}-{each.kind}") for each in EXPERIMENTS]


@pytest.mark.parametrize("experiment", by_turns(ROWS))
def test_a_few_seeds_of_each(experiment: Experiment) -> None:
    assert len(experiment.problems) == 3
    found = simulation.run([experiment], 6)
    assert found.holds, str(found)


@pytest.mark.slow
def test_the_whole_table() -> None:
    found = theory.simulate(seeds=100)
    assert found.holds, str(found)


def test_every_bound_of_the_notes_has_an_experiment() -> None:
    from convexml.theory import __all__ as names

    bounds = {name for name in names if hasattr(getattr(theory, name), "simulate")}
    assert bounds == {each.theorem for each in EXPERIMENTS}


def scaled(bound: Any, factor: float) -> Any:
    """A bound that is wrong by a factor."""

    def wrong(*arguments: Any, **numbers: Any) -> Any:
        return factor * np.asarray(bound(*arguments, **numbers))

    wrong.__name__ = bound.__name__
    return wrong


TIGHT = {
    ("descent_decrease", "lower"): 2.0, ("gradient_descent_distance", "upper"): 0.5,
    ("conjugate_gradients_value", "upper"): 0.25, ("inexact_distance", "upper"): 0.5,
    ("proximal_gradient_rate", "upper"): 0.5, ("online_regret", "upper"): 0.5,
    ("leader_regret", "upper"): 0.5, ("ridge_risk", "equal"): 0.5,
    ("ridge_variance", "equal"): 0.5, ("ridge_bias", "equal"): 0.5,
    ("least_squares_variance", "equal"): 0.5, ("least_squares_excess_risk", "equal"): 2.0,
    ("source_risk", "upper"): 0.25, ("lloyd_decrease", "lower"): 1.01,
    ("no_free_lunch", "lower"): 1.2, ("bayes_risk", "lower"): 1.01,
    ("vc_halfspaces", "equal"): 1.5, ("vc_intervals", "equal"): 2.0, ("entropy", "equal"): 1.1,
    ("vc_growth", "upper"): 0.5, ("kmeans_plus_plus_factor", "upper"): 0.05,
    ("hoeffding", "probability"): 0.02, ("bernstein", "probability"): 0.02,
}  # fmt: skip
"""Factors that make a bound wrong by so little that the table must see it."""


def of(name: str, kind: str) -> Experiment:
    """The experiment of a theorem."""
    return next(each for each in EXPERIMENTS if (each.theorem, each.kind) == (name, kind))


@pytest.mark.parametrize("key", by_turns([(key,) for key in TIGHT], turn=1), ids="-".join)
def test_a_wrong_constant_is_seen(key: tuple[str, str]) -> None:
    right = of(*key)
    wrong = replace(right, bound=scaled(right.bound, TIGHT[key]))
    found = simulation.run([wrong], 8 if "rate" in key[0] else 30)
    assert not found.holds
    assert "DOES NOT HOLD" in str(found)


def coin(bound: Any, rng: np.random.Generator, p: float) -> tuple[Any, Any]:
    """A mean of ten coins; the bound is a number."""
    return rng.uniform(size=10) < p, bound()


def half() -> float:
    """One half."""
    return 0.5


@pytest.mark.parametrize(("kind", "verdicts"), [
    ("upper", {0.5: True, 0.8: False, 0.2: True}),
    ("lower", {0.5: True, 0.8: True, 0.2: False}),
    ("equal", {0.5: True, 0.8: False, 0.2: False}),
    ("probability", {0.5: True, 0.8: False, 0.0: True}),
])  # fmt: skip
def test_the_judge_of_each_kind(kind: str, verdicts: dict[float, bool]) -> None:
    for p, holds in verdicts.items():
        found = simulation.run([Experiment(half, kind, "", coin, ({"p": p},))], 100)
        assert found.holds is holds


def test_the_binomial_test_is_at_its_level() -> None:
    """All of two coins, 2^-20 < 1e-6 of chance against 1/2; one row, ten each of two seeds."""
    (row,) = simulation.run([Experiment(half, "probability", "", coin, ({"p": 1.0},))], 2).rows
    assert not row.holds
    rows = simulation.run([Experiment(half, "probability", "", coin, ({"p": 1.0},) * 2)], 2).rows
    assert all(row.holds for row in rows)  # 2^-20 > 1e-6 / 2


def test_what_must_hold_each_time_may_not_fail_once() -> None:
    def once(bound: Any, rng: np.random.Generator, at: int) -> tuple[Any, Any]:
        return np.where(np.arange(5) == at, 0.5 + 1e-6, 0.1), bound()

    for at, holds in ((7, True), (3, False)):
        found = simulation.run([Experiment(half, "upper", "", once, ({"at": at},), each=True)], 3)
        assert found.holds is holds
    assert found.rows[0].measured == pytest.approx(0.5 + 1e-6)


def test_slack_is_told() -> None:
    def tiny(bound: Any, rng: np.random.Generator, size: float) -> tuple[Any, Any]:
        return size, bound()

    problems = tuple({"size": size} for size in (0.4, 1e-3, 0.0))
    found = simulation.run([Experiment(half, "upper", "", tiny, problems)], 2)
    assert [row.note for row in found.rows] == ["", "slack: over 100 x", "slack: never seen"]


@pytest.mark.parametrize(("call", "words"), [
    (lambda: theory.simulate("hoefding"), "hoefding.*Did you mean 'hoeffding'"),
    (lambda: theory.hoeffding.simulate(seeds=1), "whole number >= 2, got 1"),
    (lambda: theory.hoeffding.simulate({"m": 3}), "a mapping of m, p, eps"),
])  # fmt: skip
def test_what_cannot_be_run_is_refused(call: Any, words: str) -> None:
    with pytest.raises(cml.errors.InputError, match=words):
        call()


def test_table_picture_csv_and_page(tmp_path: Path) -> None:
    found = theory.simulate("no_free_lunch", "vc_intervals", seeds=2)
    found.to_csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["theorem"] for row in rows] == [row["theorem"] for row in found.table]
    assert float(rows[1]["measured"]) == found.rows[1].measured
    figure = found.plot(tmp_path / "t.svg")
    labels = [each.get_text() for each in figure.axes[0].get_yticklabels()]
    assert [key for key, _ in groupby(labels)] == ["vc_intervals", "no_free_lunch"]
    assert "6 rows, 2 seeds each: all hold" in found.page()
