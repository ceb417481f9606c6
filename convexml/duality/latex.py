"""Primal, Lagrangian and dual in LaTeX."""

from __future__ import annotations

from .lagrangian import (
    NOT_EVEN,
    WHOLE,
    AffineForm,
    Column,
    Lagrangian,
    Membership,
    Reduced,
    Signed,
    affine,
    conjugate,
    conjugate_factor,
    constant_of,
    count,
    dual_membership,
    eliminate,
    function_of,
    identity,
    join,
    kind_of,
    number,
    positive_first,
    primal_membership,
    term,
    terms_of,
)

# What the statements in LaTeX share.


def statement(name: str, goal: str, given: list[str]) -> list[str]:
    """Name, goal and constraints, a row each."""
    lines = [rf"\text{{{name}}}\quad & {goal}"]
    for index, line in enumerate(given):
        lines.append(("" if index else r"\text{s.t.}") + rf"\quad & \quad {line}")
    return lines


def over(word: str, names: list[str]) -> str:
    """Write "min" or "max" with the variables below it."""
    return rf"{word}_{{{', '.join(names)}}}\ " if names else rf"{word}\ "


def quadratic(column: Column, inner: str, size: int) -> Signed:
    """Half of z'Pz, for z written as ``inner`` with ``size`` terms."""
    assert column.quadratic is not None
    factor = column.quadratic.identity_factor()
    if factor is None:
        inner = f"({inner})" if size > 1 else inner
        return 1.0, rf"\tfrac{{1}}{{2}} {inner}^\top {column.quadratic.name} {inner}"
    power = rf"\|{inner}\|_2^2" if column.size > 1 else rf"({inner})^2"
    return 1.0, f"{half(factor)}{power}"


def half(factor: float) -> str:
    """Half of the factor, as it stands before a square."""
    return r"\tfrac{1}{2} " if factor == 1.0 else f"{number(factor / 2.0)} ".lstrip()


def offset(lagrangian: Lagrangian) -> list[Signed]:
    """The objective's constant as a list of at most one term."""
    value = lagrangian.offset
    return [(1.0 if value > 0 else -1.0, f"{abs(value):.4g}")] if value else []


# The primal in LaTeX: norms instead of their epigraphs, equal forms put in.


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


def render(lagrangian: Lagrangian, reduced: Reduced) -> str:
    """The three statements as one ``aligned`` block."""
    rows = [*primal_rows(lagrangian), *_lagrangian(lagrangian), *_dual(lagrangian, reduced)]
    body = " \\\\\n".join(rows)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _lagrangian(lagrangian: Lagrangian) -> list[str]:
    """L in the columns that elimination leaves; the others have a coefficient of 0."""
    reduced = eliminate(lagrangian, only_auxiliary=True)
    columns = {j: lagrangian.columns[j].tex for j in reduced.stationarity}
    columns = dict(
        sorted(columns.items(), key=lambda pair: lagrangian.columns[pair[0]].is_auxiliary)
    )
    columns = {
        j: tex
        for j, tex in columns.items()
        if not reduced.stationarity[j].is_zero or lagrangian.columns[j].quadratic is not None
    }
    names = {key: part.tex for key, part in enumerate(lagrangian.parts)}
    terms: list[Signed] = []
    for j, tex in columns.items():
        column = lagrangian.columns[j]
        if column.quadratic is not None:
            terms.append(quadratic(column, tex, 1))
        if column.linear is not None:
            terms.append(term(column.linear.T, tex))
    terms += offset(lagrangian)
    for key, part in enumerate(lagrangian.parts):
        kept = {j: matrix for j, matrix in part.form.terms.items() if j in columns}
        inner = AffineForm(part.form.rows, kept, part.form.constant)
        multiplier = reduced.multipliers[key]
        if not inner.is_zero and not multiplier.is_zero:
            terms.append(_product(multiplier, names, inner, columns))
    for member in lagrangian.memberships:
        terms += conjugate(member, [reduced.multipliers[key] for key in member.parts], names)
    shown = ", ".join(columns.values())
    multipliers = ", ".join(names[key] for key in reduced.kept)
    arguments = "; ".join(part for part in (shown, multipliers) if part)
    flipped = r"\text{ (of } -f \text{)}" if lagrangian.maximise else ""
    return [rf"\text{{Lagrangian}}\quad & L({arguments}) = {join(terms)}{flipped}"]


def _product(
    multiplier: AffineForm, names: dict[int, str], inner: AffineForm, columns: dict[int, str]
) -> Signed:
    """y'(G z + h)."""
    left = affine(multiplier, names)
    sign = 1.0
    if count(multiplier) > 1:
        left = f"({left})"
    elif left.startswith("-"):
        sign, left = -1.0, left[1:]
    if not inner.terms and inner.constant is not None:
        other, shown = term(inner.constant.T, left)
        return sign * other, shown
    left = left if inner.rows == 1 else rf"{left}^\top"
    parts = [*terms_of(inner, columns), *constant_of(inner)]
    if all(other < 0 for other, _ in parts):
        sign, inner = -sign, inner.after(identity(inner.rows) * -1.0)
    if inner.constant is None and len(inner.terms) == 1:
        other, shown = terms_of(inner, columns)[0]
        return sign * other, f"{left} {shown}"
    return sign, f"{left} ({affine(inner, columns)})"


def _dual(lagrangian: Lagrangian, reduced: Reduced) -> list[str]:
    names = {key: part.tex for key, part in enumerate(lagrangian.parts)}
    sign = -1.0 if lagrangian.maximise else 1.0
    terms = [*terms_of(reduced.linear, names), *constant_of(reduced.linear), *offset(lagrangian)]
    given = []
    for j, form in reduced.stationarity.items():
        P = lagrangian.columns[j].quadratic
        if P is None:
            if not form.is_zero:
                given.append(f"{affine(form.mostly_positive(), names)} = 0")
            continue
        inner = affine(form.mostly_positive(), names)
        factor = P.identity_factor()
        if factor is None:
            power = "-1"
            if conjugate_factor(P.entries)[1].shape[0]:
                power = "+"
                given.append(rf"{inner} \in \mathrm{{range}}({P.name})")
            body = rf"\tfrac{{1}}{{2}} ({inner})^\top {P.name}^{{{power}}} ({inner})"
        else:
            power = rf"\|{inner}\|_2^2" if form.rows > 1 else rf"({inner})^2"
            body = f"{half(1.0 / factor)}{power}"
        terms.append((-1.0, body))
    for member in lagrangian.memberships:
        forms = [reduced.multipliers[key] for key in member.parts]
        terms += conjugate(member, forms, names)
        given += dual_membership(member, forms, names, lagrangian.is_signed(forms[0]))
    goal = join(positive_first((sign * s, shown) for s, shown in terms))
    word = r"\min" if lagrangian.maximise else r"\max"
    return statement("dual", over(word, [names[key] for key in reduced.kept]) + goal, given)
