"""What to pass instead: words that a refusal ends with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np

from .errors import closest

RANGES = {
    "lam": " 0 is no penalty.",
    "C": " C weighs the losses: a small one leaves w near 0.",
    "epsilon": " 0 leaves no tube.",
    "delta": " Residuals beyond delta count linearly.",
    "radius": " It bounds the norm of w.",
    "l1_ratio": " 0 is the ridge, 1 the lasso.",
    "sigma": " It is the width of the kernel, in the units of x.",
    "tol": " It is a relative gap; 1e-6 is the default.",
    "gap": " It is a relative gap, such as 1e-6.",
    "everywhere": " It is a relative gap, such as 1e-3.",
    "max_seconds": " None is no limit.",
    "max_iter": " None is the solver's own limit.",
    "order": " 0 fits constants (total variation), 1 lines.",
    "k": " Pass a whole number from 1 on.",
    "count": " Pass a whole number from 1 on.",
    "rounds": " Each of them adds a stump: pass a whole number from 1 on, such as 100.",
    "seed": " Any whole number from 0 on will do.",
}
"""What a number means that must lie in a range, by its name."""
PER_ROW = ("y", "Y", "sample_weight")
"""Arguments that have an entry for each row of X."""
ALIASES = {
    "rbf": "Gaussian",
    "poly": "Polynomial",
    "mse": "Squared",
    "squared_error": "Squared",
    "log_loss": "Logistic",
    "logit": "Logistic",
    "lasso": "L1",
    "ridge": "L2",
    "grouplasso": "GroupL2",
}
"""Names of kernels, losses and penalties elsewhere."""
ONE_ROW = "one number for each row of X, in their order"


def for_array(values: Any, name: str, why: object = "") -> str:
    """What was passed where an array of numbers is needed, and what to pass.

    ``why`` is NumPy's own complaint, told where nothing better is known.
    """
    if isinstance(values, str | bytes | PathLike):
        return f", got the text {values!r}; {_for_text(values, name)}"
    if isinstance(values, Mapping):
        keys = ", ".join(repr(key) for key in list(values)[:6])
        return f", got a dict of {keys}; {_for_dict(name)}"
    kind = type(values).__name__
    if isinstance(getattr(values, "primal", None), Mapping):
        return f", got a {kind}; pass its arrays one by one, such as solution.primal['w']"
    if hasattr(values, "get_params"):
        return (
            f", got the estimator {kind}; pass its coef_ and intercept_, or judge it by "
            "cml.certify(estimator, X, y)"
        )
    if not (isinstance(values, list | tuple) or hasattr(values, "__array__")):
        return f", got a {kind}; pass an array or a list"
    return _for_entries(values, name) or f" ({why})"


def _for_text(values: Any, name: str) -> str:
    if name == "X":
        return "read the file first, by numpy.loadtxt or pandas.read_csv"
    if name == "sample_weight":
        return f"pass {ONE_ROW}; convexml.estimators take class_weight"
    if name in PER_ROW:
        return f"pass the column itself, as frame[{values!r}]"
    return "pass numbers"


def _for_dict(name: str) -> str:
    if name == "X":
        return "pass a pandas.DataFrame of it"
    if name in PER_ROW:
        return f"pass {ONE_ROW}"
    return "pass its arrays one by one, such as primal['w']"


def _for_entries(values: Any, name: str) -> str:
    """The first entry that is no number, or rows of several lengths."""
    if not hasattr(values, "__array__"):
        lengths = [len(row) if hasattr(row, "__len__") else 1 for row in values]
        other = next((k for k, n in enumerate(lengths) if n != lengths[0]), None)
        if other is not None and not isinstance(values[other], str):
            return (
                f"; row 0 has {lengths[0]} and row {other} has {lengths[other]} entries; pass rows "
                "of one length"
            )
    for k, entry in enumerate(np.asarray(values, dtype=object).ravel()):
        if not is_number(entry):
            labels = "; labels are for the classification models" if name == "y" else ""
            words = "; convert text by astype(float)" if is_number_in_words(entry) else labels
            return f", got {entry!r} at entry {k}{words or '; pass numbers'}"
    return ""


def is_text(entry: Any) -> bool:
    """Whether it is text: numbers in words are read by whoever knows that they are some."""
    return isinstance(entry, str | bytes)


def is_number(entry: Any) -> bool:
    """Whether it is one number, and not in words."""
    try:
        float(entry)
    except (TypeError, ValueError):
        return False
    return not is_text(entry)


def is_number_in_words(entry: Any) -> bool:
    """Whether it is text that NumPy would read as a number."""
    try:
        float(entry)
    except (TypeError, ValueError):
        return False
    return is_text(entry)


def for_kind(kind: str) -> str:
    """What to pass in place of complex numbers, dates and spans of time, by NumPy's letter."""
    if kind == "c":
        return " Pass the real part, or both parts as numbers of their own."
    return " Pass numbers, such as days since a date."


def for_number(value: Any) -> str:
    """What to pass in place of what is no number."""
    if isinstance(value, str | bytes):
        try:
            return f" Pass {float(value):g}, not text."
        except ValueError:
            return " Pass a number, not text."
    if isinstance(value, bool | np.bool_):
        return f" Pass {float(value):g} if that is meant."
    if np.ndim(value) > 0:
        return " Pass one number; path(values) solves for several."
    return " Pass a number."


def for_targets(shape: tuple[int, ...], X: tuple[int, int], labels: str, value: Any) -> str:
    """What to pass in place of targets of a wrong shape."""
    n, d = X
    if isinstance(value, str):
        return f" Got {value!r}; {_for_text(value, 'y')}."
    if shape == ():
        return f" Got {value!r}; pass {ONE_ROW.replace('number', 'target')}."
    if shape == (1, n):
        return " Pass y.ravel()."
    if len(shape) == 2 and shape[0] == n:
        if labels in ("binary", "classes"):
            return " Pass labels, as y.argmax(axis=1) of indicators of classes."
        return " Pass one of its columns; each target is a problem of its own."
    if shape[0] == d:
        return f" X has shape {X}: are its samples in columns? Pass X.T."
    return " Pass the rows of X and the entries of y of the same samples."


def for_part(value: Any, module: str, names: Iterable[str]) -> str:
    """What to pass where a loss, a penalty or a kernel is needed, one of these ``names``."""
    names = list(names)
    if isinstance(value, type):
        return f" Pass an instance: {module}.{value.__name__}(...)."
    if isinstance(value, str):
        found = ALIASES.get(value.lower()) or closest(value, names)
        if found in names:
            return f" Pass {module}.{found}(...)."
    if value is None and "Zero" in names:
        return f" Pass {module}.Zero() for none."
    if callable(value) and module == "kernels" and not hasattr(value, "tex"):
        return " Pass the matrix in place of X and kernels.Precomputed(), or a subclass of Kernel."
    return f" Pass one of {module}: {', '.join(names)}."
