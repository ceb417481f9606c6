"""X, y, sample weights and points of numbers at the ends of float64."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

Draw = Callable[..., Any]


def _read_only(X: np.ndarray) -> np.ndarray:
    X.flags.writeable = False
    return X


def _on_disk(X: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:
        found = np.memmap(file, float, "w+", shape=X.shape)
    found[:] = X
    return found


def _stored_twice(X: np.ndarray) -> Any:
    i, j = (index.ravel() for index in np.indices(X.shape))
    return sparse.coo_array((np.r_[X.ravel(), X.ravel()], (np.r_[i, i], np.r_[j, j])), X.shape)


FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)[::2, ::-2],
    "read-only": _read_only,
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int8": lambda X: np.nan_to_num(X).clip(-9, 9).astype(np.int8),
    "bool": lambda X: X > 0.0,
    "long double": lambda X: X.astype(np.longdouble),
    "nothing masked": lambda X: np.ma.array(X, mask=False),
    "on disk": _on_disk,
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "stored twice": _stored_twice,
    "frame": lambda X: _frame(X),
}
WRONG: dict[str, Callable[[np.ndarray], Any]] = {
    "text": lambda X: X.astype(str),
    "complex": lambda X: X + 0j,
    "masked": lambda X: np.ma.array(X, mask=X > 1.0),
    "vector": lambda X: X.ravel(),
    "None": lambda X: None,
}


def _frame(X: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


@st.composite
def formed(draw: Draw, X: np.ndarray, odd: bool = False) -> Any:
    """The matrix as an array, mostly, or in another container."""
    forms = {"array": lambda X: X, **(WRONG if odd else FORMS)}
    form = draw(st.sampled_from(["array"] * (1 if odd else len(forms)) + list(forms)))
    with np.errstate(all="ignore"):
        try:
            return forms[form](X)
        except ValueError:  # nothing of this kind holds it
            return X


EPS = float(np.finfo(float).eps)
FINITE = (0.0, -0.0, 1.0, -1.0, EPS, 1.0 + EPS, 1e-12, 1e-308, 5e-324, -3e-310, 1e8, -1e8)
HUGE = (1e150, -1e150, 1e154, 1e200, -1e200, 1e308, -1.7e308)
NONE = (np.inf, -np.inf, np.nan)


@st.composite
def tables(draw: Draw, n: int, d: int, odd: bool = False) -> np.ndarray:
    """A matrix of float64: ordinary, of few nasty numbers, or ordinary with one change."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    X = rng.normal(size=(n, d)).round(draw(st.sampled_from([1, 3, 17])))
    change = draw(st.sampled_from(CHANGES))
    if X.size and change != "ordinary":
        X = _changed(draw, rng, X, change)
    if X.size and odd and draw(st.booleans()):
        X[rng.integers(n), rng.integers(d)] = draw(st.sampled_from(NONE))
    return X


CHANGES = (
    *("ordinary", "ordinary", "pool", "entry", "entry", "column", "row", "units", "offset"),
    *("duplicate", "collinear", "constant", "integers", "zero"),
)


def _changed(draw: Draw, rng: np.random.Generator, X: np.ndarray, change: str) -> np.ndarray:
    n, d = X.shape
    i, j = draw(st.integers(0, n - 1)), draw(st.integers(0, d - 1))
    numbers = st.sampled_from([*FINITE, *HUGE])
    match change:
        case "pool":
            few = draw(st.lists(st.sampled_from([*FINITE, *HUGE[:2]]), min_size=1, max_size=4))
            X = rng.choice(few, X.shape)
        case "entry":
            X[i, j] = draw(numbers)
        case "column":
            X[:, j] *= draw(st.sampled_from([*FINITE, *HUGE[:5]]))
        case "row":
            X[i] *= draw(st.sampled_from([*FINITE, *HUGE[:5]]))
        case "units":
            X = X * 10.0 ** draw(st.integers(-300, 300))
        case "offset":
            X[:, j] += 10.0 ** draw(st.integers(3, 16))
        case "duplicate":
            X[:, j] = X[:, 0]
            X[i] = X[0]
        case "collinear":
            X[:, j] = X.sum(axis=1) - X[:, j]
        case "constant":
            X[:, j] = draw(st.sampled_from([*FINITE, 3.7]))
        case "integers":
            X = np.round(3.0 * X)
        case "zero":
            X = np.zeros_like(X)
    return X


@st.composite
def targets(draw: Draw, n: int, X: np.ndarray, labels: str, odd: bool = False) -> Any:
    """Of the kind that the model takes, or of another."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    kinds = ["real", "binary", "classes", "count", "odd", "odd"]
    kind = draw(st.sampled_from(kinds)) if odd else labels
    if kind == "binary":
        pair = draw(st.sampled_from([(-1, 1), (0, 1), ("no", "yes"), (False, True), (1e308, -0.5)]))
        y = np.array(pair)[(rng.random(n) < 0.5).astype(int)]
        if n > 1 and not odd:
            y[:2] = pair
        return y
    if kind == "classes":
        return np.arange(n) % draw(st.integers(1 if odd else 2, 4))
    if kind == "count":
        return rng.poisson(draw(st.sampled_from([0.0, 1.0, 1e8])), n)
    y = rng.normal(size=n)
    if kind == "odd":
        wrong = [y[1:], y[:, None], None, "y", [*y[1:], "a"], y + 1j, y.astype(object), list(y)]
        return draw(st.sampled_from(wrong))
    change = draw(st.sampled_from(["none", "none", "none", "entry", "units", "offset", "fits"]))
    with np.errstate(all="ignore"):
        if change == "entry" and n:
            y[draw(st.integers(0, n - 1))] = draw(st.sampled_from([*FINITE, *HUGE]))
        if change == "units":
            y *= 10.0 ** draw(st.integers(-300, 300))
        if change == "offset":
            y += 10.0 ** draw(st.integers(3, 16))
        if change == "fits" and X.size:
            y = X @ np.ones(X.shape[1])
    return y


@st.composite
def sample_weights(draw: Draw, n: int, odd: bool = False) -> Any:
    """None, or of any size."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    s = rng.uniform(0.5, 2.0, n)
    kinds = ["nasty", "odd"] if odd else ["none", "some", "some", "zeros", "units", "one"]
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "none":
            return None
        case "zeros":
            return s * (rng.random(n) < 0.6)
        case "units":
            return s * 10.0 ** draw(st.integers(-300, 300))
        case "one" if n:
            s[0] *= 10.0 ** draw(st.integers(-300, 300))
        case "nasty":
            return rng.choice([*FINITE, *HUGE, *NONE], n)
        case "odd":
            wrong = [s[1:], -s, 0.0 * s, s[:, None], 2.0, "s", s.astype(object), list(s > 1.0)]
            return draw(st.sampled_from(wrong))
    return s


def point(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """A point that is judged, nasty numbers in it."""
    w = rng.normal(size=shape)
    match rng.integers(0, 6):
        case 0:
            return np.zeros(shape)
        case 1:
            return w * 10.0 ** rng.integers(-300, 300)
        case 2:
            return rng.choice([*FINITE, *HUGE], shape)
        case 3:
            return np.where(rng.random(shape) < 0.5, 0.0, w)
        case 4:
            return np.where(rng.random(shape) < 0.2, rng.choice([*FINITE, *HUGE, *NONE]), w)
    return w
