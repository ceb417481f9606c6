"""Statements: problems written in plain CVXPY, in a Python file beside the problem file.

A statement defines `primal(data, **parameters)` and, if it likes, `dual(data, **parameters)`; both
return a `cvxpy.Problem`. `data` holds the arrays of `[data]` as attributes: `data.X` and `data.y`
(±1 where the file names two classes), or `data.c`, `data.A_ub` ... of a linear program, None where
the file has none; `data.Q` are the rows of X that `split` holds out. Loading a statement runs its
code.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..errors import ConvexmlError, ProblemFileError, instead
from .registry import call
from .sources.files import is_file

if TYPE_CHECKING:
    import cvxpy as cp

    from .arrays import ProblemData

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
    import cvxpy

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
    if not isinstance(problem, cvxpy.Problem):
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
