"""Folds of the samples that count: those of positive weight."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from ..errors import InputError
from ..numerics import Array
from .base import Given


def counted(given: Given) -> Given:
    """The samples of positive weight."""
    if given.weights is None or np.all(given.weights > 0.0):
        return given
    kept = np.flatnonzero(given.weights)
    return Given(given.X[kept], given.y[kept], given.weights[kept])


def folded(owner: str, given: Given, cv: Any) -> tuple[Given, list[tuple[Array, Array]]]:
    """The samples of positive weight, and folds of them: (rows to fit, rows to test) of each.

    A number of folds is made of these samples alone. A splitter, or a list of splits, is of all
    samples; those of weight 0 are then left out of its folds.

    Raises
    ------
    InputError
        If no sample of positive weight is in one of the two parts of a fold.
    """
    kept = counted(given)
    if kept is given or cv is None or isinstance(cv, Integral):
        return kept, list(check_cv(cv).split(kept.X, kept.y))
    rows, place = np.arange(len(given.weights)), np.cumsum(given.weights > 0.0) - 1
    folds = []
    for k, parts in enumerate(check_cv(cv).split(given.X, given.y)):
        found = [rows[part] for part in parts]  # of masks too
        train, test = (place[part[given.weights[part] > 0.0]] for part in found)
        if not (train.size and test.size):
            part = "test" if train.size else "training"
            raise InputError(
                f"{owner}.fit: the {part} samples of fold {k} of cv have no weight; give each fold "
                "some of positive sample_weight, or a number of folds."
            )
        folds.append((train, test))
    return kept, folds
