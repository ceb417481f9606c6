"""The certificate of several targets with common features, told in matrices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...conditions import Condition
from ...numerics import Array
from ...objective.outputs.several_targets import SeveralTargets
from ..certificate import Certificate
from ..judge import judge, refuted
from ..scale import relative
from .gap import certify_objective

WORDS = {
    "-X'u in dOmega(w)": "-X'U in dOmega(W)",
    "|X_g'u| <= lam omega_g": "|X_j'U| <= lam",
    "lam omega_g |w_g| + w_g'X_g'u = 0": "lam |W_j| + X_j'U W_j' = 0",
}
"""What the rows of the group lasso are called here; of b, that is 1'U = 0."""
BEYOND = "No bound: what the intercepts are rounded by is beyond float64."


def certify_targets(
    targets: SeveralTargets, W: Array, b: Array | None, U: Array | None = None, **options: Any
) -> Certificate:
    """Certify (W, b), with the dual point U judged or constructed.

    Parameters
    ----------
    targets : SeveralTargets
    W : array, shape (d, K)
    b : array, shape (K,), optional
        None takes the best one for W.
    U : array, shape (n, K), optional
        Dual point to judge; None constructs one.
    **options
        tol and refute as of ``certify_objective``; solver_dual, a solver's dual point, a vector.

    Returns
    -------
    Certificate
        Of the problem in Y: what Y - centre and b - centre have lost by rounding is priced.
    """
    b = targets.best_intercept(W) if b is None else b
    u = None if U is None else _with_ridge(targets, W, U)
    found = certify_objective(targets.objective, targets.vector(W, b), 0.0, u, **options)
    (n, K), price = targets.Y.shape, _price(targets, W, b, found.dual["u"])
    beyond = "" if np.isfinite(price) else BEYOND
    told = found.but(
        conditions=tuple(_told(targets, row) for row in found.conditions),
        dual={"u": found.dual["u"][: n * K].reshape(n, K)},
    )
    better = found.witness
    if better is not None:
        at = targets.matrices(np.asarray(better["w"]))
        better = {**better, "w": at[0], "b": at[1]}
    if price == 0.0:
        return told.but(witness=better)
    gap = found.gap + price
    priced = judge(
        told.but(
            gap=gap,
            relative_gap=relative(gap, found.scale),
            rounding=found.rounding + price,
            proved_gap=found.proved_gap + price,
            reason="" if better is not None else found.reason or beyond,
            witness=None,
        )
    )
    if better is None:
        return priced
    return refuted(priced, better["objective"], better, priced.rounding)


def _with_ridge(targets: SeveralTargets, W: Array, U: Array) -> Array:
    """U as a vector; the multipliers of a ridge term are those of W."""
    ridge = np.sqrt(targets.ridge) * W.ravel() if targets.ridge > 0.0 else []
    return np.append(U.ravel(), ridge)


def _price(targets: SeveralTargets, W: Array, b: Array, u: Array) -> float:
    """What P and D may be off by, since Y and b are less than centre and a rounded rest."""
    if not W.any() and np.array_equal(targets.Y, np.broadcast_to(b, targets.Y.shape)):
        return 0.0  # P is 0 exactly, and nothing is less
    size = np.abs(targets.lost)
    if targets.fit_intercept:
        size = size + targets.lost_in(W, b)
    if not size.any():
        return 0.0
    rest = np.abs(targets.Y - targets.predict(W, b)) + size
    primal = float(targets.c @ (size * (rest + size)).sum(axis=1))
    dual = float(np.abs(u[: size.size]) @ np.abs(targets.lost).ravel())
    price = (primal + dual) * (1.0 + 1e-6)
    return price if np.isfinite(price) else np.inf  # inf - inf, after an overflow


def _told(targets: SeveralTargets, row: Condition) -> Condition:
    """The row in the words of matrices, with the name of its column."""
    column = "" if row.index is None else targets.column(row.index, row.among)
    named = row.named(WORDS.get(row.name, row.name))
    if row.among == targets.Y.size and row.name.startswith("u"):
        named = replace(named, shape=targets.Y.shape)
    return named if not column else named.of_columns([column] * row.among)
