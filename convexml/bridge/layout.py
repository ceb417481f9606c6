"""Where the variables and the multipliers of a CVXPY problem stand in its conic form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..duality.canonical import Canonical, bound_value
from ..duality.interface import full_value, real_and_imaginary, reduced_value, renamed
from ..modelling import cp
from ..numerics import Array
from ..problem.cones import Cone, ConeProgram, ExponentialCone, Power, SecondOrder, Semidefinite

# The multiplier of a Hermitian constraint X >> 0 in the rows of its real form.


def hermitian_map(program: ConeProgram, read: Any, order: int) -> Any:
    """The map from y to the dual value Y, by all four blocks of the real form.

    CVXPY poses [[Re X, -Im X], [Im X, Re X]] >> 0 with the multiplier D, and reads
    Y = 2 (D_11 + i D_21). The two other blocks say the same of the D that has the structure of
    the real form, and an average over the four is what can be lifted to such a D:
    Y = D_11 + D_22 + i (D_21 - D_12).

    Parameters
    ----------
    program : ConeProgram
        The conic form.
    read : sparse array
        CVXPY's map: it names one row of the block at least.
    order : int
        The order n of X.

    Returns
    -------
    sparse array, shape (2 n^2, m)
        Real parts in C order, then imaginary ones; ``read`` where there is no such block.
    """
    row = int(read.tocoo().col[0])
    for cone, part in program.blocks:
        if isinstance(cone, Semidefinite) and part.start <= row < part.stop:
            break
    else:
        return read
    if cone.order != 2 * order:
        return read
    column, line = np.tril_indices(2 * order)  # the upper triangle column by column
    place = np.zeros((2 * order, 2 * order), dtype=int)
    place[line, column] = place[column, line] = part.start + np.arange(column.size)
    at = np.arange(order**2)
    i, j = np.divmod(at, order)
    half, scale = np.full(at.size, np.sqrt(0.5)), np.where(i == j, 1.0, np.sqrt(0.5))
    blocks = place[i, j], place[order + i, order + j], place[order + i, j], place[i, order + j]
    rows, columns = np.concatenate([at, at, at + at.size, at + at.size]), np.concatenate(blocks)
    values = np.concatenate([scale, scale, half, -half])
    return sparse.csr_array((values, (rows, columns)), shape=(2 * order**2, program.b.size))


GOLDEN, SAME = 0.5 * (1.0 + np.sqrt(5.0)), 1e-12
"""The fractions of n multiples are about 1 / n apart; up to this they are the same."""


@dataclass(frozen=True)
class Columns:
    """A variable, or the real or imaginary part of one: x[columns] = read(value)."""

    variable: Any
    columns: Array
    imaginary: bool


def parts_of(canonical: Canonical, problem: Any) -> list[Columns]:
    """The columns of every variable; one that CVXPY eliminated has none."""
    found = []
    for variable in problem.variables():
        for new, imaginary in _split(canonical, variable):
            start = canonical.columns.get(renamed(canonical.reductions, new.id))
            if start is not None:
                size = reduced_value(new, np.zeros(new.shape)).size
                found.append(Columns(variable, np.arange(start, start + size), imaginary))
    return found


def read_part(canonical: Canonical, part: Columns, value: Any) -> Array:
    """The entries of x that stand for this value of the variable."""
    value = dense(value)
    real_and_imaginary = _split(canonical, part.variable)
    new = next(new for new, imaginary in real_and_imaginary if imaginary == part.imaginary)
    piece = np.imag(value) if part.imaginary else np.real(value)
    if part.imaginary and part.variable.is_hermitian():
        return piece[np.triu_indices(piece.shape[0], k=1)]
    return reduced_value(new, piece)


def expand_variable(canonical: Canonical, parts: list[Columns], variable: Any, x: Array) -> Array:
    """The inverse of ``read_part`` over all parts of a variable; zeros where it has none."""
    value: Array = np.zeros(variable.shape, dtype=complex if variable.is_complex() else float)
    for part in parts:
        if part.variable is not variable:
            continue
        entries = x[part.columns]
        if part.imaginary and variable.is_hermitian():
            upper = np.zeros(variable.shape)
            upper[np.triu_indices(variable.shape[0], k=1)] = entries
            piece = upper - upper.T
        else:
            split = _split(canonical, variable)
            new = next(new for new, imaginary in split if imaginary == part.imaginary)
            piece = dense(full_value(new, entries))
        value = value + (1j * piece if part.imaginary else piece)
    return value


@cache
def _names(kind: Any) -> frozenset[str]:
    return frozenset(base.__name__ for base in kind.__mro__)


def class_names(node: Any) -> frozenset[str]:
    """The names of an expression's class and of its bases, by which atoms are told apart."""
    kind: Any = type(node)
    return _names(kind)


