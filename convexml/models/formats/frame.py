"""A solution as a data frame: coefficients by the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...errors import ConvexmlError, InputError
from ...numerics import Array


def frame_of_point(problem: Any, status: str, primal: Mapping[str, Array]) -> Any:
    """The first of "w", "q", "x" that there is, else the first array, as a pandas.DataFrame."""
    try:
        import pandas as pd
    except ImportError:
        raise ConvexmlError("Solution.to_frame needs pandas: pip install pandas.") from None
    name = next((key for key in (*"wqx", *primal) if key in primal), None)
    if name is None:
        raise InputError(f"to_frame: {problem.name} is {status}; there is no point.")
    values, features = np.atleast_1d(np.array(primal[name])), problem.features
    named = features is not None and len(features) == len(values)
    rows = pd.Index(features if named else range(len(values)))
    if values.ndim == 1:
        return pd.DataFrame({name: values}, index=rows)
    classes = getattr(problem, "classes", None)
    if values.ndim == 3:  # a square matrix for each class
        columns = [*range(values.shape[2])] if features is None else list(features)
        index = pd.MultiIndex.from_product(
            [range(len(values)) if classes is None else classes, columns]
        )
        return pd.DataFrame(values.reshape(-1, values.shape[2]), index=index, columns=columns)
    if classes is not None and len(classes) == values.shape[1]:
        columns = list(classes)
    elif named and values.shape[0] == values.shape[1]:
        columns = list(features)
    else:
        columns = [*range(values.shape[1])]
    return pd.DataFrame(values, index=rows, columns=columns)
