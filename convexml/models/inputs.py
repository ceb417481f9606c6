"""Read what the user passes as X, y and sample weights; word every refusal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

from ..data import BlockArray, Design, as_design
from ..data.columns import NamedColumns, column_names, match_columns, refuse_text
from ..errors import InputError
from ..numerics import LEAST_SQUARE, Array, all_finite
from ..validation import (
    finite_array,
    finite_sparse,
    float_array,
    for_targets,
    nonnegative_array,
    read_labels,
    refuse_masked,
    refuse_nonfinite,
)

# Read a matrix X once: as numbers, all of them finite, with the squares of its columns.


SOME = 4096
"""Rows or columns of a sparse X whose first entries are seen."""
IMPUTE = " Impute or drop that sample."
BLOCKS = "blocks"
"""In place of the samples, where these lie in row blocks: the rows of each."""

FEW = 20_000
"""Entries of X that are all seen: to choose among them takes longer."""


def read_matrix(owner: str, X: Any, name: str = "X") -> Any:
    """Return X as a float64 array, CSR or CSC matrix of shape (n, d), n, d >= 1, all finite."""
    return read_design(owner, X, name).constant


def read_new(owner: str, X: Any, features: list[str] | None, width: int) -> Any:
    """The same of new samples, with the columns of those that a model was posed with."""
    matrix = read_matrix(owner, match_columns(owner, X, features))
    if matrix.shape[1] != width:
        raise InputError(
            f"{owner}: X has {matrix.shape[1]} features, the model was posed with {width}. Pass "
            "the same columns in the same order."
        )
    return matrix


def read_design(owner: str, X: Any, name: str = "X") -> Design:
    """The same as a design.

    The numbers are shared with what was passed where they need not be converted. Squares of dense
    columns, which are asked for later, tell what is finite.
    """
    values = X.values if isinstance(X, NamedColumns) else X
    if sparse.issparse(values):
        design = as_design(finite_sparse(values, owner, name, IMPUTE, share=True))
    else:
        try:
            matrix = float_array(values, owner, name, share=True)
        except InputError:
            refuse_text(owner, X, name)  # by its column
            raise
        if matrix.ndim != 2:
            raise InputError(
                f"{owner}: {name} must be a matrix of shape (n, d), got shape {matrix.shape}."
                f"{_in_two_axes(matrix, name)}"
            )
        design = as_design(matrix)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            finite = isfinite(design.column_squares().sum())
        if not finite:
            refuse_nonfinite(matrix, owner, name, IMPUTE, columns=column_names(X))
    if 0 in design.shape:
        raise InputError(
            f"{owner}: {name} is empty (shape {design.shape}); at least one sample and one "
            "feature are required. Pass some rows."
        )
    return design


def _in_two_axes(matrix: Array, name: str) -> str:
    """How to make a matrix of an array with fewer or more axes."""
    if matrix.ndim == 0:
        return f" Got {matrix.item()!r}; pass the samples in rows."
    if matrix.size == 0:
        return " It is empty; at least one sample and one feature are required."
    if matrix.ndim == 1:
        return (
            f" Use {name}.reshape(-1, 1) for a single feature, {name}.reshape(1, -1) for a single "
            "sample."
        )
    return f" Use {name}.reshape(len({name}), -1) for one row a sample."


def some_of(X: Any) -> Array:
    """An entry or more of each column, a thousand at least, from rows spread evenly; or all.

    Of a sparse X some that are stored first of a row or column, and where.
    """
    if sparse.issparse(X):
        starts = X.indptr[:: len(X.indptr) // SOME + 1]
        first = starts[starts < X.indptr[-1]]
        return np.concatenate([X.data[first], X.indices[first]])
    n, d = X.shape
    if X.size <= FEW:
        return X
    steps = np.arange(max(1000, d))
    rows = (steps * ((np.sqrt(5.0) - 1.0) / 2.0) % 1.0 * n).astype(np.intp)
    return np.asarray(X[rows, steps % d])


SYMMETRIC = "symmetric. Pass (D + D.T) / 2 if that is rounding"


def refuse_pairs(owner: str, name: str, D: Array, wrong: Array, words: str) -> None:
    """Raise InputError where an entry of a square matrix is ``wrong``, with the one across."""
    if np.any(wrong):
        i, j = np.argwhere(wrong)[0].tolist()
        given = f"{D[i, j]:g} at {(i, j)} and {D[j, i]:g} at {(j, i)}"
        raise InputError(f"{owner}: {name} has {given}; it must be {words}.")


def refuse_squares(owner: str, what: str, values: Array, null: float, most: float = np.inf) -> None:
    """Raise InputError where ``null``, the sum of these squares of values, is beyond float64.

    It is 0 where all values are equal.
    """
    is_flat = null < np.inf and not np.any(np.ptp(values, axis=0))
    if not (LEAST_SQUARE < null < most or is_flat):
        size = np.max(np.abs(values))
        raise InputError(
            f"{owner}: {what} are beyond float64 (entries up to {size:g}); change its unit."
        )


def samples_of_dict(stored: Mapping[str, Any]) -> tuple[Any, Array, Array]:
    """X, y and the weights as ``Samples.to_dict`` described them; dropped rows have weight 0."""
    rows, total = np.array(stored["rows"], dtype=int), int(stored["total"])
    X, labels = np.array(stored["X"], dtype=float), np.array(stored.get("y") or [0.0])
    if stored.get("classes") is not None:  # older documents hold signs beside the labels
        labels = np.array(stored["classes"])[(labels > 0.0).astype(int)]
    weights, X = np.zeros(total), np.repeat(X[:1], total, axis=0)
    y = np.repeat(labels[:1], total, axis=0)
    X[rows], y[rows], weights[rows] = stored["X"], labels, stored["sample_weight"]
    names = stored.get("features")
    return (NamedColumns(X, names) if names else X), y, weights


# Numbers of the samples in the blocks that their user passed, with empty ones and weights of 0.


@dataclass(frozen=True)
class Layout:
    """The rows that were passed, and those that count.

    Attributes
    ----------
    totals : tuple of int
        The rows of each block, as it was passed.
    kept : tuple of array or None
        Those of positive weight; None where all are.
    """

    totals: tuple[int, ...]
    kept: tuple[Array | None, ...]

    @property
    def counting(self) -> Array:
        """The numbers of the rows that count, among all that were passed, shape (n,)."""
        starts = np.cumsum([0, *self.totals])
        own = (
            start + (np.arange(total) if kept is None else kept)
            for start, total, kept in zip(starts, self.totals, self.kept, strict=False)
        )
        return np.concatenate(list(own))

    def spread(self, parts: Iterable[Array], outputs: tuple[int, ...] = ()) -> Iterator[Array]:
        """Values of the rows that count as those of all rows, 0 for the others."""
        values = iter(parts)
        for total, kept in zip(self.totals, self.kept, strict=True):
            counting = total if kept is None else kept.size
            own = next(values) if counting else np.zeros((0, *outputs))
            if kept is None:
                yield own
                continue
            full = np.zeros((total, *own.shape[1:]), dtype=own.dtype)
            full[kept] = own
            yield full

    def chosen(
        self, owner: str, u: Any, like: BlockArray, outputs: tuple[int, ...] = ()
    ) -> BlockArray:
        """A dual point of the user's, in blocks or as one array, on the rows that count."""
        if isinstance(u, BlockArray):
            return u
        if isinstance(u, RowValues) and u.lies_with(like, self):
            return u.values
        given = self._given(owner, u, 1 + len(outputs))
        parts = []
        for k, (values, total, kept) in enumerate(zip(given, self.totals, self.kept, strict=True)):
            array = finite_array(values, owner, f"u of block {k}", " Leave u out.")
            if array.shape != (total, *outputs):
                wanted = f"shape {(total, *outputs)}" if outputs else f"one entry per row ({total})"
                raise InputError(
                    f"{owner}: u of block {k} must have {wanted}, got shape {array.shape}. Pass it "
                    "in the blocks of X."
                )
            counting = array if kept is None else array[kept]
            if np.count_nonzero(counting) != np.count_nonzero(array):
                raise InputError(f"{owner}: u must be 0 on the samples of weight 0.")
            if counting.size:
                parts.append(counting)
        return BlockArray(like.executor.placed(parts), like.executor, -1 - len(outputs))

    def _given(self, owner: str, u: Any, axes: int) -> list[Any]:
        if isinstance(u, np.ndarray) and u.ndim == axes and len(u) == sum(self.totals):
            return np.split(u, np.cumsum(self.totals)[:-1])
        given = list(u) if isinstance(u, Iterable) and not isinstance(u, str) else [u]
        if len(given) != len(self.totals):
            raise InputError(
                f"{owner}: u must be one array of {sum(self.totals)} entries, or one for each of "
                f"{len(self.totals)} blocks, got {len(given)}."
            )
        return given


