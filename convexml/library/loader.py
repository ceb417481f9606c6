"""Problem files: data chosen and derived, the problem posed, known facts checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib import import_module
from itertools import combinations_with_replacement
from math import comb, inf
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ConvexmlError, DataError, ProblemFileError, instead
from ..problem.stumps import stumps_of
from . import registry
from .files import bundled, read_file
from .registry import (
    PROGRAMS,
    in_blocks,
    is_read_by_blocks,
    read_blocks,
    read_table_of,
    refuse_blocks,
    state,
)
from .schema import Array, ExpectedTable, FactTable, ProblemData, ProblemTable, RawData
from .schema import sha256 as data_sha256
from .tables import MISSING, column_number

if TYPE_CHECKING:
    from .schema import DataTable


# Rows and columns of a data set: chosen, derived, standardised.


MOST_ENTRIES = 2**28
"""Of X after `one_hot` and `polynomial`: 2 GiB."""


def without_missing(raw: RawData, table: DataTable) -> RawData:
    """Leave out the rows in which a column that is used has no value (`missing = "drop"`)."""
    if table.missing is None:
        return raw
    if hasattr(raw.X, "indptr"):
        raise DataError("data.missing: a sparse X has every value; remove it")
    if table.missing != "drop":
        return raw
    names = raw.features if table.features is None else table.features
    used = [column_number(name, raw.features, "features") for name in names]
    gone = np.isnan(raw.X[:, used]).any(axis=1)
    for name in set(raw.categories) & {raw.features[j] for j in used}:
        words = np.array([word.lower() in MISSING for word in raw.categories[name]])
        gone |= words[raw.X[:, raw.features.index(name)].astype(int)]
    for column in (raw.y, raw.sample_weight):
        if column is not None:
            gone |= _is_missing(column)
    if gone.all():
        raise DataError("data.missing = 'drop' leaves no row: each has something missing")
    y = None if raw.y is None else raw.y[~gone]
    weight = None if raw.sample_weight is None else raw.sample_weight[~gone]
    return replace(raw, X=raw.X[~gone], y=y, sample_weight=weight)


def _is_missing(column: Array) -> Array:
    """Which rows of a target, or of weights, have no value."""
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column).reshape(len(column), -1).any(axis=1))
    if column.dtype.kind in "iub":
        return np.zeros(len(column), dtype=bool)
    return np.array([str(value).lower() in MISSING for value in column])


def filled(raw: RawData, table: DataTable, fitted: Array) -> RawData:
    """Missing numbers of X, each the mean or the median of its column over the fitted rows."""
    if table.missing not in ("mean", "median"):
        return raw
    gone, X = np.isnan(raw.X), raw.X.copy()
    for j in np.flatnonzero(gone.any(axis=0)):
        known = X[fitted, j][~gone[fitted, j]]
        if not known.size:
            raise DataError(
                f"data.missing: column {raw.features[j]!r} has no value in the rows that are "
                "fitted; leave it out with features = [...]"
            )
        X[gone[:, j], j] = np.mean(known) if table.missing == "mean" else np.median(known)
    return replace(raw, X=X)


def select(raw: RawData, table: DataTable) -> RawData:
    """Apply `classes` (rows of other classes have y = 0), `rows`, `features` and the weights."""
    X, y, weight = raw.X, raw.y, raw.sample_weight
    keep = np.arange(X.shape[0]) if table.classes is None or y is None else np.flatnonzero(y)
    if table.rows is not None:
        limits = [table.rows] if isinstance(table.rows, int) else table.rows
        if limits[2:] == [0]:
            raise DataError("data.rows: the step must not be 0")
        keep = keep[slice(*limits)]
    if not len(keep):
        raise DataError("the selection of data.classes and data.rows leaves no row")
    features = raw.features
    if table.features is not None:
        columns = [column_number(name, features, "features") for name in table.features]
        if len(set(columns)) != len(columns):
            raise DataError("data.features names a column twice")
        X, features = X[:, columns], tuple(features[j] for j in columns)
    if isinstance(table.sample_weight, list):
        weight = np.array(table.sample_weight)
        if weight.shape != keep.shape:
            raise DataError(
                f"data.sample_weight has {len(weight)} entries for {len(keep)} selected rows"
            )
    elif weight is not None:
        weight = weight[keep]
    y = None if y is None else y[keep]
    return replace(raw, X=X[keep], y=y, features=features, sample_weight=weight)


def derive(raw: RawData, table: DataTable, names: tuple[str, ...]) -> RawData:
    """Apply `one_hot`, then `polynomial`; a number in `one_hot` is of a column of the source."""
    X, features = raw.X, raw.features
    for key in ("one_hot", "polynomial", "standardize"):
        if getattr(table, key) and hasattr(X, "indptr"):
            raise DataError(f"data.{key} would fill the zeros of a sparse X; remove it")
    if table.one_hot:
        chosen = [names[column_number(each, names, "one_hot")] for each in table.one_hot]
        X, features = _one_hot(raw, [column_number(each, features, "one_hot") for each in chosen])
    if table.polynomial:
        X, features = _polynomial(X, features, table.polynomial)
    return replace(raw, X=X, features=features)


def standardized(X: Array, held_out: dict[str, Any]) -> tuple[Array, dict[str, Any]]:
    """Columns of mean 0 and standard deviation 1 (with 1/n); a constant column becomes 0.

    Rows that are held out are moved and scaled alike.
    """
    constant = X.max(axis=0) == X.min(axis=0)
    with np.errstate(all="ignore"):  # what overflows is refused
        centre, scale = X.mean(axis=0), np.where(constant, 1.0, X.std(axis=0))
    if not np.all(np.isfinite(scale) & (scale > 0.0)):
        raise DataError(
            "data.standardize: the standard deviation of a column is too large or too small to "
            f"be a number: column {int(np.flatnonzero(~(np.isfinite(scale) & (scale > 0.0)))[0])}"
        )

    def moved(rows: Array) -> Array:
        return np.where(constant, 0.0, rows - centre) / scale

    return moved(X), held_out | ({"X": moved(held_out["X"])} if held_out else {})


def _one_hot(raw: RawData, columns: Sequence[int]) -> tuple[Array, tuple[str, ...]]:
    """A column of 0 and 1 for every value that occurs, in the place of the column of values."""
    parts, names = [], []
    for j, name in enumerate(raw.features):
        column = raw.X[:, j]
        if j not in columns:
            parts.append(column[:, None])
            names.append(name)
            continue
        values = np.unique(column)
        _refuse_large(len(column), raw.X.shape[1] + len(values), "one_hot")
        parts.append((column[:, None] == values).astype(float))
        known = raw.categories.get(name)
        names += [f"{name}={known[int(v)] if known else f'{v:g}'}" for v in values]
    return np.hstack(parts), tuple(names)


def _polynomial(X: Array, features: tuple[str, ...], degree: int) -> tuple[Array, tuple[str, ...]]:
    """All products of 1 to `degree` columns: a, b, a^2, a*b, b^2 ..."""
    n, d = X.shape
    if degree > 64 or d > 10_000:
        raise DataError(f"data.polynomial = {degree} of {d} columns makes too many columns")
    _refuse_large(n, comb(d + degree, degree) - 1, "polynomial")
    columns, names = [], []
    for size in range(1, degree + 1):
        for chosen in combinations_with_replacement(range(d), size):
            with np.errstate(over="ignore"):
                columns.append(np.prod(X[:, chosen], axis=1))
            powers = [(features[j], chosen.count(j)) for j in dict.fromkeys(chosen)]
            names.append("*".join(name if k == 1 else f"{name}^{k}" for name, k in powers))
    return np.column_stack(columns), tuple(names)


def _refuse_large(n: int, d: int, key: str) -> None:
    if n * d > MOST_ENTRIES:
        raise DataError(f"data.{key} makes X {n} x {d}, which is too large to write out")


# What y means: two classes as -1 and +1, or a number for each value.


def relabel(raw: RawData, table: DataTable) -> RawData:
    """Apply `target.map`, `positive` or `classes`; rows of other classes have y = 0."""
    asked = [table.target_map, table.positive, table.classes]
    if all(each is None for each in asked):
        return raw
    if raw.y is None or raw.y.ndim != 1:
        raise DataError("data: classes, positive and target.map need one column to predict")
    y = raw.y
    if table.target_map is not None:
        y, raw = mapped(y, table.target_map, raw.class_names), replace(raw, class_names=())
    if table.positive is not None:
        y = np.where(chosen(y, table.positive, raw.class_names, "positive"), 1.0, -1.0)
    elif table.classes is not None:
        y = two_classes(y, table.classes, raw.class_names)
    return replace(raw, y=y)


def two_classes(y: Array, classes: list[Any], names: tuple[str, ...]) -> Array:
    """-1 for the first class (or group of classes), +1 for the second, 0 for all others."""
    signs = np.zeros(len(y))
    for sign, group in zip((-1.0, 1.0), classes, strict=True):
        for label in group if isinstance(group, list) else [group]:
            members = chosen(y, label, names, "classes")
            if signs[members].any():
                raise DataError(f"data.classes: {label!r} is in both classes")
            signs[members] = sign
    return signs


def chosen(y: Array, wanted: Any, names: tuple[str, ...], key: str) -> Array:
    """Whether each y is one of the wanted labels, written as in the source, or by class name."""
    labels = _labels(y, names)
    members = np.zeros(len(y), dtype=bool)
    for label in wanted if isinstance(wanted, list) else [wanted]:
        if str(label) not in labels:
            raise DataError(f"data.{key}: there is no class {label!r}.{_known(label, labels)}")
        members |= y == labels[str(label)]
    return members


def mapped(y: Array, numbers: dict[str, float], names: tuple[str, ...]) -> Array:
    """The number of every y; each value needs one."""
    labels = _labels(y, names)
    found = np.full(len(y), np.nan)
    for label, number in numbers.items():
        if label not in labels:
            raise DataError(f"data.target.map: y is never {label!r}.{_known(label, labels)}")
        found[y == labels[label]] = number
    if np.isnan(found).any():
        left = y[np.isnan(found)][0]
        raise DataError(f"data.target.map has no number for {str(left)!r}")
    return found


def _labels(y: Array, names: tuple[str, ...]) -> dict[str, Any]:
    """The values of y by the words that a problem file may use for them."""
    values: Sequence[Any] = list(np.unique(y))
    labels: dict[str, Any] = {str(v.item()): v for v in values}
    if names:
        labels |= {name: values[k] for k, name in enumerate(names) if k < len(values)}
    # A csv column 0, 1 is read as 0.0, 1.0: let its labels be written as integers too.
    return labels | {str(int(v)): v for v in values if v.dtype.kind == "f" and v == np.round(v)}


def _known(label: object, labels: dict[str, Any]) -> str:
    return instead(label, list(labels)[:20])


# `[data]` of a problem file -> the arrays that the problem is posed with.


def load_data(table: DataTable, folder: Path, supervised: bool = True) -> ProblemData:
    """Read the source, then select: target, rows, features; derive columns, split, standardise.

    Parameters
    ----------
    table : DataTable
        The validated `[data]` table.
    folder : Path
        Where the problem file lies; `file` is relative to it.
    supervised : bool
        Whether the problem needs y. One that does not gets none.

    Raises
    ------
    DataError
        For anything that cannot be read or selected, and for NaN or infinite numbers.
    """
    if table.c is not None:
        arrays = _linear_program(table)
        return ProblemData(arrays, sha256=data_sha256(arrays))
    if is_read_by_blocks(table, folder):
        return read_blocks(table, folder)
    whole = _source(table, folder, supervised)
    source = relabel(without_missing(whole, table), table)
    raw = select(source, table)
    raw = filled(raw, table, _shuffled(raw.X.shape[0], table.split)[0])
    raw = derive(raw, table, whole.features)
    dropped = whole.X.shape[0] - source.X.shape[0]
    arrays = {"X": raw.X}
    if raw.y is not None and (supervised or table.target is not None):
        arrays["y"] = raw.y
    if raw.sample_weight is not None:
        arrays["sample_weight"] = raw.sample_weight
    _refuse_non_finite(arrays, raw.features)
    fingerprint = data_sha256(arrays)
    arrays, held_out = _split(arrays, table.split)
    if table.standardize:
        arrays["X"], held_out = standardized(arrays["X"], held_out)
    return ProblemData(arrays, raw.features, fingerprint, held_out, dropped)


def _shuffled(n: int, share: float | None) -> tuple[Array, Array]:
    """The rows to fit, and those held out: a share of a fixed shuffle, both in their old order."""
    if share is None:
        return np.arange(n), np.arange(0)
    count = round(share * n)
    if not 0 < count < n:
        raise DataError(f"data.split = {share:g} of {n} rows leaves none on one side")
    order = np.random.default_rng(0).permutation(n)
    return np.sort(order[count:]), np.sort(order[:count])


def _split(arrays: dict[str, Any], share: float | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays of the rows to fit, and of those held out."""
    if share is None:
        return arrays, {}
    kept, out = _shuffled(arrays["X"].shape[0], share)
    held_out = {name: array[out] for name, array in arrays.items() if name != "sample_weight"}
    return {name: array[kept] for name, array in arrays.items()}, held_out


