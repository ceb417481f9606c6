"""What is known of a problem before it is solved: sizes, formulas, and the text of its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..typesetting.aligned import rows
from .entries import Entry, formulas_of


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
    """

    problem: str
    title: str
    model: str
    posed: str
    description: str = ""
    formulas: tuple[tuple[str, str], ...] = ()
    file: str = ""
    source: str = ""
    statement: str = ""


def card_of(entry: Entry) -> Card:
    """The card of an entry.

    Parameters
    ----------
    entry : Entry
        A posed problem with its name, or one of a file.
    """
    path, code = entry.path, entry.model if entry.model.endswith(".py") else ""
    return Card(
        problem=entry.name,
        title=entry.title,
        model=entry.model,
        posed=_posed(entry.problem),
        description=entry.description,
        formulas=_formulas(entry.problem),
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


def _formulas(problem: Any) -> tuple[tuple[str, str], ...]:
    try:
        return rows(formulas_of(problem))
    except InputError:  # not convex, or not continuous
        return ()


def _text(path: Any) -> str:
    try:
        return str(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):  # a program of bytes: its hash tells it
        return ""
