"""The data sets bundled with scikit-learn, by name.

============== ========= ====================================================================
name           n x d     y
============== ========= ====================================================================
diabetes       442 x 10  disease progression after a year, 25 to 346; the columns of X are
                         centred and scaled to length 1, as scikit-learn ships them
linnerud       20 x 3    `target` = "Weight" (the default), "Waist" or "Pulse"; X: exercises
breast_cancer  569 x 30  0 malignant, 1 benign
iris           150 x 4   0 setosa, 1 versicolor, 2 virginica, 50 of each
wine           178 x 13  0 class_0, 1 class_1, 2 class_2
digits         1797 x 64 0 ... 9; pixels 0 to 16
============== ========= ====================================================================

`target` may also name a column of X: it becomes y, and X keeps the others.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import DataError, instead
from ..arrays import Array, RawData

NAMES = ("diabetes", "linnerud", "breast_cancer", "iris", "wine", "digits")


def bundled(name: str, target: str | int | list[str | int] | None = None) -> RawData:
    """Load a data set that scikit-learn carries (nothing is downloaded).

    Parameters
    ----------
    name : str
        One of `NAMES`.
    target : str or int, or a list of these, optional
        The column (or columns) to predict, where it is not the data set's own.

    Raises
    ------
    DataError
        For an unknown name or target, with the nearest one that exists.
    """
    if name not in NAMES:
        raise DataError(f"unknown data set {name!r}.{instead(name, NAMES)}")
    bunch = getattr(importlib.import_module("sklearn.datasets"), f"load_{name}")()
    X = np.asarray(bunch.data, dtype=float)
    y = np.asarray(bunch.target)
    features = tuple(str(f) for f in bunch.feature_names)
    classes = () if name in ("diabetes", "linnerud") else tuple(map(str, bunch.target_names))
    if target is None and name != "linnerud":
        return RawData(X=X, y=y, features=features, class_names=classes)
    columns = {feature: X[:, j] for j, feature in enumerate(features)}
    if name == "linnerud":
        own = dict(zip(map(str, bunch.target_names), y.T, strict=True))
        columns, target = own | columns, target or next(iter(own))
    wanted = [_name(name, each, features, columns) for each in _listed(target)]
    kept = [j for j, feature in enumerate(features) if feature not in wanted]
    if not kept:
        raise DataError(f"{name} has no column besides {', '.join(map(repr, wanted))}")
    found = np.column_stack([columns[each] for each in wanted])
    return RawData(
        X=X[:, kept],
        y=found if isinstance(target, list) else found[:, 0],
        features=tuple(features[j] for j in kept),
    )


def _listed(target: Any) -> list[str | int]:
    return target if isinstance(target, list) else [target]


def _name(
    data: str, target: str | int, features: Sequence[str], columns: Mapping[str, Array]
) -> str:
    if isinstance(target, int) and -len(features) <= target < len(features):
        return features[target]
    if target not in columns:
        raise DataError(f"{data} has no column {target!r} to predict.{instead(target, columns)}")
    return str(target)