def _linear_program(table: DataTable) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    for name in ("c", "A_ub", "b_ub", "A_eq", "b_eq"):
        value = getattr(table, name)
        if value is not None:
            arrays[name] = _rectangular(name, value)
            if not np.isfinite(arrays[name]).all():
                raise DataError(f"data.{name} holds NaN or inf")
    if table.bounds is not None:
        bounds = _rectangular("bounds", table.bounds)
        if np.isnan(bounds).any():
            raise DataError("data.bounds holds NaN; write -inf or inf where there is no bound")
        d = len(arrays["c"])
        if bounds.shape not in ((2,), (d, 2)):
            raise DataError(
                f"data.bounds needs one pair [lower, upper], or one for each of the {d} variables; "
                f"got the shape {bounds.shape}"
            )
        arrays["bounds"] = np.broadcast_to(bounds, (d, 2)).copy()
    return arrays


def _rectangular(name: str, rows: list[Any]) -> Array:
    try:
        return np.array(rows, dtype=float)
    except ValueError:
        lengths = sorted({len(row) for row in rows})
        raise DataError(f"data.{name}: the rows have different lengths: {lengths}") from None


def _source(table: DataTable, folder: Path, supervised: bool) -> RawData:
    column = table.sample_weight if isinstance(table.sample_weight, str) else None
    if table.file is not None:
        raw = read_file(folder / table.file, table, supervised)
    else:
        if column is not None:
            raise DataError(f"data.sample_weight = {column!r}: a column name needs file = ...")
        raw = bundled(table.dataset, table.target_column) if table.dataset else _inline(table)
    if raw.y is None and supervised:
        raise DataError("data: X needs y beside it")
    if raw.y is not None and len(raw.y) != raw.X.shape[0]:
        raise DataError(f"X has {raw.X.shape[0]} rows, but y has the shape {raw.y.shape}")
    return raw


