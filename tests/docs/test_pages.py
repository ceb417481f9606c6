"""The pages say what is true: their Python blocks run, and print what is shown."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from support.pages import normalised, outputs
from typer.testing import CliRunner

from convexml import models
from convexml.solvers.registry import ALGORITHMS, names, printed

REPOSITORY = Path(__file__).resolve().parents[2]
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
    from convexml.cli import app

    monkeypatch.chdir(REPOSITORY)
    for command in commands(page.read_text(encoding="utf-8")):
        if not any(words in command for words in SLOW):
            result = CliRunner().invoke(app, shlex.split(command))
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