class RowValues:
    """Numbers of the samples, an array for each block that was passed: go through them in turn.

    Parameters
    ----------
    values : BlockArray
        Of the samples that have a weight.
    layout : Layout
    """

    def __init__(self, values: BlockArray, layout: Layout) -> None:
        self.values, self.layout = values, layout

    def __len__(self) -> int:
        return len(self.layout.totals)

    def lies_with(self, like: BlockArray, layout: Layout) -> bool:
        """Whether these are finite numbers of the same rows in the same place: nothing is moved."""
        same = self.values.executor is like.executor and self.layout is layout
        return same and all_finite(self.values)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Array]:
        # Copies: what is known of these numbers stays true whatever is written to them.
        one_by_one = (self.values.executor.values([part])[0].copy() for part in self.values.parts)
        return self.layout.spread(one_by_one, self.values.shape[1:])

    def __repr__(self) -> str:
        return f"RowValues({len(self)} blocks)"


# The labels of classes, of any kind that can be ordered.


def read_classes(owner: str, y: Array, rows: Array) -> tuple[Array, Array]:
    """Map two labels of any kind to -1 and +1, the larger to +1."""
    classes = distinct_labels(owner, y, rows)
    if len(classes) != 2:
        listed = ", ".join(repr(value) for value in classes[:5].tolist())
        raise InputError(
            f"{owner}: y must hold exactly two classes, got {len(classes)} ({listed}"
            f"{', ...' if len(classes) > 5 else ''}).{_remedy(classes, y)}"
        )
    return np.where(y == classes[1], 1.0, -1.0), classes


