"""A matrix in every container that holds one, and in some that do not."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

Draw = Callable[..., Any]


def _read_only(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


def _on_disk(X: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:
        found = np.memmap(file, float, "w+", shape=X.shape)
    found[:] = X
    return found


def _stored_twice(X: np.ndarray) -> Any:
    i, j = (index.ravel() for index in np.indices(X.shape))
    return sparse.coo_array((np.r_[X.ravel(), X.ravel()], (np.r_[i, i], np.r_[j, j])), X.shape)


def _zeros_stored(X: np.ndarray) -> Any:
    found = sparse.csr_matrix(np.ones(X.shape))
    found.data[:] = X.ravel()
    return found


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::-2],
    "read-only": _read_only,
    "list": lambda X: X.tolist(),
    "object": lambda X: X.astype(object),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int8": lambda X: np.nan_to_num(X).clip(-9, 9).astype(np.int8),
    "bool": lambda X: X > 0.0,
    "long double": lambda X: X.astype(np.longdouble),
    "swapped": lambda X: X.astype(">f8"),
    "nothing masked": lambda X: np.ma.array(X, mask=False),
    "on disk": _on_disk,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
    "lil": sparse.lil_array,
    "stored twice": _stored_twice,
    "zeros stored": _zeros_stored,
    "frame": lambda X: _frame(X),
}
WRONG: dict[str, Callable[[np.ndarray], Any]] = {
    "text": lambda X: X.astype(str),
    "complex": lambda X: X + 0j,
    "masked": lambda X: np.ma.array(X, mask=X > 1.0),
    "vector": lambda X: X.ravel(),
    "cube": lambda X: X[None],
    "None": lambda X: None,
}


def _frame(X: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


@st.composite
def formed(draw: Draw, X: np.ndarray, odd: bool = False) -> Any:
    """The matrix as an array, mostly, or in another container."""
    forms = {"array": lambda X: X, **(WRONG if odd else FORMS)}
    form = draw(st.sampled_from(["array"] * (1 if odd else len(forms)) + list(forms)))
    with np.errstate(all="ignore"):
        try:
            return forms[form](X)
        except ValueError:  # nothing of this kind holds it
            return X
