"""The arguments of cone constraints as parts of a Lagrangian, with named multipliers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from ..errors import InputError
from ..numerics import Array
from .checking import absent_bounds
from .epigraphs import Epigraph
from .forms import TRANSPOSE, AffineForm, is_plain, named
from .inner import Coefficients
from .lagrangian import Column, Membership, Part
from .latex.names import Symbols, symbol
from .real import Owner

USER = {
    "free": (("nu", "A", "b"),),
    "nonneg": (("lambda", "A", "b"),),
    "psd": (("S", "A", "b"),),
    "norm": (("lambda", "C", "d"), ("u", "A", "b")),
    "exp": (("r", "C", "d"), ("s", "A", "b"), ("t", "Q", "f")),
    "pow3d": (("r", "C", "d"), ("s", "A", "b"), ("t", "Q", "f")),
    "pownd": (("r", "A", "b"), ("t", "C", "d")),
}
"""For each argument of a kind of cone: its multiplier, its matrix and its constant.

A matrix of one row is written in lower case, a constant that is a matrix in upper case.
"""

ATOM = {
    "free": (("y", "G", "h"),),
    "nonneg": (("eta", "K", "l"),),
    "psd": (("W", "M", "n"),),
    "norm": (("mu", "J", "p"), ("v", "F", "g")),
    "exp": (("rho", "J", "p"), ("sigma", "L", "q"), ("tau", "H", "m")),
    "pow3d": (("rho", "J", "p"), ("sigma", "L", "q"), ("tau", "H", "m")),
    "pownd": (("rho", "L", "q"), ("tau", "J", "p")),
}
"""The same where no user's constraint owns it."""

Names = tuple[tuple[str, float], ...]


