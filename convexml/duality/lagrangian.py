"""The Lagrangian of a conic problem, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import EPS, Array
from .forms import AffineForm, Matrix


@dataclass(frozen=True)
class Column:
    """A primal variable: one of the user's, or an auxiliary one of an atom.

    Attributes
    ----------
    name, tex : str
        For labels and for LaTeX.
    size : int
        Entries, column by column where the variable is a matrix.
    is_auxiliary : bool
        Whether it was introduced for an atom.
    quadratic : Matrix or None
        P in the objective's z'Pz / 2.
    linear : Matrix or None
        q in its q'z, as one column.
    """

    name: str
    tex: str
    size: int
    is_auxiliary: bool
    quadratic: Matrix | None = None
    linear: Matrix | None = None


@dataclass(frozen=True)
class Part:
    """y'g(z): one argument of a constraint with its multiplier.

    Attributes
    ----------
    name, tex : str
        Of the multiplier.
    shape : tuple of int
        Of the multiplier.
    form : AffineForm
        g, affine in the columns.
    constraint : cvxpy.Constraint or None
        The user's constraint, or one that says a variable attribute; None for an atom's.
    symmetric : bool
        Whether the multiplier is a symmetric matrix.
    """

    name: str
    tex: str
    shape: tuple[int, ...]
    form: AffineForm
    constraint: Any = None
    symmetric: bool = False


@dataclass(frozen=True)
class Membership:
    """The multipliers of one constraint lie in the dual cone.

    Attributes
    ----------
    kind : str
        "free", "nonneg", "soc", "psd", "exp", "pow3d", "pownd", and of epigraphs of functions
        "abs", "norm1", "norm_inf", "max", "squares", "square" (entry by entry), "logistic".
    parts : tuple of int
        The parts that it rules, in the order of the constraint's arguments.
    label : str
        Of the constraint that the dual problem gets.
    data : object
        Axis or exponents of the cone.
    """

    kind: str
    parts: tuple[int, ...]
    label: str
    data: Any = None


@dataclass(frozen=True)
class Lagrangian:
    """L(z, y) = sum_j (z_j'P_j z_j / 2 + q_j'z_j) + offset + sum_p y_p'g_p(z).

    The problem is to minimise over z what is the largest over y in the dual cones; ``maximise``
    says that the user's objective is -1 times this one.
    """

    columns: list[Column]
    parts: list[Part]
    memberships: list[Membership]
    offset: float
    maximise: bool

    def stationarity(self, column: int) -> AffineForm:
        """q + sum_p G_p'y_p for one column; the gradient in it is P z more."""
        found = AffineForm(self.columns[column].size, {}, self.columns[column].linear)
        for key, part in enumerate(self.parts):
            if column in part.form.terms:
                found = found + AffineForm(found.rows, {key: part.form.terms[column].T})
        return found.cleaned()

    def is_signed(self, form: AffineForm) -> bool:
        """Whether a form of the multipliers is >= 0 where those of inequalities are."""
        signed = {each.parts[0] for each in self.memberships if each.kind == "nonneg"}
        return form.terms.keys() <= signed and all(
            np.all(matrix.entries.data >= 0.0) for matrix in form.matrices()
        )

    def constants(self) -> AffineForm:
        """sum_p h_p'y_p, one row: what the parts add to the dual value."""
        found = AffineForm(1)
        for key, part in enumerate(self.parts):
            if part.form.constant is not None:
                found = found + AffineForm(1, {key: part.form.constant.T})
        return found.cleaned()


def conjugate_factor(P: Any) -> tuple[Any, Any]:
    """F with F'F the pseudo-inverse of P, and N whose rows span P's null space."""
    diagonal = P.diagonal()
    if not np.any((P - sparse.diags_array(diagonal)).data):
        used = np.flatnonzero(diagonal)
        units = sparse.csr_array(sparse.eye_array(diagonal.size))
        return sparse.diags_array(diagonal[used] ** -0.5) @ units[used], units[diagonal == 0.0]
    values, vectors = np.linalg.eigh(P.toarray())
    large: Array = values > 16.0 * values.size * EPS * values[-1]
    return (vectors[:, large] / np.sqrt(values[large])).T, vectors[:, ~large].T
