"""The report: one offline page in which nothing is omitted, readable without its script."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from support.report.reader import Nest, read
from support.report.records import ENVIRONMENT, LIE, RECORDS, page_of, record

from convexml.show.comparison import Outcome
from convexml.show.comparison.entries import Card
from convexml.show.comparison.runs import beside_each_other
from convexml.show.views import Comparison, render_html


@pytest.fixture(scope="module")
def html() -> str:
    """With all that matplotlib draws."""
    return render_html(Comparison(RECORDS, ENVIRONMENT))


@pytest.fixture(scope="module")
def page(html: str) -> Nest:
    return Nest(html)


def test_the_page_nests_and_needs_no_network(html: str, page: Nest) -> None:
    assert page.loaded == []
    assert not {"link", "img", "iframe", "object"} & set(page.tags)
    assert not re.search(r"https?://|@import|url\((?!#)|fetch\(", html)


def test_every_link_of_the_page_has_a_target(page: Nest) -> None:
    assert page.targets
    assert page.targets <= page.ids


def test_every_row_is_on_the_page(page: Nest) -> None:
    for text in (
        "not installed: pip install piqp", "PanicException: index 4",
        "a feasible point is better by 79.4", "The title of lasso", "The title of logistic",
        "1620.599712", "6.2e−10", "unattained", "certified", "refuted", "undecided",
        "A <fast> & honest CPU", "numpy 2.4.6", "Not installed",
        "Linear algebraopenmp with 2 threads", "5 s for each run", "2026-11-20 09:00:00 UTC",
        "<Efron> 2004", "met by 0 of 1; clarabel has 7", "[1, −2]",
    ):  # fmt: skip
        assert text in page.text, text


def test_text_is_escaped(html: str) -> None:
    assert "<b>bold</b>" not in html
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<fast>" not in html


def test_disagreements_are_highlighted(html: str) -> None:
    section = html.split('id="disagreements"')[1].split("</section>")[0]
    assert section.count('<tr class="disagrees">') == 2  # a lie; "optimal" without a minimiser
    assert "liar" in section
    honest = Comparison((record("lasso", "clarabel"),), ENVIRONMENT)
    assert "Nowhere: every conclusion that was claimed is certified" in page_of(honest)


def test_planted_lies_count_as_such_in_sentence_matrix_and_profile() -> None:
    """A claim that the certificate refuses, and a run that is past its limit."""
    late = record("lasso", "slow", seconds=9.0, max_seconds=5.0)
    results = Comparison((record("lasso", "honest", max_seconds=5.0), LIE, late), ENVIRONMENT)
    html = page_of(results)
    kinds = [row["kind"] for row in results.document()["records"]]
    assert kinds == ["confirmed", "refuted", "late"]
    assert read(html).counts == {"confirmed": 1, "refuted": 1, "late": 1}
    assert "1 run claimed a conclusion that the certificate confirms in time; 1 claimed" in html
    assert "The worst refuted claim: liar on lasso claimed “optimal” and misses by 0.047" in html
    matrix = html.split('id="matrix"')[1].split("</section>")[0]
    cells = [matrix.count(f'<td data-kind="{kind}">') for kind in kinds]
    assert cells == [1, 1, 1]
    profile = results.profile()
    shares = {name: profile.share(name, inf) for name in profile.ratios}
    assert shares == {"honest": 1.0, "liar": 0.0, "slow": 0.0}
    standings = {each.solver: each for each in results.standings()}
    assert standings["honest"].beats == {"liar": 1.0, "slow": 1.0}
    assert standings["liar"].beats["honest"] == 0.0
    assert standings["honest"].mean_seconds == pytest.approx(0.0123 + 0.0045)
    assert standings["slow"].mean_seconds == pytest.approx(5.0)  # a miss counts as the limit


def told(*rows: Outcome) -> str:
    return Comparison(rows, ENVIRONMENT).table() + "\n"


def test_the_worst_claims_are_told_by_name_whatever_they_miss() -> None:
    feasible = ({"name": "|s| <= lam", "kind": "dual_feasibility", "relative": 7e-6},)
    outside = record("lasso", "outside", verdict="undecided", conditions=feasible)
    assert outside.relative_gap < outside.tol
    assert outside.excess == pytest.approx(7.0)
    nearby = record("lasso", "nearby", verdict="undecided", within=2.0)
    assert nearby.excess == inf
    far = record("ridge", "far", verdict="undecided", relative_gap=0.9)
    worst = told(LIE, outside, far, nearby)
    assert "\nThe worst refuted claim: liar on lasso claimed “optimal”" in worst
    assert "Neither shown nor refuted: far on ridge claimed “optimal”, and may miss by 0.9" in worst
    assert "Neither" not in told(LIE, outside)
    assert "outside on lasso claimed “optimal” and may miss by 7e−06" in told(outside)
    other = record("lasso", "other", status="unattained", claim="unattained", verified=False)
    ending = "certified: other on lasso claimed “optimal”, certified is “unattained”."
    assert all(ending in told(*each) for each in ([other], [LIE, other, outside]))


def test_what_only_the_certificate_found_is_no_finding_of_a_solver() -> None:
    """Optimal is claimed, and it is certified that there is no minimiser: nobody said so."""
    wrong = record("free", "newton", status="unattained", claim="unattained")
    silent = replace(wrong, solver="sgd", claimed="max_iter")
    assert [wrong.kind, silent.kind] == ["otherwise", "closed"]
    told = "Every problem that has a certificate was verified by at least one solver."
    found = Comparison((record("lasso", "newton"), wrong, silent), ENVIRONMENT)
    own = (
        "Every problem that has a certificate has a certified answer. On 1 problem no solver "
        "claimed it in the end, and the certificate found it at the points they left: free."
    )
    for text in (page_of(found), found.table()):
        assert told not in text
        assert own in text
    assert told in Comparison((record("lasso", "newton"),), ENVIRONMENT).table()
    late = record("lasso", "slow", seconds=9.0, max_seconds=5.0)  # claimed, and verified
    assert told in Comparison((late,), ENVIRONMENT).table()


def test_only_formulas_that_there_are_are_those_of_another_problem() -> None:
    primal = (("primal", "x"),)
    cards = [
        Card(name, name, "", "", formulas=formulas)
        for name, formulas in {"a": (), "b": (), "c": primal, "d": primal}.items()
    ]
    rows = tuple(record(name, "newton") for name in "abcd")
    text = page_of(Comparison(rows, ENVIRONMENT, problems=tuple(cards)))
    shown = text.partition('<article data-name="c">')[2].split("</article>")
    assert [each.count("<math") for each in shown[:2]] == [1, 0]
    assert text.count("<math") == 1
    assert 'href="#c"' in shown[1]


def test_a_claim_beside_a_certified_other_one_is_another_conclusion() -> None:
    """That of "infeasible", where another solver's optimum is certified; not that of "optimal"."""
    open_ = {"verdict": "undecided", "status": "failed", "verified": False}
    silent = record("lasso", "ecos", claimed="infeasible", message="no point.", **open_)
    rows = [record("lasso", "scs"), silent, replace(silent, problem="ridge")]
    rows.append(replace(rows[1], solver="osqp", claimed="optimal"))
    rows.append(replace(rows[1], solver="piqp", verdict="refuted"))
    found = beside_each_other(rows)
    assert [row.kind for row in found] == [
        *("confirmed", "otherwise", "unproved", "unproved", "refuted")
    ]
    assert [row.elsewhere for row in found] == ["", "optimal", "", "", ""]
    html = page_of(Comparison(tuple(found), ENVIRONMENT))
    assert "undecided, optimal elsewhere" in html
    assert "no point. Another run is certified optimal." in html
    assert "“infeasible”, certified is “optimal”.\n" in told(found[1])


