"""From a csv to a verified model, step by step as docs/problem_files.md has it."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from support.pages import normalised
from support.report.commands import Command, document

import convexml as cml

PAGE = Path(__file__).resolve().parents[3] / "docs" / "problem_files.md"


def block(kind: str) -> str:
    """The first block of that kind on the page."""
    found = re.search(rf"```{kind}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def houses(run: Command, tmp_path: Path) -> Path:
    """The problem file: `convexml init` and the two edits of the page."""
    (tmp_path / "houses.csv").write_text(block("csv"))
    lines = run("init").stdout.split("\n")
    edits = block("diff").splitlines()
    assert len(edits) == 4
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert (old[0], new[0]) == ("-", "+")
        assert lines.count(old[1:]) == 1
        lines[lines.index(old[1:])] = new[1:]
    path = tmp_path / "houses.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_two_edited_lines_are_solved_and_certified(run: Command, houses: Path) -> None:
    result = run("solve", houses)
    assert (result.exit_code, result.stderr) == (0, "")
    assert normalised(result.stdout.strip()) == normalised(block("text").strip())


def test_the_coefficients_meet_the_optimality_conditions(run: Command, houses: Path) -> None:
    """x_j'(y - Xw - b)/n = lam sign(w_j) where w_j is not 0, else at most lam, in plain NumPy."""
    record = document(run("solve", houses, "--json"))["records"][0]
    rows = np.array([line.split(";") for line in block("csv").split()[1:]], dtype=float)
    X = (rows[:, :-1] - rows[:, :-1].mean(axis=0)) / rows[:, :-1].std(axis=0)
    y, w, lam = rows[:, -1], np.array(record["primal"]["w"]), 1.0
    assert record["primal"]["b"] == pytest.approx(y.mean())
    slopes = X.T @ (y - X @ w - y.mean()) / len(y)
    np.testing.assert_allclose(slopes[w != 0.0], lam * np.sign(w[w != 0.0]), atol=1e-5)
    assert np.all(np.abs(slopes[w == 0.0]) <= lam)
    assert cml.load(houses).features == ["area", "rooms", "age"]


def test_what_the_page_says_next_works_too(run: Command, houses: Path) -> None:
    w = document(run("solve", houses, "--json"))["records"][0]["primal"]["w"]
    names = ("age", "area", "rooms")
    table = dict(zip(("area", "rooms", "age"), w, strict=True))
    weights = houses.parent / "mine.csv"
    weights.write_text("\n".join(f"{name},{table[name]!r}" for name in names))
    run("check", houses, "--weights", weights, code=0)
    weights.write_text("area,50\nrooms,0\nage,0\n")
    result = run("check", houses, "--weights", weights, code=5)
    assert "REFUTED" in result.stdout
    assert run("explain", houses).exit_code == 0
    assert run("compare", houses, "--solvers", "fista,clarabel").exit_code == 0


def test_no_code_runs_nothing(run: Command, houses: Path) -> None:
    folder = houses.parent
    (folder / "mine.py").write_text("open('ran', 'w').close()\n")
    text = houses.read_text(encoding="utf-8")
    houses.write_text(text.replace('model = "lasso"', 'statement = "mine.py"'), encoding="utf-8")
    for command in ("solve", "explain", "compare"):
        result = run(command, houses, "--no-code", code=3)
        assert "statement: 'mine.py' is Python: it is not run" in result.stderr
        run(command, folder / "mine.py", "--no-code", code=3)
    assert not (folder / "ran").exists()
    assert run("solve", houses).exit_code == 3  # it defines no primal, but it was run
    assert (folder / "ran").exists()


def test_what_lies_outside_of_the_folder(run: Command, houses: Path) -> None:
    """Code there is never run; data are read, by a path or a link, from who is trusted only."""
    outer, inner = houses.parent, houses.parent / "inner"
    inner.mkdir()
    for name, target in (("houses.csv", outer / "houses.csv"), ("up", outer), ("loop", "loop")):
        (inner / name).symlink_to(target)
    (outer / "mine.py").write_text("open('ran', 'w').close()\n")
    (inner / "mine.py").symlink_to(outer / "mine.py")
    text, file = houses.read_text(encoding="utf-8"), inner / "houses.toml"
    far = ("../houses.csv", str(outer / "houses.csv"), "houses.csv", "up/houses.csv")
    for path, trusted in (*((each, 0) for each in far), ("loop", 3)):
        file.write_text(text.replace('"houses.csv"', f'"{path}"'), encoding="utf-8")
        assert run("solve", file).exit_code == trusted
        result = run("solve", file, "--no-code", code=3)
        assert trusted or "lies outside the folder of the problem file" in result.stderr
    for path in ("mine.py", "../mine.py"):
        file.write_text(text.replace('model = "lasso"', f'statement = "{path}"'), encoding="utf-8")
        result = run("solve", file, code=3)
        assert "lies outside the folder of the problem" in result.stderr
        assert "only code beside it is run" in result.stderr
    assert not (outer / "ran").exists()
    (outer / "door").symlink_to(outer)  # the folder itself may be a link
    for same in (houses, outer / "door" / "houses.toml"):
        assert run("solve", same, "--no-code").exit_code == 0
