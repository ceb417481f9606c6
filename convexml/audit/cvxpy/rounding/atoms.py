"""What CVXPY's atoms make of arguments that are off by little, and NumPy's own rounding of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr

from ....duality.inner import slopes_of
from ....numerics import ELEMENTARY, EPS, Array, gamma
from .twofold import LOST, SMALL, Enclosed

EVEN = {"abs", "norm1", "norm_inf", "Pnorm", "quad_over_lin", "huber"}
"""Functions of the absolute values of their first argument, increasing in each."""
SELECTING = {"abs", "norm_inf", "max", "min", "maximum", "minimum", "cummax"}
"""Atoms without rounding."""
ORDERED = {"exp", "log", "log1p", "logistic", "GeoMean", "sum_largest", "log_sum_exp"}
ORDERED = ORDERED | {"max", "min", "maximum", "minimum", "cummax", "Power"}
"""Functions that are monotone in all of their arguments."""
SPECTRAL = {"lambda_max", "sigma_max", "normNuc", "lambda_sum_largest"}
ENTROPIES = {"entr", "kl_div", "rel_entr"}


def curved(names: frozenset[str], atom: Any, parts: list[Enclosed]) -> Enclosed:
    """The value of an atom that is not affine; of rare ones the radius is of first order.

    Parameters
    ----------
    names : frozenset of str
        Of the atom's classes.
    atom : cvxpy.Atom
    parts : list of Enclosed
        Its arguments.
    """
    values = [part.value for part in parts]
    value = np.asarray(atom.numeric([np.array(part) for part in values]))
    if names & SPECTRAL:
        radius = _spectral(names, atom, parts)
    elif names & ENTROPIES:
        radius = _entropy(names, parts)
    elif "von_neumann_entr" in names:
        radius = _spectral_entropy(parts[0])
    elif names & (EVEN | ORDERED):
        even = bool(names & EVEN) or ("Power" in names and float(atom.p.value) % 2.0 == 0.0)
        radius = _between(names, atom, parts, value, even)
    else:
        radius = _first_order(atom, parts, value)
    return Enclosed(value, np.zeros(value.shape), np.asarray(radius) + np.zeros(value.shape))


def monotone(atom: Any, parts: list[Enclosed], inner: bool = False) -> Enclosed:
    """Sums of products of entries, by NumPy: linear in each argument, no coefficient negative.

    Of matrix products (``inner``) the number of terms is known.
    """
    value = np.asarray(atom.numeric([part.value for part in parts]))
    sizes = [np.abs(part.value) for part in parts]
    small, large = (
        np.real(atom.numeric(ends))
        for ends in (sizes, [s + part.reach for s, part in zip(sizes, parts, strict=True)])
    )
    inner = inner and parts[0].value.ndim > 0  # a number times a vector has one term
    count = parts[0].value.shape[-1] if inner else max(part.value.size for part in parts)
    radius = (large - small) + 4.0 * gamma(2 * count + 8) * large
    used = all(np.any(part) for part in sizes)
    radius = radius + np.where(used & (large < SMALL), count * LOST, 0.0)
    return Enclosed(value, np.zeros(value.shape), radius)


def _between(
    names: frozenset[str], atom: Any, parts: list[Enclosed], value: Array, even: bool
) -> Array:
    """The distance to the values at the ends of the arguments, and their rounding."""
    low: list[Array] = []
    high: list[Array] = []
    for k, part in enumerate(parts):
        off = part.reach
        if even and k == 0:
            size = np.abs(part.value)
            ends = np.maximum(_below(size, off), 0.0), _above(size, off)
        else:
            ends = _below(part.value, off), _above(part.value, off)
        # The denominator of a quadratic over a line: the smaller, the larger the value.
        first, last = ends[::-1] if even and k else ends
        low.append(first)
        high.append(last)
    radius = np.zeros(value.shape)
    for corner in (low, high):
        at = np.asarray(atom.numeric(corner))
        radius = np.maximum(radius, np.abs(at - value) + _rounding(names, atom, corner, at))
    return radius + _rounding(names, atom, [part.value for part in parts], value)


def _below(value: Array, off: Array) -> Array:
    return np.where(off > 0.0, np.nextafter(value - off, -np.inf), value)


def _above(value: Array, off: Array) -> Array:
    return -_below(-value, off)


def _rounding(names: frozenset[str], atom: Any, values: list[Array], value: Array) -> Any:
    """What NumPy's value of an atom at exact arguments may be off by."""
    if names & SELECTING and not np.iscomplexobj(values[0]):
        return 0.0
    count = max(part.size for part in values) // max(value.size, 1) + 1
    if "sum_largest" in names:
        return gamma(count + 4) * np.asarray(atom.numeric([np.abs(values[0])]))
    if "log_sum_exp" in names:
        # The exponents are differences from the largest, rounded; those that matter are small.
        return ELEMENTARY * (4.0 + np.log(count) + 2.0 * np.abs(value)) + gamma(count + 8)
    factors = 20 if "GeoMean" in names else 1  # each is a power itself
    radius = (ELEMENTARY + gamma(factors * count + 8)) * np.abs(value)
    used = names & {"exp", "logistic"} or np.any(values[0])
    lost = np.where(bool(used) & (np.abs(value) < SMALL), count * LOST, 0.0)
    if "Pnorm" in names:  # powers of small entries underflow long before their root is small
        power = max(float(atom.p), 1.0)
        largest = np.max(np.abs(values[0]), axis=atom.axis, keepdims=atom.keepdims)
        tiny = np.abs(value) < SMALL ** (1.0 / power)
        lost = np.where(tiny, count ** (1.0 / min(float(atom.p), 1.0)) * largest, 0.0)
    return radius + lost


