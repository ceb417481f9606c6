"""Problem files as ``convexml explain`` shows them, at 80 and 120 columns and as a page."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

import pytest
from typer.testing import CliRunner

from convexml.cli import app
from convexml.library import discover, read_table_of
from convexml.typesetting.mathml import mathml

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"


def one_of_each() -> list[Path]:
    """A problem file of every model, and every statement."""
    found: dict[str, Path] = {}
    for path in discover(PROBLEMS):
        table = read_table_of(path)
        found.setdefault(table.model or table.statement or "objective", path)
    return list(found.values())


MULTIPLIERS = re.compile(r"[λν]_[a-z]+|[αβμν]")


def check(path: Path, monkeypatch: pytest.MonkeyPatch, page: Path) -> None:
    """The command prints nothing that is wider than the terminal, and no LaTeX."""
    for columns in (80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        result = CliRunner().invoke(app, ["explain", str(path)])
        assert result.exit_code == 0, result.output
        assert max(map(len, result.stdout.splitlines())) <= columns
        assert not set(result.stdout) & set("\\$&")
        headings = re.findall(r"^[A-Z][a-z ]+$", result.stdout, re.MULTILINE)
        assert headings[-2:] == ["Optimality conditions", "Verdict"]
        formulas, _, conditions = result.stdout.partition("Optimality conditions")
        named = set(MULTIPLIERS.findall(conditions.partition("Verdict")[0]))
        assert named <= set(MULTIPLIERS.findall(formulas.partition("Multipliers")[0])), named
    result = CliRunner().invoke(app, ["explain", str(path), "--html", str(page)])
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert escape(read_table_of(path).title) in text
    assert not re.search(r"https?:|<script|\\\\", text)


def test_a_statement_and_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("statement_lp_dual", "lp_diet"):
        check(PROBLEMS / f"{name}.toml", monkeypatch, tmp_path / "page.html")


@pytest.mark.slow
@pytest.mark.parametrize("path", one_of_each(), ids=lambda path: path.stem)
def test_every_model(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    check(path, monkeypatch, tmp_path / "page.html")


def test_bars_are_of_one_size_and_a_vector_of_ones_is_no_number() -> None:
    """A bar that may stretch grows to the fraction beside it, that with a script does not."""
    shown = mathml(r"\tfrac{1}{2} \|w\|_2^2 + \mathbf{1}^\top u + p \log p + (1 - p) \log(1 - p)")
    assert shown.count('<mo stretchy="false">‖</mo>') == 2
    assert "<mo>‖</mo>" not in shown
    assert "\N{MATHEMATICAL BOLD DIGIT ONE}" in shown
    assert len(re.findall("<mspace[^>]*></mspace>", shown)) == 2  # on both sides of the first log
    assert mathml(r"\left\| \frac{a}{b} \right\|").count('<mo form="p') == 2  # these stretch


def test_labels_are_what_they_say_in_mathml_too() -> None:
    label = r"\text{50\% of \{A \& B\}\_i \ensuremath{<} \textasciitilde{}}"
    shown = mathml(rf"{label} \ge \text{{b}}").replace("\N{NO-BREAK SPACE}", " ")
    assert "<mtext>50% of {A &amp; B}_i &lt; ~</mtext><mo>≥</mo><mtext>b</mtext>" in shown
