"""Primal, Lagrangian and dual in LaTeX."""

from __future__ import annotations

from .cones_tex import dual_membership, function_of, primal_membership
from .eliminate import Reduced, eliminate
from .factor import conjugate_factor
from .forms import Form, identity
from .lagrangian import Column, Lagrangian
from .notation import Signed, affine, constant_of, count, join, number, term, terms_of


def render(lagrangian: Lagrangian, reduced: Reduced) -> str:
    """The three statements as one ``aligned`` block."""
    rows = [*_primal(lagrangian), *_lagrangian(lagrangian), *_dual(lagrangian, reduced)]
    body = " \\\\\n".join(rows)
    return f"\\begin{{aligned}}\n{body}\n\\end{{aligned}}"


def _statement(name: str, goal: str, given: list[str]) -> list[str]:
    lines = [rf"\text{{{name}}}\quad & {goal}"]
    for index, line in enumerate(given):
        lines.append(("" if index else r"\text{s.t.}") + rf"\quad & \quad {line}")
    return lines


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


def _primal(lagrangian: Lagrangian) -> list[str]:
    primal = _Primal(lagrangian)
    sign = -1.0 if lagrangian.maximise else 1.0
    linear, quadratic = Form(1), []
    for j, column in enumerate(lagrangian.columns):
        if column.linear is not None:
            linear = linear + Form(1, {j: column.linear.T})
        if column.quadratic is not None:
            inner = primal.form(Form(column.size, {j: identity(column.size)})).mostly_positive()
            quadratic.append(_quadratic(column, affine(inner, primal.name), count(inner)))
    linear = primal.form(linear)
    terms = [*quadratic, *terms_of(linear, primal.name), *constant_of(linear), *_offset(lagrangian)]
    goal = join((sign * s, shown) for s, shown in terms)
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
    return _statement("primal", _over(word, shown) + goal, given)


def _over(word: str, names: list[str]) -> str:
    return rf"{word}_{{{', '.join(names)}}}\ " if names else rf"{word}\ "


def _quadratic(column: Column, inner: str, size: int) -> Signed:
    assert column.quadratic is not None
    factor = column.quadratic.identity_factor()
    if factor is None:
        inner = f"({inner})" if size > 1 else inner
        return 1.0, rf"\tfrac{{1}}{{2}} {inner}^\top {column.quadratic.name} {inner}"
    power = rf"\|{inner}\|_2^2" if column.size > 1 else rf"({inner})^2"
    return 1.0, f"{_half(factor)}{power}"


def _half(factor: float) -> str:
    return r"\tfrac{1}{2} " if factor == 1.0 else f"{number(factor / 2.0)} ".lstrip()


def _offset(lagrangian: Lagrangian) -> list[Signed]:
    value = lagrangian.offset
    return [(1.0 if value > 0 else -1.0, f"{abs(value):.4g}")] if value else []


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
            terms.append(_quadratic(column, tex, 1))
        if column.linear is not None:
            terms.append(term(column.linear.T, tex))
    terms += _offset(lagrangian)
    for key, part in enumerate(lagrangian.parts):
        kept = {j: matrix for j, matrix in part.form.terms.items() if j in columns}
        inner = Form(part.form.rows, kept, part.form.constant)
        multiplier = reduced.multipliers[key]
        if not inner.is_zero and not multiplier.is_zero:
            terms.append(_product(multiplier, names, inner, columns))
    shown = ", ".join(columns.values())
    over = ", ".join(names[key] for key in reduced.kept)
    arguments = "; ".join(part for part in (shown, over) if part)
    flipped = r"\text{ (of } -f \text{)}" if lagrangian.maximise else ""
    return [rf"\text{{Lagrangian}}\quad & L({arguments}) = {join(terms)}{flipped}"]


def _product(
    multiplier: Form, names: dict[int, str], inner: Form, columns: dict[int, str]
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
    if inner.constant is None and len(inner.terms) == 1:
        other, shown = terms_of(inner, columns)[0]
        return sign * other, f"{left} {shown}"
    return sign, f"{left} ({affine(inner, columns)})"


def _dual(lagrangian: Lagrangian, reduced: Reduced) -> list[str]:
    names = {key: part.tex for key, part in enumerate(lagrangian.parts)}
    sign = -1.0 if lagrangian.maximise else 1.0
    terms = [*terms_of(reduced.linear, names), *constant_of(reduced.linear), *_offset(lagrangian)]
    given = []
    for j, form in reduced.stationarity.items():
        quadratic = lagrangian.columns[j].quadratic
        if quadratic is None:
            if not form.is_zero:
                given.append(f"{affine(form.mostly_positive(), names)} = 0")
            continue
        inner = affine(form.mostly_positive(), names)
        factor = quadratic.identity_factor()
        if factor is None:
            power = "-1"
            if conjugate_factor(quadratic.entries)[1].shape[0]:
                power = "+"
                given.append(rf"{inner} \in \mathrm{{range}}({quadratic.name})")
            body = rf"\tfrac{{1}}{{2}} ({inner})^\top {quadratic.name}^{{{power}}} ({inner})"
        else:
            power = rf"\|{inner}\|_2^2" if form.rows > 1 else rf"({inner})^2"
            body = f"{_half(1.0 / factor)}{power}"
        terms.append((-1.0, body))
    for member in lagrangian.memberships:
        given += dual_membership(member, [reduced.multipliers[key] for key in member.parts], names)
    goal = join((sign * s, shown) for s, shown in terms)
    word = r"\min" if lagrangian.maximise else r"\max"
    return _statement("dual", _over(word, [names[key] for key in reduced.kept]) + goal, given)
