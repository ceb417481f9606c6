"""The names that a problem file may use, and the objects behind them.

`model = "lasso"` is `convexml.models.Lasso`: the class name in snake_case. Losses and penalties go
by their own names. A new model, loss or penalty is found as soon as its package exports it.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import tomllib
from collections.abc import Callable, Iterable
from hashlib import file_digest, sha256
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from ..errors import ConvexmlError, DataError, InputError, ProblemFileError, closest, instead
from ..modelling import cp
from .files import is_file, kind_of
from .names import snake_case
from .schema import ProblemData, ProblemTable, explain, shown

if TYPE_CHECKING:
    from .schema import DataTable


TARGETS = ("Y", "x", "labels")
"""What y of the data is called by models of several targets, or of labels alone."""
ARRAYS = (
    "X",
    "Q",
    "H",
    "distances",
    "y",
    *TARGETS,
    "sample_weight",
    "c",
    "A_ub",
    "b_ub",
    "A_eq",
    "b_eq",
    "bounds",
)
PACKAGES = {
    "loss": "convexml.losses",
    "penalty": "convexml.penalties",
    "kernel": "convexml.kernels",
}
_NOT_PARAMETERS = {*ARRAYS, "self"}


def model(name: str) -> Callable[..., Any]:
    """The constructor behind `model = name`; ProblemFileError with the nearest name else."""
    models = importlib.import_module("convexml.models")
    names = {snake_case(each): each for each in models.__all__ if each != "LearningProblem"}
    if name == "learning_problem":
        raise ProblemFileError("model: a learning problem of your own is posed by [objective]")
    if name not in names:
        advice = models.stated(name) or instead(name, names)
        raise ProblemFileError(f"model: there is no model {name!r}.{advice}")
    return getattr(models, names[name])


def learning_problem() -> Callable[..., Any]:
    """The constructor behind `[objective]`."""
    return importlib.import_module("convexml.models").LearningProblem


def component(kind: str, where: str, table: dict[str, Any]) -> Any:
    """Build what `{name = "huber", delta = 1.0}` asks for.

    Parameters
    ----------
    kind : str
        "loss", "penalty" or "kernel".
    where : str
        The dotted path of the table in the file.
    table : dict
        `name` and the arguments of that class. The parts of a "sum", "product" or "scaled" kernel
        are such tables again.
    """
    known: dict[str, Callable[..., Any]] = importlib.import_module(PACKAGES[kind]).ALL
    arguments, name = {k: value for k, value in table.items() if k != "name"}, table.get("name")
    if name is None:
        raise ProblemFileError(f"{where}.name is required.{instead('', known)}")
    if name not in known:
        raise ProblemFileError(f"{where}.name: there is no {kind} {name!r}.{instead(name, known)}")
    return call(known[name], where, str(name), arguments)


def call(
    constructor: Callable[..., Any],
    where: str,
    name: str,
    parameters: dict[str, Any],
    others: dict[str, Any] | None = None,
) -> Any:
    """Call `constructor(**others, **parameters)` once every name and type has been checked.

    Parameters
    ----------
    constructor : callable
        A class, or a function of a statement.
    where : str
        The dotted path of `parameters` in the file.
    name : str
        What the file calls the constructor.
    parameters : dict
        What the file's author wrote.
    others : dict, optional
        Arguments that come from elsewhere in the file, such as the arrays.

    Raises
    ------
    ProblemFileError
        For an unknown, missing or mistyped parameter, and for one that is refused.
    """
    others = others or {}
    signature = inspect.signature(constructor).parameters
    others = _renamed(others, signature)
    named = {k: p for k, p in signature.items() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    allowed = [key for key in named if key not in _NOT_PARAMETERS | set(others)]
    for key, value in parameters.items():
        if key not in allowed:
            advice = _foreign(constructor, key) or instead(key, allowed)
            raise ProblemFileError(f"{where}.{key}: {name} has no {key!r}.{advice}")
        _check_type(f"{where}.{key}", value, str(named[key].annotation))
    for key in others:
        if key not in named:
            raise ProblemFileError(f"data.{key}: {name} has no use for {key!r}")
    for key, parameter in named.items():
        if parameter.default is parameter.empty and key not in {*parameters, *others}:
            place = "data" if key in ARRAYS else where
            raise ProblemFileError(f"{place}.{key} is required by {name}")
    converted = {
        key: component(key if key in PACKAGES else "kernel", f"{where}.{key}", value)
        if isinstance(value, dict)
        else _convert(value)
        for key, value in parameters.items()
    }
    try:
        return constructor(**others, **converted)
    except (ConvexmlError, TypeError, ValueError, ArithmeticError, MemoryError) as error:
        text = str(error)[:600] or type(error).__name__
        place = _place(text, where, parameters, others)
        raise ProblemFileError(f"{place}{name}: {text}") from error


def _foreign(constructor: Any, key: str) -> str:
    """What a model says of another library's name for one of its arguments."""
    if not hasattr(constructor, "scikit_learn"):
        return ""
    return importlib.import_module("convexml.models.base").of_argument(constructor, key)


