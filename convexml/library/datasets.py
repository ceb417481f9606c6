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

import numpy as np

from ..errors import DataError, instead
from .arrays import RawData

NAMES = ("diabetes", "linnerud", "breast_cancer", "iris", "wine", "digits")


def bundled(name: str, target: str | None = None) -> RawData:
    """Load a data set that scikit-learn carries (nothing is downloaded).

    Parameters
    ----------
    name : str
        One of `NAMES`.
    target : str, optional
        The column to predict, where it is not the data set's own.

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
    own_targets = tuple(map(str, bunch.target_names)) if name == "linnerud" else ()

    if target in features:
        column = features.index(target)
        others = features[:column] + features[column + 1 :]
        return RawData(X=np.delete(X, column, axis=1), y=X[:, column], features=others)
    if target is not None and target not in own_targets:
        known = (*own_targets, *features)
        raise DataError(f"{name} has no column {target!r} to predict.{instead(target, known)}")
    if own_targets:
        y = y[:, own_targets.index(target or own_targets[0])]
    return RawData(X=X, y=y, features=features, class_names=classes)