def _spectral(names: frozenset[str], atom: Any, parts: list[Enclosed]) -> Array:
    """Of a symmetric function of eigen- or singular values, by Weyl's inequality."""
    rows, columns = parts[0].value.shape[-2:]
    number = 1.0
    if "normNuc" in names:
        number = float(np.sqrt(min(rows, columns)))
    elif "lambda_sum_largest" in names:
        number = float(atom.k)
    off, size = (np.linalg.norm(v, axis=(-2, -1)) for v in (parts[0].reach, parts[0].value))
    return np.asarray(number * (off + 8.0 * max(rows, columns) * EPS * size))


def _entropy(names: frozenset[str], parts: list[Enclosed]) -> Array:
    """Of x log(x / y), with terms x and y or without; y = 1 for the entropy."""
    x, off = parts[0].value, parts[0].reach
    alone = "entr" in names
    y, slack = (np.ones(x.shape), 0.0 * x) if alone else (parts[1].value, parts[1].reach)
    largest, least = _above(x, off) / _below(y, slack), _below(x, off) / _above(y, slack)
    logs = np.maximum(np.abs(np.log(largest)), np.abs(np.log(least)))
    radius = np.where(off > 0.0, (logs + 1.0) * off, 0.0)
    radius = radius + np.where(slack > 0.0, (largest + 1.0) * slack, 0.0)
    terms = np.where(x > 0.0, x * np.abs(np.log(x / y)), 0.0) + x
    return np.asarray(radius + ELEMENTARY * (terms + (0.0 if alone else y)))


def _spectral_entropy(part: Enclosed) -> Array:
    """Of the entropies of eigenvalues, each off by as much as Weyl's inequality allows."""
    matrix, mirrored = part.value, np.conj(part.value.T)
    off = np.linalg.norm(part.reach) + 0.5 * np.linalg.norm(matrix - mirrored)
    off = off + 8.0 * len(matrix) * EPS * np.linalg.norm(matrix)
    values = np.linalg.eigvalsh(0.5 * (matrix + mirrored))
    ends = np.maximum(np.stack([values - off, values + off]), 0.0)
    terms = entr(values)
    away = np.max(np.abs(entr(ends) - terms), axis=0)
    peak = float(np.exp(-1.0))  # where and how high -x log x is highest
    top = np.where((ends[0] < peak) & (ends[1] > peak), peak - terms, 0.0)
    radius = np.maximum(away, top) + ELEMENTARY * (np.abs(terms) + np.abs(values))
    return np.asarray(np.sum(radius) * (1.0 + gamma(values.size + 4)))


def _first_order(atom: Any, parts: list[Enclosed], value: Array) -> Array:
    """By CVXPY's own gradient: what the arguments are off by, and a stable evaluation."""
    radius = 16.0 * EPS * np.abs(value).ravel(order="F")
    try:
        slopes = slopes_of(atom, [part.value for part in parts])
    except (NotImplementedError, ValueError, ArithmeticError, np.linalg.LinAlgError):
        slopes = [None]
    for slope, part in zip(slopes, parts, strict=False):
        # None: no bound is known. CVXPY's 0 for a constant, which was not carried: not finite.
        if not hasattr(slope, "T"):
            return np.full(value.shape, np.inf)
        off, size = part.reach.ravel(order="F"), np.abs(part.value).ravel(order="F")
        size = np.maximum(size, float(np.linalg.norm(size)) / np.sqrt(max(size.size, 1)))
        room = 2.0 * off + 8.0 * np.sqrt(size.size) * EPS * size
        radius = radius + np.asarray(abs(slope).T @ room).ravel()
    return np.asarray(radius).reshape(value.shape, order="F")