def dense(value: Any) -> Array:
    """A NumPy array of whatever CVXPY gives."""
    return np.asarray(value.toarray() if sparse.issparse(value) else value)


def _split(canonical: Canonical, variable: Any) -> list[tuple[Any, bool]]:
    pair = real_and_imaginary(canonical.reductions, variable)
    if pair is None:
        return [(variable, False)]
    both = zip(pair, (False, True), strict=True)
    return [(new, imaginary) for new, imaginary in both if new is not None]


@dataclass(frozen=True)
class MultiplierMap:
    """vec(dual values of a constraint) = matrix @ y, entries in C order, imaginary parts last."""

    constraint: Any
    matrix: Any

    @cached_property
    def rows(self) -> Array:
        """The entries of y that these dual values depend on."""
        return np.unique(self.matrix.indices)

    @cached_property
    def is_selection(self) -> bool:
        """Whether each dual value is a multiple of one entry of y, and no two of the same."""
        matrix = self.matrix
        alone = matrix.nnz == matrix.shape[0] == self.rows.size and np.all(matrix.data)
        return bool(alone and np.all(np.diff(matrix.indptr) == 1))

    def lift(self, values: Array) -> tuple[Array, float]:
        """The least y[rows] with these dual values, and what they ask for beyond the range."""
        if self.is_selection:
            y = np.zeros(self.matrix.shape[1])
            y[self.matrix.indices] = values / self.matrix.data
            return y[self.rows], 0.0
        matrix = self.matrix.tocsc()[:, self.rows]
        inner = (matrix.T @ matrix).tocsr()
        if abs(inner - sparse.diags_array(inner.diagonal())).max() < 1e-12:
            y = (matrix.T @ values) / inner.diagonal()
        else:
            y = np.linalg.lstsq(matrix.toarray(), values, rcond=None)[0]
        return y, float(np.max(np.abs(matrix @ y - values), initial=0.0))


def dual_values(constraint: Any) -> Array | None:
    """The dual values that stand in a constraint, as one vector; None where one is missing."""
    values = [variable.value for variable in constraint.dual_variables]
    return None if any(value is None for value in values) else _flat(constraint, values)


def _flat(constraint: Any, values: list[Any]) -> Array:
    flat = np.concatenate([np.zeros(0), *(dense(value).ravel() for value in values)])
    if any(argument.is_complex() for argument in constraint.args):
        return np.concatenate([np.real(flat), np.imag(flat)])
    return np.asarray(np.real(flat), dtype=float)


def multiplier_maps(canonical: Canonical, problem: Any) -> list[MultiplierMap]:
    """The maps of the constraints that have dual values, found by asking for those of some y.

    Every dual value is a multiple of one entry of y: that of ones tells the multiples, and one
    whose entries have no other relation (multiples of the golden ratio, modulo 1) tells which
    entries, and that there are no others. A constraint of other dual values has no map.
    """
    size = canonical.program.b.size
    spread = 1.0 + np.modf(GOLDEN * np.arange(1.0, size + 1.0))[0]
    order = np.argsort(spread)
    probes = [np.ones(size), spread]
    answers = [_answers(canonical, problem, y) for y in probes]
    found = []
    for constraint in problem.constraints:
        ones, other = (answer.get(constraint.id) for answer in answers)
        if ones is None or other is None:
            continue
        used = np.flatnonzero(ones)
        ratio = other[used] / ones[used]
        rows = order[np.searchsorted(spread, ratio * (1.0 - SAME), sorter=order).clip(max=size - 1)]
        alone = np.all(np.abs(ratio - spread[rows]) <= SAME) and not np.any(other[ones == 0.0])
        if alone:
            starts = np.append(0, np.cumsum(ones != 0.0))
            matrix = sparse.csr_array((ones[used], rows, starts), shape=(ones.size, size))
            found.append(MultiplierMap(constraint, matrix))
    return [_completed(canonical, item) for item in found]


