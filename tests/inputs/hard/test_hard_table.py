"""The hard-input table: its rows, where each is a test over every model; none is forgotten."""

from __future__ import annotations

from pathlib import Path

from support.hard.every_model import ALONE, ELSEWHERE, ESTIMATORS, LABELS, ROWS, UNWEIGHTED

import convexml as cml
from convexml import models

TABLE = {
    "NaN, inf, complex, object, text column, mismatched lengths, empty, 1-D X, n = 1, constant "
    "column": "test_hard_entries.py",
    "one class; a class with zero total weight": "test_hard_classes.py",
    "weights: zero = dropped, integer = repeated to 1e-9; negative or all zero": (
        "test_hard_classes.py"
    ),
    "rank-deficient X, duplicated columns, d >> n": "test_hard_rank.py",
    "separable logistic, complete and quasi, and with sign constraints": "test_hard_absence.py",
    "hard margin on inseparable data; an infeasible ball or box with it": "test_hard_absence.py",
    "kernel not PSD or not symmetric": "test_hard_kernels.py",
    "columns 1e-8 ... 1e8, C = 1e6, lam = 1e-12, lam >= lam_max": "test_hard_scales.py",
    "time or iteration limit, also of ECOS and PIQP": "test_hard_limits.py",
    "a solver that crashes, hangs or lies": "test_hard_solvers.py",
    "nu at the largest that the classes allow": "test_hard_nu.py",
}
"""Kind of input: the file whose tests say what comes of it."""


def test_every_row_has_its_file() -> None:
    here = Path(__file__).parent
    files = {path.name for path in here.glob("test_*.py")} - {Path(__file__).name}
    assert set(TABLE.values()) == files


def test_every_model_has_a_row() -> None:
    posed = {case.pose().name for case in (*ROWS, *ALONE, *UNWEIGHTED, *LABELS)}
    assert posed | set(ELSEWHERE) == set(models.__all__)


def test_every_estimator_has_a_row() -> None:
    assert set(ESTIMATORS) == set(cml.estimators.__all__)
