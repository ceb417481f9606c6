"""Standard output carries results only, whatever a library prints, down to its file descriptor."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from threading import Barrier, Thread

import pytest
from support.sizes import by_turns

import convexml as cml
from convexml.solvers.reference import REFERENCE
from convexml.solvers.reference.process import hushed

slow = partial(pytest.param, marks=pytest.mark.slow)

OF_A_SCRIPT = """
import os, sys, warnings
import numpy as np
import cvxpy as cp
import convexml as cml

warnings.simplefilter("ignore")
before = 0

def told(*names):
    global before
    sys.stdout.flush()
    if os.fstat(1).st_size > before:
        print("printed by", *names, file=sys.stderr)
    before = os.fstat(1).st_size

def posed():
    x = cp.Variable(3)
    A = np.arange(12.0).reshape(4, 3) % 5.0
    for objective in (cp.sum(x), cp.sum_squares(x)):
        for rows in ([x >= 1.0], [A @ x >= 1.0, x >= 0.0], [x >= 1.0, x <= 0.0]):
            yield cp.Problem(cp.Minimize(objective), rows)

cml.register()
for solver in sys.argv[1].split(","):
    for problem in posed():
        cml.solve(problem, solver)
        told("cml.solve", solver)
        problem.solve(method="convexml")
        told("problem.solve", solver)
        cml.certify(problem)
        told("cml.certify", solver)
    for path in sys.argv[2:]:
        cml.load(path).solve(solver, max_seconds=10.0)
        told(path, solver)
"""
"""A program that says on stderr which calls have written to its standard output."""

FIRST = [",".join(("highs", *REFERENCE, "auto")), ",".join(("auto", *REFERENCE))]
"""What is said once in a process is said by the first: through CVXPY, and without."""


def written(tmp_path: Path, *command: str) -> tuple[str, str]:
    """What a Python process writes to the file that is its standard output, and to stderr."""
    with (tmp_path / "stdout").open("w+") as out:
        run = subprocess.run(
            [sys.executable, *command], stdout=out, stderr=subprocess.PIPE, text=True, check=False
        )
        out.seek(0)
        assert run.returncode == 0, run.stderr
        return out.read(), run.stderr


@pytest.mark.parametrize("solvers", by_turns(FIRST, turn=1))
def test_nothing_reaches_the_output_of_a_script(
    solvers: str, tmp_path: Path, repository: Path
) -> None:
    files = [str(repository / "problems" / f"{name}.toml") for name in ("lp_diet", "lp_infeasible")]
    assert written(tmp_path, "-c", OF_A_SCRIPT, solvers, *files) == ("", "")


def test_the_command_runs_where_standard_output_is_no_file(repository: Path) -> None:
    file = str(repository / "problems" / "lp_diet.toml")
    program = (
        "import io, sys; sys.stdout = io.StringIO(); from convexml.show.cli import main\n"
        f"sys.argv[1:] = ['solve', {file!r}]\nmain()"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.parametrize("solver", ["highs", *(slow(each) for each in ("auto", "osqp"))])
def test_solve_prints_one_document(solver: str, tmp_path: Path, repository: Path) -> None:
    file = str(repository / "problems" / "lp_diet.toml")
    text, _ = written(tmp_path, "-m", "convexml", "solve", file, "--solver", solver, "--json")
    assert json.loads(text)["records"][0]["verdict"] == "certified"


@pytest.mark.parametrize("kind", ["--json", slow("--csv")])
def test_compare_prints_one_document(kind: str, tmp_path: Path, repository: Path) -> None:
    file = str(repository / "problems" / "lp_diet.toml")
    what = ("compare", file, "--solvers", "highs,osqp", kind, "-", "--jobs", "1")
    text, _ = written(tmp_path, "-m", "convexml", *what)
    rows = (
        json.loads(text)["records"] if kind == "--json" else list(csv.DictReader(io.StringIO(text)))
    )
    assert [row["solver"] for row in rows] == ["highs", "osqp"]


STATEMENT = """
import os
import cvxpy as cp

def primal():
    os.write(1, b"a banner")
    x = cp.Variable(name="x")
    return cp.Problem(cp.Minimize(x), [x >= 1])
"""


def test_not_even_a_program_that_writes_to_the_descriptor_spoils_a_document(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(STATEMENT)
    text, errors = written(tmp_path, "-m", "convexml", "solve", str(tmp_path / "loud.py"), "--json")
    assert json.loads(text)["records"][0]["verdict"] == "certified"
    assert "a banner" in errors


@pytest.mark.parametrize("closed", ["1>&-", "2>&-", "1>&- 2>&-"])
def test_the_command_runs_where_a_stream_is_closed(closed: str, repository: Path) -> None:
    file = repository / "problems" / "lp_diet.toml"
    command = f'"{sys.executable}" -m convexml solve "{file}" {closed}'
    run = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert ("objective" in run.stdout) == ("1>" not in closed)


def test_other_threads_print_while_a_solver_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Two solvers at once, the first of which ends first, and somebody else who prints."""
    began, ended = Barrier(3), Barrier(3)

    def solver(is_first: bool) -> None:
        with hushed("osqp"):
            began.wait()
            print("Polishing not needed")
            if not is_first:
                ended.wait()
                print("still within")
        if is_first:
            ended.wait()

    whole = sys.stdout
    threads = [Thread(target=solver, args=(k == 0,)) for k in range(2)]
    for thread in threads:
        thread.start()
    began.wait()
    print("mine")
    ended.wait()
    for thread in threads:
        thread.join()
    print("after")
    assert sys.stdout is whole
    assert capsys.readouterr().out == "mine\nafter\n"


@pytest.mark.parametrize("whole", [None, io.StringIO()], ids=("closed", "no file"))
def test_a_solver_runs_without_a_standard_output(
    whole: io.StringIO | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what ends it with an error leaves the standard output as it was."""
    monkeypatch.setattr(sys, "stdout", whole)
    X = [[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, -1.0]]
    assert cml.HalfspaceLP(X, [1, 1, 0, 0]).solve("osqp").status == "optimal"
    with pytest.raises(ZeroDivisionError), hushed("osqp"):
        print(1 / 0, flush=True)
    assert sys.stdout is whole
    assert whole is None or whole.getvalue() == ""
