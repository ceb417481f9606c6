"""The TOML form of a problem file, as pydantic models. Unknown keys are refused everywhere."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from ..errors import ProblemFileError, instead

if TYPE_CHECKING:
    from pydantic import ValidationError


# Strict, so that a quoted "0.1" is an error and not a number; TOML integers may stand for reals.
Real = Annotated[float, Field(strict=True)]
Vector = list[Real]
Matrix = list[Vector]
Label = StrictInt | StrictStr | Real
Status = Literal["optimal", "infeasible", "unbounded", "unattained"]


class Table(BaseModel):
    """A TOML table in which every key is known."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class TargetTable(Table):
    """`target = { column = "chd", map = { yes = 1, no = 0 } }`: what to predict, by number."""

    column: StrictStr | StrictInt | None = None
    """The column to predict, by name or number."""
    map: Annotated[dict[str, Real], Field(min_length=1)]
    """A number for every value of it."""


class DataTable(Table):
    """`[data]`: one source (dataset, file, X and y, or the arrays of an LP), then selections.

    The selections apply in this order: missing = "drop", target (map, positive, classes), rows,
    features, missing = "mean" or "median", one_hot, polynomial, split, standardize.
    """

    dataset: StrictStr | None = None
    """A set that scikit-learn carries: diabetes, linnerud, breast_cancer, iris, wine, digits."""
    file: StrictStr | None = None
    """A table beside this file: text, .npz, .svm, .parquet (a file, or a folder of them)."""
    format: Literal["text", "npz", "libsvm", "parquet"] | None = None
    """What the file is, where its suffix does not tell."""
    delimiter: Annotated[StrictStr, Field(min_length=1, max_length=1)] | None = None
    """One character between the cells of a text, instead of the guess."""
    header: StrictBool | None = None
    """Whether a text starts with the names of its columns, instead of the guess."""
    n_features: Annotated[StrictInt, Field(ge=1, le=10_000_000)] | None = None
    """Columns of a sparse file, whose last ones may be empty."""
    target: (
        StrictStr
        | StrictInt
        | Annotated[list[StrictStr | StrictInt], Field(min_length=1)]
        | TargetTable
        | None
    ) = None
    """The column to predict; a list for several targets; a table to map its values."""
    positive: Label | list[Label] | None = None
    """y is +1 for this value, or for these, and -1 for all others."""
    X: Matrix | None = None
    """The samples themselves, a list of rows."""
    y: list[Label] | None = None
    """Their targets, beside X."""
    sample_weight: Vector | StrictStr | None = None
    """A weight for each row that is left, or the column that holds them."""
    classes: list[Label | list[Label]] | None = Field(default=None, min_length=2, max_length=2)
    """The two classes (or lists of classes) that are kept, as -1 and +1."""
    rows: StrictInt | Annotated[list[StrictInt], Field(min_length=2, max_length=3)] | None = None
    """The first so many rows, or start, stop and step of a slice."""
    features: list[StrictInt | StrictStr] | None = Field(default=None, min_length=1)
    """The columns that are kept, by name or number."""
    one_hot: list[StrictInt | StrictStr] | None = None
    """Columns of text, each replaced by a column of 0 and 1 for every value."""
    polynomial: Annotated[StrictInt, Field(ge=1)] | None = None
    """All products of up to so many columns."""
    missing: Literal["drop", "mean", "median"] | None = None
    """Rows in which something is missing are dropped, or a number of X is filled: by the mean or
    the median of its column over the rows that are fitted."""
    split: Annotated[Real, Field(gt=0, lt=1)] | None = None
    """The share of the rows that is not fitted but scored, by a fixed shuffle."""
    standardize: StrictBool = False
    """Columns of mean 0 and standard deviation 1 on the rows that are fitted."""
    blocks: Annotated[StrictInt, Field(ge=1)] | None = None
    """Rows of a block, where the problem is posed on blocks; parquet is read block by block."""
    c: Vector | None = None
    """A linear program: its objective."""
    A_ub: Matrix | None = None
    """The rows of A_ub x <= b_ub."""
    b_ub: Vector | None = None
    """Their right-hand side."""
    A_eq: Matrix | None = None
    """The rows of A_eq x = b_eq."""
    b_eq: Vector | None = None
    """Their right-hand side."""
    bounds: Annotated[Vector, Field(min_length=2, max_length=2)] | Matrix | None = None
    """[low, high] of every variable, or a pair for each; -inf and inf are allowed."""

    @model_validator(mode="after")
    def _one_source(self) -> DataTable:
        sources = {"dataset": self.dataset, "file": self.file, "X": self.X, "c": self.c}
        given = [name for name, value in sources.items() if value is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"give exactly one source of data: dataset, file, X or c; got {found}")
        program = ("A_ub", "b_ub", "A_eq", "b_eq", "bounds")
        learning = tuple(name for name in type(self).model_fields if name not in (*program, "c"))
        misplaced, source = (learning, "c") if given == ["c"] else (program, given[0])
        for name in misplaced:
            if getattr(self, name) not in (None, False):
                raise ValueError(f"{name!r} has no meaning beside {source!r}; remove it")
        if self.target is not None and given == ["X"]:
            raise ValueError("'target' has no meaning beside 'X'; use y")
        if given != ["X"] and self.y is not None:
            raise ValueError(f"'y' has no meaning beside {given[0]!r}; use target")
        if given != ["file"]:
            for name in ("format", "delimiter", "header", "n_features"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name!r} has no meaning beside {given[0]!r}; remove it")
        if self.classes is not None and self.positive is not None:
            raise ValueError("give one of classes and positive: both make -1 and +1 of y")
        return self

    @property
    def target_column(self) -> str | int | list[str | int] | None:
        """The column (or columns) to predict; None where the source knows it."""
        return self.target.column if isinstance(self.target, TargetTable) else self.target

    @property
    def target_map(self) -> dict[str, float] | None:
        """The number of every value of the target, where the file gives them."""
        return self.target.map if isinstance(self.target, TargetTable) else None


