"""What is compared and reported: a small ridge, a small file, a comparison with everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.report.records import ENVIRONMENT, RECORDS
from support.report.small_ridge import LAM, data

from convexml.models import Ridge
from convexml.report import Comparison

PROBLEM_FILE = """
schema = 1
title = "A <small> lasso"
model = "lasso"
[parameters]
lam = 0.5
[data]
X = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
y = [2.0, 0.5, -2.0, -0.5]
[expected]
status = "optimal"
[[expected.facts]]
name = "w"
value = [1.0, 0.0]
atol = 1e-3
source = "soft threshold: X'X/n = I/2, so w = S(X'y/n, lam) · 2 = (2(1 - 0.5), 0)"
[[expected.facts]]
name = "nonzeros"
value = 7
source = "deliberately wrong"
"""


@pytest.fixture
def ridge() -> Ridge:
    return Ridge(*data(), LAM)


@pytest.fixture
def problem_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(PROBLEM_FILE, encoding="utf-8")
    return path


@pytest.fixture
def comparison() -> Comparison:
    return Comparison(RECORDS, ENVIRONMENT)
