"""Calls that nobody means: numbers at the ends of float64, odd containers, hyperparameters.

A model is posed by what its constructor takes, so that a new one is drawn as well.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

import convexml as cml
from convexml import kernels, losses, models, penalties

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


POSITIVE = st.sampled_from([1.0, 0.1, 1e-3, 10.0, 3]) | st.integers(-150, 150).map(
    lambda k: float(f"1e{k}")
)
ENDS = st.sampled_from([0.0, -1.0, 5e-324, 1e308, np.inf, np.nan, "0.1", None, True])
SHARE = st.sampled_from([0.5, 0.1, 0.9, EPS, 1.0 - EPS])
SHARE_ENDS = st.sampled_from([0.0, 1.0, 2.0, np.nan, None])


@dataclass
class Call:
    """A model and what its constructor is told."""

    model: str
    arguments: dict[str, Any]
    point: int
    """The seed of the points that are judged."""

    def pose(self) -> Any:
        """The problem, or a refusal."""
        return getattr(cml, self.model)(**self.arguments)


@cache
def taken(model: str) -> dict[str, inspect.Parameter]:
    """What a constructor takes, by name."""
    known = dict(inspect.signature(getattr(cml, model).__init__).parameters)
    del known["self"]
    return known


BINARY = {"LogisticRegression", "HardMarginSVM", "SoftMarginSVM", "KernelSVM", "KernelLogistic"}
BINARY |= {"HalfspaceLP", "NuSVC", "LPBoost", "AdaBoost", "BernoulliLikelihood"}
LABELS = dict.fromkeys(BINARY, "binary") | {"PoissonRegression": "count"}
LABELS |= dict.fromkeys(("SoftmaxRegression", "DiscriminantAnalysis"), "classes")
LABELS["CategoricalLikelihood"] = "classes"
KERNELS: tuple[Callable[[float], Any], ...] = (
    lambda t: kernels.Linear(),
    lambda t: kernels.Polynomial(2, 1.0, t),
    lambda t: kernels.Polynomial(7),
    kernels.Gaussian,
    kernels.Laplacian,
    lambda t: kernels.Precomputed(),
    lambda t: kernels.Gaussian(1.0) + kernels.Linear(),
    lambda t: t * kernels.Linear(),
)
LOSSES = [getattr(losses, name) for name in losses.__all__ if name not in ("Loss", "Linex")]
PENALTIES: tuple[Callable[[float], Any], ...] = (
    lambda t: penalties.Zero(),
    penalties.L2,
    penalties.L1,
    lambda t: penalties.ElasticNet(t, 0.5),
    penalties.L1Ball,
    penalties.L2Ball,
    lambda t: penalties.Box(-t, t),
    lambda t: penalties.Nonnegative(),
    lambda t: penalties.NonnegativeElasticNet(t, 0.5),
)


@st.composite
def calls(draw: Draw, names: tuple[str, ...] = tuple(models.__all__)) -> Call:
    """A model with what its constructor takes."""
    model = draw(st.sampled_from(names))
    known = taken(model)
    odd = draw(st.sampled_from(["", "", "", "shape", *known]))
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 12))
    if odd == "shape":
        n, d = draw(st.sampled_from([(0, d), (1, d), (n, 0), (0, 0), (1, 1)]))
    told: dict[str, Any] = {}
    labels = LABELS.get(model, "real")
    kind = draw(st.sampled_from(KERNELS)) if "kernel" in known else None
    square = kind is not None and draw(st.booleans())
    X = draw(tables(n, n if square else d, odd == "X"))
    n, d = X.shape
    if square:
        with np.errstate(all="ignore"):
            X = X @ X.T if draw(st.integers(0, 3)) else X
    value = draw(POSITIVE)
    number = value if isinstance(value, float) and value > 0.0 else 1.0
    try:
        if kind is not None:
            told["kernel"] = kind(number)
        if "loss" in known:
            loss, penalty = draw(st.sampled_from(LOSSES)), draw(st.sampled_from(PENALTIES))
            share = draw(SHARE_ENDS if odd == "loss" else SHARE)
            told["loss"] = loss(share) if inspect.signature(loss).parameters else loss()
            if "penalty" in known:
                told["penalty"] = penalty(draw(ENDS if odd == "penalty" else POSITIVE))
            labels = told["loss"].labels
            told["loss_scale"] = draw(st.sampled_from(["mean", "mean", "sum", number]))
    except cml.errors.InputError:
        told = {name: value for name, value in told.items() if name != "loss"}
        told |= {"kernel": kernels.Linear()} if kind else {}
        told |= {"loss": losses.Squared()} if "loss" in known else {}
        told |= {"penalty": penalties.L2(1.0)} if model == "LearningProblem" else {}
        labels = "real" if "loss" in known else labels
    for name, parameter in known.items():
        if name in told:
            continue
        if name == "Q":  # the samples themselves: other names of columns are answered by a warning
            told["Q"] = told["X"]
            continue
        if parameter.default is not inspect.Parameter.empty and not draw(st.integers(0, 2)):
            continue
        told[name] = draw(_argument(name, n, d, X, labels, name == odd))
    return Call(model, told, draw(st.integers(0, 999)))


def _argument(
    name: str, n: int, d: int, X: np.ndarray, labels: str, odd: bool
) -> st.SearchStrategy[Any]:
    """What one argument may be, by its name."""
    match name:
        case "X" | "H":
            return formed(X, odd)
        case "y" | "x" | "labels":
            return targets(n, X, labels, odd)
        case "Y":
            return tables(n, 2).flatmap(lambda Y: formed(Y, odd))
        case "sample_weight":
            return sample_weights(n, odd)
        case "fit_intercept" | "shared" | "increasing":
            return st.sampled_from([None, 1, "no"]) if odd else st.booleans()
        case "tau" | "nu" | "l1_ratio":
            return SHARE_ENDS if odd else SHARE
        case "penalty":
            return st.sampled_from(["L2", 3] if odd else ["l2", "l1", None])
        case "groups":
            rng = np.random.default_rng(d)
            groups = [rng.integers(0, 3, d), list("abcabcabcabc"[:d])]
            return st.sampled_from([[0], None, "a"] if odd else groups)
        case "k" | "rounds" | "order":
            return st.sampled_from([0, -1, 1.5, "2", 10**9] if odd else [1, 2, 3])
        case "lams":
            return st.sampled_from(
                [[1.0], np.arange(d), None] if odd else [np.linspace(1.0, 0.1, d)]
            )
        case "c" | "b_ub" | "b_eq":
            size = d if name == "c" else n // 2
            return tables(1, size, odd).map(lambda row: row[0])
        case "A_ub" | "A_eq" | "A":
            return tables(n // 2, d, odd).flatmap(lambda A: formed(A, odd))
        case "bounds":
            fine = [(0, None), (None, None), (0, 1), (-1e8, 1e8), (0, 0)]
            return st.sampled_from([(1, 0), (np.nan, 1), "b"] if odd else fine)
        case "distances" | "costs":
            return st.just(np.abs(X) if odd or name == "costs" else _distances(X))
        case "a" | "b":
            mass = n if name == "a" else d
            return st.just(np.full(mass, 1.0 if odd else 1.0 / max(mass, 1)))
        case "kernel":
            return st.sampled_from(KERNELS).map(lambda kind: kind(1.0))
        case _:
            return ENDS if odd else POSITIVE


def _distances(X: np.ndarray) -> np.ndarray:
    """Of the first entries of the rows."""
    first = X[:, :1].sum(axis=1)
    with np.errstate(all="ignore"):
        return np.asarray(np.abs(first[:, None] - first))