class ObjectiveTable(Table):
    """`[objective]`: a loss and a penalty by name, each with its own parameters."""

    loss: dict[str, Any]
    """`{ name = "huber", delta = 1.0 }`: a loss with its parameters."""
    penalty: dict[str, Any] = Field(default_factory=lambda: {"name": "zero"})
    """`{ name = "l1", lam = 0.1 }`: a penalty with its parameters; none by default."""


class FactTable(Table):
    """`[[expected.facts]]`: something known about the solution, and who says so."""

    name: StrictStr
    """What is known: objective, w, nonzeros, lam_max ..."""
    value: Real | Vector
    """Its value, a number or a list."""
    rtol: Annotated[Real, Field(ge=0)] = 0.0
    """Relative tolerance."""
    atol: Annotated[Real, Field(ge=0)] = 0.0
    """Absolute tolerance."""
    source: Annotated[StrictStr, Field(min_length=1)]
    """Who says so: a closed form, a publication, another solver."""


class ExpectedTable(Table):
    """`[expected]`: the status of the problem (source: how that is known) and its facts."""

    status: Status = "optimal"
    """What solving it must end in."""
    source: StrictStr = ""
    """How the status is known."""
    facts: list[FactTable] = Field(default_factory=list)
    """See below."""


class ProblemTable(Table):
    """A whole problem file."""

    schema_version: Literal[1] = Field(alias="schema")
    """The version of this form."""
    title: StrictStr = ""
    """One line, shown wherever the problem is; without one, the name of the file."""
    description: StrictStr = ""
    """More lines."""
    model: StrictStr | None = None
    """A model, as `convexml list models` names it."""
    statement: StrictStr | None = None
    """A Python file beside this one that poses the problem in plain CVXPY."""
    form: Literal["primal", "dual"] = "primal"
    """Which form of a statement is solved."""
    objective: ObjectiveTable | None = None
    """A loss and a penalty, in place of a model."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the model or of the statement."""
    data: DataTable
    """Where the data come from; see below."""
    expected: ExpectedTable = Field(default_factory=ExpectedTable)
    """What is known of the solution; see below."""

    @model_validator(mode="after")
    def _one_problem(self) -> ProblemTable:
        choices = {"model": self.model, "statement": self.statement, "objective": self.objective}
        given = [name for name, value in choices.items() if value is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"give exactly one of model, statement, [objective]; got {found}")
        if self.form == "dual" and self.statement is None:
            raise ValueError("form = 'dual' belongs to a statement; a model poses both forms")
        return self


# Validation errors in the words of the file: dotted path, offending key, nearest key.


_BRANCH = re.compile(r"(str|int|float|bool|TargetTable)$|(list|constrained|function|literal)\b")
"""What pydantic calls a branch of a union."""
MOST = 8
"""Mistakes of one file that are told."""


def explain(path: Path, error: ValidationError) -> ProblemFileError:
    """One exception that names the file and every mistake that pydantic found in it."""
    reasons: dict[tuple[str | int, ...], list[str]] = {}
    for item in error.errors(include_url=False):
        location = _in_the_file(item["loc"])
        found = reasons.setdefault(location, [])
        if (reason := _reason(item, location)) not in found:
            found.append(reason)
    # Of a union, the branch that came furthest says what is wrong.
    inner = {each[:k] for each in reasons for k in range(1, len(each))}
    lines = [
        f"{dotted(location)}: {_joined(found)}" if location else _joined(found)
        for location, found in reasons.items()
        if location not in inner or not found[0].startswith("must be")
    ]
    few = [*lines[:MOST], *([f"... ({len(lines)} mistakes)"] if len(lines) > MOST else [])]
    return ProblemFileError(f"{path}: " + "\n  ".join(few))


