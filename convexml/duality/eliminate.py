"""Solve the stationarity of auxiliary variables for the multipliers that atoms brought in."""

from __future__ import annotations

from dataclasses import dataclass

from .forms import AffineForm, identity
from .lagrangian import Lagrangian


@dataclass(frozen=True)
class Reduced:
    """The dual after elimination, in the multipliers that are left.

    Attributes
    ----------
    multipliers : dict
        What the multiplier of each part is: itself, or a form of others.
    stationarity : dict
        q + sum_p G_p'y_p by column; it is 0, or enters through P where the column has one.
    linear : AffineForm
        One row, sum_p h_p'y_p.
    kept : list of int
        The parts whose multipliers are variables.
    """

    multipliers: dict[int, AffineForm]
    stationarity: dict[int, AffineForm]
    linear: AffineForm
    kept: list[int]


def eliminate(lagrangian: Lagrangian, *, only_auxiliary: bool = False) -> Reduced:
    """Eliminate what no user's constraint owns, first by auxiliary columns, then by the others.

    q_j + sum_p G_pj'y_p = 0 gives y_k where G_kj has one entry in each row and column; of several
    such k the one whose substitution fills in least. Semidefinite multipliers stay, as their
    symmetry has to be kept.
    """
    parts, columns = lagrangian.parts, lagrangian.columns
    forms = {key: AffineForm(part.form.rows, {key: identity(part.form.rows)}) for key, part in
             enumerate(parts)}  # fmt: skip
    left = {j: lagrangian.stationarity(j) for j in range(len(columns))}
    linear = lagrangian.constants()
    free = {k for k, part in enumerate(parts) if part.constraint is None and not part.symmetric}
    order = sorted(left, key=lambda j: not columns[j].is_auxiliary)
    for j in order:
        if columns[j].quadratic is not None or (only_auxiliary and not columns[j].is_auxiliary):
            continue
        candidates = [
            (_fill(left[j].without(k)), k)
            for k, matrix in left[j].terms.items()
            if k in free and matrix.inverse() is not None
        ]
        if not candidates:
            continue
        _, k = min(candidates)
        inverse = left[j].terms[k].inverse()
        assert inverse is not None
        value = left[j].without(k).after(inverse * -1.0)
        free.discard(k)
        forms = {key: form.substitute(k, value) for key, form in forms.items()}
        left = {key: form.substitute(k, value) for key, form in left.items() if key != j}
        linear = linear.substitute(k, value)
    kept = [k for k, form in forms.items() if k in form.terms]
    kept.sort(key=lambda k: parts[k].constraint is None)
    return Reduced(forms, left, linear, kept)


def _fill(form: AffineForm) -> int:
    return sum(matrix.entries.nnz for matrix in form.terms.values())