def predicts(constructor: Callable[..., Any]) -> bool:
    """Whether a model is posed with y."""
    return bool({"y", *TARGETS} & set(inspect.signature(constructor).parameters))


def _renamed(arrays: dict[str, Any], signature: Iterable[str]) -> dict[str, Any]:
    """The arrays by the names of a constructor; one that takes labels alone gets no X."""
    name = next((each for each in TARGETS if each in signature), None)
    if name is None or "y" not in arrays:
        return arrays
    kept = {key: value for key, value in arrays.items() if key != "X" or "X" in signature}
    return {name if key == "y" else key: value for key, value in kept.items()}


def _place(text: str, where: str, parameters: Iterable[str], arrays: Iterable[str]) -> str:
    """The dotted path of the argument that a refusal names first, else that of the problem."""
    paths = {key: f"{where}.{key}" for key in parameters} | {key: f"data.{key}" for key in arrays}
    named = [(found.start(), key) for key in paths if (found := re.search(rf"\b{key}\b", text))]
    if named:
        return f"{paths[min(named)[1]]}: "
    return "statement: " if "data" in arrays else f"{where}: " if parameters else "model: "


def _check_type(where: str, value: Any, annotation: str) -> None:
    """Refuse a string for a number and the like, where the constructor says what it takes."""
    if isinstance(value, str) and "str" not in annotation and "float" in annotation:
        raise ProblemFileError(f"{where}: must be a number, got the string {shown(value)}")
    if isinstance(value, bool) and annotation in ("float", "int"):
        raise ProblemFileError(f"{where}: must be a number, got {str(value).lower()}")
    if annotation == "bool" and not isinstance(value, bool):
        raise ProblemFileError(f"{where}: must be true or false, got {value!r}")
    if isinstance(value, list) and annotation in ("float", "int"):
        raise ProblemFileError(f"{where}: must be one number, got a list of {len(value)}")


def _convert(value: Any) -> Any:
    """TOML has lists where we need arrays, and no null: "none" stands for None."""
    if isinstance(value, list):
        return np.array(value)
    return None if value == "none" else value


# Problem files on the disk: found, and read without their data.


PROGRAMS = (".mps", ".qps")
"""What programs in MPS and QPS form end with."""


