"""The primal in LaTeX: norms instead of their epigraphs, equal forms put in."""

from __future__ import annotations

from ..forms import AffineForm, identity
from ..lagrangian import Lagrangian, Membership
from .cones import NOT_EVEN, WHOLE, function_of, kind_of, primal_membership
from .notation import affine, constant_of, count, join, positive_first, terms_of
from .statement import offset, over, quadratic, statement


class _Primal:
    """What each column is written as: itself, a norm, or the affine form it is equal to."""

    def __init__(self, lagrangian: Lagrangian) -> None:
        self.lagrangian = lagrangian
        self.hidden: set[int] = set()
        self.equal: dict[int, AffineForm] = {}
        self.norms: dict[int, tuple[str, int]] = {}
        atoms = [
            (index, member, [lagrangian.parts[key] for key in member.parts])
            for index, member in enumerate(lagrangian.memberships)
            if lagrangian.parts[member.parts[0]].constraint is None
        ]
        for index, member, parts in atoms:
            if function_of(member.kind, "x"):
                self._name(index, member, parts[0].form)
        for index, member, parts in atoms:
            if member.kind == "free":
                self._define(index, parts[0].form)

    def _name(self, index: int, member: Membership, head: AffineForm) -> None:
        """z_j is a norm where -z_j is the head of its epigraph."""
        for j, matrix in head.terms.items():
            alone = len(head.terms) == 1 and head.constant is None and j not in self.norms
            if alone and self.lagrangian.columns[j].is_auxiliary:
                if matrix.identity_factor() == -1.0:
                    self.norms[j] = (kind_of(member, head.rows), member.parts[1])
                    self.hidden.add(index)

    def _define(self, index: int, form: AffineForm) -> None:
        """z_j = the rest of the equality, for an auxiliary z_j, one in the objective first."""
        columns = self.lagrangian.columns
        for j in sorted(form.terms, key=lambda j: columns[j].quadratic is None):
            inverse = form.terms[j].inverse()
            known = j in self.equal or j in self.norms
            if columns[j].is_auxiliary and inverse is not None and not known:
                value = form.without(j).after(inverse * -1.0)
                if any(j in other.terms or k in value.terms for k, other in self.equal.items()):
                    continue
                self.equal[j] = value
                self.hidden.add(index)
                return

    def form(self, form: AffineForm) -> AffineForm:
        """With the equal forms put in."""
        for j, value in self.equal.items():
            form = form.substitute(j, value)
        return form

    def name(self, j: int) -> str:
        """The column, or the norm that it is the epigraph of."""
        if j not in self.norms:
            return self.lagrangian.columns[j].tex
        kind, key = self.norms[j]
        inner = self.form(self.lagrangian.parts[key].form)
        k, matrix = next(iter(inner.terms.items()), (j, None))
        alone = len(inner.terms) == 1 and inner.constant is None and kind in WHOLE
        if alone and k in self.norms and matrix is not None and matrix.identity_factor() == 1.0:
            if self.norms[k][0] in ("columns", "rows"):  # such as the moduli of complex numbers
                kind, key = WHOLE[kind], self.norms[k][1]
                inner = self.form(self.lagrangian.parts[key].form)
        return function_of(
            kind, affine(inner if kind in NOT_EVEN else inner.mostly_positive(), self.name)
        )


def primal_rows(lagrangian: Lagrangian) -> list[str]:
    """Objective and constraints, a row each."""
    primal = _Primal(lagrangian)
    sign = -1.0 if lagrangian.maximise else 1.0
    linear, squares = AffineForm(1), []
    for j, column in enumerate(lagrangian.columns):
        if column.linear is not None:
            linear = linear + AffineForm(1, {j: column.linear.T})
        if column.quadratic is not None:
            inner = primal.form(
                AffineForm(column.size, {j: identity(column.size)})
            ).mostly_positive()
            squares.append(quadratic(column, affine(inner, primal.name), count(inner)))
    linear = primal.form(linear)
    terms = [*squares, *terms_of(linear, primal.name), *constant_of(linear), *offset(lagrangian)]
    goal = join(positive_first((sign * s, shown) for s, shown in terms))
    given = [
        line
        for index, member in enumerate(lagrangian.memberships)
        if index not in primal.hidden
        for line in primal_membership(
            member, [primal.form(lagrangian.parts[key].form) for key in member.parts], primal.name
        )
    ]
    shown = [c.tex for c in lagrangian.columns if not c.is_auxiliary]
    text = "\n".join([goal, *given])
    shown += [c.tex for c in lagrangian.columns if c.is_auxiliary and c.tex in text]
    word = r"\max" if lagrangian.maximise else r"\min"
    return statement("primal", over(word, shown) + goal, given)
