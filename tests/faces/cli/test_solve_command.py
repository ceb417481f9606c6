"""``convexml solve``: exit codes, error texts, results on stdout and nothing else there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report.commands import HARD, LASSO, RIDGE, STATED, STATEMENT, Command, document, write

import convexml as cml

PROBLEMS = Path(__file__).parents[3] / "problems"


def words_of(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_verified_is_0_and_long_lines_are_broken_between_words(
    run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run("solve", ridge)
    assert (result.exit_code, result.stderr) == (0, "")
    for words in ("A small ridge", "CERTIFIED", "fact w = [1, 0]: holds"):
        assert words in result.stdout
    monkeypatch.setenv("COLUMNS", "60")
    broken = run("solve", ridge).stdout
    assert max(map(len, result.stdout.splitlines())) > 60
    assert max(map(len, broken.splitlines())) <= 60
    words = [[word for word in each.split() if "." not in word] for each in (result.stdout, broken)]
    assert words[0] == words[1]  # seconds aside


def test_json_is_one_document(run: Command, ridge: Path) -> None:
    result = run("solve", ridge, ridge, "--json", "--solver", "clarabel", "--tol", "1e-8", code=0)
    found = document(result)
    assert found["schema"] == 1
    assert len(found["records"]) == 2
    record = found["records"][0]
    assert (record["solver"], record["tol"], record["verdict"]) == ("clarabel", 1e-8, "certified")
    assert record["primal"]["w"] == pytest.approx([1.0, 0.0], abs=1e-4)
    assert record["primal"]["b"] == pytest.approx(1.0, abs=1e-4)  # mean y
    assert len(record["dual"]["u"]) == 4


def test_a_fact_that_does_not_hold_is_5_an_unknown_one_3(run: Command, tmp_path: Path) -> None:
    path = write(tmp_path / "wrong.toml", RIDGE.replace("value = [1.0, 0.0]", "value = [2.0, 0.0]"))
    result = run("solve", path, code=5)
    assert "DOES NOT HOLD, found [1, " in result.stdout
    for name, advice in (("objectiv", "'objective'"), ("dual.uu", "'dual.u'")):
        result = run("solve", write(path, RIDGE.replace('name = "w"', f'name = "{name}"')))
        told = words_of(result.stderr)
        assert result.exit_code == 3
        assert f"expected.facts[0].name: nothing is called '{name}' in this problem." in told
        assert f"Did you mean {advice}?" in told


def test_infeasible_is_4_unless_expected(run: Command, tmp_path: Path) -> None:
    result = run("solve", write(tmp_path / "hard.toml", HARD), code=4)
    assert "status infeasible: NOT as expected (optimal)" in result.stdout
    expecting = write(tmp_path / "known.toml", HARD + '[expected]\nstatus = "infeasible"\n')
    result = run("solve", expecting, "--json", code=0)
    alpha = np.array(document(result)["records"][0]["evidence"]["alpha"])
    assert alpha.sum() == pytest.approx(1.0)
    assert alpha @ [0.0, 1.0, -2.0] == pytest.approx(0.0, abs=1e-9)  # sum alpha_i y_i x_i


@pytest.mark.parametrize(("name", "claim"), [
    ("logistic_iris_separable", "unattained"),
    ("hard_margin_iris_inseparable", "infeasible"),
    ("lp_unbounded", "unbounded"),
])  # fmt: skip
def test_a_verified_absence_is_4(run: Command, name: str, claim: str, tmp_path: Path) -> None:
    """0 where the file expects it, 4 where it does not say; the text has the claim and verdict."""
    text = (PROBLEMS / f"{name}.toml").read_text(encoding="utf-8")
    unexpected = write(tmp_path / f"{name}.toml", text.partition("[expected]")[0])
    for file, code in ((PROBLEMS / f"{name}.toml", 0), (unexpected, 4)):
        result = run("solve", file, code=code)
        assert f"CERTIFIED at tol 1e-06 (claim: {claim})" in result.output
    (record,) = document(run("solve", unexpected, "--json"))["records"]
    assert (record["claim"], record["verdict"], record["status"]) == (claim, "certified", claim)


def test_a_statement_is_certified(run: Command, tmp_path: Path) -> None:
    write(tmp_path / "mine.py", STATEMENT)
    result = run("solve", write(tmp_path / "statement.toml", STATED), code=0)
    assert "clarabel claims optimal" in result.stdout
    assert "certified, gap" in result.stdout


def test_rows_left_out_and_a_file_without_a_title_are_told(run: Command, tmp_path: Path) -> None:
    write(tmp_path / "houses.csv", "size,price\n1,1\n?,2\n3,2\n4,5\n")
    keys = ["schema = 1", 'model = "ridge"', "parameters = { lam = 0.1 }", "[data]"]
    keys += ['file = "houses.csv"', 'target = "price"', 'missing = "drop"']
    path = write(tmp_path / "mine.toml", "\n".join(keys))
    result = run("solve", path)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (0, "mine  (mine, ridge)")
    assert "left out: 1 rows with something missing" in result.stdout
    (record,) = document(run("solve", path, "--json", "-"))["records"]
    assert record["dropped"] == 1


def test_a_missing_solver_is_6(run: Command, ridge: Path, only: Callable[..., None]) -> None:
    only()
    result = run("solve", ridge, "--solver", "highs", code=6)
    assert result.stderr == "convexml: the solver highs is not installed: pip install highspy\n"
    result = run("compare", ridge, "--solvers", "newton,piqp", code=6)
    assert "not installed: pip install piqp" in result.stdout
    assert "not installed: piqp" in result.stderr


@pytest.mark.parametrize(("arguments", "words"), [
    (["solve"], "Missing argument"),
    (["solve", "ridge.toml", "--tol", "-1"], "must be a positive number, got -1"),
    (["solve", "ridge.toml", "--tol", "nan"], "must be a positive number, got nan"),
    (["solve", "ridge.toml", "--solver", "clarbel"], "Did you mean 'clarabel'?"),
    (["solve", "lasso.toml", "--solver", "newton"], "newton needs a smooth penalty"),
    (["compare", "ridge.toml", "--tols", "a"], "'a' is not a number"),
    (["compare", "ridge.toml", "--tols", ","], "at least one number"),
    (["compare", "ridge.toml", "--repeats", "0"], "--repeats"),
    (["compare", "ridge.toml", "--max-seconds", "0"], "must be a positive number, got 0"),
    (["compare", "ridge.toml", "--solvers", "clarabel,nweton"], "Did you mean 'newton'?"),
    (["compare", "ridge.toml", "--html", "no/where.html"], "there is no folder no"),
    (["compare", "ridge.toml", "--csv", "-", "--json", "-"], "only one of --json and --csv"),
    (["check", "ridge.toml"], "--weights"),
    (["explain", "ridge.toml", "--latex", "--html", "p.html"], "leave one out"),
    (["explain", "statement.toml", "--derive"], "needs a model"),
    (["solve", "ridge.toml", "ridge.toml", "--checkpoint", "p"], "--checkpoint is of one prob"),
    (["solve", "statement.toml", "--checkpoint", "p"], "--checkpoint is for models"),
    (["list", "nonsense"], "nonsense"),
    (["sovle"], "No such command"),
])  # fmt: skip
def test_wrong_usage_is_2(run: Command, ridge: Path, arguments: list[str], words: str) -> None:
    write(ridge.parent / "lasso.toml", LASSO)
    write(ridge.parent / "mine.py", STATEMENT)
    write(ridge.parent / "statement.toml", STATED)
    result = run(*arguments, code=2)
    assert words in words_of(result.stderr)
    assert result.stdout == ""


@pytest.mark.parametrize("command", ["solve", "compare", "explain"])
@pytest.mark.parametrize(("text", "words"), [
    ("schema = ", "is not valid TOML"),
    (RIDGE.replace("lam =", "lamm ="), "parameters.lamm: ridge has no 'lamm'. Did you mean"),
    (RIDGE.replace("3.0, 1.0,", "nan, 1.0,"), "y holds nan at row 0"),
    (RIDGE.replace('"ridge"', '"rigde"'), "Did you mean 'ridge'?"),
])  # fmt: skip
def test_a_bad_file_is_3(run: Command, tmp_path: Path, command: str, text: str, words: str) -> None:
    write(tmp_path / "bad.toml", text)
    result = run(command, "bad.toml", code=3)
    assert result.stdout == ""
    assert result.stderr.startswith("convexml: bad.toml")
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_file_is_answered_with_problem_files(run: Command, ridge: Path) -> None:
    (ridge.parent / "ridges").mkdir()
    write(ridge.parent / "ridge.csv", "a,b\n1,2\n")
    write(ridge.parent / "pyproject.toml", "")
    result = run("solve", "rigde.toml", code=3)
    assert "there is no file or folder rigde.toml. Did you mean 'ridge.toml'?" in result.stderr
    for k in range(9):
        write(ridge.parent / f"{k}.toml", RIDGE)
    text = run("solve", "something.toml").stderr
    assert "Problem files there: 0.toml, 1.toml, 2.toml, 3.toml, 4.toml, ... (10 files)" in text
    assert "There is no folder nowhere either" in run("solve", "nowhere/a.toml").stderr


def test_interrupted_is_130(run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cml.Ridge, "solve", interrupt)
    result = run("solve", ridge)
    assert (result.exit_code, result.stderr) == (130, "convexml: interrupted\n")
    result = run("compare", ridge, "--html", "page.html", code=130)
    assert "Interrupted" in result.stdout
    assert "interrupted" in (ridge.parent / "page.html").read_text(encoding="utf-8")


# -- at scale ------------------------------------------------------------------------------------


def test_a_checkpoint_is_written_and_gone_on_from(run: Command, ridge: Path) -> None:
    file = ridge.parent / "point.json"
    assert run("solve", ridge, "--checkpoint", file).exit_code == 0
    again = run("solve", ridge, "--checkpoint", file, "--json")
    assert "Resumed from" in document(again)["records"][0]["choice"]
    assert document(again)["records"][0]["primal"]["w"] == pytest.approx([1.0, 0.0], abs=1e-4)
    other = write(ridge.parent / "other.toml", RIDGE.replace("lam = 0.5", "lam = 0.7"))
    refused = run("solve", other, "--checkpoint", file, code=3)
    assert "is of another problem: lam = 0.5 there, 0.7 here" in refused.stderr


def test_blocks_are_solved_and_shown(run: Command, tmp_path: Path) -> None:
    text = RIDGE.replace("[data]", "[data]\nblocks = 3")
    result = run("solve", write(tmp_path / "ridge.toml", text), code=0)
    assert "CERTIFIED" in result.stdout
    assert "fact w = [1, 0]: holds" in result.stdout


def test_a_silent_cluster(run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convexml.show.cli.solve.REACH", "0.2s")
    for address in ("tcp://127.0.0.1:1", "nowhere://x"):
        result = run("solve", ridge, "--cluster", address, code=2)
        assert "--cluster: no scheduler at" in words_of(result.stderr)
    monkeypatch.setitem(sys.modules, "distributed", None)
    result = run("solve", ridge, "--cluster", "tcp://127.0.0.1:1", code=2)
    assert "pip install 'convexml[scale]'" in words_of(result.stderr)
