"""Cones and their duals in LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..forms import ONES, AffineForm, identity
from ..lagrangian import Membership
from .notation import affine, against

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
}

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
        tail = forms[1] if member.kind == "max" else forms[1].mostly_positive()
        head = affine(_minus(forms[0]), names)
        kind = kind_of(member, forms[0].rows)
        return [rf"{function_of(kind, affine(tail, names))} \le {head}"]
    inside = r",\ ".join(affine(_minus(form), names) for form in forms)
    return [rf"\left( {inside} \right) \in {NAMED[member.kind]}"]


def dual_membership(
    member: Membership, forms: list[AffineForm], names: Mapping[int, str]
) -> list[str]:
    """The multipliers in the dual cone."""
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
    if member.kind in CONJUGATE:
        tail = affine(forms[1].mostly_positive(), names)
        kind = CONJUGATE[kind_of(member, forms[0].rows)]
        return [rf"{function_of(kind, tail)} \le {shown[0]}"]
    inside = r",\ ".join(shown)
    return [rf"\left( {inside} \right) \in {NAMED[member.kind]}^*"]


def _minus(form: AffineForm) -> AffineForm:
    return form.after(identity(form.rows) * -1.0)
