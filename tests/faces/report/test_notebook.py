"""What a notebook shows: tables and formulas in which no name is taken for HTML or LaTeX."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from support.report.reader import Nest
from support.report.records import RECORDS, record

import convexml as cml
from convexml.certificates import Certificate, Verdict
from convexml.show.views import Comparison

EVIL = "<script>alert('x')</script>&amp;"


@pytest.fixture(scope="module")
def evil() -> Any:
    """A lasso whose worst rows are those of columns with such a name."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(20, 2)), columns=[EVIL, "other"])
    return cml.Lasso(X, X[EVIL].to_numpy() + 0.1 * rng.normal(size=20), 0.1)


def test_a_problem_shows_its_formulas(evil: Any) -> None:
    shown = Nest(evil._repr_html_())
    assert shown.tags.count("math") == evil.latex().count("&")
    assert "Lasso(n=20, d=2, lam=0.1)" in shown.text


def test_names_are_inert_in_solutions_and_certificates(evil: Any) -> None:
    solution = evil.solve()
    point = evil.certify(np.array([0.5, 0.0]), 0.3)
    named = [row for row in point.conditions if EVIL in row.where()]
    assert named  # else nothing is tested
    for each in (solution, solution.certificate, point):
        shown = Nest(each._repr_html_())
        assert "script" not in shown.tags
        assert each._repr_latex_().startswith("$$\n")
    assert EVIL in Nest(point._repr_html_()).text
    assert "script" in point._repr_latex_()  # in lines, as it is long
    assert EVIL in evil.explain(point)


def test_a_certificate_shows_the_numbers_that_it_has(evil: Any) -> None:
    certificate = evil.certify(np.array([0.5, 0.0]), 0.3)
    text = Nest(certificate._repr_html_()).text.replace("−", "-")
    assert f"{certificate.gap:.3g}" in text
    assert f"{certificate.primal_objective:.12g}" in text
    for row in certificate.conditions:
        assert f"{row.residual:.3g}" in text
    words = re.sub(r"\\text\{|[{}\\]", "", certificate._repr_latex_())
    assert "REFUTED at tol 1e-06" in words
    assert f"{certificate.gap:.3g}" in words


def test_a_solution_that_failed_says_why_and_has_no_numbers(evil: Any) -> None:
    solution = replace(evil.solve(), status="failed", message="gave up <b>early</b>")
    assert "failed" in Nest(solution._repr_html_()).text
    assert "gave up <b>early</b>" in solution.explain()
    assert "Optimality conditions" not in solution.explain()


def test_explain_has_the_residual_beside_every_condition(evil: Any) -> None:
    solution = evil.solve()
    text = solution.explain(columns=80)
    assert text == evil.explain(solution)
    assert max(map(len, text.splitlines())) <= 80
    table = text.partition("Optimality conditions\n")[2].partition("\n\n")[0].splitlines()[1:]
    lines = [re.split(r" {2,}", line.strip()) for line in table if "worst at" not in line]
    for cells, row in zip(lines, solution.certificate.conditions, strict=True):
        assert cells[1:3] == [f"{row.residual:.3g}", f"{row.relative:.3g}"]
    assert f"  P           {solution.objective:.12g}" in text
    assert "CERTIFIED at tol 1e-06 (claim: optimal)" in text
    with pytest.raises(cml.errors.InputError, match="columns must be at least 60, got 40"):
        solution.explain(columns=40)


def test_long_names_of_columns_stand_below_their_condition() -> None:
    X = pd.DataFrame(np.random.default_rng(1).normal(size=(9, 2)), columns=["a " * 19, "b"])
    problem = cml.Ridge(X, np.arange(9.0), 0.1)
    text = problem.explain(problem.certify(np.zeros(2)))
    assert max(map(len, text.splitlines())) <= 80
    assert " ".join(text.split()).count("worst at 0 (" + "a " * 19) == 1


def test_a_dual_shows_itself() -> None:
    x = cp.Variable(2, name="x")
    dual = cml.dualize(cp.Problem(cp.Minimize(cp.norm1(x - 1.0)), [x >= 2.0]))
    assert Nest(dual._repr_html_()).tags.count("math") == dual.latex().count("&")


def test_paths_audits_supports_profiles_show_numbers(evil: Any, comparison: Comparison) -> None:
    grid = evil.path((evil.lam_max, 0.5 * evil.lam_max), everywhere=1e-2)
    few = evil.path([0.2, 0.1])
    for path in (grid, few):
        shown = Nest(path._repr_html_())
        assert shown.tags.count("tr") == 1 + min(len(path), 20)
        assert f"{path.lams[-1]:.6g}" in shown.text or len(path) > 20
    assert f"at most {grid.worst_gap:.2e}" in Nest(grid._repr_html_()).text
    support = few[0].certified_support()
    shown = Nest(support._repr_html_())
    assert all(words in shown.text for words in ("1 nonzero, 1 zero", "unique w", "gap"))
    audit = evil.solve("fista", polish=False).rate_audit()
    shown = Nest(audit._repr_html_())
    assert shown.tags.count("tr") == 1 + len(audit.claims)
    assert f"{audit.slack:.3g}" in shown.text
    profile = comparison.profile()
    shown = Nest(profile._repr_html_())
    assert shown.tags.count("tr") == 1 + len(profile.ratios)
    assert all(f"{profile.share(name, 2.0):.0%}" in shown.text for name in profile.ratios)


def test_a_comparison_is_its_table(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert repr(comparison) == comparison.table()
    none, one = Comparison((), {}), Comparison((replace(RECORDS[0], title="A title " * 20),), {})
    for width in (80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        for each in (comparison, none, one):
            assert max(map(len, repr(each).splitlines())) <= width < 130
            assert set(repr(each).split()) <= set(each.table().split())
        assert "clarabel" in repr(one)
        assert "= 0 rows." in repr(none)
    crash = record("lasso", EVIL, title=EVIL, worst_condition=EVIL)
    shown = Nest(Comparison((*RECORDS, crash), {})._repr_html_())
    assert {"script", "b"} & set(shown.tags) == set()
    assert shown.tags.count("tr") == 1 + len(RECORDS) + 1
    assert EVIL in shown.text
    assert "No solver at all verified 1 problem: svm." in shown.text
    assert Nest(Comparison((), {})._repr_html_()).tags.count("td") == 0


VALUES = (0.0, 1.23456789e-300, -9.87654321e300, inf)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("claim", ["optimal", "infeasible", "unbounded", "unattained"])
def test_one_line_says_verdict_claim_and_gap(value: float, verdict: Verdict, claim: str) -> None:
    gap = abs(value)
    numbers = (value, -value, gap, gap)
    certificate = Certificate(claim, *numbers, (), verdict, 1.2345e-06, within=1.2345e-12)
    text = repr(certificate)
    assert len(text) <= 80
    for words in (str(verdict).upper(), claim, "within=1.23e-12"):
        assert words in text
    assert f"relative_gap={gap:.3g}" in repr(replace(certificate, within=None))


def test_the_repr_of_a_solution_fits_80_columns(evil: Any) -> None:
    solution = replace(evil.solve(), status="unattained", solver="online_gradient_descent")
    text = repr(solution)
    assert len(text) <= 80
    assert text.startswith("Solution(Lasso: unattained, relative_gap=")
