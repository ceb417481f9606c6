"""Calls that nobody means: numbers at the ends of float64, odd containers, hyperparameters.

A model is posed by what its constructor takes, so that a new one is drawn as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

import convexml as cml
from convexml import kernels, losses, models, penalties
from support.nasty.samples import EPS, Draw, formed, sample_weights, tables, targets

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