def _completed(canonical: Canonical, item: MultiplierMap) -> MultiplierMap:
    """A Hermitian constraint has its multiplier in more rows than CVXPY reads."""
    constraint = item.constraint
    complex_ = isinstance(constraint, cp.constraints.PSD) and constraint.args[0].is_complex()
    if not complex_ or constraint.args[0].ndim != 2 or item.rows.size == 0:
        return item
    order = constraint.args[0].shape[0]
    return MultiplierMap(constraint, hermitian_map(canonical.program, item.matrix, order))


def _answers(canonical: Canonical, problem: Any, y: Array) -> dict[int, Array]:
    """The dual values that CVXPY makes of y, by constraint id; those that are there stay."""
    _, duals = canonical.recover(np.zeros(canonical.program.q.size), y)
    found = {}
    for constraint in problem.constraints:
        raw = duals.get(constraint)
        if raw is None:
            continue
        kept = [variable.value for variable in constraint.dual_variables]
        constraint.save_dual_value(raw)
        values = dual_values(constraint)
        for variable, value in zip(constraint.dual_variables, kept, strict=True):
            variable.save_value(value)
        if values is not None:
            found[constraint.id] = values
    return found


# How far the values of CVXPY's variables are outside of their constraints, in NumPy.


def constraint_violation(constraint: Any) -> Array:
    """One distance for each entry of an (in)equality, one for each cone of another constraint.

    Entries in C order; imaginary parts after the real ones.
    """
    args = [dense(argument.value) for argument in constraint.args]
    match constraint:
        case cp.constraints.Inequality():
            return _positive(args[0] - args[1])
        case cp.constraints.NonPos():
            return _positive(args[0])
        case cp.constraints.NonNeg():
            return _positive(-args[0])
        case cp.constraints.Equality():
            return _both(args[0] - args[1])
        case cp.constraints.Zero():
            return _both(args[0])
        case cp.constraints.PSD():
            return _indefinite(args[0])
        case cp.constraints.SOC():
            vectors = args[1].reshape(-1, 1) if args[1].ndim < 2 else args[1]
            vectors = vectors.T if constraint.axis == 0 or args[1].ndim < 2 else vectors
            vectors = np.concatenate([vectors.real, vectors.imag], axis=1)
            cone: Cone = SecondOrder(vectors.shape[1] + 1)
            return _each(cone, np.column_stack([args[0].ravel(), vectors]))
        case cp.constraints.ExpCone():
            return _each(ExponentialCone(), np.column_stack([part.ravel() for part in args]))
        case cp.constraints.PowCone3D():
            alphas = np.broadcast_to(dense(constraint.alpha.value).ravel(), args[0].size)
            points = np.column_stack([part.ravel() for part in args])
            return np.concatenate(
                [
                    Power(3, (float(alpha), 1.0 - float(alpha))).distance(point)
                    for alpha, point in zip(alphas, points, strict=True)
                ]
            )
        case cp.constraints.PowConeND():
            weights = dense(constraint.alpha.value)
            columns = args[0] if constraint.axis == 0 else args[0].T
            weights = weights if constraint.axis == 0 else weights.T
            columns = columns.reshape(columns.shape[0], -1)
            weights = weights.reshape(columns.shape)
            return np.concatenate(
                [
                    Power(w.size + 1, tuple(map(float, w))).distance(np.append(column, last))
                    for w, column, last in zip(weights.T, columns.T, args[1].ravel(), strict=True)
                ]
            )
    return np.atleast_1d(np.asarray(constraint.violation(), dtype=float)).ravel()