def read_table_of(path: str | Path) -> ProblemTable:
    """Read and validate a problem file without loading its data (cheap, for listings)."""
    path = Path(path)
    if path.is_dir():
        raise ProblemFileError(f"{path} is a folder; a problem file is needed")
    if not path.is_file():
        raise ProblemFileError(f"there is no problem file {path}.{_neighbours(path)}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ProblemFileError(f"{path} is not valid TOML: {error}{_named_in(path)}") from error
    except UnicodeDecodeError as error:
        raise ProblemFileError(f"{path} is not a text file in UTF-8: {error}") from error
    except ValueError:
        raise ProblemFileError(f"{path}: a number has thousands of digits") from None
    except RecursionError:
        raise ProblemFileError(f"{path}: tables or lists are nested too deeply") from None
    try:
        return ProblemTable.model_validate(content)
    except ValidationError as error:
        raise explain(path, error) from error


def discover(path: str | Path) -> list[Path]:
    """The problem files at `path`: the file itself, or every *.toml of the folder, sorted.

    Raises
    ------
    ProblemFileError
        When there is no such path, or no problem file in the folder.
    """
    path = Path(path)
    if path.is_dir():
        files = sorted(path.glob("*.toml"))
        if not files:
            raise ProblemFileError(f"the folder {path} holds no problem file (*.toml)")
        return files
    if not path.exists():
        raise ProblemFileError(f"there is no file or folder {path}.{_neighbours(path)}")
    return [path]


def _named_in(path: Path) -> str:
    """Advice for what is no problem file by its name: a table, as a rule."""
    if path.suffix.lower() == ".toml":
        return ""
    return (
        ". A problem file says what is asked of the data (`convexml init` prints one; name these "
        f'in it: file = "{path.name}")'
    )


def _neighbours(path: Path) -> str:
    """Advice for a path that is not there: the nearest problem file of its folder, else some."""
    there = sorted({p.name for p in path.parent.glob("*.toml")} - {"pyproject.toml"})
    if not there:
        return "" if path.parent.is_dir() else f" There is no folder {path.parent} either."
    found = closest(path.stem, [Path(name).stem for name in there])
    if found is not None:
        return f" Did you mean {found + '.toml'!r}?"
    few = there if len(there) <= 5 else [*there[:5], f"... ({len(there)} files)"]
    return f" Problem files there: {', '.join(few)}"


# Statements: problems written in plain CVXPY, in a Python file beside the problem file.
#
# A statement defines `primal(data, **parameters)` and, if it likes, `dual(data, **parameters)`;
# both
# return a `cvxpy.Problem`. `data` holds the arrays of `[data]` as attributes: `data.X` and `data.y`
# (±1 where the file names two classes), or `data.c`, `data.A_ub` ... of a linear program, None
# where
# the file has none; `data.Q` are the rows of X that `split` holds out. Loading a statement runs its
# code.


_PROGRAM = ("c", "A_ub", "b_ub", "A_eq", "b_eq", "bounds")


def state(
    path: Path, form: str, data: ProblemData | None, parameters: dict[str, Any]
) -> cp.Problem:
    """Run the statement at `path` and return its primal or dual.

    Parameters
    ----------
    path : Path
        The Python file.
    form : str
        "primal" or "dual": the name of the function to call.
    data : ProblemData or None
        The arrays, handed over as attributes of one namespace; None for a statement alone.
    parameters : dict
        Keyword arguments of the function.

    Raises
    ------
    ProblemFileError
        When the file is missing, fails, or returns something else than a `cvxpy.Problem`.
    """
    function = getattr(_module(path), form, None)
    if not callable(function):
        raise ProblemFileError(f"{path.name} defines no function {form}(data, **parameters)")
    arrays = dict(data.arrays) if data else {}
    if "y" in arrays and arrays["y"].dtype.kind not in "biuf":
        raise ProblemFileError(
            f"data.y holds strings, such as {str(arrays['y'][0])!r}; a statement needs numbers: "
            "write classes = [first, second] to have -1 and +1"
        )
    if data and "X" in data.held_out:
        arrays["Q"] = data.held_out["X"]
    if "c" in arrays:
        arrays = dict.fromkeys(_PROGRAM) | arrays
    name, others = f"{path.name}: {form}", {"data": SimpleNamespace(**arrays)} if data else {}
    try:
        problem = call(function, "parameters", name, parameters, others)
    except ConvexmlError:
        raise
    except Exception as error:  # whatever a user's own code ends in
        raise ProblemFileError(
            f"statement: {name}: {type(error).__name__}: {str(error)[:600]}"
        ) from error
    if not isinstance(problem, cp.Problem):
        kind = type(problem).__name__
        raise ProblemFileError(f"{path.name}: {form} must return a cvxpy.Problem, not {kind}")
    return problem


def _module(path: Path) -> ModuleType:
    if path.suffix != ".py" or not is_file(path):
        there = sorted(p.name for p in path.parent.glob("*.py"))
        raise ProblemFileError(f"statement: there is no file {path}.{instead(path.name, there)}")
    spec = importlib.util.spec_from_file_location(f"statement_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ProblemFileError(f"statement: {path.name} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        kind = type(error).__name__
        raise ProblemFileError(f"{path.name} cannot be run: {kind}: {error}") from error
    return module


# `blocks = 100000`: the samples of a problem file in blocks of rows.


READER = "convexml.models.row_blocks"
WHOLE = ("positive", "classes", "rows", "one_hot", "polynomial", "missing", "split", "standardize")
"""Keys that need all rows at once."""


def refuse_blocks(constructor: Callable[..., Any] | None, name: str) -> None:
    """Raise ProblemFileError for what is not posed on blocks."""
    takes: Any = import_module(READER).TakesBlocks
    if not (inspect.isclass(constructor) and issubclass(constructor, takes)):
        raise ProblemFileError(f"data.blocks: {name} takes its data in memory; remove blocks")


def is_read_by_blocks(table: DataTable, folder: Path) -> bool:
    """Whether the file need not be in memory."""
    return (
        table.blocks is not None
        and table.file is not None
        and kind_of(folder / table.file, table) == ".parquet"
    )


def read_blocks(table: DataTable, folder: Path) -> ProblemData:
    """The row groups of parquet files in blocks, read when they are needed; the hash is theirs.

    Raises
    ------
    DataError
        For what cannot be read, and for keys that need all rows.
    """
    path = folder / str(table.file)
    for key in WHOLE:
        if getattr(table, key) not in (None, False):
            raise DataError(
                f"data.{key} needs all rows of {path.name} in memory; remove blocks, or write what "
                f"{key} makes of it to the file"
            )
    target, weight, features = table.target, table.sample_weight, table.features
    names = [target, weight, *(features or [])]
    if target is None or any(
        isinstance(each, int | list) or hasattr(each, "map") for each in names
    ):
        raise DataError(
            f"data: with blocks, target, sample_weight and features of {path.name} are names of "
            "columns; target is required"
        )
    reader: Any = import_module(READER)
    try:
        blocks = reader.RowBlocks.from_parquet(
            path, target, rows=table.blocks, features=features, weights=weight
        )
    except InputError as error:
        said = str(error).removeprefix("RowBlocks.from_parquet: ")
        raise DataError(f"data.file: {said}") from error
    files = import_module("convexml.data.sources").files_of("data.file", path)
    whole = sha256(b"".join(_digest(file) for file in files)).hexdigest()
    return ProblemData({"X": blocks, "y": reader.BROUGHT}, sha256=whole)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return file_digest(file, "sha256").digest()


def in_blocks(arrays: dict[str, Any], rows: int, named: Callable[[Any], Any]) -> dict[str, Any]:
    """X, y and weights that are in memory, in blocks of so many rows with ``named`` columns."""
    reader: Any = import_module(READER)
    X, y, weights = arrays["X"], arrays["y"], arrays.get("sample_weight")
    if isinstance(X, reader.RowBlocks):
        return arrays
    cuts = [slice(first, first + rows) for first in range(0, len(y), rows)]
    kept = [None if weights is None else weights[cut] for cut in cuts]
    pieces = [(named(X[cut]), y[cut], own) for cut, own in zip(cuts, kept, strict=True)]
    return {"X": reader.RowBlocks(pieces), "y": reader.BROUGHT}
