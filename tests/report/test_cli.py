"""The command line: exit codes, error texts, results on stdout and nothing else there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from convexml.cli import app
from convexml.cli.explain import formulas
from convexml.cli.weights import read_weights
from convexml.comparison import loop
from convexml.errors import DataError
from convexml.library import load_file
from convexml.models import Lasso, Ridge
from convexml.models.learning import running as models_running
from convexml.models.learning import solving as models_solving
from convexml.solvers.reference import ReferenceRun

Result = Any  # typer vendors click: its type has no public name
Command = Callable[..., Result]

RIDGE = """
schema = 1
title = "A small ridge"
model = "ridge"
[parameters]
lam = 0.5
[data]
X = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
y = [3.0, 1.0, -1.0, 1.0]
[[expected.facts]]
name = "w"
value = [1.0, 0.0]
atol = 1e-4
source = "X'X/n = I/2, X'(y - mean y)/n = (1, 0): w = (1, 0) / (1/2 + lam)"
"""
LASSO = RIDGE.replace('"ridge"', '"lasso"').replace("[1.0, 0.0]\natol", "[1.0, 0.0]\natol")
HARD = """
schema = 1
title = "No street"
model = "hard_margin_svm"
[data]
X = [[0.0], [1.0], [2.0]]
y = [-1, 1, -1]
"""
STATEMENT = """
import cvxpy as cp
def primal(data, lam):
    w = cp.Variable(data.X.shape[1], name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(data.X @ w - data.y) + lam * cp.sum_squares(w)))
