"""The line on the terminal: when it is drawn, what it says, and that it is not drawn elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from io import StringIO
from math import nan

import pytest
from rich.console import Console

import convexml as cml
from convexml.progress import Progress, Stage
from convexml.progress.terminal import EVERY, FIRST, TerminalLine, elapsed, in_words, where

NOW = Progress((Stage("Lasso.path", "lam = 0.1", 2, 9), Stage("Lasso.solve", "fista")), 3.0)
FULL = Progress(
    NOW.stages, 3.0, iteration=40, passes=81.0, objective=1771.8794631, dual_objective=1771.87946,
    gap=6.76e-6, relative_gap=3.81e-9,
)  # fmt: skip


SOON = """
import time
from convexml.progress import evaluated, operation, terminal
terminal.FIRST = 0.1
"""


class Tape:
    """A terminal of paper, and a clock that goes on when somebody waits."""

    def __init__(self, width: int = 120) -> None:
        self.file, self.seconds, self.waits = StringIO(), 0.0, 0
        console = Console(file=self.file, force_terminal=True, width=width, highlight=False)
        self.line = TerminalLine(clock=lambda: self.seconds, console=console)

    def wait(self, script: list[Callable[[], None]]) -> Callable[[float], bool]:
        """Waits that let the run do its next step; the end comes after the last."""

        def wait(seconds: float) -> bool:
            self.waits += 1
            self.seconds += seconds
            if script:
                script.pop(0)()
                return False
            return True

        return wait

    @property
    def frames(self) -> list[str]:
        """What was on the line, one drawing after the other."""
        text = self.file.getvalue()
        for code in ("\x1b[?25l", "\x1b[?25h", "\x1b[2K", "\x1b[1A"):
            text = text.replace(code, "")
        return [part.strip() for part in text.replace("\n", "\r").split("\r") if part.strip()]


def test_nothing_is_drawn_in_the_first_second() -> None:
    tape = Tape()
    tape.line(FULL)
    tape.line.draw(tape.wait([]))
    assert tape.seconds == FIRST == 1.0
    assert tape.file.getvalue() == ""


def test_a_slow_run_is_drawn_calmly_and_its_last_line_stays() -> None:
    tape = Tape()
    second, third = (
        Progress((Stage("slow", f"step {k}"),), float(k), iteration=k, objective=10.0 / k)
        for k in (2, 3)
    )
    steps: list[Callable[[], None]] = [lambda: tape.line(NOW)]
    steps += [lambda: tape.line(second), lambda: tape.line(third), lambda: None]
    tape.line.draw(tape.wait(steps))
    assert tape.frames[0].startswith("Lasso.path 2/9 lam = 0.1 > Lasso.solve fista  1 s")
    assert tape.frames[-1] == "slow step 3  3 s  iteration 3  P 3.3333333"
    assert len(tape.frames) <= 2 + (tape.seconds - FIRST) / EVERY
    assert tape.file.getvalue().endswith("\n\x1b[?25h")  # the cursor is there again
    assert tape.file.getvalue().count("\n") == 1


def test_a_silent_run_shows_that_time_goes_by() -> None:
    tape = Tape()
    tape.line(Progress((Stage("Lasso.solve", "clarabel"),), 0.01))
    tape.line.draw(tape.wait([lambda: None] * 5))
    assert tape.frames[0] == "Lasso.solve clarabel  1 s"
    assert tape.frames[-1] == "Lasso.solve clarabel  3 s"


def test_a_line_has_all_that_is_known_where_there_is_room() -> None:
    assert in_words(FULL, 75.0, 160) == (
        "Lasso.path 2/9 lam = 0.1 > Lasso.solve fista  1:15 min  iteration 40  passes 81  "
        "P 1771.8795  D 1771.8795  gap 6.8e-06  relative 3.8e-09"
    )


@pytest.mark.parametrize("width", [200, 120, 100, 80, 79, 60])
def test_a_line_is_never_wider_than_the_terminal(width: int) -> None:
    text = in_words(FULL, 3.0, width)
    assert len(text) <= width
    if width >= 80:  # the words make room for what was asked for
        assert all(word in text for word in ("3 s", "iteration 40", "P 1771.8795", "D 1771.8795"))
        assert "gap 6.8e-06" in text
        assert text.startswith(("Lasso.path 2/9", "2/9 > "))
        assert "fista" in text


def test_what_moves_is_cut_last() -> None:
    stages = (
        Stage("Comparison", "lasso_diabetes: fista", 3, 114),
        Stage("Lasso.path", "lam = 0.1", 2, 9),
        Stage("Lasso.solve", "fista"),
    )
    assert where(stages, 99).startswith("Comparison 3/114 lasso_diabetes: fista > Lasso.path 2/9 l")
    assert where(stages, 54) == "Comparison 3/114 > Lasso.path 2/9 > Lasso.solve fista"
    assert where(stages, 45) == "Comparison 3/114 > ... > Lasso.solve fista"
    assert where(stages, 31) == "3/114 > 2/9 > Lasso.solve fista"
    assert where(stages, 30) == "3/114 > 2/9 > fista"
    assert where(stages, 18) == "Lasso.solve fista"
    assert where(stages, 12) == "fista"
    assert where(stages, 4) == "f..."
    assert where(stages[1:], 35) == "Lasso.path 2/9 > Lasso.solve fista"
    assert where(stages[1:], 33) == "2/9 > Lasso.solve fista"


def test_what_is_not_known_is_not_shown() -> None:
    assert in_words(NOW, 3.0, 100) == "Lasso.path 2/9 lam = 0.1 > Lasso.solve fista  3 s"
    assert "nan" not in in_words(Progress(NOW.stages, 1.0, iteration=1, gap=nan), 1.0, 100)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.9, "0 s"), (59.9, "59 s"), (65, "1:05 min"), (7265, "2:01:05 h")]
)
def test_elapsed_time_in_words(seconds: float, text: str) -> None:
    assert elapsed(seconds) == text


def test_nothing_is_written_where_standard_error_is_no_terminal() -> None:
    script = f"{SOON}with operation('slow', True):\n    time.sleep(0.3)\n"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("", "")


def test_no_thread_is_started_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", StringIO())
    before = threading.active_count()
    seen = []
    with cml.showing_progress():
        cml.Ridge([[0.0], [1.0]], [0.0, 1.0], 1.0).solve(progress=True)
        seen.append(threading.active_count())
    assert seen == [before]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize("interrupt", [False, True])
def test_on_a_terminal_the_last_line_stays_also_after_ctrl_c(interrupt: bool) -> None:
    end = "raise KeyboardInterrupt" if interrupt else "pass"
    script = (
        f"{SOON}"
        "with operation('slow', True):\n"
        "    evaluated(7, 1.0, (2.5, 2.0, 0.5, 0.2))\n"
        f"    time.sleep(0.3)\n    {end}\n"
    )
    ours, theirs = os.openpty()
    run = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=theirs)
    out, _ = run.communicate()
    os.close(theirs)
    drawn = os.read(ours, 65536).decode()
    os.close(ours)
    assert out == b""
    assert "slow  0 s  iteration 7" in drawn
    assert drawn.count("\x1b[?25l") == drawn.count("\x1b[?25h") == 1  # hidden, and there again
    assert (run.returncode != 0) is interrupt