def _inline(table: DataTable) -> RawData:
    X = _rectangular("X", table.X or [])
    if X.ndim != 2:
        raise DataError(f"data.X needs rows of numbers, got shape {X.shape}")
    y = None if table.y is None else np.array(table.y)
    return RawData(X, y, tuple(f"x{j}" for j in range(X.shape[1])))


def _refuse_non_finite(arrays: dict[str, Any], features: tuple[str, ...]) -> None:
    for name, array in arrays.items():
        is_sparse = hasattr(array, "indptr")
        entries = array.data if is_sparse else array
        if entries.dtype.kind != "f" or np.isfinite(entries).all():
            continue
        bad = np.argwhere(~np.isfinite(entries))
        place = tuple(np.array(array.tocoo().coords)[:, bad[0, 0]] if is_sparse else bad[0])
        names: Sequence[object] = features if name == "X" else range(entries.shape[-1])
        column = f", column {names[place[1]]!r}" if len(place) > 1 else ""
        more = f" ({len(bad)} such entries)" if len(bad) > 1 else ""
        value = entries[tuple(bad[0])]
        raise DataError(
            f"{name} holds {value} at row {place[0]}{column}{more}; missing = 'drop' "
            "leaves these rows out, 'mean' or 'median' fills what X lacks"
        )


