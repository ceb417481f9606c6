"""The race: verified gaps along every course."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import isnan
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.report.commands import Command
from support.report.records import LAM, data
from support.report.records import ridge_by_normal_equations as optimum

import convexml as cml
from convexml.errors import ConvexmlError, InputError, UnknownSolverError
from convexml.show.report.courses import Convergence, convergence
from convexml.show.views import compare
from convexml.solvers import Iterate, register, unregister

REFERENCE = {"clarabel", "osqp", "ecos", "scs", "highs", "piqp"}
PROBLEMS = Path(__file__).resolve().parents[3] / "problems"


@pytest.fixture(scope="module")
def ridge() -> Any:
    return cml.Ridge(*data(), LAM)


@pytest.fixture(scope="module")
def race(ridge: Any) -> Convergence:
    return convergence(ridge, max_seconds=0.25)


def test_every_point_is_above_the_optimum_by_no_more_than_its_gap(race: Convergence) -> None:
    rounding = 64 * np.finfo(float).eps * optimum()
    assert len(race.records) > 60
    for point in race.records:
        assert -rounding <= point.objective - optimum() <= point.gap + rounding, point


def test_every_solver_that_takes_the_problem_has_its_course(race: Convergence, ridge: Any) -> None:
    fit = {name for name in cml.solvers.available() if cml.solvers.supports(name, ridge)[0]}
    assert {course.solver for course in race.courses} >= fit
    for course in race.courses:
        if course.solver in fit:
            assert course.points, course
            assert course.by_tolerance == (course.solver in REFERENCE)


def test_iterates_count_passes_and_references_count_tolerances(race: Convergence) -> None:
    courses = {course.solver: course for course in race.courses}
    for name in ("gradient_descent", "accelerated_gradient", "newton"):
        points = courses[name].points
        assert not courses[name].by_tolerance
        assert points[0].iteration == 0
        assert all(a.passes <= b.passes and a.seconds <= b.seconds for a, b in pairwise(points))
        assert points[-1].relative_gap <= 1e-8
    points = courses["clarabel"].points
    assert courses["clarabel"].by_tolerance
    assert [point.tol for point in points] == list(race.tols)
    assert all(isnan(point.passes) for point in points)
    assert all(point.relative_gap <= point.tol for point in points)


def test_the_iterates_are_those_of_a_run(race: Convergence, ridge: Any) -> None:
    trace = ridge.solve("gradient_descent", tol=1e-8, polish=False).trace
    (course,) = (each for each in race.courses if each.solver == "gradient_descent")
    found = [(point.iteration, point.passes, point.gap) for point in course.points]
    assert found[: len(trace)] == [(r.iteration, r.passes, r.gap) for r in trace]
    assert len(found) <= len(trace) + 1


def test_a_solver_that_crashes_stops_or_does_not_fit_says_so(ridge: Any) -> None:
    """And after Ctrl-C the courses so far are kept."""

    def ends(name: str, error: BaseException, *others: str) -> Convergence:
        def iterate(objective: Any, w: Any, b: float) -> Iterator[Iterate]:
            yield Iterate(w, b)
            raise error

        register(name, iterate)
        try:
            return convergence(ridge, [*others, name, "clarabel"])
        finally:
            unregister(name)

    race = ends("crashes", ValueError("no\nmore"), "perceptron", "newton")
    unfit, newton, crashed, _ = race.courses
    assert (crashed.points, crashed.message) == ((), "crashes crashed: ValueError: no more")
    assert "perceptron needs a" in unfit.message
    assert newton.points
    assert "crashes: crashes crashed: ValueError: no more" in race.table()
    race = ends("stops", KeyboardInterrupt(), "newton")
    assert race.interrupted
    assert [course.solver for course in race.courses] == ["newton", "stops"]
    assert race.courses[1].points


def test_a_cvxpy_problem_is_followed_by_the_reference_solvers() -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 3.0)), [x <= 1.0])
    race = convergence(problem, "clarabel", tols=(1e-3, 1e-6))
    assert [point.tol for point in race.records] == [1e-3, 1e-6]
    assert race.records[-1].objective == pytest.approx(8.0, rel=1e-5)


def test_linear_programs_race_too() -> None:
    race = convergence(f"{PROBLEMS}/lp_diet.toml", ["interior_point", "highs"], tols=(1e-6,))
    assert all(course.by_tolerance and len(course.points) == 1 for course in race.courses)
    assert all(course.best.objective == pytest.approx(92.5, rel=1e-6) for course in race.courses)


def test_a_small_gap_of_an_infeasible_point_is_no_accuracy() -> None:
    race = convergence(f"{PROBLEMS}/lp_transport.toml", "scs", tols=(1e-3,))
    (point,) = race.records
    solution = cml.load(f"{PROBLEMS}/lp_transport.toml").solve("scs", tol=1e-3, polish=False)
    rows = [row for row in solution.certificate.conditions if "feasibility" in row.kind]
    assert point.violation == max(row.relative for row in rows)
    assert point.level == max(point.relative_gap, point.violation)
    planted = replace(point, relative_gap=1e-7, violation=1e-2)
    far = replace(race.courses[0], points=(planted,))
    assert far.first(1e-3) is None
    assert far.first(1e-2) is far.points[0]


@pytest.mark.parametrize(("arguments", "error", "words"), [
    ({"tols": (1e-3, 0.0)}, InputError, "convergence: a tolerance must be > 0, got 0"),
    ({"tols": ()}, InputError, "convergence: give at least one tolerance"),
    ({"max_seconds": 0}, InputError, "convergence: max_seconds must be positive, got 0"),
    ({"solvers": "nweton"}, UnknownSolverError, "Did you mean 'newton'"),
    ({"problem": []}, InputError, "at least one problem"),
    ({"problem": PROBLEMS}, InputError, "convergence takes one problem at a time; got"),
])  # fmt: skip
def test_bad_arguments(
    ridge: Any, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        convergence(**({"problem": ridge} | arguments))


def test_json_is_valid_and_not_finite_is_null(race: Convergence, tmp_path: Path) -> None:
    race.to_json(tmp_path / "race.json")
    text = (tmp_path / "race.json").read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=pytest.fail)
    assert document["schema"] == 1
    assert [each["solver"] for each in document["courses"]] == [c.solver for c in race.courses]
    assert sum(len(each["points"]) for each in document["courses"]) == len(race.records)
    (clarabel,) = (each for each in document["courses"] if each["solver"] == "clarabel")
    assert clarabel["points"][0]["passes"] is None
    with pytest.raises(InputError, match="has no folder"):
        race.to_json(tmp_path / "no" / "where.json")


def test_the_table_has_passes_and_seconds_to_each_gap(race: Convergence) -> None:
    lines = race.table().splitlines()
    assert lines[2].split()[:5] == ["solver", "to", "1e-02", "to", "1e-04"]
    (row,) = (line.split() for line in lines if line.startswith("gradient_descent"))
    (course,) = (each for each in race.courses if each.solver == "gradient_descent")
    assert row[1:5] == [f"{course.first(tol).passes:.0f}" for tol in (1e-2, 1e-4, 1e-6, 1e-8)]
    (row,) = (line.split() for line in lines if line.startswith("clarabel"))
    assert row[1:5] == ["–"] * 4


def test_the_plot(race: Convergence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    figure = race.plot(tmp_path / "race.svg")
    assert "<svg" in (tmp_path / "race.svg").read_text(encoding="utf-8")
    passes, seconds = figure.axes
    names = {line.get_label() for line in seconds.lines}
    assert names == {course.solver for course in race.courses if course.best is not None}
    assert (passes.get_xscale(), seconds.get_yscale()) == ("log", "log")
    with pytest.raises(InputError, match="has no folder"):
        race.plot(tmp_path / "no" / "where.png")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConvexmlError, match=r"convexml\[report\]"):
        race.plot()


def test_compare_draws_the_race_only_where_asked(ridge: Any, tmp_path: Path) -> None:
    solvers = ["newton", "gradient_descent", "clarabel"]
    plain = compare(ridge, solvers)
    assert plain.convergence == ()
    assert "convergence" not in plain.document()
    diet = cml.load(f"{PROBLEMS}/lp_diet.toml")  # one hand-written solver: no race
    comparison = compare([ridge, diet], solvers, convergence=True)
    assert [race.problem for race in comparison.convergence] == ["Ridge"]
    assert len(comparison.document()["convergence"][0]["courses"]) == 3
    comparison.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count('<figure class="race">') == 1
    assert not re.search(r"https?://(?!www\.w3\.org)[^\"]*\.(?:js|css|png)", page)
    figure = page[page.index('<figure class="race">') :]
    shown = [name.replace("_", "_<wbr>") for name in solvers]
    assert all(f">{name}</li>" in figure for name in shown)
    assert "runs of their own" in figure
    plain.to_html(tmp_path / "plain.html")  # what the runs themselves left behind
    assert "runs of their own" not in (tmp_path / "plain.html").read_text(encoding="utf-8")


def test_the_command_prints_the_race_and_draws_it(run: Command, tmp_path: Path) -> None:
    page = tmp_path / "race.html"
    arguments = ["compare", f"{PROBLEMS}/ridge_diabetes.toml", "--solvers", "newton,fista"]
    result = run(*arguments, "--convergence", "--html", page, code=0)
    assert "least gap" in result.output
    assert '<figure class="race">' in page.read_text(encoding="utf-8")
