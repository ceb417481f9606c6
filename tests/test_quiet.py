"""Standard output carries results only, whatever a compiled solver prints."""

from __future__ import annotations

import os

import pytest

import convexml as cml
from convexml.solvers.quiet import quiet_stdout


def test_what_a_c_library_prints_is_dropped_and_what_we_print_is_not(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with quiet_stdout():
        os.write(1, b"Polishing not needed")
    os.write(1, b"result")
    assert capfd.readouterr().out == "result"


def test_osqp_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    X = [[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, -1.0]]
    solution = cml.HalfspaceLP(X, [1, 1, 0, 0]).solve("osqp")
    assert solution.status == "optimal"
    assert capfd.readouterr().out == ""
