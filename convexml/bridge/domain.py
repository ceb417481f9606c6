"""Where the atoms of a problem are defined: constraints that nobody wrote, and that count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..duality.checking import shown, value_of
from ..duality.interface import domain_of, is_atom
from ..formulas import Condition, worst
from ..modelling import cp
from ..numerics import EPS, Array
from .layout import class_names, constraint_violation, dense, term_sizes

MATRICES = {"MatrixFrac", "tr_inv", "log_det"}
SINGULAR = MATRICES | {"quad_over_lin"}
"""Beside powers below 0: infinite at the border of their domain, with finite values behind it."""
RELATIVE = {"kl_div", "rel_entr", "quantum_rel_entr"}
"""Infinite where the second argument is 0."""


class Domains(NamedTuple):
    """The objective or a constraint, with the domains of its atoms.

    ``atoms`` has those of its expressions, constant ones too, once each, arguments first.
    """

    name: str
    expressions: list[Any]
    atoms: list[tuple[Any, list[Any]]]


def row_name(owner: str) -> str:
    """What the row of the domain of an objective or constraint is called."""
    return f"domain of {owner}: violation"


def domains_of(problem: Any, labels: dict[int, str]) -> list[Domains]:
    """Those of the objective and of each constraint, which are named by id."""
    owners = [("the objective", [problem.objective.expr])]
    owners += [(labels[constraint.id], constraint.args) for constraint in problem.constraints]
    return [
        Domains(name, parts, [(atom, domain_of(atom)) for part in parts for atom in _atoms(part)])
        for name, parts in owners
    ]


def domain_rows(domains: list[Domains], sizes: Callable[[Any], Array]) -> list[Condition]:
    """Feasibility of the variables' values in the domain of the objective and of each constraint.

    Parameters
    ----------
    domains : list of Domains
    sizes : callable
        The unit of each entry of a variable.

    Returns
    -------
    list of Condition
        Behind the border of an atom that is infinite there, also a row that is met only where
        its value is that of a point inside, and never broken.
    """
    rows = []
    for name, expressions, atoms in domains:
        found = []
        for atom, constraints in atoms:
            for constraint in constraints:
                if all(_valued(arg) for arg in constraint.args):
                    row = _row(row_name(name), constraint, sizes)
                    if row.residual and _singular(atom):
                        rows.append(_jump(name, atom, row.residual, expressions))
                    if row.residual or any(arg.variables() for arg in constraint.args):
                        found.append(row)
        if found:
            row, largest = max(found, key=lambda row: row.relative), max(map(_most, found))
            rows.append(replace(row, largest=largest))
    return rows


def without_value(domains: list[Domains]) -> str:
    """Which atom refuses its argument, in words; "" where all have values."""
    for name, _, atoms in domains:
        for atom, constraints in atoms:
            # Functions of symmetric matrices refuse others, and perspectives a negative scale.
            picky = any(not isinstance(c, cp.constraints.Inequality) for c in constraints)
            picky = picky or type(atom).__name__ == "perspective"
            if picky and value_of(atom)[0] is None:
                return f"{name}: {_at(atom, 'has no value')}"
    return ""


def undefined(domains: list[Domains]) -> str:
    """Which atom makes no number of finite arguments, or else is farthest outside of its domain.

    In words, with the expression and the values; "" where there is none.
    """
    words, farthest = "", 0.0
    for name, _, atoms in domains:
        for atom, constraints in atoms:
            if not all(_finite(value_of(arg)[0]) for arg in atom.args):
                continue
            value = value_of(atom)[0]
            if not _finite(value):
                is_inf = value is not None and np.any(np.isinf(dense(value)))
                return f"{name}: {_at(atom, 'is infinite' if is_inf else 'has no value')}"
            away = max((_away(constraint) for constraint in constraints), default=0.0)
            if away > farthest:
                words, farthest = f"{name}: {_at(atom, 'is not defined')}", away
    return words


def _at(atom: Any, what: str) -> str:
    """``log(x) is infinite at x = [0. 1.]``."""
    variable = [arg for arg in atom.args if not arg.is_constant()] or atom.args
    values = [f"{shown(arg)} = {shown(dense(value_of(arg)[0]))}" for arg in variable]
    return f"{shown(atom)} {what} at {', '.join(values)}"


def _finite(value: Any) -> bool:
    return value is not None and bool(np.all(np.isfinite(dense(value))))


def _away(constraint: Any) -> float:
    if not all(_valued(arg) for arg in constraint.args):
        return 0.0
    with np.errstate(all="ignore"):
        return float(np.max(constraint_violation(constraint), initial=0.0))


def _atoms(expression: Any) -> list[Any]:
    """The atoms of an expression, constant ones too, once each, arguments first."""
    found: dict[int, Any] = {}
    seen: set[int] = set()

    def walk(node: Any) -> None:
        if id(node) in seen or not is_atom(node):
            return
        seen.add(id(node))
        for part in node.args:
            walk(part)
        found[id(node)] = node

    walk(expression)
    return list(found.values())


def _singular(atom: Any) -> bool:
    names = class_names(atom)
    return bool(names & SINGULAR) or ("Power" in names and float(atom.p.value) < 0.0)


def is_endless(atom: Any, i: int) -> bool:
    """Whether an atom is infinite at the border of the i-th constraint of its domain."""
    names = class_names(atom)
    logarithm = bool(names & {"log", "log1p"}) or (i == 1 and bool(names & RELATIVE))
    return logarithm or _singular(atom)


def _jump(name: str, atom: Any, violated: float, beside: list[Any]) -> Condition:
    """How far the value of an atom is from its value inside of the domain, as near by."""
    values = [dense(arg.value) for arg in atom.args]
    names = class_names(atom)
    k = int(bool(names & {"quad_over_lin", "MatrixFrac"}))
    if names & MATRICES:
        values[k] = values[k] + 2.0 * violated * np.eye(values[k].shape[-1])
    else:
        values[k] = np.maximum(values[k], violated)
    known = [dense(value) for part in beside if (value := value_of(part)[0]) is not None]
    size = max((float(np.max(np.abs(value), initial=0.0)) for value in known), default=0.0)
    try:
        with np.errstate(all="ignore"):
            apart = float(np.max(np.abs(atom.numeric(values) - dense(atom.value))))
    except (ValueError, ArithmeticError):
        apart = np.inf
    apart = apart if np.isfinite(apart) else np.inf
    row = worst(
        f"domain of {name}: value of {type(atom).__name__}", "primal_feasibility", apart, size
    )
    return replace(row, rounding=apart)


def _most(row: Condition) -> float:
    return max(row.residual, row.largest)


def _valued(expression: Any) -> bool:
    return value_of(expression)[0] is not None


def _row(name: str, constraint: Any, sizes: Callable[[Any], Array]) -> Condition:
    with np.errstate(all="ignore"):
        violated = constraint_violation(constraint)
    kind = "primal_feasibility"
    if not np.any(violated):
        return worst(name, kind, violated)
    size, terms = np.zeros(1), np.zeros(1)
    shape = np.broadcast_shapes(*(arg.shape for arg in constraint.args))
    for part in constraint.args:
        measured = size_of(part, sizes) if constraint.variables() else (term_sizes(part),) * 2
        found = (np.broadcast_to(each, shape).ravel() for each in measured)
        size, terms = (a + b for a, b in zip((size, terms), found, strict=True))
    if size.size != violated.size:  # of a matrix: one distance
        size, terms = (np.full(1, np.linalg.norm(part)) for part in (size, terms))
    # What has no value proves nothing.
    error = np.where(np.isfinite(violated), 8.0 * EPS * terms, np.inf)
    return worst(name, kind, violated, size, error)


def size_of(expression: Any, sizes: Callable[[Any], Array]) -> tuple[Array, Array]:
    """The size of each entry in the data, and of its terms at the point; to first order."""
    value = np.abs(dense(expression.value))
    if expression.is_constant():
        return value, value
    try:
        slopes = expression.grad
    except (NotImplementedError, ValueError, ArithmeticError):
        return value, value
    if any(slope is None for slope in slopes.values()):
        return value, value
    moves = dense(expression.value).ravel(order="F").astype(complex)
    size, terms = np.zeros(moves.size), np.abs(moves)
    for variable, slope in slopes.items():
        matrix, unit = transposed(slope, variable), units_of(variable, sizes(variable))
        at = dense(variable.value).ravel(order="F")
        moves = moves - matrix.T @ at
        size, terms = size + abs(matrix).T @ unit, terms + abs(matrix).T @ np.abs(at)
    offset = np.abs(moves)
    size = size + np.where(offset > 64.0 * EPS * terms, offset, 0.0)
    size = np.where(size > 0.0, size, terms)
    return size.reshape(value.shape, order="F"), terms.reshape(value.shape, order="F")


def transposed(slope: Any, variable: Any) -> Any:
    """A transposed Jacobian as CVXPY has it, which may be a number."""
    return slope if sparse.issparse(slope) else np.reshape(slope, (variable.size, -1))


def units_of(variable: Any, sizes: Array) -> Array:
    """Those of its entries, column by column; the largest where there is none for each."""
    if sizes.size == variable.size:
        return sizes.reshape(variable.shape).ravel(order="F")
    return np.full(variable.size, np.max(sizes, initial=0.0))