# Known facts about a solution, and what the solution says about each.


@dataclass(frozen=True)
class FactCheck:
    """One fact beside what was found; it holds if |found - value| <= atol + rtol·|value|."""

    name: str
    expected: float | list[float]
    found: float | list[float]
    holds: bool
    source: str


PLAIN = ("objective", "lam_max", "margin", "nonzeros", "support_size")
LINEAR = {
    "dual": ("lambda_ub", "nu", "lambda_lower", "lambda_upper"),
    "shadow_prices": ("ub", "eq", "lower", "upper"),
}


def check_names(facts: Sequence[FactTable], problem: Any) -> None:
    """Refuse facts of what the problem does not have, before anything is solved.

    Raises
    ------
    ProblemFileError
        With the dotted path of the name, and the nearest one that exists.
    """
    statement = not hasattr(problem, "certify")
    for i, fact in enumerate(facts):
        if fact.name in _quick(problem) or (statement and "." in fact.name):
            continue
        variables = problem.var_dict if statement else problem.variables
        hidden = ("w", "z") if hasattr(problem, "kernel") else ("z",)
        known = [*_quick(problem), *(name for name in variables if name not in hidden)]
        known += [] if statement else _tables(problem)
        if fact.name not in known:
            raise ProblemFileError(
                f"expected.facts[{i}].name: nothing is called {fact.name!r} in this problem."
                + instead(fact.name, known)
            )


