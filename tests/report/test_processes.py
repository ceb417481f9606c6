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
from support.report.tasks import Adding, Doing

from convexml.comparison.loop import DIED, Measurement
from convexml.comparison.processes import shared_out
from convexml.machine import cores
from convexml.models import Ridge
from convexml.progress import Progress, operation
from convexml.report import compare
from convexml.solvers.reference.process import ENDED, Process


def test_rows_are_in_order_and_a_process_that_dies_costs_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    heard: list[Progress] = []
    work = [(p, [Doing(f"{p}: {k}", k) for k in (1, 2, 3)]) for p in (-2, 4)]
    with operation("work", heard.append):
        found, interrupted = shared_out(work, 1)
    assert not interrupted
    assert [value for _, value, _ in found] == [-0.5, -2.0, -1.5, 0.25, 0.5, 0.75]
    before, lost, after = (pid for pid, *_ in found[:3])
    assert lost == -1
    assert before != after
    assert {pid for pid, *_ in found[3:]} <= {before, after}
    assert found[0][2] == str(cores())
    assert "OMP_NUM_THREADS" not in os.environ
    stages = [event.stages[-1] for event in heard]
    assert [stage.done for stage in stages if stage.total] == [*range(7)]
    assert {s.label for s in stages if s.label} == {t.label for _, tasks in work for t in tasks}


def test_what_a_task_raises_is_raised_and_ctrl_c_keeps_what_there_is() -> None:
    work = [(0, [Doing("zero", 1)])]
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        shared_out(work, 1)

    def stop(event: Progress) -> None:
        if event.stages[-1].total:
            raise KeyboardInterrupt

    with operation("work", stop):
        assert shared_out(work, 1) == ([], True)


@pytest.mark.slow
def test_variables_that_were_sent_are_no_others() -> None:
    x = cp.Variable()
    assert x.id < cp.Variable().id
    found, _ = shared_out([(x, [Adding()])], 1)
    assert found[0] == pytest.approx((5.0, 0.0), abs=1e-6)


@pytest.mark.slow
def test_a_comparison_in_processes_is_that_of_one() -> None:
    X, y = data()
    problems = [Ridge(X, y, LAM), Ridge(X, y, 2.0 * LAM), Ridge(X, y, 3.0 * LAM)]
    alone, shared = (compare(problems, ["newton", "irls"], jobs=jobs) for jobs in (1, 2))
    keys = ("problem", "solver", "verdict", "message")
    assert [[row[key] for key in keys] for row in shared] == [
        [row[key] for key in keys] for row in alone
    ]
    # A process has its own number of BLAS threads, so the last digits are its own.
    for ours, theirs in zip(shared, alone, strict=True):
        assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-12)
        assert max(ours["gap"], theirs["gap"]) <= 1e-12
    assert (alone.environment["jobs"], shared.environment["jobs"]) == (1, 2)
    with pytest.raises(ValueError, match="jobs must be at least 1, got 0"):
        compare(problems, jobs=0)


def test_the_row_of_a_solver_that_took_its_process_with_it() -> None:
    from convexml.comparison.entries import entries

    (entry,) = entries(Ridge(*data(), LAM))
    row = Measurement("r: newton", "newton", 1e-6, "", 5.0, 1, 0).lost(entry)
    assert (row.claimed, row.status, row.verified, row.message) == ("error", "failed", False, DIED)


# -- the process of solvers that know no limit of time --------------------------------------------
def heard(*words: Any) -> Process:
    """A process whose words were all heard before anybody looked."""
    process = Process.__new__(Process)
    process.popen = SimpleNamespace(stdin=BytesIO(), returncode=1)  # type: ignore[assignment]
    process.heard = SimpleQueue()
    process.stop = lambda: None  # type: ignore[method-assign]
    for word in words:
        process.heard.put(word)
    return process


def test_an_answer_that_is_there_already_took_its_time_all_the_same() -> None:
    answer, began = heard("begun", ("answer", "x", 0.25)).ask(None, 1.0)
    assert answer == "x"
    assert time.perf_counter() - began >= 0.25


def test_what_went_wrong_is_raised() -> None:
    with pytest.raises(ValueError, match="no"):
        heard("begun", ("error", (ValueError, "no"), 0.1)).ask(None, 1.0)
    with pytest.raises(RuntimeError, match="exit code 1"):
        heard(ENDED).ask(None, 1.0)


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
