"""Linear programs of NETLIB, from the optional data folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import convexml as cml

NETLIB = Path(__file__).resolve().parents[4] / "shared" / "data" / "netlib"


def netlib(name: str) -> cml.LinearProgram:
    """A program of the NETLIB folder, as HiGHS reads it."""
    path = NETLIB / f"{name}.mps"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    highspy = pytest.importorskip("highspy")
    reader = highspy.Highs()
    reader.setOptionValue("output_flag", False)
    reader.readModel(str(path))
    lp = reader.getLp()
    matrix = (lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_)
    A = sparse.csr_array(sparse.csc_array(matrix, shape=(lp.num_row_, lp.num_col_)))
    low, high = np.array(lp.row_lower_), np.array(lp.row_upper_)
    equal = low == high
    above, below = np.isfinite(high) & ~equal, np.isfinite(low) & ~equal
    return cml.LinearProgram(
        np.array(lp.col_cost_),
        sparse.vstack([A[above], -A[below]]),
        np.concatenate([high[above], -low[below]]),
        A[equal],
        low[equal],
        np.column_stack([lp.col_lower_, lp.col_upper_]),
    )