def refuse_weightless(owner: str, y: Array, rows: Array) -> None:
    """Raise InputError for a class of which no sample has a weight; ``rows`` are those that do."""
    known, lost = set(y[rows].tolist()), np.delete(y, rows).tolist()
    gone = [label for label in lost if label not in known and label == label]  # nan is no class
    if gone:
        raise InputError(
            f"{owner}: the {lost.count(gone[0])} samples of class {gone[0]!r} have no weight; "
            "leave them out, or give them a positive sample_weight."
        )


def _remedy(classes: Array, y: Array) -> str:
    if len(classes) < 2:
        return " Pass samples of both."
    if y.dtype.kind == "f" and len(classes) > max(10, len(y) // 2):
        return " For real targets take a regression, or make labels of them, as y > 0."
    return " SoftmaxRegression takes several."


def distinct_labels(owner: str, y: Array, rows: Array, name: str = "y") -> Array:
    """The distinct labels, in order; ``rows`` are the caller's numbers of the samples."""
    if y.dtype.kind == "f":
        refuse_nonfinite(y, owner, name, " Drop that sample.", rows=rows)
    if y.dtype.kind == "c":
        raise InputError(
            f"{owner}: {name} is complex; labels are of a kind that can be ordered. "
            "Pass integers or text."
        )
    if y.dtype.kind in "biuf" and y.size:
        ends = np.array([y.min(), y.max()], dtype=y.dtype)
        if ((y == ends[0]) | (y == ends[1])).all():
            return ends if ends[0] != ends[1] else ends[:1]
    try:
        return np.unique(y)
    except TypeError:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        raise InputError(
            f"{owner}: the labels in {name} cannot be ordered; use one type, not "
            f"{' and '.join(kinds)}."
        ) from None


def read_many_classes(owner: str, y: Array, rows: Array) -> tuple[Array, Array]:
    """Map the labels of two or more classes to 0 ... K-1, in their order."""
    classes = distinct_labels(owner, y, rows)
    if len(classes) < 2:
        listed = ", ".join(repr(value) for value in classes.tolist())
        raise InputError(
            f"{owner}: y must hold at least two classes, got only {listed}. Pass samples of both."
        )
    return np.searchsorted(classes, y).astype(float), classes


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

    def labelled(self, y: Array) -> Array:
        """The caller's labels of what stands for them, -1 and 1 or 0 ... K-1; targets as such."""
        return y if self.classes is None else self.classes[np.maximum(y, 0.0).astype(int)]

    def to_dict(self) -> dict[str, Any]:
        """The rows kept, their labels or targets and weights; of row blocks their sizes."""
        if self.layout is not None:
            return {BLOCKS: list(self.layout.totals), "features": self.feature_names}
        y = self.labelled(self.y)
        return {
            "X": dense(self.X).tolist(),
            "y": y.tolist(),
            "sample_weight": self.weights.tolist(),
            "rows": self.kept.tolist(),
            "total": self.total,
            "features": self.feature_names,
        }

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


def read_rows(
    owner: str, X: Any, sample_weight: Any, y: Any = None, labels: str = "none"
) -> Samples:
    """The same, X a dense copy."""
    found = read_samples(owner, X, y, sample_weight, labels)
    return replace(found, design=as_design(np.array(dense(found.X), order="C")), seen=None)


def refuse_lost_variances(
    owner: str, rows: Samples, variances: Array, errors: Array, group: Any = slice(None)
) -> None:
    """Raise InputError for columns so large or small that their squares leave float64.

    Parameters
    ----------
    owner : str
    rows : Samples
    variances, errors : array, shape (d,)
        Those of the columns, and bounds on their errors.
    group : index
        The rows whose variances these are.
    """
    X = rows.X[group]
    lost = ~np.isfinite(variances) | ~np.isfinite(errors)
    lost |= (variances <= np.finfo(float).tiny) & (np.ptp(X, axis=0) > 0.0)
    if np.any(lost):
        j = int(np.argmax(lost))
        name = rows.feature_names[j] if rows.feature_names else j
        raise InputError(
            f"{owner}: the variance of column {name} is beyond float64 "
            f"(entries up to {np.max(np.abs(X[:, j])):g}); change its unit."
        )


def dense(matrix: Any) -> Array:
    """A matrix as an array."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


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