def names_of(variables: list[Any]) -> dict[int, str]:
    """The name of each variable by id; a second one of the same name gets its number."""
    names: dict[int, str] = {}
    for variable in variables:
        name = variable.name()
        names[variable.id] = f"{name}#{variable.id}" if name in names.values() else name
    return names


def side_of(variable: Any, lower: bool) -> str:
    """The attribute that bounds a variable from below, or from above; "" where it has none."""
    for kind in ("nonneg", "pos") if lower else ("nonpos", "neg"):
        if variable.attributes[kind]:
            return kind
    return f"{'lower' if lower else 'upper'} bounds" if variable.attributes["bounds"] else ""


def attribute_violations(variable: Any) -> Iterator[tuple[str, Array, Array]]:
    """(attribute, violations, limits) of each convex attribute of a variable that has a value.

    A limit is the absolute value of a bound, 0 where the attribute has none.
    """
    value, attributes = dense(variable.value), variable.attributes
    none = np.zeros(1)
    for name, sign in (("nonneg", -1.0), ("pos", -1.0), ("nonpos", 1.0), ("neg", 1.0)):
        if attributes[name]:
            yield name, _positive(sign * value), none
    for name, sign in (("PSD", 1.0), ("NSD", -1.0)):
        if attributes[name]:
            yield name, _indefinite(sign * value), none
    other = np.swapaxes(value, -2, -1) if value.ndim > 1 else value
    if attributes["symmetric"] or attributes["PSD"] or attributes["NSD"]:
        if not variable.is_complex():
            yield "symmetric", np.abs(value - other).ravel(), none
    if variable.is_complex() and variable.is_hermitian():
        yield "hermitian", np.abs(value - other.conj()).ravel(), none
    if attributes["diag"]:
        yield "diag", np.abs(value - np.diag(np.diag(value))).ravel(), none
    if attributes["imag"]:
        yield "imag", np.abs(np.real(value)).ravel(), none
    if attributes["bounds"]:
        for name, bound, sign in zip(
            ("lower bounds", "upper bounds"),
            variable.attributes["bounds"],
            (-1.0, 1.0),
            strict=True,
        ):
            limit = np.broadcast_to(bound_value(bound), value.shape)
            finite = np.isfinite(limit)
            if np.any(finite):
                size = np.where(finite, np.abs(limit), 0.0)
                limit = np.where(finite, limit, value)
                yield name, _positive(sign * (value - limit)), size.ravel()


def _positive(value: Array) -> Array:
    return np.maximum(np.real(value), 0.0).ravel()


def _both(value: Array) -> Array:
    if np.iscomplexobj(value):
        return np.abs(np.concatenate([value.real.ravel(), value.imag.ravel()]))
    return np.abs(value).ravel()


def _indefinite(value: Array) -> Array:
    """Frobenius distances of the Hermitian parts to the semidefinite matrices."""
    value = value.reshape(1, 1) if value.ndim == 0 else value
    matrices = value.reshape(-1, *value.shape[-2:])
    half = 0.5 * (matrices + np.conj(np.swapaxes(matrices, -2, -1)))
    return np.linalg.norm(np.minimum(np.linalg.eigvalsh(half), 0.0), axis=-1)


def _each(cone: Cone, points: Array) -> Array:
    return np.concatenate([cone.distance(point) for point in points])


# The sizes that the violations of a constraint count against: each entry's, each cone's own.


KEPT = {"NegExpression", "real", "imag"}
"""Affine atoms that leave the sizes of their terms as they are."""


