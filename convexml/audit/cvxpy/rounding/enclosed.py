"""The objective of a CVXPY problem at its variables' values, with a bound on its rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reading.layout import class_names
from .atoms import curved, monotone
from .twofold import Enclosed, added, divided, exactly, multiplied, negative, summed, times

MOVED = set(
    "Concatenate Hstack Promote Vstack Wrap broadcast_to conj diag_mat diag_vec index reshape "
    "special_index transpose upper_tri".split()
)
"""Atoms that only move entries."""
SIGNED = {"AddExpression", "DivExpression", "NegExpression"}
MATRICES = {"MulExpression", "QuadForm", "Wrap"}
"""Atoms that take sparse arguments as they are."""


def enclosed(expression: Any) -> Enclosed:
    """Evaluate a CVXPY expression at its variables' values, taken as exact.

    Sums and products are carried in twice the digits; other atoms are NumPy's, off by what
    ``atoms`` says.

    Parameters
    ----------
    expression : cvxpy.Expression
        Its variables and parameters have values.
    """
    with np.errstate(all="ignore"):
        found = _walk(expression, {}).full
        # The radii are sums of rounded terms themselves.
        return found._replace(radius=1.01 * found.radius)


def _walk(expression: Any, seen: dict[int, Enclosed]) -> Enclosed:
    found = seen.get(id(expression))
    if found is None:
        if not hasattr(expression, "numeric") or 0 in expression.shape:
            found = exactly(expression.value)
        else:
            found = _atom(expression, [_walk(part, seen) for part in expression.args])
        seen[id(expression)] = found
    return found


def _atom(atom: Any, parts: list[Enclosed]) -> Enclosed:
    names = class_names(atom)
    if not names & MATRICES:
        parts = [part.full for part in parts]
    found = _carried(names, atom, parts)
    if found is None or not found.known:  # too long, or too many orders of magnitude
        parts = [part.full for part in parts]
        positive = names & {"AffAtom", "QuadForm"} and not names & SIGNED
        inner = "MulExpression" in names
        found = monotone(atom, parts, inner) if positive else curved(names, atom, parts)
    if np.shape(found.value) == atom.shape:
        return found
    return Enclosed(*(np.reshape(part, atom.shape) for part in found))


def _carried(names: frozenset[str], atom: Any, parts: list[Enclosed]) -> Enclosed | None:
    """What sums and products make of their arguments; None for others."""
    if names & MOVED:
        return Enclosed(*(atom.numeric(list(part)) for part in zip(*parts, strict=True)))
    if names & {"real", "imag"}:
        value, tail = (atom.numeric([part]) for part in parts[0][:2])
        return Enclosed(value, tail, parts[0].radius)
    if "NegExpression" in names:
        return negative(parts[0])
    if "AddExpression" in names:
        return added(parts)
    if "DivExpression" in names:
        return divided(*parts)
    if "multiply" in names or ("MulExpression" in names and any(p.value.ndim == 0 for p in parts)):
        return multiplied(parts[0].full, parts[1].full)
    if "MulExpression" in names:
        return times(*parts)
    if "Sum" in names:
        return summed(parts[0], _axes(atom), atom.shape)
    if "Trace" in names and parts[0].value.ndim == 2:
        return summed(Enclosed(*(np.diagonal(part) for part in parts[0])), (0,), ())
    if "perspective" in names:
        return _perspective(atom, parts)
    return _quadratic(names, atom, parts)


def _perspective(atom: Any, parts: list[Enclosed]) -> Enclosed | None:
    """s f(x / s), for s = 0 the recession function at x; None where that is not given."""
    scale, variables = Enclosed(*(np.reshape(part, ()) for part in parts[0])), atom.f.variables()
    if scale.value > 0.0:
        inside = [divided(part, scale) for part in parts[1:]]
        known = {id(x): each for x, each in zip(variables, inside, strict=True)}
        return multiplied(scale, _walk(atom.f, known).full)
    if scale.value < 0.0 or atom.f_recession is None:
        return None
    known = {id(x): each for x, each in zip(variables, parts[1:], strict=True)}
    return _walk(atom.f_recession, known).full


def _quadratic(names: frozenset[str], atom: Any, parts: list[Enclosed]) -> Enclosed | None:
    """Squares and quadratic forms in twice the digits; None for other atoms, and complex ones."""
    x = parts[0].full
    if np.iscomplexobj(x.value):
        return None
    if "Power" in names and float(atom.p.value) == 2.0:
        return multiplied(x, x)
    if "quad_over_lin" in names:
        squares = summed(multiplied(x, x), _axes(atom), atom.shape)
        return None if squares is None else divided(squares, parts[1])
    if "QuadForm" in names:
        inner = times(parts[1], x)
        return None if inner is None else times(Enclosed(*(np.transpose(p) for p in x)), inner)
    return None


def _axes(atom: Any) -> tuple[int, ...]:
    every = tuple(range(len(atom.args[0].shape)))
    axes = every if atom.axis is None else atom.axis
    return (axes,) if isinstance(axes, int) else tuple(axes)


def objective_at(problem: Any) -> Enclosed:
    """The objective, three floats; nan outside of its domain."""
    found = enclosed(problem.objective.expr)
    return Enclosed(*(float(np.real(part).ravel()[0]) for part in found))


def without_constant(found: Enclosed, constant: float) -> float:
    """The objective less this constant, which takes no digits from what is left."""
    terms = [exactly(found.value), exactly(-constant), exactly(found.tail)]
    return float(added(terms).value)
