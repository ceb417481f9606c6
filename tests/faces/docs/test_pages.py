"""The pages say what is true: blocks and commands run, links lead somewhere, the site is whole."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from markdown_it import MarkdownIt
from support.pages import normalised, outputs
from typer.testing import CliRunner

import convexml
from convexml import models
from convexml.library import schema
from convexml.solvers.registry import ALGORITHMS, TABLE, names, printed

REPOSITORY = Path(__file__).resolve().parents[3]
FOLDERS = (REPOSITORY / "docs", REPOSITORY / "docs" / "scaling")
PAGES = [REPOSITORY / "README.md", *(p for each in FOLDERS for p in sorted(each.glob("*.md")))]
SLOW = ("compare problems --html",)


def commands(text: str) -> list[str]:
    """The lines of ```console blocks that start with `$ convexml`."""
    return re.findall(r"^\$ convexml (.+)$", text, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_print_what_the_page_shows(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for block, shown in outputs(page.read_text(encoding="utf-8")):
        assert normalised(shown) == normalised(block["shown"] or ""), block["code"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from convexml.show.cli import app

    monkeypatch.chdir(REPOSITORY)
    for command in commands(page.read_text(encoding="utf-8")):
        if not any(words in command for words in SLOW):
            here = ["--jobs", "1"] if command.startswith("compare") else []  # not in processes
            result = CliRunner().invoke(app, [*shlex.split(command), *here])
            assert result.exit_code == 0, f"{command}\n{result.output}"


@pytest.mark.parametrize("page", ["README.md", "docs/models.md"])
def test_every_model_has_its_row(page: str) -> None:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE))
    missing = set(models.__all__) - rows - ({"LearningProblem"} if "docs" in page else set())
    assert missing - ({"LinearProgram"} if "docs" in page else set()) == set()


@pytest.mark.parametrize("page", ["README.md", "docs/solvers.md", "docs/textbook.md"])
def test_every_solver_is_named(page: str) -> None:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    rows = "\n".join(line for line in text.splitlines() if line.startswith("|"))
    hand_written = [name for name in ALGORITHMS if name not in printed()]
    expected = {"README.md": names(), "docs/textbook.md": printed()}.get(page, hand_written)
    assert [name for name in expected if f"`{name}`" not in rows] == []


def test_every_example_is_listed() -> None:
    text = (REPOSITORY / "docs" / "examples.md").read_text(encoding="utf-8")
    folder = REPOSITORY / "examples"
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}
    assert {name for name in names if f"../examples/{name}" not in text} == set()


def test_the_readme_opens_with_an_example_of_ten_lines() -> None:
    text = PAGES[0].read_text(encoding="utf-8")
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    calls = [line for line in code[1].splitlines() if line and "import" not in line]
    assert len(calls) <= 10


def test_wrong_output_is_noticed() -> None:
    page = "```python\nprint(1 + 1, 0.125, 'in 0.3 s')\n```\n\n```text\n2 0.125 in 0.9 s\n```\n"
    ((block, shown),) = outputs(page)
    assert normalised(shown) == normalised(block["shown"])
    assert normalised(shown) != normalised(block["shown"].replace("0.125", "0.126"))


def of_readme(repository: Path) -> list[str]:
    """The shell lines of the README's section "Two commands"."""
    text = (repository / "README.md").read_text(encoding="utf-8")
    section = text.split("\n## Two commands\n")[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.+)\n```", section)


def test_the_readme_has_two_one_line_commands(repository: Path) -> None:
    report, tests = of_readme(repository)
    assert "convexml compare problems --html report.html" in report
    assert "pytest" in tests


def test_ci_runs_the_readmes_test_command_word_for_word(repository: Path) -> None:
    script = repository / ".ci" / "run"
    assert of_readme(repository)[1] in script.read_text(encoding="utf-8").splitlines()
    assert os.access(script, os.X_OK)


def test_ci_writes_the_readmes_report_and_reads_its_page(repository: Path) -> None:
    lines = (repository / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    report = lines.index(of_readme(repository)[0])
    page = ".venv/bin/python -m pytest -q -m page --browser --page=report.html --site=site"
    assert lines.index(page) > report


def test_ci_lints_and_checks_types_before_the_tests(repository: Path) -> None:
    lines = (repository / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    tests = lines.index(of_readme(repository)[1])
    steps = ["ruff check", "ruff format --check", "mypy"]
    assert all(lines.index(f".venv/bin/{step}") < tests for step in steps)
    assert "set -eu" in lines


DOCS = Path(__file__).resolve().parents[3] / "docs"
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


def written_pages() -> Iterator[Path]:
    """The pages that are written by hand."""
    return (page for page in DOCS.rglob("*.md") if page.parent.name != "model")


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def test_every_public_name_is_in_the_reference() -> None:
    named = {name for page in written_pages() for name in DIRECTIVE.findall(text_of(page))}
    assert set(convexml.__all__) - named - set(models.__all__) == set()
    template = (DOCS / "extensions" / "model.md.j2").read_text(encoding="utf-8")
    assert ".. autoclass:: convexml.{{ name }}" in template


def test_what_the_reference_names_exists() -> None:
    for page in written_pages():
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


@pytest.mark.parametrize("code", [
    r"LogisticRegression\(C=0.5\).fit\(X, y\)\nprint\(cml\.certify\(theirs, X, y",
    r"cp\.Problem\([^`]*cml\.(?:solve|certify)\(",
    r"\.certify\(w\b",
], ids=["a scikit-learn model", "a CVXPY problem", "coefficients of one's own"])  # fmt: skip
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
        for page in written_pages()
        for said in emphasised(text_of(page))
        if FORMULA.search(said)
    ]
    assert wrong == []


def test_summaries_of_models_are_escaped(registries: Any) -> None:
    plain: ModuleType = registries.plain
    assert plain("|f|_H^2 + ``a_b``") == r"\|f\|\_H^2 + ``a_b``"


SHOWN = re.compile(r"\]\(\.\./model/(\w+)\.svg\)")


@pytest.mark.slow
def test_pictures_of_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(sys, "path", [str(DOCS / "extensions"), *sys.path])
    import pictures

    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    pictures.draw()
    drawn = {path.stem for path in tmp_path.glob("*.svg") if "</svg>" in path.read_text()}
    pages = [path.read_text(encoding="utf-8") for path in (DOCS / "reference").glob("*.md")]
    assert {name for page in pages for name in SHOWN.findall(page)} == drawn
