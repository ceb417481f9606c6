"""Decision stumps, the weak learners of boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...numerics import Array, without_warnings
from ...objective.boosting.stumps import Stumps, stumps_of
from ..reading.matrix import read_matrix
from ..reading.names import column_names

MOST = 2**28
"""Entries of an H that is made."""


def stumps(X: Any) -> tuple[Array, list[str]]:
    """All decision stumps of the samples: a column for each feature, threshold and sign.

    Parameters
    ----------
    X : array, sparse matrix or data frame, shape (n, d)
        Samples in rows.

    Returns
    -------
    H : array, shape (n, m)
        1.0 where the stump holds of a sample, else -1.0. Feature by feature, the thresholds are
        the midpoints between neighbouring distinct values, in increasing order, each as x > t and
        then as x <= t; no column is constant, and a feature with k distinct values has 2 (k - 1).
    names : list of str, length m
        In words, with the columns of a data frame: "x0 > 1.5", "x0 <= 1.5".

    Raises
    ------
    InputError
        For NaN or infinite entries, an X all of whose columns are constant, and an H of more than
        2^28 entries.
    """
    found = read_stumps("stumps", X)
    return dense_of("stumps", found), found.names(names_of(column_names(X), found))


def dense_of(owner: str, found: Stumps) -> Array:
    """H; InputError where it has too many entries."""
    n, m = len(found.ranks), found.count
    if n * m > MOST:
        raise InputError(
            f"{owner}: X of shape {found.ranks.shape} has {m} stumps, and H {n * m:.3g} entries. "
            "Round the columns of X, so that they have fewer distinct values."
        )
    return found.dense()


def names_of(features: list[str] | None, found: Stumps) -> list[str]:
    """The columns of a data frame, or x0, x1, ..."""
    return features or [f"x{j}" for j in range(len(found.thresholds))]


@without_warnings
def read_stumps(owner: str, X: Any) -> Stumps:
    """The stumps of a validated X, without their matrix."""
    values = read_matrix(owner, X)
    found = stumps_of(np.asarray(values.toarray() if hasattr(values, "toarray") else values))
    if not found.count:
        raise InputError(
            f"{owner}: every column of X is constant, so that no stump tells two samples apart. "
            "Pass a feature that varies."
        )
    return found
