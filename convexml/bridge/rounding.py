"""The objective of a CVXPY problem at its variables' values, with a bound on its rounding."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import entr

from ..certificates.algebra.sums import exact_pair, exact_sum_pair
from ..duality.interface import slopes_of
from ..modelling import cp
from ..numerics import ELEMENTARY, EPS, Array, gamma, two_product, two_sum
from .domain import Domains
from .layout import attribute_violations, class_names, dense

# Numbers in twice the digits with a bound on their error: sums, products, quotients.


CARRIED = 500_000
"""Products up to which sums are rounded once; longer ones are NumPy's."""
SMALL = 1e-280
"""A product below this may have lost digits to underflow."""
LOST = 1e-320
"""How much, at most."""


class Enclosed(NamedTuple):
    """What is within ``radius`` of ``value + tail``, entry by entry.

    A sparse constant has a sparse value, and the other two are the number 0.
    """

    value: Any
    tail: Any
    radius: Any

    @property
    def reach(self) -> Array:
        """How far ``value`` alone may be off."""
        return np.asarray(np.abs(self.tail) + self.radius)

    @property
    def full(self) -> Enclosed:
        """With a dense value."""
        return exactly(dense(self.value)) if sparse.issparse(self.value) else self

    @property
    def known(self) -> bool:
        """Whether all of it is finite."""
        return bool(np.all(np.isfinite(self.tail + self.radius)))


def exactly(value: Any) -> Enclosed:
    """A constant or a variable; sparse matrices stay sparse."""
    if sparse.issparse(value) and value.ndim == 2:
        return Enclosed(sparse.csr_array(value), 0.0, 0.0)
    value = dense(value)
    return Enclosed(value, np.zeros(value.shape), np.zeros(value.shape))


def negative(a: Enclosed) -> Enclosed:
    """-a."""
    return Enclosed(-a.value, -a.tail, a.radius)


def added_twice(parts: list[Enclosed]) -> Enclosed:
    """The sum of arrays, broadcast like NumPy's."""
    total = parts[0]
    for part in parts[1:]:
        value, error = two_sum(total.value, part.value)
        tails = np.abs(total.tail) + np.abs(part.tail) + np.abs(error)
        value, tail = two_sum(value, total.tail + part.tail + error)
        total = Enclosed(value, tail, total.radius + part.radius + EPS * tails)
    return total


def multiplied(a: Enclosed, b: Enclosed) -> Enclosed:
    """The product entry by entry, broadcast like NumPy's."""
    value, error = two_product(a.value, b.value)
    first, second = a.value * b.tail, a.tail * b.value
    radius = np.abs(a.value) * b.radius + a.radius * np.abs(b.value) + a.reach * b.reach
    radius = radius + 2.0 * EPS * (np.abs(error) + np.abs(first) + np.abs(second))
    lost = (a.value != 0.0) & (b.value != 0.0) & (np.abs(value) < SMALL)
    return Enclosed(value, error + first + second, radius + np.where(lost, LOST, 0.0))


def divided(a: Enclosed, b: Enclosed) -> Enclosed:
    """The quotient entry by entry, broadcast like NumPy's; b is away from 0."""
    value = a.value / b.value
    product, error = two_product(value, b.value)
    left, pull = (a.value - product) - error, value * b.tail  # what is left of a is a float
    tail = (left + a.tail - pull) / b.value
    size = np.abs(b.value)
    off = a.radius + np.abs(value) * b.radius + np.abs(tail) * b.reach
    radius = off / np.maximum(size - b.reach, 0.0)
    radius = radius + 4.0 * EPS * (np.abs(left) + np.abs(a.tail) + np.abs(pull)) / size
    small = np.minimum(np.abs(value), np.abs(a.value)) < SMALL
    lost = np.where((a.value != 0.0) & small, LOST * (1.0 + 1.0 / size), 0.0)
    return Enclosed(value, tail, radius + lost)


def times(a: Enclosed, b: Enclosed) -> Enclosed | None:
    """The matrix product of real vectors and matrices; None where it is too long to be carried."""
    left, right = _matrix(a.value, 0), _matrix(b.value, 1)
    work = _count(left) * right.shape[1], _count(right) * left.shape[0]
    real = not (np.iscomplexobj(left) or np.iscomplexobj(right))
    if left.ndim != 2 or right.ndim != 2 or not real or min(work) > CARRIED:
        return None
    if work[0] <= work[1]:
        value, tail = _by_columns(left, dense(right))
    else:
        value, tail = (part.T for part in _by_columns(right.T, dense(left).T))
    radius, share = EPS * np.abs(tail), gamma(left.shape[1] + 4)
    if np.any(b.reach):
        off, step = _matrix(b.radius, 1), _matrix(b.tail, 1)
        tail = tail + left @ step
        radius = radius + abs(left) @ (off + share * np.abs(step))
    if np.any(a.reach):
        off, step = _matrix(a.radius, 0), _matrix(a.tail, 0)
        tail = tail + step @ right
        radius = radius + (off + share * np.abs(step)) @ abs(right)
        if np.any(b.reach):
            radius = radius + _matrix(a.reach, 0) @ _matrix(b.reach, 1)
    shape = (*a.value.shape[:-1], *b.value.shape[1:])
    return Enclosed(*(np.reshape(part, shape) for part in (value, tail, radius + EPS * abs(tail))))