def _joined(reasons: list[str]) -> str:
    """`must be a number or a string, got []`, where every branch of a union was refused."""
    if len(reasons) == 1 or not all(", got " in each for each in reasons):
        return "; ".join(reasons)
    got = reasons[0].partition(", got ")[2]
    wanted = [each.partition(", got ")[0].removeprefix("must be ") for each in reasons]
    return f"must be {', '.join(wanted[:-1])} or {wanted[-1]}, got {got}"


def dotted(location: Sequence[str | int]) -> str:
    """`("expected", "facts", 0, "rtol")` -> `"expected.facts[0].rtol"`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def shown(value: Any) -> str:
    """A value as it was written, in at most sixty characters."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply; a number of thousands of digits
        return f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _reason(item: Any, location: tuple[str | int, ...]) -> str:
    if item["type"] == "extra_forbidden":
        return f"unknown key {location[-1]!r}.{instead(location[-1], _keys(location[:-1]))}"
    if item["type"] == "missing":
        return "this key is required"
    if item["type"] == "value_error":
        return str(item["ctx"]["error"])
    requirement = item["msg"].replace("Input should be a valid", "must be a")
    requirement = requirement.replace("Input should be", "must be").replace("float", "number")
    requirement = requirement.replace("a integer", "an integer").replace("dictionary", "table")
    return f"{requirement}, got {shown(item['input'])}"


def _in_the_file(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Drop what pydantic adds for the branches of a union, which is in no file."""
    kept: list[str | int] = []
    table: type[BaseModel] | None = ProblemTable
    for part in location:
        if isinstance(part, int):
            kept.append(part)
        elif table is not None and not _BRANCH.match(part):
            kept.append(part)
            table = _child(table, part)
    return tuple(kept)


def _keys(location: Sequence[str | int]) -> list[str]:
    table: type[BaseModel] | None = ProblemTable
    for part in location:
        if isinstance(part, str) and table is not None:
            table = _child(table, part)
    return [f.alias or name for name, f in table.model_fields.items()] if table else []


def _child(table: type[BaseModel], key: str) -> type[BaseModel] | None:
    """The pydantic model that a key of `table` holds, directly, in a list or as an option."""
    field = table.model_fields.get(key)
    pending: list[Any] = [field.annotation] if field else []
    while pending:
        kind = pending.pop()
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return kind
        pending.extend(get_args(kind))
    return None


# What the data of a problem file becomes: plain arrays under their textbook names.


Array = NDArray[Any]


@dataclass(frozen=True)
class RawData:
    """A data set as its source holds it.

    Attributes
    ----------
    X : array or csr_array, shape (n, d)
    y : array, shape (n,) or (n, K), or None
        None where no column was named to be predicted.
    features : tuple of str
    class_names : tuple of str
        Of the values of y, in their order, where the source names them.
    sample_weight : array, shape (n,), or None
    categories : dict
        The values of a column of text; X holds their numbers.
    """

    X: Any
    y: Array | None
    features: tuple[str, ...]
    class_names: tuple[str, ...] = ()
    sample_weight: Array | None = None
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class ProblemData:
    """The arrays that a problem is posed with.

    Attributes
    ----------
    arrays : dict
        `X` (n, d), maybe `y` (n,) and `sample_weight` (n,); or `c`, `A_ub` ... of a linear program.
        `y` is -1 or +1 where the file names two classes.
    features : tuple of str
        Names of the columns of `X`; empty for a linear program.
    sha256 : str
        Hash of the selected numbers before they are standardised (standardising rounds, and not
        every machine rounds alike).
    held_out : dict
        `X` and `y` of the rows that `split` keeps from the problem; empty without it.
    dropped : int
        Rows that `missing = "drop"` left out.
    """

    arrays: dict[str, Any]
    features: tuple[str, ...] = ()
    sha256: str = field(default="")
    held_out: dict[str, Any] = field(default_factory=dict)
    dropped: int = 0


def sha256(arrays: dict[str, Any]) -> str:
    """Hash of names, shapes, types and values, the same on every machine for equal numbers."""
    digest = hashlib.sha256()
    for name, array in sorted(_plain(arrays).items()):
        if array.dtype.kind in "biuf":
            array = array.astype("<f8")
        else:
            array = np.char.encode(array.astype(str), "utf-8")
        digest.update(f"{name} {array.shape} {array.dtype.str}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _plain(arrays: dict[str, Any]) -> dict[str, Array]:
    """The arrays, a sparse one as the three that it consists of."""
    plain: dict[str, Array] = {}
    for name, array in arrays.items():
        if hasattr(array, "indptr"):
            parts = ("data", "indices", "indptr")
            plain |= {f"{name}.{part}": np.asarray(getattr(array, part)) for part in parts}
        else:
            plain[name] = np.asarray(array)
    return plain
