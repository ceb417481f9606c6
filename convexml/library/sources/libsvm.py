"""Sparse data in the libsvm form: a label and `index:value` pairs on every line."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from ...errors import DataError
from ..arrays import RawData

if TYPE_CHECKING:
    from ..schema import DataTable

MOST_FEATURES = 10_000_000


def read_libsvm(path: Path, table: DataTable, supervised: bool) -> RawData:
    """Read X as a csr_array and y by scikit-learn's reader; the first index is 0 or 1.

    `n_features` fixes the number of columns, where a file does not reach the last one.
    """
    from sklearn.datasets import load_svmlight_file

    if table.target is not None:
        raise DataError(f"data.target: {path.name} says on every line what to predict; remove it")
    if isinstance(table.sample_weight, str):
        raise DataError(f"data.sample_weight: {path.name} has no named columns")
    content = path.read_bytes()
    try:
        X, y = load_svmlight_file(BytesIO(content), n_features=table.n_features)
    except (ValueError, OverflowError, IndexError, MemoryError) as error:
        raise DataError(f"{path.name}{_place(content)}: {str(error)[:200]}") from error
    if not X.shape[0] or not X.shape[1]:
        raise DataError(f"{path.name} holds no sample" if not X.shape[0] else "no feature at all")
    if X.shape[1] > MOST_FEATURES:
        raise DataError(
            f"{path.name}: an index is {X.shape[1]}; at most {MOST_FEATURES} features are read"
        )
    features = tuple(f"x{j}" for j in range(X.shape[1]))
    return RawData(sparse.csr_array(X), np.asarray(y), features)


def _place(content: bytes) -> str:
    """The first line that cannot be read alone."""
    from sklearn.datasets import load_svmlight_file

    for k, line in enumerate(content.splitlines(), start=1):
        try:
            load_svmlight_file(BytesIO(line))
        except (ValueError, OverflowError, IndexError, MemoryError):
            return f", line {k}"
    return ""