def _matrix(part: Any, axis: int) -> Any:
    """A vector as a row (axis 0) or a column (axis 1)."""
    return np.expand_dims(part, axis) if part.ndim == 1 else part


def _count(matrix: Any) -> int:
    return int(matrix.nnz if sparse.issparse(matrix) else matrix.size)


def _by_columns(left: Any, right: Array) -> tuple[Array, Array]:
    pairs = [exact_pair(left, column) for column in right.T]
    value, tail = (np.stack([pair[k] for pair in pairs], axis=1) for k in (0, 1))
    return value, tail


def summed(a: Enclosed, shape: tuple[int, ...]) -> Enclosed | None:
    """The sum of all entries, in this shape; None where they are too many to be carried."""
    if np.iscomplexobj(a.value) or a.value.size > CARRIED:
        return None
    value, rest = exact_sum_pair(a.value)
    tail = rest + float(a.tail.sum())
    radius = float(a.radius.sum()) + EPS * (abs(rest) + abs(tail))
    radius += gamma(a.value.size) * float(np.abs(a.tail).sum())
    return Enclosed(*(np.full(shape, part) for part in (value, tail, radius)))


# What CVXPY's atoms make of arguments that are off by little, and NumPy's own rounding of them.


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


MOVED = set(
    "Concatenate Hstack Promote Vstack Wrap broadcast_to conj diag_mat diag_vec index reshape "
    "special_index squeeze transpose upper_tri".split()
)
"""Atoms whose every entry is an entry of an argument, or 0."""
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
        return added_twice(parts)
    if "DivExpression" in names:
        return divided(*parts)
    if "multiply" in names or ("MulExpression" in names and any(p.value.ndim == 0 for p in parts)):
        return multiplied(parts[0].full, parts[1].full)
    if "MulExpression" in names:
        return times(*parts)
    if "Sum" in names:
        return summed(parts[0], atom.shape) if atom.size == 1 else None
    if "Trace" in names and parts[0].value.ndim == 2:
        return summed(Enclosed(*(np.diagonal(part) for part in parts[0])), ())
    if "perspective" in names:
        return _perspective(atom, parts)
    # Squares and quadratic forms in twice the digits; None for other atoms, and complex ones.
    x = parts[0].full
    if np.iscomplexobj(x.value):
        return None
    if "Power" in names and float(atom.p.value) == 2.0:
        return multiplied(x, x)
    if "quad_over_lin" in names:
        squares = summed(multiplied(x, x), atom.shape) if atom.size == 1 else None
        return None if squares is None else divided(squares, parts[1])
    if "QuadForm" in names:
        inner = times(parts[1], x)
        return None if inner is None else times(Enclosed(*(np.transpose(p) for p in x)), inner)
    return None


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


def objective_at(problem: Any) -> Enclosed:
    """The objective, three floats; nan outside of its domain."""
    found = enclosed(problem.objective.expr)
    return Enclosed(*(float(np.real(part).ravel()[0]) for part in found))


def without_constant(found: Enclosed, constant: float) -> float:
    """The objective less this constant, which takes no digits from what is left."""
    terms = [exactly(found.value), exactly(-constant), exactly(found.tail)]
    return float(added_twice(terms).value)


# Whether the variables' values meet a problem's constraints exactly, rounding included.


KNOWN = ("nonneg", "nonpos", "bounds")
"""Attributes that are compared here."""
UNSAID = {"perspective"}
"""Atoms that do not say what their domain is."""


def meets_exactly(problem: Any, domains: list[Domains]) -> bool:
    """Whether every inequality, domain and bound holds at the values that stand, for certain.

    ``domains`` are all of the problem's. False says nothing: other constraints and attributes are
    not looked into.
    """
    if not only_inequalities(problem):
        return False
    if not all(_within(variable) for variable in problem.variables()):
        return False
    atoms = [pair for owner in domains for pair in owner.atoms]
    if any(type(atom).__name__ in UNSAID for atom, _ in atoms):
        return False
    try:
        return all(_is_less(each) for each in problem.constraints) and all(
            _is_less(each, strictly=True) for _, inside in atoms for each in inside
        )
    except (ValueError, ArithmeticError, AssertionError):  # an atom has no value here
        return False


def only_inequalities(problem: Any) -> bool:
    """Whether constraints are of the kind that is compared here."""
    return all(isinstance(each, cp.constraints.Inequality) for each in problem.constraints)


def _is_less(constraint: Any, strictly: bool = False) -> bool:
    """Whether an inequality, or ``0 <= expression``, holds; ``strictly``: not as an equation."""
    found = enclosed(constraint.expr)
    value, reach = dense(found.value), (1.0 + 4.0 * EPS) * found.reach
    return bool(np.all(value < -reach if strictly else value <= -reach))


