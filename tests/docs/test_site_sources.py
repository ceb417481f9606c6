"""The site is whole before it is built: names, theorems, keys and ways from the front page."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from markdown_it import MarkdownIt

import convexml
from convexml import models
from convexml.library import schema
from convexml.solvers.algorithms import TABLE

DOCS = Path(__file__).resolve().parents[2] / "docs"
DIRECTIVE = re.compile(r"^\.\. auto(?:function|class|module):: convexml\.([\w.]+)", re.MULTILINE)
LINK = re.compile(r"\]\(([\w/.]+\.md)(?:#[^)]*)?\)|^:link: (\w+)$", re.MULTILINE)
FORMULA = re.compile(r"[_=^|<>≤≥‖Σ∇]|^[\W\d]")


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The extension of the site that writes out what the code knows."""
    monkeypatch.syspath_prepend(DOCS / "extensions")
    yield importlib.import_module("registries")
    for name in ("registries", "model_pages"):
        sys.modules.pop(name, None)


def pages() -> Iterator[Path]:
    """The pages that are written by hand."""
    return (page for page in DOCS.rglob("*.md") if page.parent.name != "model")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_every_public_name_is_in_the_reference() -> None:
    named = {name for page in pages() for name in DIRECTIVE.findall(text_of(page))}
    assert set(convexml.__all__) - named - set(models.__all__) == set()
    template = (DOCS / "extensions" / "model.md.j2").read_text(encoding="utf-8")
    assert ".. autoclass:: convexml.{{ name }}" in template


def test_what_the_reference_names_exists() -> None:
    for page in pages():
        for name in DIRECTIVE.findall(text_of(page)):
            home, _, last = f"convexml.{name}".rpartition(".")
            assert hasattr(importlib.import_module(home), last), name


def within(clicks: int) -> set[Path]:
    """The pages that are at most so many links away from the front page."""
    found = {DOCS / "index.md"}
    for _ in range(clicks):
        for page in list(found):
            for path, name in LINK.findall(text_of(page)):
                found.add((page.parent / (path or f"{name}.md")).resolve())
        found = {page for page in found if page.parent.name != "model"}  # written by the build
    return found


@pytest.mark.parametrize(
    "code",
    [
        r"LogisticRegression\(C=0.5\).fit\(X, y\)\nprint\(cml\.certify\(theirs, X, y",
        r"cp\.Problem\([^`]*cml\.(?:solve|certify)\(",
        r"\.certify\(w\b",
    ],
    ids=["a scikit-learn model", "a CVXPY problem", "coefficients of one's own"],
)
def test_how_to_certify_is_two_clicks_away(code: str) -> None:
    blocks = [
        block
        for page in within(2)
        for block in re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL)
    ]
    assert any(re.search(code, block) for block in blocks)


def test_every_theorem_says_what_it_states_assumes_and_where_it_is_from(registries: Any) -> None:
    sections = list(registries.theorems())
    told = [solver.name for each in sections for solver in each["solvers"]]
    assert sorted(told) == sorted(each.name for each in TABLE if each.theorem is not None)
    listed = text_of(DOCS / "reference" / "theorems.md").split("## Sources")[1]
    for each in sections:
        assert each["statement"]
        assert each["text"]
        surname = re.match(r"\w[\w-]+", each["source"])
        assert surname is None or surname[0] in listed, each["source"]


def test_every_key_of_a_problem_file_is_explained(registries: Any) -> None:
    tables = {each["header"]: {row["key"] for row in each["rows"]} for each in registries.keys()}
    kinds = [kind for kind in vars(schema).values() if isinstance(kind, type)]
    known = [kind for kind in kinds if issubclass(kind, schema.Table) and kind is not schema.Table]
    assert len(tables) == len(known)
    for kind in known:
        keys = {info.alias or name for name, info in kind.model_fields.items()}
        assert keys in tables.values()
    rows = [row for each in registries.keys() for row in each["rows"]]
    assert [row["key"] for row in rows if not row["meaning"].endswith((".", ":"))] == []


def test_types_of_keys_are_words(registries: Any) -> None:
    (data,) = (each["rows"] for each in registries.keys() if each["header"] == "`[data]`")
    kinds = {row["key"]: row["type"] for row in data}
    assert kinds["file"] == "text"
    assert kinds["standardize"] == "true or false"
    assert kinds["format"] == '`"text"` or `"npz"` or `"libsvm"` or `"parquet"`'
    assert kinds["X"] == "list of list of number"


def test_theorems_and_keys_are_put_where_a_page_asks_for_them(registries: Any) -> None:
    for page, words in (
        ("reference/theorems", "theory.SagaRate"),
        ("problem_files", "`polynomial`"),
    ):
        source = [text_of(DOCS / f"{page}.md")]
        registries.fill(None, page, source)
        assert "<!--" not in source[0]
        assert words in source[0]


def emphasised(text: str) -> Iterator[str]:
    """What a page sets in italics or bold."""
    for block in MarkdownIt("commonmark").enable("table").parse(text):
        depth, said = 0, ""
        for each in block.children or ():
            depth += each.nesting if each.type.startswith(("em_", "strong_")) else 0
            said = said + each.content if depth else ""
            if depth and said:
                yield said


def test_no_star_or_bar_of_a_formula_is_taken_for_markup() -> None:
    assert list(emphasised("σ*² of f(x*)")) == ["² of f(x"]  # what it looks for
    wrong = [
        f"{page.name}: {said}"
        for page in pages()
        for said in emphasised(text_of(page))
        if FORMULA.search(said)
    ]
    assert wrong == []


def test_summaries_of_models_are_escaped(registries: Any) -> None:
    plain: ModuleType = registries.plain
    assert plain("|f|_H^2 + ``a_b``") == r"\|f\|\_H^2 + ``a_b``"
