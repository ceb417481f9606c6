"""A comparison shared out to processes: the same rows in the same order, deaths included."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from io import BytesIO
from pathlib import Path
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import pytest
from support.report.small_ridge import LAM, data

import convexml as cml
from convexml.machine import cores
from convexml.progress import Progress
from convexml.report import compare
from convexml.solvers.reference.process import ENDED, Process

KEYS = ("problem", "solver", "verdict", "message")


class Mortal(cml.Ridge):
    """One of its solvers takes the process with it; another says how many threads it has."""

    def solve(self, solver: str = "auto", **options: Any) -> Any:
        if solver == "irls":
            os._exit(3)
        if solver == "qr":
            raise RuntimeError(os.environ.get("OMP_NUM_THREADS"))
        return super().solve(solver, **options)


def test_rows_are_those_of_one_process_and_one_that_dies_costs_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    X, y = data()
    problems = [cml.Ridge(X, y, LAM), Mortal(X, y, LAM), cml.Ridge(X, y, 3.0 * LAM)]
    heard: list[Progress] = []
    solvers = ["newton", "irls", "qr"]
    shared = compare(problems, solvers, jobs=2, progress=heard.append)
    assert "OMP_NUM_THREADS" not in os.environ
    alone = compare([problems[0], problems[2]], solvers)
    assert (alone.environment["jobs"], shared.environment["jobs"]) == (1, 2)
    assert [row.solver for row in shared] == 3 * solvers
    before, lost, after = shared.records[3:6]
    assert before.verified
    assert (lost.claimed, lost.status, lost.verified) == ("error", "failed", False)
    assert "died" in lost.message
    assert after.message == f"RuntimeError: {max(1, cores() // 2)}"
    rest = (*shared.records[:3], *shared.records[6:])
    for ours, theirs in zip(rest, alone, strict=True):
        assert ours.problem.startswith("Ridge")
        assert [ours[key] for key in KEYS[1:]] == [theirs[key] for key in KEYS[1:]]
        # A process has its own number of BLAS threads, so the last digits are its own.
        assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-12)
        assert max(ours["gap"], theirs["gap"]) <= 1e-12
    counts = [each.stages[-1] for each in heard if each.stages[-1].total == 9]
    assert [stage.done for stage in counts] == [*range(10)]


@pytest.mark.slow
def test_ctrl_c_keeps_what_there_is() -> None:
    def stop(event: Progress) -> None:
        if event.stages[-1].total:
            raise KeyboardInterrupt

    problems = [cml.Ridge(*data(), LAM), cml.Ridge(*data(), 2.0 * LAM)]
    found = compare(problems, ["newton"], jobs=2, progress=stop)
    assert (found.interrupted, found.records) == (True, ())


@pytest.mark.slow
def test_variables_that_were_sent_are_no_others() -> None:
    """min x + 2 y over x >= 3, x + y >= 5 is 5; a solver makes variables of its own."""
    x, y = cp.Variable(), cp.Variable(nonneg=True)
    problem = cp.Problem(cp.Minimize(x + 2.0 * y), [x >= 3.0, x + y >= 5.0])
    row, _ = compare([problem, cml.Ridge(*data(), LAM)], "clarabel", jobs=2)
    assert row.verified
    assert row.objective == pytest.approx(5.0, abs=1e-6)


TOP_LEVEL = """
import numpy as np
import convexml as cml

problems = [cml.Ridge(np.eye(3), np.arange(3.0), lam) for lam in (0.1, 0.2)]
cml.compare(problems, ["newton"], jobs=2)
"""


@pytest.mark.slow
def test_a_script_that_each_process_would_run_to_its_end_is_told_what_to_write(
    tmp_path: Path,
) -> None:
    script = tmp_path / "script.py"
    script.write_text(TOP_LEVEL, encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "below if __name__ == '__main__':, or pass jobs=1" in done.stderr.splitlines()[-1]
    assert "died" not in done.stdout


# -- the process of solvers that know no limit of time --------------------------------------------


def heard_at_once(*words: Any) -> Process:
    """A process whose words were all heard before anybody looked."""
    process = Process.__new__(Process)
    process.popen = SimpleNamespace(stdin=BytesIO(), returncode=1)  # type: ignore[assignment]
    process.heard = SimpleQueue()
    process.stop = lambda: None  # type: ignore[method-assign]
    for word in words:
        process.heard.put(word)
    return process


def test_an_answer_that_is_there_already_took_its_time_all_the_same() -> None:
    answer, began = heard_at_once("begun", ("answer", "x", 0.25)).ask(None, 1.0)
    assert answer == "x"
    assert time.perf_counter() - began >= 0.25
    with pytest.raises(ValueError, match="no"):
        heard_at_once("begun", ("error", (ValueError, "no"), 0.1)).ask(None, 1.0)
    with pytest.raises(RuntimeError, match="exit code 1"):
        heard_at_once(ENDED).ask(None, 1.0)