def _within(variable: Any) -> bool:
    """Whether the value is within the attributes, which are of the known ones."""
    given = variable.attributes
    if any(given[name] for name in given if name not in KNOWN):
        return False
    outside = [violated for _, violated, _ in attribute_violations(variable)]
    return bool(np.all(np.isfinite(dense(variable.value)))) and not any(map(np.any, outside))


# Sums of terms, by their sizes and by a power of two that divides them: which are floats.
#
# Summands of a vector of affine expressions are two matrices with a column for each variable and
# one
# for constants: S, the sum of the absolute values of what is added up in an entry, and U, a power
# of two that divides every one of these terms (0: none is known). Where S <= 2^53 U every sum and
# product on the way is a float, in any order; elsewhere it is off by gamma(k) S at most.


SUMMED = 1e-12
"""No inexact sum is said to be closer than this share of its terms."""
MOST = 2.0**53
"""Integers up to this are floats."""


class Summands(NamedTuple):
    """S and U, sparse, rows in Fortran's order; the same for a constant array, of its entries."""

    size: Any
    unit: Any

    def taken(self, rows: Array) -> Summands:
        """These rows."""
        return Summands(self.size[rows], self.unit[rows])

    def scaled(self, size: Array, unit: Array) -> Summands:
        """Each row times a constant."""
        return Summands(sparse.diags_array(size) @ self.size, sparse.diags_array(unit) @ self.unit)


def added(parts: list[Summands]) -> Summands:
    """The sum entry by entry."""
    size, unit = parts[0]
    for part in parts[1:]:
        both = ones(size).multiply(ones(part.size))
        lesser = unit.minimum(part.unit)  # 0 where one of them has no terms, or no unit
        alone = unit + part.unit - (unit + part.unit).multiply(both)
        size, unit = size + part.size, sparse.csr_array(lesser + alone)
    return Summands(sparse.csr_array(size), unit)


def stacked(parts: list[Summands]) -> Summands:
    """One under the other."""
    size, unit = (sparse.vstack(each, format="csr") for each in zip(*parts, strict=True))
    return Summands(size, unit)


def mapped(matrix: Summands, terms: Summands) -> tuple[Summands, int]:
    """C x, and the largest number of terms: one has its own unit, several that of row times column.

    The smallest unit of a row of C times the smallest of a column of x.
    """
    counts = ones(matrix.size) @ ones(terms.size)
    longest = int(counts.max()) if counts.nnz else 0
    size = sparse.csr_array(matrix.size @ terms.size)
    if longest <= 1:
        return Summands(size, sparse.csr_array(matrix.unit @ terms.unit)), longest
    rows = _least(matrix, 1)[np.repeat(np.arange(size.shape[0]), np.diff(size.indptr))]
    unit = size.copy()
    unit.data = rows * _least(terms, 0)[size.indices]
    return Summands(size, unit), longest


def _least(terms: Summands, axis: int) -> Array:
    """The smallest unit in each row (axis 1) or column (axis 0); 0 where one is not known."""
    unit = sparse.coo_array(terms.unit)
    unit.eliminate_zeros()
    found = np.full(terms.size.shape[1 - axis], np.inf)
    np.minimum.at(found, unit.coords[1 - axis], unit.data)
    known = ones(terms.unit).sum(axis=axis) >= ones(terms.size).sum(axis=axis)
    return np.where(known & np.isfinite(found), found, 0.0)


def off(terms: Summands, longest: int) -> Any:
    """What the entries may be off by, sums of up to ``longest`` terms behind them."""
    size = sparse.csr_array(terms.size)
    over = ones(size - size.minimum(MOST * terms.unit))
    return sparse.csr_array(size.multiply(over)) * max(SUMMED, gamma(4.0 * longest))


def ones(matrix: Any) -> Any:
    """1 where an entry is not 0."""
    found = sparse.csr_array(matrix, copy=True)
    found.eliminate_zeros()
    found.data = np.ones(found.data.size)
    return found


def unit_of(value: Array) -> Array:
    """The largest power of two that divides each float; 0 of 0 and where it underflows."""
    mantissa, power = np.frexp(value)
    digits = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)
    with np.errstate(under="ignore"):
        return np.where(value == 0.0, 0.0, np.ldexp((digits & -digits).astype(float), power - 53))


def constant_of(expression: Any) -> Summands:
    """A constant array as it is shaped; the unit is 0 where CVXPY rounds on the way."""
    if not expression.args:
        value = expression.value
        if sparse.issparse(value) and value.ndim <= 2:
            value = sparse.csr_array(value)
            units = value.copy()
            units.data = unit_of(value.data)
            return Summands(abs(value), units)
        value = dense(value)
        return Summands(np.abs(value), unit_of(value))
    found = enclosed(expression).full
    size = np.abs(found.value) + found.reach
    return Summands(size, np.where(found.reach == 0.0, unit_of(size), 0.0))