def cone_numbers(constraint: Any) -> list[Array] | None:
    """For each argument, which cone its entries belong to; None for an (in)equality.

    Cones are numbered as ``constraint_violation`` lists them.
    """
    shapes = [argument.shape for argument in constraint.args]
    match constraint:
        case cp.constraints.SOC():
            count = max(constraint.args[0].size, 1)
            return [np.arange(count).reshape(shapes[0]), _along(count, shapes[1], constraint.axis)]
        case cp.constraints.PowConeND():
            count = max(constraint.args[1].size, 1)
            return [_along(count, shapes[0], constraint.axis), np.arange(count).reshape(shapes[1])]
        case cp.constraints.ExpCone() | cp.constraints.PowCone3D():
            return [np.arange(constraint.args[0].size).reshape(shape) for shape in shapes]
        case cp.constraints.PSD():
            batch = shapes[0][:-2]
            numbers = np.arange(int(np.prod(batch))).reshape(*batch, 1, 1)
            return [np.broadcast_to(numbers, shapes[0])]
    return None


def _along(count: int, shape: Sequence[int], axis: int) -> Array:
    """One number for each vector along ``axis``."""
    if len(shape) < 2:
        return np.zeros(shape, dtype=int)
    return np.broadcast_to(
        np.arange(count)[None, :] if axis == 0 else np.arange(count)[:, None], shape
    )


def gathered(constraint: Any, parts: Sequence[Array], count: int) -> Array:
    """The largest of these sizes behind each violation; ``parts`` are shaped as the arguments."""
    numbers = cone_numbers(constraint)
    if numbers is not None:
        found = np.zeros(count)
        for number, part in zip(numbers, parts, strict=True):
            np.maximum.at(found, number.ravel(), np.abs(part).ravel())
        return found
    size = np.max([np.abs(part).ravel() for part in np.broadcast_arrays(*parts)], axis=0)
    if 2 * size.size == count:  # real and imaginary part of one equation share it
        return np.tile(size, 2)
    return np.asarray(size) if size.size == count else np.full(count, np.max(size, initial=0.0))


def value_sizes(constraint: Any, count: int) -> Array:
    """The size of what stands behind each violation, from the arguments' values."""
    return gathered(constraint, [dense(argument.value) for argument in constraint.args], count)


def row_sizes(constraint: Any, matrix: Any, size: Array, count: int) -> Array:
    """The sizes of the rows of the conic form behind each violation.

    Parameters
    ----------
    constraint : cvxpy.Constraint
    matrix : sparse array
        Of its ``MultiplierMap``.
    size : array, shape (m,)
        Of the rows of the conic form.
    count : int
        The number of violations.
    """
    numbers = cone_numbers(constraint)
    if numbers is None and matrix.shape[0] == count and np.all(np.diff(matrix.indptr) == 1):
        return np.abs(size[matrix.indices])
    used = sparse.csr_array((matrix != 0).astype(float))
    entries = np.arange(count)
    if numbers is not None:
        entries = np.concatenate([number.ravel() for number in numbers])
        if used.shape[0] == 2 * entries.size:  # imaginary parts last
            entries = np.tile(entries, 2)
    if entries.size == used.shape[0] and np.max(entries, initial=-1) < count:
        shape = (count, entries.size)
        pick = sparse.csr_array((np.ones(entries.size), (entries, np.arange(entries.size))), shape)
        behind = sparse.csr_array((pick @ used) != 0)
        if np.all(np.diff(behind.indptr) > 0):
            rows = sparse.csr_array(behind.astype(float))
            rows.data = size[rows.indices]
            if rows.nnz == count:
                return np.abs(rows.data)
            return np.array([np.linalg.norm(rows.data[a:b]) for a, b in _ends(rows)])
    return np.full(count, float(np.linalg.norm(size[np.unique(used.tocoo().col)])))


def _ends(rows: Any) -> list[tuple[int, int]]:
    return list(zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True))


def term_sizes(expression: Any) -> Array:
    """The value of an affine expression with the signs of all its terms taken away."""
    names = class_names(expression)
    if "AffAtom" not in names or 0 in expression.shape:
        return np.abs(dense(expression.value))
    parts = [term_sizes(part) for part in expression.args]
    found = parts[0] if names & KEPT else expression.numeric(parts)
    return np.reshape(np.abs(dense(found)), expression.shape)
