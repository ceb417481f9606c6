"""What is known of a problem before it is solved: sizes, formulas, and the text of its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..typesetting.aligned import rows
from .entries import Entry, formulated, is_cvxpy

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
        posed=_posed(entry.problem),
        description=entry.description,
        formulas=formulas,
        multipliers=multipliers,
        file="" if path is None else path.as_posix(),
        source="" if path is None else _text(path),
        statement=_text(path.parent / code) if path is not None and code else "",
    )


def _posed(problem: Any) -> str:
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