class PartBuilder:
    """Collects the parts and memberships of one problem.

    Signs follow L = f + lam'g + nu'(Ax - b): arguments s of a cone enter as -y's with y in the
    dual cone, as CVXPY's dual values; only the argument X of an atom's norm enters as +u'X.
    """

    def __init__(
        self, read: Coefficients, columns: list[Column], starts: list[int], symbols: Symbols
    ) -> None:
        self.parts: list[Part] = []
        self.memberships: list[Membership] = []
        self._read, self._columns, self._starts = read, columns, starts
        self._symbols = symbols
        self._names: set[str] = set()
        self._count: Counter[str] = Counter()

    def add(self, constraint: Any, owner: Owner | None) -> None:
        """Add a constraint whose arguments are affine, and the user's constraint it stands for."""
        match constraint:
            case cp.constraints.Equality() | cp.constraints.Zero():
                self._add("free", constraint, owner, None)
            case cp.constraints.Inequality() | cp.constraints.NonPos() | cp.constraints.NonNeg():
                self._add("nonneg", constraint, owner, absent_bounds(constraint))
            case cp.constraints.PSD():
                self._add("psd", constraint, owner, None)
            case cp.constraints.SOC():
                self._add("soc", constraint, owner, constraint.axis)
            case Epigraph():
                self._add(constraint.function, constraint, owner, None)
            case cp.constraints.ExpCone():
                self._add("exp", constraint, owner, None)
            case cp.constraints.PowCone3D():
                self._add("pow3d", constraint, owner, np.asarray(constraint.alpha.value))
            case cp.constraints.PowConeND():
                data = (np.asarray(constraint.alpha.value), constraint.axis)
                self._add("pownd", constraint, owner, data)
            case _:
                raise InputError(
                    f"dualize: constraints of type {type(constraint).__name__} have no dual cone "
                    "here; pose them by the cones of CVXPY (SOC, PSD, ExpCone, PowCone3D)."
                )

    def _add(self, kind: str, constraint: Any, owner: Owner | None, data: Any) -> None:
        table = ATOM if owner is None else USER
        letters = table.get(kind, table["norm"])
        letter = letters[-1][0] if owner is None or len(letters) == 1 else "cone"
        label, index = self._label(letter, owner)
        first = len(self.parts)
        for position, (letter, matrix, constant) in enumerate(letters):
            argument, sign, flipped = _argument(constraint, position, owner)
            direction = -1.0 if flipped else 1.0
            side = direction if len(letters) > 1 else -direction  # A x + b, but A x <= b
            names = ((matrix, direction), (constant, side))
            relation = kind == "nonneg" and owner is not None
            kept = 1.0 - data.ravel(order="F") if kind == "nonneg" and data is not None else None
            form = self._form(argument, sign, names, index, relation, kept)
            tex = self._symbols.new(symbol(letter), index)
            alone = len(letters) == 1 or (owner is None and letter == letters[-1][0])
            name = label if alone else f"{label}.{letter}"
            user = None if owner is None else owner.constraint
            self.parts.append(Part(name, tex, argument.shape, form, user, kind == "psd"))
        members = tuple(range(first, len(self.parts)))
        self.memberships.append(Membership(kind, members, label, data))

    def _label(self, letter: str, owner: Owner | None) -> tuple[str, str]:
        """A name never given before, and the index that it has in LaTeX.

        It is the user's label, else a letter with a number: that of the constraint for the
        user's, a number of its own for an atom's.
        """
        self._count[letter] += owner is None
        index = str(self._count[letter] if owner is None else owner.number)
        wanted = f"{letter}_{index}"
        if owner is not None:
            ending = " (imaginary)" * owner.imaginary
            labelled = owner.constraint.label is not None
            wanted = (str(owner.constraint.label) if labelled else wanted) + ending
            index = wanted if labelled else index + ending
        found, copies = wanted, 2
        while found in self._names:
            found, copies = f"{wanted} ({copies})", copies + 1
        self._names.add(found)
        return found, index if found == wanted else found

    def _form(
        self,
        expression: Any,
        sign: float,
        names: Names,
        label: str,
        relation: bool,
        kept: Array | None,
    ) -> AffineForm:
        """The expression times ``sign``; ``names``: of matrix and constant, with their factors.

        ``relation``: that it is <= 0; beside the auxiliary variable of a norm, names then stand
        for what is on the right of |F x + g| <= c'x + d. ``kept``: 0 for a row that asks for
        nothing, else 1.
        """
        (letter, factor), (constant_letter, constant_factor) = names
        coefficients, constant = self._read.affine(expression)
        if kept is not None:
            coefficients = sparse.csc_array(sparse.diags_array(kept) @ coefficients)
            constant = np.where(kept > 0.0, constant, 0.0)
        blocks = {
            key: sign * coefficients[:, start : start + column.size]
            for key, (column, start) in enumerate(zip(self._columns, self._starts, strict=True))
        }
        blocks = {key: block for key, block in blocks.items() if block.nnz}
        several = sum(not is_plain(named(block, "")) for block in blocks.values()) > 1
        one_row = expression.size == 1
        norms = any(self._columns[key].is_auxiliary for key in blocks)
        terms = {}
        for key, block in blocks.items():
            column = self._columns[key]
            turned = norms and not column.is_auxiliary and relation
            index = (label, column.tex if several else "")
            matrix = named(block, "", -1.0 if turned else factor)
            if not is_plain(matrix):
                name = self._symbols.new(letter.lower() if one_row else letter, *index)
                matrix = replace(matrix, name=name + (TRANSPOSE if one_row else ""))
            terms[key] = matrix
        right = named(sign * constant[:, None], "", constant_factor)
        if not is_plain(right) and not right.is_zero:
            is_matrix = sum(count > 1 for count in expression.shape) > 1
            called = constant_letter.upper() if is_matrix else constant_letter
            right = replace(right, name=self._symbols.new(called, label))
        return AffineForm(expression.size, terms, right).cleaned()


def _argument(constraint: Any, position: int, owner: Owner | None) -> tuple[Any, float, bool]:
    """The affine expression, its sign in the Lagrangian, and whether it reads better negated."""
    argument = constraint.args[position]
    match constraint:
        case cp.constraints.Equality() | cp.constraints.Inequality():
            left, right = constraint.args
            return left - right, 1.0, left.is_constant()
        case cp.constraints.Zero() | cp.constraints.NonPos():
            return argument, 1.0, False
        case cp.constraints.SOC() | Epigraph() if position == 1 and owner is None:
            return argument, 1.0, False
    return argument, -1.0, True
