"""Standard output carries results only, whatever a solver prints."""

from __future__ import annotations

import pytest

import convexml as cml


def test_osqp_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    X = [[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [-2.0, -1.0]]
    assert cml.HalfspaceLP(X, [1, 1, 0, 0]).solve("osqp").status == "optimal"
    assert capfd.readouterr().out == ""