def _quick(problem: Any) -> tuple[str, ...]:
    """Names that need no posing with CVXPY to be known."""
    if hasattr(problem, "kernel"):
        return (*PLAIN, "q", "b")
    return (*PLAIN, "w", "b") if hasattr(problem, "objective_parts") else PLAIN


def _tables(problem: Any) -> list[str]:
    """The names of the dual values, and of the shadow prices of a linear program."""
    tables: Mapping[str, Sequence[str]] = LINEAR
    if hasattr(problem, "multiplier_names"):
        tables = {"dual": ["u", *problem.multiplier_names.values()]}
    return [f"{table}.{name}" for table, names in tables.items() for name in names]


def check_fact(fact: FactTable, problem: Any, solution: Any) -> FactCheck:
    """Compare a fact of the problem file with a solution.

    Parameters
    ----------
    fact : FactTable
        Name, value, tolerances and source.
    problem : posed problem or cvxpy.Problem
        Where `lam_max` (or a variable of a statement) is looked up.
    solution : Solution or Certificate
        What was found.
    """
    found = np.asarray(measure(fact.name, problem, solution), dtype=float)
    expected = np.asarray(fact.value, dtype=float)
    same_shape = found.shape == expected.shape
    holds = same_shape and bool(np.allclose(found, expected, rtol=fact.rtol, atol=fact.atol))
    return FactCheck(fact.name, fact.value, found.tolist(), holds, fact.source)


def measure(name: str, problem: Any, solution: Any) -> Any:
    """The quantity that a fact is about.

    Names
    -----
    objective, margin : of the solution
    lam_max : of the problem
    nonzeros : the number of entries of w that are not exactly 0
    support_size : the number of support vectors
    dual.NAME, shadow_prices.NAME : a named multiplier
    NAME : a variable of the primal, such as w, b or x
    """
    if name == "objective":
        # A statement is solved to a certificate, a model to a solution.
        is_solution = hasattr(solution, "objective")
        return solution.objective if is_solution else solution.primal_objective
    if name == "lam_max":
        return problem.lam_max
    if name == "margin":
        return solution.margin
    if name == "nonzeros":
        return np.count_nonzero(solution.primal["w"])
    if name == "support_size":
        return len(solution.support)
    table, _, key = name.rpartition(".")
    if table in ("dual", "shadow_prices"):
        return getattr(solution, table)[key]
    values = getattr(solution, "primal", None)
    if values is None:
        values = {key: variable.value for key, variable in problem.var_dict.items()}
    if name not in values:
        raise ProblemFileError(f"expected.facts: nothing is called {name!r} in this problem")
    return values[name]


# What a model takes in place of X and y, or beside them: queries, distances, costs, stumps.


def suited(constructor: Callable[..., Any], name: str, data: ProblemData) -> ProblemData:
    """The data as the constructor takes them.

    "Q", queries, are the rows that `split` holds out; "distances" are those of the rows of X, and
    "costs" those of the rows of X to the rows held out, all of one mass on each side; "H" holds the
    decision stumps of X.

    Raises
    ------
    ProblemFileError
        Where no rows are held out.
    """
    taken, arrays = inspect.signature(constructor).parameters, dict(data.arrays)
    if "distances" in taken and "X" in arrays:
        X = arrays.pop("X")
        arrays["distances"] = _distances(X, X)
        return ProblemData(arrays, (), data.sha256)
    if "H" in taken and "X" in arrays:
        found = stumps_of(_dense(arrays.pop("X")))
        names = data.features or [f"x{j}" for j in range(len(found.thresholds))]
        arrays["H"] = found.dense()
        return ProblemData(arrays, tuple(found.names(names)), data.sha256)
    if "X" not in taken and "y" in taken:
        arrays.pop("X", None)
        return ProblemData(arrays, (), data.sha256)
    if not {"Q", "costs"} & taken.keys():
        return data
    if "X" not in data.held_out:
        raise ProblemFileError(
            f"data.split is required by {name}: it asks of the rows that are held out; write "
            "split = 0.25"
        )
    if "costs" in taken:
        costs = _distances(arrays["X"], data.held_out["X"])
        m, n = costs.shape
        masses = {"a": np.full(m, 1.0 / m), "b": np.full(n, 1.0 / n)}
        return ProblemData({"costs": costs, **masses}, (), data.sha256)
    arrays["Q"] = data.held_out["X"]
    return ProblemData(arrays, data.features, data.sha256)


