"""Problem files for the command line, and what reads its output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Result = Any  # typer vendors click: its type has no public name
Command = Callable[..., Result]
RIDGE = """
schema = 1
title = "A small ridge"
model = "ridge"
[parameters]
lam = 0.5
[data]
X = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
y = [3.0, 1.0, -1.0, 1.0]
[[expected.facts]]
name = "w"
value = [1.0, 0.0]
atol = 1e-4
source = "X'X/n = I/2, X'(y - mean y)/n = (1, 0): w = (1, 0) / (1/2 + lam)"
"""
LASSO = RIDGE.replace('"ridge"', '"lasso"').replace("[1.0, 0.0]\natol", "[1.0, 0.0]\natol")
FILED = RIDGE.split("[data]")[0] + '[data]\nfile = "t.csv"\ntarget = "y"\n'
STATED = RIDGE.split("[[expected")[0].replace('model = "ridge"', 'statement = "mine.py"')
HARD = """
schema = 1
title = "No street"
model = "hard_margin_svm"
[data]
X = [[0.0], [1.0], [2.0]]
y = [-1, 1, -1]
"""
STATEMENT = """
import cvxpy as cp
def primal(data, lam):
    w = cp.Variable(data.X.shape[1], name="w")
    return cp.Problem(cp.Minimize(cp.sum_squares(data.X @ w - data.y) + lam * cp.sum_squares(w)))
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def document(result: Result) -> Any:
    """Standard output as strict JSON: NaN and Infinity are refused."""
    return json.loads(result.stdout, parse_constant=pytest.fail)