def test_what_is_not_refuted_may_miss_by_no_more_than_its_bound() -> None:
    far = record("nu", "highs", verdict="undecided", verified=False, relative_gap=1e-5)
    html = page_of(Comparison((far, LIE), ENVIRONMENT))
    cells = re.findall(r'data-is="misses by">([^<]*)<', html)
    assert cells == ["may be 10×", "47,000×"]
    unbounded = page_of(Comparison((replace(far, relative_gap=inf),), ENVIRONMENT))
    assert 'data-is="misses by">no bound<' in unbounded


def test_what_nobody_did_is_not_told_as_done() -> None:
    idle = Outcome("lasso", "piqp", 1e-6, message="not installed")
    html = page_of(Comparison((idle, replace(idle, solver="ecos")), ENVIRONMENT))
    assert "No run was made on 1 problem: each row says why." in html
    assert "Every row is counted once: 2 rows." in html
    assert "Nowhere: no conclusion was claimed that a certificate is about." in html


def test_ties_are_told_as_ties() -> None:
    first, second = record("lasso", "a", seconds=1.0), record("lasso", "b", seconds=1.0)
    slower = record("lasso", "c", seconds=2.0)
    html = page_of(Comparison((first, second, slower), ENVIRONMENT))
    assert "a and b and c solve the most, 100 % of all problems; a and b are the quickest" in html
    html = page_of(Comparison((first, slower), ENVIRONMENT))
    assert "a is most often the quickest, 100 %." in html


def test_dark_mode_phone_and_print_are_provided_for(html: str) -> None:
    for rule in ("prefers-color-scheme: dark", "@media print", "max-width: 700px", "viewport"):
        assert rule in html


def test_the_page_is_written_and_empty_comparisons_have_one(tmp_path: Path) -> None:
    Comparison((), ENVIRONMENT, interrupted=True).to_html(tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "interrupted" in html
