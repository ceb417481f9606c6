"""What y means: two classes as -1 and +1, or a number for each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError, instead
from .arrays import Array, RawData

if TYPE_CHECKING:
    from .schema import DataTable


def relabel(raw: RawData, table: DataTable) -> RawData:
    """Apply `target.map`, `positive` or `classes`; rows of other classes have y = 0."""
    asked = [table.target_map, table.positive, table.classes]
    if all(each is None for each in asked):
        return raw
    if raw.y is None or raw.y.ndim != 1:
        raise DataError("data: classes, positive and target.map need one column to predict")
    y = raw.y
    if table.target_map is not None:
        y, raw = mapped(y, table.target_map, raw.class_names), replace(raw, class_names=())
    if table.positive is not None:
        y = np.where(chosen(y, table.positive, raw.class_names, "positive"), 1.0, -1.0)
    elif table.classes is not None:
        y = two_classes(y, table.classes, raw.class_names)
    return replace(raw, y=y)


def two_classes(y: Array, classes: list[Any], names: tuple[str, ...]) -> Array:
    """-1 for the first class (or group of classes), +1 for the second, 0 for all others."""
    signs = np.zeros(len(y))
    for sign, group in zip((-1.0, 1.0), classes, strict=True):
        for label in group if isinstance(group, list) else [group]:
            members = chosen(y, label, names, "classes")
            if signs[members].any():
                raise DataError(f"data.classes: {label!r} is in both classes")
            signs[members] = sign
    return signs


def chosen(y: Array, wanted: Any, names: tuple[str, ...], key: str) -> Array:
    """Whether each y is one of the wanted labels, written as in the source, or by class name."""
    labels = _labels(y, names)
    members = np.zeros(len(y), dtype=bool)
    for label in wanted if isinstance(wanted, list) else [wanted]:
        if str(label) not in labels:
            raise DataError(f"data.{key}: there is no class {label!r}.{_known(label, labels)}")
        members |= y == labels[str(label)]
    return members


def mapped(y: Array, numbers: dict[str, float], names: tuple[str, ...]) -> Array:
    """The number of every y; each value needs one."""
    labels = _labels(y, names)
    found = np.full(len(y), np.nan)
    for label, number in numbers.items():
        if label not in labels:
            raise DataError(f"data.target.map: y is never {label!r}.{_known(label, labels)}")
        found[y == labels[label]] = number
    if np.isnan(found).any():
        left = y[np.isnan(found)][0]
        raise DataError(f"data.target.map has no number for {str(left)!r}")
    return found


def _labels(y: Array, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of y by the words that a problem file may use for them."""
    values: Sequence[Any] = list(np.unique(y))
    labels: dict[str, Any] = {str(v.item()): v for v in values}
    if names:
        labels |= {name: values[k] for k, name in enumerate(names) if k < len(values)}
    # A csv column 0, 1 is read as 0.0, 1.0: let its labels be written as integers too.
    return labels | {str(int(v)): v for v in values if v.dtype.kind == "f" and v == np.round(v)}


def _known(label: object, labels: dict[str, Any]) -> str:
    return instead(label, list(labels)[:20])
