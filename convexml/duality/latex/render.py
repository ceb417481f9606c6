"""Primal, Lagrangian and dual in LaTeX."""

from __future__ import annotations

from ..eliminate import Reduced, eliminate
from ..forms import AffineForm, identity
from ..lagrangian import Lagrangian, conjugate_factor
from .cones import conjugate, dual_membership
from .notation import Signed, affine, constant_of, count, join, positive_first, term, terms_of
from .primal import primal_rows
from .statement import half, offset, over, quadratic, statement


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
