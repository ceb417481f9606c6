"""The primal in LaTeX: norms instead of their epigraphs, equal forms put in."""

from __future__ import annotations

from .cones_tex import function_of, primal_membership
from .forms import Form, identity
from .lagrangian import Lagrangian
from .notation import affine, constant_of, count, join, positive_first, terms_of
from .statement_tex import offset, over, quadratic, statement


class _Primal:
    """What each column is written as: itself, a norm, or the affine form it is equal to."""

    def __init__(self, lagrangian: Lagrangian) -> None:
        self.lagrangian = lagrangian
        self.hidden: set[int] = set()
        self.equal: dict[int, Form] = {}
        self.norms: dict[int, tuple[str, int]] = {}
        used = {j: 0 for j in range(len(lagrangian.columns))}
        for index, member in enumerate(lagrangian.memberships):
            parts = [lagrangian.parts[key] for key in member.parts]
            if parts[0].constraint is not None:
                continue
            if member.kind == "free":
                self._define(index, parts[0].form)
            elif function_of(member, "x") and len(parts[0].form.terms) == 1:
                (j, matrix), *_ = parts[0].form.terms.items()
                head = lagrangian.columns[j].is_auxiliary and parts[0].form.constant is None
                if head and matrix.identity_factor() == -1.0 and not used[j]:
                    used[j] += 1
                    self.norms[j] = (member.kind, member.parts[1])
                    self.hidden.add(index)

    def _define(self, index: int, form: Form) -> None:
        """z_j = the rest of the equality, for an auxiliary z_j, one in the objective first."""
        columns = self.lagrangian.columns
        for j in sorted(form.terms, key=lambda j: columns[j].quadratic is None):
            inverse = form.terms[j].inverse()
            if columns[j].is_auxiliary and inverse is not None and j not in self.equal:
                value = form.without(j).after(inverse * -1.0)
                if any(j in other.terms or k in value.terms for k, other in self.equal.items()):
                    continue
                self.equal[j] = value
                self.hidden.add(index)
                return

    def form(self, form: Form) -> Form:
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
        return function_of(
            kind, affine(inner.mostly_positive() if kind != "max" else inner, self.name)
        )


def primal_rows(lagrangian: Lagrangian) -> list[str]:
    """Objective and constraints, a row each."""
    primal = _Primal(lagrangian)
    sign = -1.0 if lagrangian.maximise else 1.0
    linear, squares = Form(1), []
    for j, column in enumerate(lagrangian.columns):
        if column.linear is not None:
            linear = linear + Form(1, {j: column.linear.T})
        if column.quadratic is not None:
            inner = primal.form(Form(column.size, {j: identity(column.size)})).mostly_positive()
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
