"""The interior points of a linear program are Newton's, and others fail their audit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import convexml as cml
from convexml.solvers import Iterate

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
PROGRAMS = ["lp_wyndor", "lp_diet", "lp_transport", "lp_max_flow", "lp_chebyshev_center"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_interior_points_of_a_linear_program_are_audited(name: str) -> None:
    solution = cml.load(PROBLEMS / f"{name}.toml").solve("interior_point", tol=1e-9)
    found = solution.rate_audit()
    assert found.holds, str(found)
    assert found.claims[1].tested.size == solution.iterations
    assert solution.rate_audit(iterations=0).claims[1].holds is None


@pytest.mark.parametrize("name", ["s", "z", "nu", "x"])
def test_a_linear_program_whose_points_are_not_newtons_fails(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from convexml.models.rates import program as program_audit

    solution = cml.load(PROBLEMS / "lp_max_flow.toml").solve("interior_point", tol=1e-9)
    right = program_audit.RecordedProgram.first

    def wrong(self: Any, count: int) -> Iterator[Iterate]:
        for k, point in enumerate(right(self, count)):
            moved = point.state | {name: point.state[name] * (1.0 + 1e-3 * (k == 4))}
            yield replace(point, state=moved)

    monkeypatch.setattr(program_audit.RecordedProgram, "first", wrong)
    assert solution.rate_audit().holds is False
