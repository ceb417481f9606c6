"""X and y as scikit-learn reads them; what X holds that is no number is named by row and column."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError
from ..models.reading.matrix import read_matrix
from ..solvers import names
from ..validation import positive_integer


def read_samples(estimator: Any, X: Any, y: Any, settings: Mapping[str, Any]) -> tuple[Any, Any]:
    """X in float64, dense or by rows or columns, and y; None where none is wanted.

    Raises
    ------
    ValueError, TypeError
        scikit-learn's; an ``InputError`` where it is an entry or the shape of X.
    """
    from sklearn.utils.validation import validate_data

    read = {"accept_sparse": ("csr", "csc"), "dtype": np.float64, **settings}
    try:
        found = validate_data(estimator, X, y, **read)
    except (ValueError, np.exceptions.DTypePromotionError) as error:
        try:
            read_matrix(f"{type(estimator).__name__}.fit", X)
        except InputError as named:
            first = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
            raise InputError(f"{named} ({first}.)") from None
        raise
    return found if isinstance(found, tuple) else (found, None)


def check_steps(estimator: Any) -> None:
    """Refuse a ``max_iter`` that the namesake, where it has one, refuses; None is ours."""
    from sklearn.utils._param_validation import validate_parameter_constraints

    kind, steps = type(estimator), getattr(estimator, "max_iter", None)
    known = _constraints(kind)
    if steps is not None and "max_iter" in known:
        allowed = {"max_iter": known["max_iter"]}
        validate_parameter_constraints(allowed, {"max_iter": steps}, kind.__name__)
    elif steps is not None:
        positive_integer(steps, kind.__name__, "max_iter")


def check_solver(estimator: Any) -> None:
    """Refuse a ``solver`` that is neither the namesake's nor "auto"; ours go by ``engine``."""
    solver = getattr(estimator, "solver", "auto")
    owner, allowed = type(estimator).__name__, {"auto"}
    for option in _constraints(type(estimator)).get("solver", []):
        allowed |= set(getattr(option, "options", ()))
    if solver not in allowed:
        ours = f" engine={solver!r} is one of convexml's." if solver in names() else ""
        listed = ", ".join(sorted(allowed))
        raise InputError(f"{owner}.fit: solver must be one of {listed}, got {solver!r}.{ours}")


def _constraints(kind: type) -> Mapping[str, Any]:
    """What the namesake says of its parameters."""
    bases = (base for base in kind.__mro__ if base.__module__.startswith("sklearn."))
    found: Mapping[str, Any] = getattr(next(bases, None), "_parameter_constraints", {})
    return found
