"""``convexml check``, ``compare``, ``explain``, ``init``, ``list`` and ``theorems``; the help."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from html import escape
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from support.processes import python
from support.report.commands import FILED, LASSO, RIDGE, STATED, STATEMENT, Command, document, write
from support.sizes import by_turns
from typer.testing import CliRunner

import convexml as cml
from convexml import models
from convexml.library import read_table_of
from convexml.show.cli import app
from convexml.solvers import names
from convexml.solvers.registry import ALGORITHMS

PROBLEMS = Path(__file__).resolve().parents[3] / "problems"


@pytest.fixture
def statement(tmp_path: Path) -> Path:
    write(tmp_path / "mine.py", STATEMENT)
    return write(tmp_path / "statement.toml", STATED)


# -- check ---------------------------------------------------------------------------------------


def test_check_the_right_coefficients(run: Command, ridge: Path) -> None:
    for text in ("1.0\n0.0\n", "w\n1\n0\n", "name,value\nx1,0\nx0,1\nb,1\n", "w0,1\nw1,0\n"):
        result = run("check", ridge, "--weights", write(ridge.parent / "W.csv", text), code=0)
        assert "CERTIFIED" in result.stdout
    result = run("check", ridge, "--weights", "W.csv", "--intercept", "1.0", "--json", code=0)
    (record,) = document(result)["records"]
    assert record["verdict"] == "certified"
    # P = mean (y - Xw - b)^2 / 2 + lam/2 |w|^2 with residuals (1, 0, -1, 0)
    assert record["objective"] == pytest.approx(0.25 + 0.25)
    write(ridge.parent / "W.csv", "x0,1\nx1,0\nintercept,1\n")
    assert run("check", ridge, "--weights", "W.csv", "--intercept", "1").exit_code == 2  # two of b


@pytest.mark.parametrize("name", [
    "bernoulli_breast_cancer", "convex_clustering_iris", "lp_wyndor", "nu_svc_breast_cancer",
])  # fmt: skip
def test_what_a_problem_is_answered_with_is_checked(
    run: Command, tmp_path: Path, name: str
) -> None:
    """The first array of an answer, and not one a tenth off: a vector, a table, a number."""
    path = PROBLEMS / f"{name}.toml"
    answer = np.atleast_1d(next(iter(cml.load(path).solve(tol=1e-9).primal.values())))
    for given, code in ((answer, 0), (1.1 * answer, 5)):
        np.savetxt(tmp_path / "W.csv", given, delimiter=",", fmt="%.17g")
        run("check", path, "--weights", "W.csv", code=code)


@pytest.mark.parametrize("text", ["1.1\n0.0\n", "0\n1\n", "w0,1\nw1,0\nb,0.9\n"])
def test_check_wrong_coefficients_is_5(run: Command, ridge: Path, text: str) -> None:
    result = run("check", ridge, "--weights", write(ridge.parent / "W.csv", text), code=5)
    assert "CERTIFIED at" not in result.stdout


@pytest.mark.parametrize(("text", "words"), [
    (None, "there is no file W.csv"),
    ("", "W.csv is empty"),
    ("w\n", "holds a header and no coefficient"),
    ("1\n2\n3\n",
        "the problem has 2 coefficients (x0, x1), got 3; give the intercept by --intercept"),
    ("1\n", "the problem has 2 coefficients (x0, x1), got 1"),
    ("1\nx\n", "line 2: 'x' is not a number"),
    ("1\ninf\n", "line 2: 'inf' is not a finite number"),
    ("x0,1\nx9,1\n", "line 2: unknown name 'x9'. Did you mean"),
    ("x0,1\nx0,1\n", "line 2: 'x0' is there twice"),
    ("x0,1\n", "no value for 'x1' (1 of 2 are missing)"),
    ("1,2,3\n", "needs one column (value) or two (name, value)"),
])  # fmt: skip
def test_check_bad_weights_is_3(run: Command, ridge: Path, text: str | None, words: str) -> None:
    if text is not None:
        write(ridge.parent / "W.csv", text)
    result = run("check", ridge, "--weights", "W.csv", code=3)
    assert words in result.stderr


def test_a_feature_named_like_a_position_wins(run: Command, tmp_path: Path) -> None:
    """Columns x1 and x0, of which the first has the coefficient 1."""
    write(tmp_path / "t.csv", "x1,x0,y\n1,0,3\n0,1,1\n-1,0,-1\n0,-1,1\n")
    path = write(tmp_path / "t.toml", FILED)
    for text, code in (("x1,1\nx0,0\n", 0), ("x1,0\nx0,1\n", 5)):
        write(tmp_path / "W.csv", text)
        assert run("check", path, "--weights", "W.csv").exit_code == code


def test_a_name_that_is_misspelt_is_answered_with_the_nearest_feature(
    run: Command, tmp_path: Path
) -> None:
    write(tmp_path / "t.csv", "age,size,y\n1,0,3\n0,1,1\n-1,0,-1\n0,-1,1\n")
    path = write(tmp_path / "t.toml", FILED)
    write(tmp_path / "W.csv", "age,1\nsise,0\n")
    result = run("check", path, "--weights", "W.csv", code=3)
    assert "line 2: unknown name 'sise'. Did you mean 'size'?" in result.stderr


def test_check_coefficients_of_classes(run: Command, tmp_path: Path) -> None:
    table = write(
        tmp_path / "softmax.toml",
        'schema = 1\ntitle = "t"\nmodel = "softmax_regression"\n[parameters]\nlam = 0.1\n'
        '[data]\nX = [[0.0], [1.0], [2.0], [3.0]]\ny = ["a", "b", "c", "b"]\n',
    )
    w = cml.load(table).solve(tol=1e-10).primal["w"]
    values = ",".join(map(repr, w[0].tolist()))
    for text, code, words in (
        (f"a,b,c\n{values}\n", 0, "CERTIFIED"),
        ("0,0,0\n", 5, "REFUTED"),
        ("0,0\n", 3, "line 1: needs 3 columns, got 2"),
        ("0,0,0\n1,2,3\n", 3, "needs 1 lines, got 2"),
    ):
        result = run("check", table, "--weights", write(tmp_path / "w.csv", text), code=code)
        assert words in result.output


def test_check_coefficients_of_a_kernel_problem(run: Command, tmp_path: Path) -> None:
    text = 'schema = 1\ntitle = "t"\nmodel = "kernel_ridge"\n[parameters]\nlam = 0.5\n'
    text += 'kernel = { name = "linear" }\n[data]\nX = [[1.0], [2.0]]\ny = [1.0, 3.0]\n'
    exact = np.linalg.solve([[2.0, 2.0], [2.0, 5.0]], [1.0, 3.0])  # K + n lam I
    weights = write(tmp_path / "q.csv", "\n".join(map(repr, exact.tolist())))
    table = write(tmp_path / "kernel.toml", text)
    assert run("check", table, "--weights", weights).exit_code == 0
    write(table, text.replace("linear", "linnear"))
    result = run("check", table, "--weights", weights, code=3)
    assert "parameters.kernel.name: there is no kernel 'linnear'" in result.output


# -- compare -------------------------------------------------------------------------------------


def test_what_compare_writes(run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solvers = ("--solvers", "newton,clarabel")
    wanted = ("--html", "page.html", "--json", "out.json")
    result = run("compare", ridge, *solvers, *wanted, "--tols", "1e-4,1e-7", code=0)
    assert "clarabel" in result.stdout
    assert "certified" in result.stdout
    assert "\x1b" not in result.stdout
    assert max(map(len, result.stdout.splitlines())) > 100
    assert result.stderr == "wrote page.html\nwrote out.json\n"
    found = json.loads((ridge.parent / "out.json").read_text(encoding="utf-8"))
    assert found["schema"] == 1
    assert {record["tol"] for record in found["records"]} == {1e-4, 1e-7}
    assert "A small ridge" in (ridge.parent / "page.html").read_text(encoding="utf-8")
    result = run("compare", ridge, *solvers, "--json", "-")
    assert (result.exit_code, result.stderr) == (0, "")
    assert [record["solver"] for record in document(result)["records"]] == ["newton", "clarabel"]
    result = run("compare", ridge, *solvers, "--csv", "-", "--json", "a.json")
    assert (result.exit_code, result.stderr) == (0, "wrote a.json\n")
    rows = list(csv.DictReader(StringIO(result.stdout)))
    records = json.loads((ridge.parent / "a.json").read_text(encoding="utf-8"))["records"]
    assert [row["verdict"] for row in rows] == ["certified", "certified"]
    assert [float(row["objective"]) for row in rows] == [r["objective"] for r in records]
    monkeypatch.setenv("COLUMNS", "60")  # piped or not
    assert max(map(len, run("compare", ridge, *solvers).stdout.splitlines())) <= 60


def test_compare_a_lie_is_shown_and_is_5_when_nobody_else_verifies(
    run: Command, ridge: Path, clarabel_says: Callable[[str], None]
) -> None:
    clarabel_says("Solved")
    path = write(ridge.parent / "lasso.toml", LASSO)
    result = run("compare", path, "--solvers", "clarabel", code=5)
    rows = [line.split() for line in result.stdout.splitlines() if line.startswith("  ")]
    assert rows[0][:2] == ["clarabel", "optimal"]
    assert rows[0][2] in ("undecided", "refuted")
    assert "0 runs claimed a conclusion that the certificate confirms in time; 1" in result.stdout
    assert "No solver at all verified 1 problem: lasso." in result.stdout
    assert run("compare", ridge, "--solvers", "clarabel,newton").exit_code == 0


# -- explain -------------------------------------------------------------------------------------


def test_explain_a_model(run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("explain", ridge, code=0)
    for words in ("primal", "dual", "KKT", "Optimality conditions", "CERTIFIED", "  P   "):
        assert words in result.stdout
    assert " 0.5\n" in result.stdout  # P* = 1/4 + 1/4
    assert "  Xᵀ(Xw + b − y)/n + λ w = 0 " in result.stdout
    monkeypatch.setattr(cml.Ridge, "solve", None)  # LaTeX for a document: nothing is solved
    opening, *rows, closing = run("explain", ridge, "--latex").stdout.strip().splitlines()
    ends = ("\\[", "\\begin{aligned}", "\\end{aligned}", "\\]")
    assert (opening, rows[0], rows[-1], closing) == ends
    assert "$$\n{}\n$$".format("\n".join(rows)) == cml.load(ridge)._repr_latex_()


def test_explain_derives(run: Command, ridge: Path, tmp_path: Path) -> None:
    told = run("explain", ridge, "--derive", code=0)
    for words in ("minimise", "least over w", "substitute", "\n  stationarity\n", "CERTIFIED"):
        assert words in told.stdout
    assert max(map(len, told.stdout.splitlines())) <= 80
    latex = run("explain", ridge, "--derive", "--latex").stdout
    assert latex.startswith("\\[\n\\begin{aligned}\n\\text{primal}")
    assert r"\text{minimise}" in latex
    page = tmp_path / "page.html"
    assert run("explain", ridge, "--derive", "--html", page).exit_code == 0
    assert "stationarity" in page.read_text(encoding="utf-8")


def test_explain_shows_a_statement_with_its_dual(run: Command, statement: Path) -> None:
    result = run("explain", statement, code=0)
    for words in ("Statement mine.py", "  dual ", "CERTIFIED", "  stationarity in w "):
        assert words in result.stdout
    latex = run("explain", statement, "--latex").stdout
    assert latex.startswith("\\[\n\\begin{aligned}\n\\text{primal}")


def test_explain_writes_an_offline_page_with_an_inert_title(run: Command, tmp_path: Path) -> None:
    evil = RIDGE.replace("A small ridge", "<script>alert(1)</script> & co")
    path = write(tmp_path / "evil.toml", evil)
    result = run("explain", path, "--html", "page.html", code=0)
    assert result.stdout == ""
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<h1>&lt;script&gt;alert(1)&lt;/script&gt; &amp; co</h1>" in page
    assert page.count("<math") >= 7
    assert "http" not in page
    assert "CERTIFIED at tol 1e-06 (claim: optimal)" in page
    assert "has no folder" in run("explain", path, "--html", tmp_path / "none" / "p.html").stderr


MULTIPLIERS = re.compile(r"[λν]_[a-z]+|[αβμν]")
EXPLAINED = ("statement_lp_dual", "lp_diet", "soft_margin_iris", "softmax_iris", "stumps_iris")


@pytest.mark.parametrize("name", EXPLAINED)
def test_nothing_explained_is_wider_than_the_terminal_or_left_in_latex(
    run: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = PROBLEMS / f"{name}.toml"
    for columns in (80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        result = run("explain", path, code=0)
        assert max(map(len, result.stdout.splitlines())) <= columns
        assert not set(result.stdout) & set("\\$&")
        headings = re.findall(r"^[A-Z][a-z ]+$", result.stdout, re.MULTILINE)
        assert headings[-2:] == ["Optimality conditions", "Verdict"]
        formulas, _, conditions = result.stdout.partition("Optimality conditions")
        named = set(MULTIPLIERS.findall(conditions.partition("Verdict")[0]))
        assert named <= set(MULTIPLIERS.findall(formulas.partition("Multipliers")[0])), named
    assert run("explain", path, "--html", "page.html").exit_code == 0
    text = Path("page.html").read_text(encoding="utf-8")
    assert escape(read_table_of(path).title) in text
    assert not re.search(r"https?:|<script|\\\\", text)


# -- init and list -------------------------------------------------------------------------------


def listed(what: str, width: str = "9999") -> dict[str, str]:
    """Name and text of every line."""
    text = CliRunner().invoke(app, ["list", what], env={"COLUMNS": width}).stdout
    lines = text.partition("\n\n")[0].splitlines()[1:]
    return {name: words for name, words in (line.split(None, 1) for line in lines)}


MODELS = listed("models")
ENDS = {"ada_boost": 5}
"""AdaBoost ends after its rounds, with an honest gap."""


@pytest.mark.parametrize("model", by_turns(MODELS, turn=1))
def test_the_file_of_a_model_solves(model: str, run: Command, tmp_path: Path) -> None:
    path = write(tmp_path / "mine.toml", run("init", model).stdout)
    assert tomllib.loads(path.read_text(encoding="utf-8"))["model"] == model
    run("solve", path, code=ENDS.get(model, 0))


def test_init_without_a_model_is_the_lasso(run: Command) -> None:
    assert run("init").stdout == run("init", "lasso").stdout
    assert "@" not in run("init").stdout
    result = run("init", "laso", code=3)
    assert "Did you mean 'lasso'?" in result.stderr


def test_what_is_listed_is_what_the_package_holds() -> None:
    classes = {name for name in models.__all__ if isinstance(getattr(models, name), type)}
    known = {name.lower() for name in classes - {"LearningProblem"}}
    assert {name.replace("_", "") for name in MODELS} == known
    solvers = listed("solvers")
    assert list(solvers) == ["auto", *names()]
    for name in solvers.keys() & ALGORITHMS.keys():
        needs = [need for need in ALGORITHMS[name].needs if need != "learning problem"]
        assert solvers[name].partition("needs ")[2] == ", ".join(needs)
    for name in names():
        if "through CVXPY" in solvers[name]:
            installed = cml.solvers.supports(name, cml.LinearProgram([1.0], bounds=(0, 1)))
            assert ("NOT INSTALLED" in solvers[name]) == ("not installed" in installed[1])
            assert ("linear" in solvers[name]) == (name in ("osqp", "highs", "piqp"))


@pytest.mark.parametrize("width", [65, 80, 132, None])
def test_lines_fit(
    run: Command, ridge: Path, monkeypatch: pytest.MonkeyPatch, width: int | None
) -> None:
    empty = run("list", "problems").stdout
    assert f"none in {ridge.parent / 'problems'}" in empty.replace("\n", "")
    (ridge.parent / "problems").mkdir()
    write(ridge.parent / "problems" / "long.toml", RIDGE.replace("A small", "A small " * 30))
    write(ridge.parent / "problems" / "bad.toml", "title =")
    if width:
        monkeypatch.setenv("COLUMNS", str(width))
    text = run("list").stdout
    assert (width or 80) - 15 <= max(map(len, text.splitlines())) <= (width or 80)
    for words in ("hard_margin_svm", "clarabel", "newton", "numba", "A small", "cannot be read"):
        assert words in text
    assert "clarabel" not in run("list", "problems").stdout
    assert "hard_margin_svm" not in run("list", "solvers").stdout


HEAVY = ("cvxpy", "sklearn", "pandas", "polars", "scipy.optimize", "scipy.stats")


def loaded(names: tuple[str, ...], *arguments: object) -> list[str]:
    """The exit code of a command in a process of its own, and which modules it has loaded."""
    code = "import sys, convexml.show.cli\ntry: convexml.show.cli.app(sys.argv[1:])\n"
    code += f"except SystemExit as end: code, known = end.code, {names}\n"
    code += "print(code, *(each for each in known if each in sys.modules), file=sys.stderr)"
    return python("-c", code, *arguments).stderr.split()


def test_few_modules_are_loaded_by_list_and_by_solve_on_a_fast_engine(tmp_path: Path) -> None:
    assert loaded((*HEAVY, "numpy", "scipy", "convexml.models"), "list") == ["0"]
    rows = "\n".join(f"{k},{k * k},{3 * k - 1}" for k in range(9))
    write(tmp_path / "t.csv", f"a,b,y\n{rows}\n")
    path = write(tmp_path / "ridge.toml", FILED)
    assert loaded((*HEAVY, "convexml.bridge", "rich", "jinja2"), "solve", path) == ["0"]


def test_python_m_convexml_is_the_entry_point(ridge: Path) -> None:
    folder = {"cwd": ridge.parent, "env": os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}}
    result = python("-m", "convexml", "solve", "none.toml", **folder)
    assert (result.returncode, result.stdout) == (3, "")
    assert result.stderr.startswith("convexml: there is no")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [[], ["solve"], ["compare"], ["check"], ["explain"], ["init"]])
def test_help_has_examples_and_no_types_of_python(run: Command, command: list[str]) -> None:
    result = run(*command, "--help", code=0)
    assert "Example" in result.stdout or "Exit codes" in result.stdout
    assert "Path]" not in result.stdout
    assert "<path>" not in result.stdout


def test_names_are_completed() -> None:
    for words, place, wanted in (("init las", 1, "lasso"), ("solve --solver new", 2, "newton")):
        asked = {"_CONVEXML_COMPLETE": "complete_bash", "COMP_WORDS": f"convexml {words}"}
        told = CliRunner().invoke(
            app, [], prog_name="convexml", env=asked | {"COMP_CWORD": str(place + 1)}
        )
        assert wanted in told.stdout.split()


# -- theorems ------------------------------------------------------------------------------------


def test_the_table_of_theorems_is_printed_and_written(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = ("--html", "t.html", "--csv", "t.csv")
    told = run("theorems", "vc_intervals", "--seeds", 2, *wanted, code=0)
    assert "3 rows, 2 seeds each: all hold" in told.stdout
    assert "vc_intervals" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert len((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()) == 4
    told = run("theorems", "bernstien", code=3)
    assert "bernstein" in told.stderr

    def vc_intervals(count: int) -> int:
        return 2 * count + 1

    simulation = sys.modules["convexml.theory.simulation"]
    (right,) = [each for each in simulation.EXPERIMENTS if each.theorem == "vc_intervals"]
    monkeypatch.setattr(simulation, "EXPERIMENTS", [replace(right, bound=vc_intervals)])
    assert run("theorems", "--seeds", 2).exit_code == 5  # what does not hold
