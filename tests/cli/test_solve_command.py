"""``convexml solve``: exit codes, error texts, results on stdout and nothing else there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report.commands import HARD, LASSO, RIDGE, STATEMENT, Command, document, liar, write
from typer.testing import CliRunner

from convexml.cli import app
from convexml.comparison import loop
from convexml.models import Ridge
from convexml.models.learning import running as models_running
from convexml.models.learning import solving as models_solving

# -- solve -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "advice"),
    [("objectiv", "Did you mean 'objective'?"), ("dual.uu", "Did you mean 'dual.u'?")],
)
def test_an_unknown_fact_is_a_bad_file(name: str, advice: str, tmp_path: Path) -> None:
    path = tmp_path / "ridge.toml"
    path.write_text(RIDGE.replace('name = "w"', f'name = "{name}"'))
    result = CliRunner().invoke(app, ["solve", str(path)])
    assert result.exit_code == 3
    told = " ".join(result.stderr.replace("│", " ").split())
    assert f"expected.facts[0].name: nothing is called '{name}' in this problem." in told
    assert advice in told


def test_solve_verified_is_0(run: Command, ridge: Path) -> None:
    result = run("solve", ridge)
    assert result.exit_code == 0
    assert "A small ridge" in result.stdout
    assert "CERTIFIED" in result.stdout
    assert "fact w = [1, 0]: holds" in result.stdout
    assert result.stderr == ""


def test_solve_breaks_long_lines_between_words(
    run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run("solve", ridge).stdout
    monkeypatch.setenv("COLUMNS", "60")
    broken = run("solve", ridge).stdout
    assert max(map(len, whole.splitlines())) > 60
    assert max(map(len, broken.splitlines())) <= 60
    words = [[word for word in each.split() if "." not in word] for each in (whole, broken)]
    assert words[0] == words[1]  # seconds aside


def test_solve_json_is_one_document(run: Command, ridge: Path) -> None:
    result = run("solve", ridge, ridge, "--json", "--solver", "clarabel", "--tol", "1e-8")
    assert result.exit_code == 0
    found = document(result)
    assert found["schema"] == 1
    assert len(found["records"]) == 2
    record = found["records"][0]
    assert (record["solver"], record["tol"], record["verdict"]) == ("clarabel", 1e-8, "certified")
    assert record["primal"]["w"] == pytest.approx([1.0, 0.0], abs=1e-4)
    assert record["primal"]["b"] == pytest.approx(1.0, abs=1e-4)  # mean y
    assert len(record["dual"]["u"]) == 4


def test_solve_a_fact_that_does_not_hold_is_5(run: Command, tmp_path: Path) -> None:
    path = write(tmp_path / "wrong.toml", RIDGE.replace("value = [1.0, 0.0]", "value = [2.0, 0.0]"))
    result = run("solve", path)
    assert result.exit_code == 5
    assert "DOES NOT HOLD, found [1, " in result.stdout


def test_solve_a_lie_is_5(run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models_running, "run_reference", liar)
    path = write(ridge.parent / "lasso.toml", LASSO)
    # without a polish step, which would repair the lie
    monkeypatch.setattr(models_solving, "polish_point", lambda objective, point, u: (point, u))
    result = run("solve", path, "--solver", "clarabel", "--json")
    assert result.exit_code == 5
    record = document(result)["records"][0]
    assert record["claimed"] == "optimal"
    assert record["verdict"] != "certified"


def test_solve_infeasible_is_4_unless_expected(run: Command, tmp_path: Path) -> None:
    result = run("solve", write(tmp_path / "hard.toml", HARD))
    assert result.exit_code == 4
    assert "status infeasible: NOT as expected (optimal)" in result.stdout
    expecting = write(tmp_path / "known.toml", HARD + '[expected]\nstatus = "infeasible"\n')
    assert run("solve", expecting).exit_code == 0
    found = document(run("solve", expecting, "--json"))["records"][0]
    alpha = np.array(found["evidence"]["alpha"])
    assert alpha.sum() == pytest.approx(1.0)
    assert alpha @ [0.0, 1.0, -2.0] == pytest.approx(0.0, abs=1e-9)  # sum alpha_i y_i x_i


def test_solve_a_statement_is_certified(run: Command, tmp_path: Path) -> None:
    write(tmp_path / "mine.py", STATEMENT)
    text = RIDGE.split("[[expected")[0].replace('model = "ridge"', 'statement = "mine.py"')
    result = run("solve", write(tmp_path / "statement.toml", text))
    assert result.exit_code == 0
    assert "clarabel claims optimal" in result.stdout
    assert "certified, gap" in result.stdout


def test_solver_missing_is_6(run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("convexml.solvers.reference.installed", lambda name: False)
    monkeypatch.setattr(loop, "installed", lambda name: False)
    result = run("solve", ridge, "--solver", "highs")
    assert result.exit_code == 6
    assert result.stderr == "convexml: the solver highs is not installed: pip install highspy\n"
    result = run("compare", ridge, "--solvers", "newton,piqp")
    assert result.exit_code == 6
    assert "not installed: pip install piqp" in result.stdout
    assert "not installed: piqp" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
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
        (["check", "ridge.toml"], "--weights"),
        (["list", "nonsense"], "nonsense"),
        (["sovle"], "No such command"),
    ],
)
def test_wrong_usage_is_2(run: Command, ridge: Path, arguments: list[str], words: str) -> None:
    write(ridge.parent / "lasso.toml", LASSO)
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""


@pytest.mark.parametrize("command", ["solve", "compare", "explain"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("schema = ", "is not valid TOML"),
        (RIDGE.replace("lam =", "lamm ="), "parameters.lamm: ridge has no 'lamm'. Did you mean"),
        (RIDGE.replace("3.0, 1.0,", "nan, 1.0,"), "y holds nan at row 0"),
        (RIDGE.replace('"ridge"', '"rigde"'), "Did you mean 'ridge'?"),
    ],
)
def test_a_bad_file_is_3(run: Command, tmp_path: Path, command: str, text: str, words: str) -> None:
    write(tmp_path / "bad.toml", text)
    result = run(command, "bad.toml")
    assert result.exit_code == 3
    assert result.stdout == ""
    assert result.stderr.startswith("convexml: bad.toml")
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_interrupted_is_130(run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Ridge, "solve", interrupt)
    result = run("solve", ridge)
    assert (result.exit_code, result.stderr) == (130, "convexml: interrupted\n")
    result = run("compare", ridge, "--html", "page.html")
    assert result.exit_code == 130
    assert "Interrupted" in result.stdout
    assert "interrupted" in (ridge.parent / "page.html").read_text(encoding="utf-8")


# -- explain, init, list -----------------------------------------------------------------------


PROBLEMS = Path(__file__).parents[2] / "problems"


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("logistic_iris_separable", "unattained"),
        ("hard_margin_iris_inseparable", "infeasible"),
        ("lp_unbounded", "unbounded"),
    ],
)
def test_a_verified_absence_is_certified_and_exits_with_4(
    name: str, claim: str, tmp_path: Path
) -> None:
    """0 where the file expects it, 4 where it does not say; the text has the claim and verdict."""
    text = (PROBLEMS / f"{name}.toml").read_text(encoding="utf-8")
    unexpected = tmp_path / f"{name}.toml"
    unexpected.write_text(text.partition("[expected]")[0], encoding="utf-8")
    for file, code in ((PROBLEMS / f"{name}.toml", 0), (unexpected, 4)):
        result = CliRunner().invoke(app, ["solve", str(file)])
        assert result.exit_code == code, result.output
        assert f"CERTIFIED at tol 1e-06 (claim: {claim})" in result.output
    document = CliRunner().invoke(app, ["solve", str(unexpected), "--json"])
    (record,) = json.loads(document.stdout)["records"]
    assert (record["claim"], record["verdict"], record["status"]) == (claim, "certified", claim)
