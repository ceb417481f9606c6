"""What is compared: posed problems and problem files, each with a name of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...errors import InputError
from ...library import ProblemFile, discover, load_file, read_table_of
from ...library.names import snake_case
from ...library.registry import PROGRAMS
from ...typesetting.documents import rows


@dataclass(frozen=True)
class Entry:
    """A problem, and what its file says about it."""

    name: str
    title: str
    model: str
    problem: Any
    expected_status: str | None = None
    facts: tuple[Any, ...] = ()
    data_hash: str = ""
    description: str = ""
    path: Path | None = None


def entries(problems: Any, *, code: bool = True) -> list[Entry]:
    """Resolve files and folders, and give every problem a unique name.

    Parameters
    ----------
    problems : posed problem, cvxpy.Problem, str, path, Entry, or a sequence of these
        A folder stands for all problem files in it; an entry stands for itself.
    code : bool
        Whether statements may run, as `load` has it.

    Raises
    ------
    ProblemFileError, DataError
        For a file that cannot be posed: before anything is solved.
    InputError
        For anything else, and for no problem at all.
    """
    if isinstance(problems, Mapping):
        raise InputError(
            f"compare: problems must be a posed problem, a cvxpy.Problem or a path, or a sequence "
            f"of these; got a {type(problems).__name__} with {len(problems)} of them. Pass "
            f"list(problems.values()): rows are named after the model, or after the problem file."
        )
    if isinstance(problems, str | Path) or not isinstance(problems, Iterable):
        problems = [problems]
    items = list(problems)
    paths = {id(item): discover(item) for item in items if isinstance(item, str | Path)}
    for found in paths.values():
        for path in found:
            if path.suffix.lower() not in (*PROGRAMS, ".py"):
                read_table_of(path)
    resolved: list[Entry] = []
    for item in items:
        if id(item) in paths:
            resolved += [from_file(load_file(path, code=code)) for path in paths[id(item)]]
        elif isinstance(item, Entry):
            resolved.append(item)
        else:
            resolved.append(_posed(item))
    if not resolved:
        raise InputError("compare needs at least one problem; got none")
    taken: dict[str, int] = {}
    named = []
    for entry in resolved:
        taken[entry.name] = taken.get(entry.name, 0) + 1
        count = taken[entry.name]
        named.append(entry if count == 1 else replace(entry, name=f"{entry.name}#{count}"))
    return named


def from_file(file: ProblemFile) -> Entry:
    """The entry of a problem file that has been loaded."""
    return Entry(
        name=file.path.stem,
        title=file.title,
        model=file.kind,
        problem=file.problem,
        expected_status=file.expected.status,
        facts=tuple(file.expected.facts),
        data_hash=file.sha256,
        description=file.description,
        path=file.path,
    )


def is_cvxpy(problem: Any) -> bool:
    """Whether this is a `cvxpy.Problem`, told without importing cvxpy."""
    return any(base.__module__.startswith("cvxpy.") for base in type(problem).__mro__)


def formulas_of(problem: Any) -> str:
    """The formulas of a posed problem, or those of a convex program in plain CVXPY.

    Raises
    ------
    InputError
        For a CVXPY problem that is not convex, or not continuous.
    """
    return str(formulated(problem).latex())


def formulated(problem: Any) -> Any:
    """What has these formulas: the posed problem itself, or the ``Dual`` of the convex program."""
    if not is_cvxpy(problem):
        return problem
    from ...duality import dualize

    return dualize(problem)


def _posed(problem: Any) -> Entry:
    if not callable(getattr(problem, "solve", None)):
        raise InputError(
            f"compare takes posed problems, cvxpy.Problems and paths; got {problem!r} "
            f"of type {type(problem).__name__}"
        )
    kind = "statement" if is_cvxpy(problem) else snake_case(type(problem).__name__)
    name = getattr(problem, "name", None)
    title = name if isinstance(name, str) and name else kind
    return Entry(title, title, kind, problem)


# What is known of a problem before it is solved: sizes, formulas, and the text of its file.


Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Card:
    """A problem, as it is posed.

    Attributes
    ----------
    problem, title, model : str
        As in ``Outcome``.
    posed : str
        The model with n, d and its hyperparameters; of a statement, how large its program is.
    description : str
        What the file says of it.
    formulas : tuple of (str, str)
        Label (primal, Lagrangian, dual, KKT) and LaTeX of each; of a statement those of its
        convex program, and none where it is not one.
    file : str
        The path of its file; "" without one.
    source : str
        The text of that file.
    statement : str
        The Python text of a statement.
    multipliers : tuple of (str, str)
        Of a convex program: label and LaTeX of the multiplier of each constraint with a label.
    """

    problem: str
    title: str
    model: str
    posed: str
    description: str = ""
    formulas: Pairs = ()
    file: str = ""
    source: str = ""
    statement: str = ""
    multipliers: Pairs = ()


def card_of(entry: Entry) -> Card:
    """The card of an entry.

    Parameters
    ----------
    entry : Entry
        A posed problem with its name, or one of a file.
    """
    path, code = entry.path, entry.model if entry.model.endswith(".py") else ""
    formulas, multipliers = _formulas(entry.problem)
    return Card(
        problem=entry.name,
        title=entry.title,
        model=entry.model,
        posed=_posed_card(entry.problem),
        description=entry.description,
        formulas=formulas,
        multipliers=multipliers,
        file="" if path is None else path.as_posix(),
        source="" if path is None else _text(path),
        statement=_text(path.parent / code) if path is not None and code else "",
    )


def _posed_card(problem: Any) -> str:
    if hasattr(problem, "certify"):
        return repr(problem)
    sizes = problem.size_metrics
    return (
        f"{sizes.num_scalar_variables} variables, {sizes.num_scalar_eq_constr} equalities, "
        f"{sizes.num_scalar_leq_constr} inequalities"
    )


def _formulas(problem: Any) -> tuple[Pairs, Pairs]:
    """The formulas of a model, or of a convex program and its dual; and its named multipliers."""
    try:
        owner = formulated(problem)
    except InputError:  # not convex, or not continuous
        return (), ()
    symbols, constraints = (owner.symbols(), problem.constraints) if is_cvxpy(problem) else ({}, ())
    named = ((each.label, symbols.get(each.id)) for each in constraints)
    return rows(owner.latex()), tuple((str(name), tex) for name, tex in named if name and tex)


def _text(path: Any) -> str:
    try:
        return str(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):  # a program of bytes: its hash tells it
        return ""