def _distances(X: Any, Q: Any) -> Array:
    """Euclidean, between rows; of a sparse matrix too."""
    from scipy.spatial.distance import cdist

    return cdist(_dense(X), _dense(Q))


def _dense(X: Any) -> Array:
    return np.asarray(X.toarray() if hasattr(X, "indptr") else X)


NO_CODE = "it is not run without trust (--no-code, code=False)"


@dataclass(frozen=True)
class ProblemFile:
    """A problem file that has been read and posed.

    Attributes
    ----------
    path : Path
    title, description : str
    kind : str
        The model's name, the statement's file name, or "loss + penalty".
    problem : posed problem, or cvxpy.Problem for a statement
    expected : ExpectedTable
        The status and the known facts, each with its tolerance and source.
    features : tuple of str
        Names of the columns of X; empty for a linear program.
    sha256 : str
        Hash of the data (`ProblemData.sha256`), or of the whole file of a program.
    held_out : dict
        `X` and `y` of the rows that `split` keeps from the problem; empty without it.
    dropped : int
        Rows that `missing = "drop"` left out.
    """

    path: Path
    title: str
    description: str
    kind: str
    problem: Any
    expected: ExpectedTable
    features: tuple[str, ...]
    sha256: str
    held_out: dict[str, Any] = field(default_factory=dict)
    dropped: int = 0


def load(path: str | Path, *, code: bool = True) -> Any:
    """Pose the problem of a problem file.

    Parameters
    ----------
    path : str or Path
        A TOML file, whose data and statement files are relative to it; a program in MPS or QPS
        form (.mps, .qps); or a statement alone (.py), whose `primal()` needs no data.
    code : bool
        Whether statements may run. A statement is Python: give False for a file from elsewhere,
        which then reads data from its own folder only, and executes nothing.

    Returns
    -------
    problem
        A posed problem, or a `cvxpy.Problem` where the file names a statement (a Python file, which
        is run).

    Raises
    ------
    ProblemFileError
        For a missing file, bad syntax, an unknown key or name, a wrong type or value: the message
        names the file, the dotted path and the nearest name that exists.
    DataError
        For data that cannot be used.
    """
    return load_file(path, code=code).problem


def load_file(path: str | Path, *, code: bool = True) -> ProblemFile:
    """Pose the problem of a problem file, and keep what the file says about it.

    See `load` for the parameters and what is raised.
    """
    if not isinstance(path, str | Path):
        raise ProblemFileError(f"load: expected the path of a problem file, got {path!r}.")
    path = Path(path)
    if path.suffix.lower() in PROGRAMS and path.is_file():
        return _program_file(path)
    if path.suffix == ".py" and path.is_file():
        return _statement_file(path, code)
    return _table_file(path, code)


def _table_file(path: Path, code: bool) -> ProblemFile:
    table = read_table_of(path)
    try:
        _refuse_outside(table, path.parent, code)
        constructor = _constructor(table)
        if table.data.blocks is not None:
            refuse_blocks(constructor, _kind(table))
        supervised = constructor is None or registry.predicts(constructor)
        data = load_data(table.data, path.parent, supervised)
        dropped = data.dropped
        if constructor is not None:
            data = suited(constructor, _kind(table), data)
        problem = _pose(table, constructor, data, path.parent)
        check_names(table.expected.facts, problem)
    except DataError as error:
        place = "" if str(error).startswith("data") else "data: "
        raise DataError(f"{path}: {place}{error}") from error
    except ConvexmlError as error:
        raise ProblemFileError(f"{path}: {error}") from error
    return ProblemFile(
        path=path,
        title=table.title or path.stem,
        description=table.description,
        kind=_kind(table),
        problem=problem,
        expected=table.expected,
        features=data.features or tuple(getattr(problem, "features", None) or ()),
        sha256=data.sha256,
        held_out=data.held_out,
        dropped=dropped,
    )


