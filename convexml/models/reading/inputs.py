"""Read what the user passes as X, y and sample weights; word every refusal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...design import Design
from ...errors import InputError
from ...numerics import Array
from ...remedies import for_targets
from ...validation import (
    finite_array,
    float_array,
    nonnegative_array,
    read_labels,
    refuse_masked,
    refuse_nonfinite,
)
from .labels import read_classes, read_many_classes, refuse_weightless
from .layout import Layout, RowValues
from .matrix import IMPUTE, read_design, some_of
from .names import column_names


@dataclass(frozen=True)
class Samples:
    """Validated data: X float64 (dense, CSR, CSC), y as numbers, weights; rows of weight 0 dropped.

    Attributes
    ----------
    design : Design
        X, float64, of shape (n, d).
    y : array, shape (n,), or (n, K) for several targets
        Targets.
    weights : array, shape (n,)
    kept : array
        Indices of the rows kept, in the caller's numbering.
    total : int
        Number of rows passed.
    classes : array or None
        The two labels, the larger is +1, or the labels of all classes; None for real targets.
    feature_names : list of str or None
        Of the columns of a data frame.
    outputs : tuple of int
        (K,) where there is a prediction for each of K classes or targets, else ().
    """

    design: Design
    y: Array
    weights: Array
    kept: Array
    total: int
    classes: Array | None
    feature_names: list[str] | None
    outputs: tuple[int, ...] = ()
    layout: Layout | None = None
    """Of samples that lie in blocks."""
    seen: Array | None = None
    """Some of the numbers of X as they were read: it may be the caller's own array."""

    @property
    def X(self) -> Any:
        """A float64 array, CSR or CSC array."""
        return self.design.constant

    def refuse_changed(self, owner: str) -> None:
        """Raise InputError where X, which is not copied, has been written to."""
        if self.seen is not None and not np.array_equal(self.seen, some_of(self.X)):
            raise InputError(
                f"{owner}: X was changed after the problem was posed, and is read where it is. "
                "Pose the problem anew, or pass X.copy()."
            )

    @property
    def weighted(self) -> bool:
        """Whether a sample counts for more or less than another."""
        return len(self.kept) < self.total or bool(np.any(self.weights != 1.0))


def read_samples(
    owner: str, X: Any, y: Any, sample_weight: Any, labels: str, matrix: str = "X"
) -> Samples:
    """Validate X (n, d), y (n,) and sample weights for a loss with these labels.

    "targets" takes y of shape (n, K), "none" takes no y. ``matrix`` is what the caller calls X.
    """
    if getattr(X, "ndim", 0) == 1 and getattr(y, "ndim", 0) == 2:
        raise InputError(
            f"{owner}: X is a vector (shape {np.shape(X)}) and y a matrix (shape {np.shape(y)}); X "
            "must be the matrix of samples and come first. Swap them."
        )
    names = column_names(X)
    design = read_design(owner, X, matrix)
    n = design.shape[0]
    y = np.zeros(n) if labels == "none" else y
    if sparse.issparse(y):
        raise InputError(f"{owner}: y must be a dense vector; pass y.toarray().ravel().")
    refuse_masked(y, owner, "y")
    target = read_labels(y, owner, "y") if labels in ("binary", "classes") else np.asarray(y)
    target = _in_shape(owner, target, design.shape, labels)
    weights = read_weights(owner, sample_weight, n)
    kept = np.flatnonzero(weights)
    if len(kept) < n and labels in ("binary", "classes"):
        refuse_weightless(owner, target, kept)
    if len(kept) < n:
        design, target, weights = design.rows(kept), target[kept], weights[kept]
    if labels == "binary":
        numbers, classes = read_classes(owner, target, kept)
    elif labels == "classes":
        numbers, classes = read_many_classes(owner, target, kept)
    else:
        name = "Y" if labels == "targets" else "y"
        numbers, classes = read_targets(owner, target, kept, labels == "count", name), None
    outputs = numbers.shape[1:] if classes is None or labels != "classes" else (len(classes),)
    seen = some_of(design.constant).copy()
    return Samples(design, numbers, weights, kept, n, classes, names, outputs, seen=seen)


def _in_shape(owner: str, target: Array, X: tuple[int, int], labels: str) -> Array:
    """The targets, a vector, or a matrix where there are several, with one row a sample."""
    n = X[0]
    if labels == "targets":
        if target.ndim == 2 and len(target) == n and target.shape[1]:
            return target
        advice = "; with one target, use Lasso or pass Y[:, None]" if target.ndim == 1 else ""
        raise InputError(
            f"{owner}: Y must have one row per row of X ({n}) and one column per target, got shape "
            f"{target.shape}{advice}."
        )
    if target.ndim == 2 and target.shape[1] == 1:
        target = target[:, 0]
    if target.ndim != 1 or len(target) != n:
        instead = for_targets(target.shape, X, labels, target.tolist())
        raise InputError(
            f"{owner}: y must be a vector with one entry per row of X ({n}), got"
            f" shape {target.shape}.{instead}"
        )
    return target


