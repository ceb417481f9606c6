"""The names that a problem file may use, and the objects behind them.

`model = "lasso"` is `convexml.models.Lasso`: the class name in snake_case. Losses and penalties go
by their own names. A new model, loss or penalty is found as soon as its package exports it.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..errors import ConvexmlError, ProblemFileError, instead
from .messages import shown
from .names import snake_case

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
    names = {snake_case(each): each for each in models.__all__}
    names.pop("learning_problem", None)
    if name == "learning_problem":
        raise ProblemFileError("model: a learning problem of your own is posed by [objective]")
    if name not in names:
        raise ProblemFileError(f"model: there is no model {name!r}.{instead(name, names)}")
    constructor: Callable[..., Any] = getattr(models, names[name])
    return constructor


def learning_problem() -> Callable[..., Any]:
    """The constructor behind `[objective]`."""
    constructor: Callable[..., Any] = importlib.import_module("convexml.models").LearningProblem
    return constructor


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
    arguments, name = (
        {key: value for key, value in table.items() if key != "name"},
        table.get("name"),
    )
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
    found: str = importlib.import_module("convexml.models.advice").of_argument(constructor, key)
    return found


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
