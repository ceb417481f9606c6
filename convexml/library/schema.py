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


class DataTable(Table):
    """`[data]`: one source (dataset, file, X and y, or the arrays of an LP), then selections.

    The selections apply in this order: classes, rows, features, standardize.
    """

    dataset: StrictStr | None = None
    file: StrictStr | None = None
    target: StrictStr | Annotated[list[StrictStr], Field(min_length=1)] | None = None
    X: Matrix | None = None
    y: list[Label] | None = None
    sample_weight: Vector | StrictStr | None = None
    classes: list[Label | list[Label]] | None = Field(default=None, min_length=2, max_length=2)
    rows: StrictInt | Annotated[list[StrictInt], Field(min_length=2, max_length=3)] | None = None
    features: list[StrictInt | StrictStr] | None = Field(default=None, min_length=1)
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
        learning = ("target", "y", "sample_weight", "classes", "rows", "features", "standardize")
        misplaced, source = (learning, "c") if given == ["c"] else (program, given[0])
        for name in misplaced:
            if getattr(self, name) not in (None, False):
                raise ValueError(f"{name!r} has no meaning beside {source!r}; remove it")
        if given == ["X"] and self.y is None:
            raise ValueError("X needs y beside it")
        if given != ["X"] and self.y is not None:
            raise ValueError(f"'y' has no meaning beside {given[0]!r}; use target")
        return self


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
