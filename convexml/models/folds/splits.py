"""Folds of the samples that count, those of positive weight, and the problems posed on them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from ...blocks import in_memory
from ...design import SomeRows
from ...errors import InputError
from ...numerics import Array
from ..learning.posed import PosedLearning
from ..reading.inputs import Samples
from ..reading.layout import Layout

Split = tuple[Array, Array]
"""Rows to fit and rows to test."""
Posed = TypeVar("Posed", bound=PosedLearning)


def shuffled(owner: str, count: int, n: int, by_class: bool, seed: int) -> Any:
    """A splitter into so many folds of shuffled samples; alike in their classes."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if not 2 <= count <= n:
        raise InputError(
            f"{owner}: folds must be from 2 to the {n} samples that count, got {count}."
        )
    kind = StratifiedKFold if by_class else KFold
    return kind(int(count), shuffle=True, random_state=seed)


def splits_of(
    owner: str, name: str, cv: Any, y: Array, weights: Array | None, by_class: bool = False
) -> list[Split]:
    """Rows to fit and to test of each fold, numbered among the samples of positive weight.

    A number of folds is made of these samples alone. A splitter, or a list of splits, is of all
    samples; those of weight 0 are then left out of its folds.

    Parameters
    ----------
    owner, name : str
        Who asks, and what it calls ``cv``.
    cv : int, splitter, list of splits or None
        As of scikit-learn.
    y : array
        Targets of all samples.
    weights : array, shape (n,), optional
    by_class : bool
        Whether a number of folds is to hold the classes of y alike.

    Raises
    ------
    InputError
        If no sample of positive weight is in one of the two parts of a fold.
    """
    from sklearn.model_selection import check_cv

    n = len(y)
    counted = np.arange(n) if weights is None else np.flatnonzero(weights)
    if counted.size == n or cv is None or isinstance(cv, Integral):
        target = y[counted]
        splitter = check_cv(cv, target, classifier=by_class)
        return _numbered(splitter.split(np.zeros((counted.size, 1)), target), counted.size)
    place = np.full(n, -1)
    place[counted] = np.arange(counted.size)
    found = []
    for k, parts in enumerate(check_cv(cv, y, classifier=by_class).split(np.zeros((n, 1)), y)):
        train, test = (place[np.arange(n)[part]] for part in parts)  # of masks too
        train, test = train[train >= 0], test[test >= 0]
        if not (train.size and test.size):
            part = "test" if train.size else "training"
            raise InputError(
                f"{owner}: the {part} samples of fold {k} of {name} have no weight; give each fold "
                "some of positive sample_weight, or a number of folds."
            )
        found.append((train, test))
    return found


def _numbered(splits: Iterable[Sequence[Any]], n: int) -> list[Split]:
    """Index arrays, of masks too."""
    rows = np.arange(n)
    return [(rows[train], rows[test]) for train, test in splits]


def posed_on(problem: Posed, rows: Array, owner: str = "") -> Posed:
    """The problem on some of its samples, with its hyperparameters and all of its classes.

    Raises
    ------
    InputError
        If a class is not among them.
    """
    part = _chosen(problem._samples, rows)
    if part.classes is not None and len(np.unique(in_memory(part.y))) < len(part.classes):
        raise InputError(
            f"{owner or problem.name}: a fold is to be fitted without a sample of one of the "
            f"classes {part.classes.tolist()}; take fewer folds, or a splitter that holds the "
            "classes alike."
        )
    kernel = problem._kernel
    if kernel is not None and not kernel.takes_samples:
        part = replace(part, design=part.design.columns(rows))
    twin: Any = problem.snapshot()
    twin._samples = part
    twin._compose(part, problem.sample_parts.fit_intercept)
    found: Posed = twin
    return found


def _chosen(samples: Samples, rows: Array) -> Samples:
    """Some of the samples; those in blocks stay where they lie, in the order of the blocks."""
    of_all: dict[str, Any] = {"kept": np.arange(len(rows)), "total": len(rows), "seen": None}
    if samples.layout is None:
        y, weights = samples.y[rows], samples.weights[rows]
        return replace(samples, design=samples.design.rows(rows), y=y, weights=weights, **of_all)
    lying: Any = samples  # arrays in blocks
    some = SomeRows(np.sort(rows), lying.design.lengths)
    return replace(
        lying,
        design=some.of_design(lying.design),
        y=some.of_vector(lying.y),
        weights=some.of_vector(lying.weights),
        layout=Layout(some.lengths, (None,) * len(some.lengths)),
        **of_all,
    )


def held_out(problem: PosedLearning, train: Array, test: Array) -> tuple[Any, Array, Array]:
    """X, y and weights of the samples that a problem on ``train`` predicts; X a design in blocks.

    Of blocks y and weights are brought to memory: a number for each sample of the fold.
    """
    kernel, part = problem._kernel, _chosen(problem._samples, test)
    y, weights = in_memory(part.y), in_memory(part.weights)
    if part.layout is not None:
        return part.design, y, weights
    design = part.design
    if kernel is not None and not kernel.takes_samples:
        design = design.columns(train)
    return design.constant, y, weights