"""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def ridge(tmp_path: Path) -> Path:
    return write(tmp_path / "ridge.toml", RIDGE)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def liar(problem: Any, name: str, **options: Any) -> ReferenceRun:
    """Claims that ones are optimal."""
    for variable in problem.variables():
        variable.value = np.ones(variable.shape)
    return ReferenceRun("optimal", 0.001, 0.001, 1)


def document(result: Result) -> Any:
    """Standard output as strict JSON: NaN and Infinity are refused."""
    return json.loads(result.stdout, parse_constant=pytest.fail)


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


def test_listing_says_where_it_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["list", "problems"])
    assert result.exit_code == 0
    assert f"none in {tmp_path / 'problems'}" in result.stdout.replace("\n", "")


def test_solve_verified_is_0(run: Command, ridge: Path) -> None:
    result = run("solve", ridge)
    assert result.exit_code == 0
    assert "A small ridge" in result.stdout
    assert "CERTIFIED" in result.stdout
    assert "fact w = [1, 0]: holds" in result.stdout
    assert result.stderr == ""


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
    monkeypatch.setattr(models_solving, "polish_point", lambda objective, w, b, u: (w, b, u))
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


# -- compare -----------------------------------------------------------------------------------


def test_compare_writes_the_page_and_the_document(run: Command, ridge: Path) -> None:
    result = run(
        "compare", ridge, "--html", "page.html", "--json", "out.json", "--tols", "1e-4,1e-7"
    )
    assert result.exit_code == 0
    assert "clarabel" in result.stdout
    assert "certified" in result.stdout
    assert "\x1b" not in result.stdout
    assert result.stderr == "wrote page.html\nwrote out.json\n"
    found = json.loads((ridge.parent / "out.json").read_text(encoding="utf-8"))
    assert found["schema"] == 1
    assert {record["tol"] for record in found["records"]} == {1e-4, 1e-7}
    assert "A small ridge" in (ridge.parent / "page.html").read_text(encoding="utf-8")


def test_compare_a_lie_is_shown_and_is_5_when_nobody_else_verifies(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_running, "run_reference", liar)
    path = write(tmp_path / "lasso.toml", LASSO)
    result = run("compare", path, "--solvers", "clarabel", "--solvers", "scs")
    assert result.exit_code == 5
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("  ")]
    assert rows[0][:2] == ["clarabel", "optimal"]
    assert rows[0][2] in ("undecided", "refuted")
    assert "2 runs on 1 problem: 2 claimed optimal, 0 of these certified." in result.stdout
    assert "Verified by no solver: lasso." in result.stdout


def test_compare_is_0_when_somebody_verifies(
    run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models_running, "run_reference", liar)
    assert run("compare", ridge, "--solvers", "clarabel,newton").exit_code == 0


# -- check -------------------------------------------------------------------------------------


def test_check_the_right_coefficients(run: Command, ridge: Path) -> None:
    for text in ("1.0\n0.0\n", "w\n1\n0\n", "name,value\nx1,0\nx0,1\nb,1\n", "w0,1\nw1,0\n"):
        write(ridge.parent / "W.csv", text)
        result = run("check", ridge, "--weights", "W.csv")
        assert result.exit_code == 0, text
        assert "CERTIFIED" in result.stdout
    result = run("check", ridge, "--weights", "W.csv", "--intercept", "1.0", "--json")
    assert result.exit_code == 0
    (record,) = document(result)["records"]
    assert record["verdict"] == "certified"
    # P = mean (y - Xw - b)^2 / 2 + lam/2 |w|^2 with residuals (1, 0, -1, 0)
    assert record["objective"] == pytest.approx(0.25 + 0.25)


@pytest.mark.parametrize("text", ["1.1\n0.0\n", "0\n1\n", "w0,1\nw1,0\nb,0.9\n"])
def test_check_wrong_coefficients_is_5(run: Command, ridge: Path, text: str) -> None:
    write(ridge.parent / "W.csv", text)
    result = run("check", ridge, "--weights", "W.csv")
    assert result.exit_code == 5
    assert "CERTIFIED at" not in result.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no file W.csv"),
        ("", "W.csv is empty"),
        ("w\n", "holds a header and no coefficient"),
        ("1\n2\n3\n", "the problem has 2 coefficients, got 3; give the intercept by --intercept"),
        ("1\n", "the problem has 2 coefficients, got 1"),
        ("1\nx\n", "line 2: 'x' is not a number"),
        ("1\ninf\n", "line 2: 'inf' is not a finite number"),
        ("x0,1\nx9,1\n", "line 2: unknown name 'x9'. Did you mean"),
        ("x0,1\nx0,1\n", "line 2: 'x0' is there twice"),
        ("x0,1\n", "no value for 'x1' (1 of 2 are missing)"),
        ("1,2,3\n", "needs one column (value) or two (name, value)"),
    ],
)
def test_check_bad_weights_is_3(run: Command, ridge: Path, text: str | None, words: str) -> None:
    if text is not None:
        write(ridge.parent / "W.csv", text)
    result = run("check", ridge, "--weights", "W.csv")
    assert result.exit_code == 3
    assert words in result.stderr


def test_check_two_intercepts_is_2(run: Command, ridge: Path) -> None:
    write(ridge.parent / "W.csv", "x0,1\nx1,0\nintercept,1\n")
    result = run("check", ridge, "--weights", "W.csv", "--intercept", "1")
    assert result.exit_code == 2


def test_a_feature_named_like_a_position_wins(tmp_path: Path) -> None:
    path = write(tmp_path / "W.csv", "x1,5\nx0,7\n")
    w, b = read_weights(path, 2, ("x1", "x0"))
    assert (w.tolist(), b) == ([5.0, 7.0], None)
    with pytest.raises(DataError, match="no value for 'age'"):
        read_weights(write(path, "bmi,5\n"), 2, ("age", "bmi"))


# -- explain, init, list -----------------------------------------------------------------------


def test_explain_shows_formulas_and_live_numbers(run: Command, ridge: Path) -> None:
    result = run("explain", ridge)
    assert result.exit_code == 0
    for words in ("primal", "dual", "KKT", "Optimality conditions", "CERTIFIED", "  P   "):
        assert words in result.stdout
    assert " 0.5\n" in result.stdout  # P* = 1/4 + 1/4


def test_explain_shows_a_statement_as_it_is_written(run: Command, tmp_path: Path) -> None:
    write(tmp_path / "mine.py", STATEMENT)
    text = RIDGE.split("[[expected")[0].replace('model = "ridge"', 'statement = "mine.py"')
    result = run("explain", write(tmp_path / "statement.toml", text))
    assert result.exit_code == 0
    for words in ("def primal(data, lam):", "CERTIFIED", "stationarity in w"):
        assert words in result.stdout


def test_formulas_are_lines_without_alignment() -> None:
    X, y = np.eye(3), np.arange(3.0)
    lines = formulas(Lasso(X, y, 0.1).latex()).splitlines()
    assert [line.split()[0] for line in lines][:3] == ["primal", "Lagrangian", "dual"]
    assert all("&" not in line and not line.endswith("\\\\") for line in lines)


def test_init_prints_a_file_that_solves(run: Command, tmp_path: Path) -> None:
    result = run("init")
    assert result.exit_code == 0
    path = write(tmp_path / "mine.toml", result.stdout)
    assert run("solve", path).exit_code == 0


def test_list_names_models_files_and_solvers(run: Command, ridge: Path) -> None:
    (ridge.parent / "problems").mkdir()
    write(ridge.parent / "problems" / "mine.toml", RIDGE)
    everything = run("list").stdout
    for words in ("hard_margin_svm", "lasso", "clarabel", "newton", "A small ridge"):
        assert words in everything
    assert "clarabel" not in run("list", "problems").stdout
    assert "hard_margin_svm" not in run("list", "solvers").stdout


@pytest.mark.parametrize("command", [[], ["solve"], ["compare"], ["check"], ["explain"], ["init"]])
def test_help_has_examples_or_exit_codes(run: Command, command: list[str]) -> None:
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Example" in result.stdout or "Exit codes" in result.stdout


def test_the_entry_point_in_a_process_of_its_own(ridge: Path) -> None:
    program = "import sys; from convexml.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "solve", str(ridge.parent / "none.toml")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 3
    assert result.stdout == ""
    assert result.stderr.startswith("convexml: there is no")
    assert result.stderr.count("\n") == 1


def test_check_coefficients_of_classes(run: Command, tmp_path: Path) -> None:
    table = tmp_path / "softmax.toml"
    table.write_text(
        'schema = 1\ntitle = "t"\nmodel = "softmax_regression"\n[parameters]\nlam = 0.1\n'
        '[data]\nX = [[0.0], [1.0], [2.0], [3.0]]\ny = ["a", "b", "c", "b"]\n'
    )
    w = load_file(table).problem.solve(tol=1e-10).primal["w"]
    values = ",".join(map(repr, w[0].tolist()))
    for text, code, words in (
        (f"a,b,c\n{values}\n", 0, "CERTIFIED"),
        ("0,0,0\n", 5, "REFUTED"),
        ("0,0\n", 3, "line 1: needs 3 columns, one per class, got 2"),
        ("0,0,0\n1,2,3\n", 3, "needs 1 lines, one per feature, got 2"),
    ):
        weights = tmp_path / "w.csv"
        weights.write_text(text)
        result = run("check", table, "--weights", weights)
        assert result.exit_code == code
        assert words in result.output


def test_check_coefficients_of_a_kernel_problem(run: Command, tmp_path: Path) -> None:
    table = tmp_path / "kernel.toml"
    table.write_text(
        'schema = 1\ntitle = "t"\nmodel = "kernel_ridge"\n[parameters]\nlam = 0.5\n'
        'kernel = { name = "linear" }\n[data]\nX = [[1.0], [2.0]]\ny = [1.0, 3.0]\n'
    )
    weights = tmp_path / "q.csv"
    exact = np.linalg.solve([[2.0, 2.0], [2.0, 5.0]], [1.0, 3.0])  # K + n lam I
    weights.write_text("\n".join(map(repr, exact.tolist())))
    assert run("check", table, "--weights", weights).exit_code == 0
    table.write_text(table.read_text().replace("linear", "linnear"))
    result = run("check", table, "--weights", weights)
    assert result.exit_code == 3
    assert "parameters.kernel.name: there is no kernel 'linnear'" in result.output


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
