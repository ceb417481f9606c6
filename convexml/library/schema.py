"""The TOML form of a problem file, as pydantic models. Unknown keys are refused everywhere."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

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
    map: Annotated[dict[str, Real], Field(min_length=1)]


class DataTable(Table):
    """`[data]`: one source (dataset, file, X and y, or the arrays of an LP), then selections.

    The selections apply in this order: target (map, positive, classes), rows, features, one_hot,
    polynomial, split, standardize.
    """

    dataset: StrictStr | None = None
    file: StrictStr | None = None
    format: Literal["text", "npz", "libsvm"] | None = None
    delimiter: Annotated[StrictStr, Field(min_length=1, max_length=1)] | None = None
    header: StrictBool | None = None
    n_features: Annotated[StrictInt, Field(ge=1, le=10_000_000)] | None = None
    target: (
        StrictStr
        | StrictInt
        | Annotated[list[StrictStr | StrictInt], Field(min_length=1)]
        | TargetTable
        | None
    ) = None
    positive: Label | list[Label] | None = None
    X: Matrix | None = None
    y: list[Label] | None = None
    sample_weight: Vector | StrictStr | None = None
    classes: list[Label | list[Label]] | None = Field(default=None, min_length=2, max_length=2)
    rows: StrictInt | Annotated[list[StrictInt], Field(min_length=2, max_length=3)] | None = None
    features: list[StrictInt | StrictStr] | None = Field(default=None, min_length=1)
    one_hot: list[StrictInt | StrictStr] | None = None
    polynomial: Annotated[StrictInt, Field(ge=1)] | None = None
    split: Annotated[Real, Field(gt=0, lt=1)] | None = None
    standardize: StrictBool = False
    c: Vector | None = None
    A_ub: Matrix | None = None
    b_ub: Vector | None = None
    A_eq: Matrix | None = None
    b_eq: Vector | None = None
    bounds: Annotated[Vector, Field(min_length=2, max_length=2)] | Matrix | None = None

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
    penalty: dict[str, Any] = Field(default_factory=lambda: {"name": "zero"})


class FactTable(Table):
    """`[[expected.facts]]`: something known about the solution, and who says so."""

    name: StrictStr
    value: Real | Vector
    rtol: Annotated[Real, Field(ge=0)] = 0.0
    atol: Annotated[Real, Field(ge=0)] = 0.0
    source: Annotated[StrictStr, Field(min_length=1)]


class ExpectedTable(Table):
    """`[expected]`: the status of the problem (source: how that is known) and its facts."""

    status: Status = "optimal"
    source: StrictStr = ""
    facts: list[FactTable] = Field(default_factory=list)


class ProblemTable(Table):
    """A whole problem file."""

    schema_version: Literal[1] = Field(alias="schema")
    title: Annotated[StrictStr, Field(min_length=1)]
    description: StrictStr = ""
    model: StrictStr | None = None
    statement: StrictStr | None = None
    form: Literal["primal", "dual"] = "primal"
    objective: ObjectiveTable | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    data: DataTable
    expected: ExpectedTable = Field(default_factory=ExpectedTable)

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