def read_targets(owner: str, y: Array, kept: Array, count: bool, name: str = "y") -> Array:
    """Return real targets as float64; for counts, all >= 0."""
    numbers = float_array(y, owner, name)
    refuse_nonfinite(numbers, owner, name, IMPUTE, rows=kept)
    if count and np.any(numbers < 0.0):
        row = int(np.argmax(numbers < 0.0))
        raise InputError(
            f"{owner}: y must be >= 0, got {numbers[row]:g} at entry {kept[row]}. Real targets of "
            "any sign are for the other regressions."
        )
    return numbers


def read_weights(owner: str, sample_weight: Any, n: int) -> Array:
    """Return weights (n,), finite and >= 0, not all zero; ones if None."""
    if sample_weight is None:
        return np.ones(n)
    weights = nonnegative_array(sample_weight, owner, "sample_weight")
    if weights.shape != (n,):
        raise InputError(
            f"{owner}: sample_weight must have one entry per row of X ({n}), got shape "
            f"{weights.shape}. Pass the weights of the rows that are passed."
        )
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise InputError(f"{owner}: the sum of sample_weight overflows; scale the weights down.")
    if not np.any(weights > 0.0):
        raise InputError(f"{owner}: sample_weight is all zero; at least one must be positive.")
    return weights


def _read_finite(owner: str, name: str, values: Any, shape: tuple[int, ...], each: str) -> Array:
    constructed = " Leave u out to have it constructed." if name == "u" else ""
    array = finite_array(values, owner, name, constructed or " Pass a point that is known.")
    if array.shape != shape:
        advice = f"; pass {name}.ravel()" if array.size == shape[0] and not shape[1:] else ""
        if name in ("w", "w0") and array.shape == (shape[0] + 1,):
            advice = "; the intercept is passed apart, as b"
        advice = f"; pass {name}.T" if shape[1:] and array.T.shape == shape else advice
        wanted = f"shape {shape}, got" if shape[1:] else f"one {each} ({shape[0]}), got shape"
        raise InputError(f"{owner}: {name} must have {wanted} {array.shape}{advice}.")
    return array


def read_coefficients(
    owner: str, w: Any, b: Any, objective: Any, name: str = "w"
) -> tuple[Array, Any]:
    """Return w as a float64 vector (d,), and b as ``read_intercept``; (d, K) for K classes."""
    array = _read_finite(owner, name, w, objective.w_shape, "coefficient per feature")
    return array.ravel(), read_intercept(owner, b, objective)


def read_intercept(owner: str, b: Any, objective: Any) -> Any:
    """Return b as a finite float, or (K,) for K classes; 0 without intercept; or None."""
    if b is None:
        return None
    outputs, given = objective.w_shape[1:], float_array(b, owner, "b")
    allowed = given.shape in ((), outputs) if outputs else given.size == 1
    if not allowed or not np.all(np.isfinite(given)):
        wanted = (
            f"{outputs[0]} finite numbers, one per class or target"
            if outputs
            else "one finite number"
        )
        raise InputError(f"{owner}: b must be {wanted}, got {b!r}. None is the best b.")
    if np.any(given) and not objective.fit_intercept:
        raise InputError(
            f"{owner}: b = {given}, but this problem was posed without intercept. Leave b out, or "
            "pose it with fit_intercept=True."
        )
    return np.array(np.broadcast_to(given, outputs)) if outputs else float(given.item())


def read_dual(owner: str, u: Any, samples: Samples, name: str = "u") -> Array:
    """Return u on the rows kept, (n,) or (n, K), finite; it must be 0 on rows of weight 0."""
    if samples.layout is not None:
        found: Any = samples.layout.chosen(owner, u, samples.y, samples.outputs)  # type: ignore[arg-type]
        return found
    shape = (samples.total, *samples.outputs)
    vector = _read_finite(owner, name, u, shape, "entry per sample")
    inside = vector[samples.kept]
    if np.count_nonzero(inside) != np.count_nonzero(vector):
        raise InputError(f"{owner}: {name} must be 0 on the samples of weight 0.")
    return inside


def expand(values: Array, samples: Samples) -> Any:
    """Per-sample values in the caller's numbering, 0 on rows of weight 0."""
    if samples.layout is not None:
        return RowValues(values, samples.layout)  # type: ignore[arg-type]
    if len(samples.kept) == samples.total:
        return values
    full = np.zeros((samples.total, *values.shape[1:]))
    full[samples.kept] = values
    return full