def _program_file(path: Path) -> ProblemFile:
    from .programs import pose_program, read_mps

    program = read_mps(path)
    try:
        problem, features, said = pose_program(program)
    except ConvexmlError as error:
        raise ProblemFileError(f"{path}: {error}") from error
    return ProblemFile(
        path=path,
        title=program.title or path.stem,
        description=said,
        kind="linear_program" if hasattr(problem, "certify") else "quadratic program",
        problem=problem,
        expected=ExpectedTable(),
        features=features,
        sha256=sha256(path.read_bytes()).hexdigest(),
    )


def _statement_file(path: Path, code: bool) -> ProblemFile:
    if not code:
        raise ProblemFileError(f"{path} is Python: {NO_CODE}")
    try:
        problem = state(path, "primal", None, {})
    except ConvexmlError as error:
        raise ProblemFileError(f"{path}: {error}") from error
    return ProblemFile(path, path.stem, "", path.name, problem, ExpectedTable(), (), "")


def _refuse_outside(table: ProblemTable, folder: Path, code: bool) -> None:
    """Code lies beside the problem file; so do the data of a file that is not trusted."""
    if table.statement is not None:
        if not code:
            raise ProblemFileError(f"statement: {table.statement!r} is Python: {NO_CODE}")
        if not _inside(folder, table.statement):
            raise ProblemFileError(
                f"statement: {table.statement!r} lies outside the folder of the problem file; "
                "only code beside it is run"
            )
    if table.data.file is not None and not code and not _all_inside(folder, table.data.file):
        raise ProblemFileError(
            f"data.file: {table.data.file!r} lies outside the folder of the problem file, which is "
            "not read without trust (--no-code, code=False); copy the file there"
        )


def _all_inside(folder: Path, name: str) -> bool:
    """Whether a data file, or a folder with all that it holds, lies in the folder."""
    if not _inside(folder, name):
        return False
    return all(_inside(folder, str(each.absolute())) for each in (folder / name).rglob("*"))


def _inside(folder: Path, name: str) -> bool:
    """Whether a file lies in the folder, wherever links lead to."""
    home = realpath(folder)
    return Path(realpath(Path(home) / name)).is_relative_to(home)


def _constructor(table: ProblemTable) -> Callable[..., Any] | None:
    """What poses the problem; None for a statement."""
    if table.statement is not None:
        return None
    return registry.learning_problem() if table.objective else registry.model(str(table.model))


def _pose(
    table: ProblemTable, constructor: Callable[..., Any] | None, data: ProblemData, folder: Path
) -> Any:
    if constructor is None:
        return state(folder / str(table.statement), table.form, data, table.parameters)
    arrays = dict(data.arrays)
    if table.data.blocks is not None:
        arrays = in_blocks(arrays, table.data.blocks, lambda X: named(X, data.features))
    else:
        for key in arrays.keys() & {"X", "Q"}:
            arrays[key] = named(arrays[key], data.features)
    if "bounds" in arrays:  # as scipy.optimize.linprog writes them: None where there is no bound
        arrays["bounds"] = [tuple(v if abs(v) < inf else None for v in p) for p in arrays["bounds"]]
    if table.objective is not None:
        for kind in ("loss", "penalty"):
            given = getattr(table.objective, kind)
            arrays[kind] = registry.component(kind, f"objective.{kind}", given)
    name = str(table.model or "[objective]")
    return registry.call(constructor, "parameters", name, table.parameters, arrays)


def named(X: Any, features: tuple[str, ...]) -> Any:
    """X with the names of its columns, where it is dense and the source has names."""
    numbered = features == tuple(f"x{j}" for j in range(len(features)))
    if numbered or hasattr(X, "indptr"):
        return X
    names: Any = import_module("convexml.data.columns")
    return names.NamedColumns(X, features)


def _kind(table: ProblemTable) -> str:
    if table.objective is not None:
        return f"{table.objective.loss.get('name')} + {table.objective.penalty.get('name')}"
    return table.model or str(table.statement)
