"""Bad calls: what is passed as X."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import sparse

import convexml as cml
from support.bad_calls.things import Row, X, Y, frame, put

ROWS: dict[str, Row] = {
    "a path for X": (
        lambda: cml.Ridge("data.csv", Y, 0.1),
        "Ridge: X | 'data.csv' | numbers | read the file first",
    ),
    "None for X": (lambda: cml.Ridge(None, Y, 0.1), "Ridge: X | None | numbers | pass an array"),
    "a dict for X": (
        lambda: cml.Ridge({"age": [1.0]}, [1.0], 0.1),
        "Ridge: X | dict of 'age' | numbers | DataFrame",
    ),
    "a number for X": (
        lambda: cml.Ridge(3.0, Y, 0.1),
        "Ridge: X | 3.0 | matrix of shape (n, d) | samples in rows",
    ),
    "text in X": (
        lambda: cml.Ridge([["a", 1], ["b", 2]], [1, 2], 0.1),
        (
            "Ridge: X | column 0 holds text ('a' at row 0) | numbers only"
            " | Encode it as numbers or drop it"
        ),
    ),
    "a vector for X": (
        lambda: cml.Ridge(X[:, 0], Y, 0.1),
        "Ridge: X | (24,) | matrix of shape (n, d) | X.reshape(-1, 1)",
    ),
    "a series for X": (
        lambda: cml.Ridge(pd.Series(X[:, 0]), Y, 0.1),
        "Ridge: X | (24,) | matrix of shape (n, d) | X.reshape(-1, 1)",
    ),
    "images for X": (
        lambda: cml.Ridge(X[None], Y, 0.1),
        "Ridge: X | (1, 24, 5) | matrix of shape (n, d) | X.reshape(len(X), -1)",
    ),
    "an empty list for X": (
        lambda: cml.Ridge([], [], 0.1),
        "Ridge: X | (0,) | matrix of shape (n, d) | at least one sample",
    ),
    "no rows": (
        lambda: cml.Ridge(X[:0], Y[:0], 0.1),
        "Ridge: X | (0, 5) | at least one sample | Pass some rows",
    ),
    "no columns": (
        lambda: cml.Ridge(X[:, :0], Y, 0.1),
        "Ridge: X | (24, 0) | one feature | required",
    ),
    "ragged rows": (
        lambda: cml.Ridge([[1.0], [1.0, 2.0]], [0, 1], 0.1),
        "Ridge: X | row 0 has 1 and row 1 has 2 entries | numbers | rows of one length",
    ),
    "nan in X": (
        lambda: cml.Ridge(put(X, (3, 2), np.nan), Y, 0.1),
        "Ridge: X | nan at row 3, column 2 | finite | Impute or drop",
    ),
    "inf in X": (
        lambda: cml.Lasso(put(X, (3, 2), np.inf), Y, 0.1),
        "Lasso: X | inf at row 3, column 2 | finite | Impute or drop",
    ),
    "nan in a frame": (
        lambda: cml.Lasso(frame(put(X, (3, 2), np.nan)), Y, 0.1),
        "Lasso: X | nan at row 3, column 'c' | finite | Impute or drop",
    ),
    "text in a frame": (
        lambda: cml.Lasso(pd.DataFrame({"age": [1.0, 2.0], "town": ["Ulm", "Bonn"]}), [1, 2], 0.1),
        "Lasso: X | column 'town' holds text ('Ulm' at row 0) | numbers only | Encode",
    ),
    "dates in a frame": (
        lambda: cml.Lasso(
            pd.DataFrame({"age": [1.0], "day": pd.to_datetime(["2020-01-01"])}), [1], 0.1
        ),
        "Lasso: X | 'day' holds Timestamp | numbers only | Encode",
    ),
    "categories in a frame": (
        lambda: cml.Lasso(pd.DataFrame({"size": pd.Categorical(["s", "m"])}), [1, 2], 0.1),
        "Lasso: X | 'size' holds text | numbers only | Encode",
    ),
    "a missing cell": (
        lambda: cml.Lasso(pd.DataFrame({"age": [1.0, None]}), [1, 2], 0.1),
        "Lasso: X | nan at row 1, column 'age' | finite | Impute",
    ),
    "complex X": (
        lambda: cml.Ridge(X + 1j, Y, 0.1),
        "Ridge: X | complex128 | real numbers | Pass the real part",
    ),
    "objects in X": (
        lambda: cml.Ridge(np.array([[1, print], [2, 3]], dtype=object), [1, 2], 0.1),
        "Ridge: X | column 1 | numbers only | drop it",
    ),
    "a generator for X": (
        lambda: cml.Ridge((row for row in X), Y, 0.1),
        "Ridge: X | generator | numbers | pass an array or a list",
    ),
    "a set for X": (
        lambda: cml.Ridge({1, 2}, [1, 2], 0.1),
        "Ridge: X | set | numbers | pass an array or a list",
    ),
    "a function for X": (
        lambda: cml.Ridge(np.sin, [1, 2], 0.1),
        "Ridge: X | ufunc | numbers | pass an array or a list",
    ),
    "sparse nan": (
        lambda: cml.Ridge(sparse.csr_array(put(X, (3, 2), np.nan)), Y, 0.1),
        "Ridge: X | nan at row 3, column 2 | finite | Impute",
    ),
    "sparse complex": (
        lambda: cml.Ridge(sparse.csr_array(X + 1j), Y, 0.1),
        "Ridge: X | complex128 | real numbers | Pass the real part",
    ),
    "masked X": (
        lambda: cml.Ridge(np.ma.masked_array(X, mask=X > 2.0), Y, 0.1),
        "Ridge: X | masked entries | fill | drop them first",
    ),
    "integers beyond float64": (
        lambda: cml.Ridge(np.full((2, 1), 2**60 + 1), [1, 2], 0.1),
        "Ridge: X | 1152921504606846977 | float64 rounds | Shift or scale",
    ),
    "samples in columns": (
        lambda: cml.Ridge(X.T, Y, 0.1),
        "Ridge: y | (24,) | one entry per row of X (5) | Pass X.T",
    ),
    "X and y swapped": (
        lambda: cml.Ridge(Y, X, 0.1),
        "Ridge: X | (24,) | matrix of samples | Swap them",
    ),
}
"""What is called; object | value | requirement | remedy."""
