"""Every model of problems/ is solved to its status and facts, in the symbols of its formulas."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.latex.symbols import undefined

from convexml import models
from convexml.library import check_fact, load_file, read_table_of
from convexml.library.names import snake_case

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
FILES = sorted(PROBLEMS.glob("*.toml"))
MODEL_FILES = [path for path in FILES if read_table_of(path).statement is None]


@pytest.mark.parametrize("path", MODEL_FILES, ids=lambda p: p.stem)
def test_a_model_file_is_solved_to_its_facts(path):
    record = load_file(path)
    solution = record.problem.solve(tol=1e-6)
    assert solution.status == record.expected.status
    checks = [check_fact(fact, record.problem, solution) for fact in record.expected.facts]
    assert [check for check in checks if not check.holds] == []
    if solution.status != "optimal":
        assert solution.evidence
    named = [row.name for row in solution.certificate.conditions]
    named += [name for name, value in solution.dual.items() if np.any(value)]
    assert undefined(named, record.problem.latex()) == set()


def test_every_model_has_a_problem_file():
    posed = {read_table_of(path).model for path in FILES}
    assert {snake_case(name) for name in models.__all__} - posed == {"learning_problem"}
