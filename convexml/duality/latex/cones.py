"""Cones and their duals in LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..forms import ONES, TRANSPOSE, AffineForm, identity
from ..lagrangian import Membership
from .notation import Signed, affine, against, count

FUNCTION = {
    "soc": r"\left\| {} \right\|_2",
    "columns": r"\left\| {} \right\|_{2, \text{columns}}",
    "rows": r"\left\| {} \right\|_{2, \text{rows}}",
    "norm21": r"\left\| {} \right\|_{2, 1}",
    "norm2inf": r"\left\| {} \right\|_{2, \infty}",
    "norm1": r"\left\| {} \right\|_1",
    "norm_inf": r"\left\| {} \right\|_\infty",
    "abs": r"\left| {} \right|",
    "max": r"\max\left( {} \right)",
    "squares": r"\left\| {} \right\|_2^2",
    "square": r"\left( {} \right)^2",
    "logistic": r"\log\left( 1 + e^{{}} \right)",
}

SQUARES, NOT_EVEN = ("squares", "square"), ("max", "logistic")

CONJUGATE = {
    **{kind: kind for kind in ("soc", "columns", "rows", "abs")},
    **{"norm1": "norm_inf", "norm_inf": "norm1"},
}

WHOLE = {"soc": "soc", "norm1": "norm21", "norm_inf": "norm2inf", "max": "norm2inf"}
"""What these functions make of the norms of columns or rows."""

NAMED = {
    "exp": r"\mathcal{K}_{\exp}",
    "pow3d": r"\mathcal{K}_{\mathrm{pow}}",
    "pownd": r"\mathcal{K}_{\mathrm{pow}}",
}


def kind_of(member: Membership, heads: int) -> str:
    """Its kind; of several second-order cones whether their vectors are columns or rows."""
    if member.kind == "soc" and heads > 1:
        return "rows" if member.data == 1 else "columns"
    return member.kind


def function_of(kind: str, inner: str) -> str:
    """The function whose epigraph the cone is, of ``inner``; empty where it is none."""
    return FUNCTION[kind].replace("{}", inner) if kind in FUNCTION else ""


def primal_membership(
    member: Membership, forms: list[AffineForm], names: Callable[[int], str]
) -> list[str]:
    """The constraint, from the forms that enter the Lagrangian (cone arguments times -1)."""
    if member.kind == "free":
        return [against(forms[0], names, "=")]
    if member.kind == "nonneg":
        return [against(forms[0], names, r"\le")]
    if member.kind == "psd":
        return [against(forms[0], names, r"\preceq")]
    if member.kind in FUNCTION:
        tail = forms[1] if member.kind in NOT_EVEN else forms[1].mostly_positive()
        head = affine(_minus(forms[0]), names)
        kind = kind_of(member, forms[0].rows)
        return [rf"{function_of(kind, affine(tail, names))} \le {head}"]
    inside = r",\ ".join(affine(_minus(form), names) for form in forms)
    return [rf"\left( {inside} \right) \in {NAMED[member.kind]}"]


def dual_membership(
    member: Membership, forms: list[AffineForm], names: Mapping[int, str], signed: bool
) -> list[str]:
    """The multipliers in the dual cone; ``signed``: that it is known that the first is >= 0."""
    shown = [affine(form, names) for form in forms]
    if member.kind == "free":
        return []
    if member.kind == "nonneg":
        return [against(_minus(forms[0]), names, r"\le")]
    if member.kind == "psd":
        return [rf"{shown[0]} \succeq 0"]
    if member.kind == "max":
        inner = shown[1] if len(forms[1].terms) == 1 else f"({shown[1]})"
        return [rf"{shown[1]} \ge 0,\quad {ONES}^\top {inner} = {shown[0]}"]
    if member.kind == "logistic":
        return [rf"0 \le {shown[1]} \le {shown[0]}"]
    if member.kind in SQUARES:
        none = [against(forms[1], names, "=")] if forms[0].is_zero else []
        return none if signed else [against(_minus(forms[0]), names, r"\le")]
    if member.kind in CONJUGATE:
        tail = affine(forms[1].mostly_positive(), names)
        kind = CONJUGATE[kind_of(member, forms[0].rows)]
        return [rf"{function_of(kind, tail)} \le {shown[0]}"]
    inside = r",\ ".join(shown)
    return [rf"\left( {inside} \right) \in {NAMED[member.kind]}^*"]


def conjugate(
    member: Membership, forms: list[AffineForm], names: Mapping[int, str]
) -> list[Signed]:
    """What the multipliers (lam, u) of a function take from the dual's value: -(lam f)*(u)."""
    if member.kind not in (*SQUARES, "logistic") or forms[0].is_zero:
        return []
    lam, u = forms[0].common(), forms[1].mostly_positive()
    if member.kind == "logistic":
        terms = (forms[1], forms[0] + _minus(forms[1]))
        return [(-1.0, _entropy(each, lam, names)) for each in terms]
    inner, below = affine(u, names), lam.after(identity(lam.rows) * 4.0)
    if lam.rows > 1:
        return [(-1.0, rf"{ONES}^\top {_over(f'({inner})^2', below, names)}")]
    power = rf"\|{inner}\|_2^2" if u.rows > 1 else f"({inner})^2"
    return [(-1.0, _over(power, below, names))]


def _entropy(form: AffineForm, lam: AffineForm, names: Mapping[int, str]) -> str:
    """The sum of u log(u / lam) over the entries u of a form."""
    shown = affine(form, names)
    inside = f"({shown})" if count(form) > 1 or shown.startswith("-") else shown
    ratio = _over(shown, lam, names)
    ratio = f" {inside}" if ratio == shown else ratio
    return rf"{inside}{'' if form.rows == 1 else TRANSPOSE} \log{ratio}"


def _over(shown: str, form: AffineForm, names: Mapping[int, str]) -> str:
    below = affine(form, names)
    return shown if below == "1" else rf"\frac{{{shown}}}{{{below}}}"


def _minus(form: AffineForm) -> AffineForm:
    return form.after(identity(form.rows) * -1.0)
