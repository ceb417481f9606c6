"""From a CVXPY problem to its Lagrangian. Import this module only where CVXPY is needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from ..errors import InputError
from ..numerics import Array
from .canonical import UNWRITTEN, Owner, attribute_constraints, to_real
from .checking import absent_bounds, check_problem, require_problem, unvalued
from .interface import (
    Coefficients,
    evaluated,
    in_cones,
    minimised,
    quadratic_factor,
    symbolic_square,
)
from .lagrangian import (
    TRANSPOSE,
    AffineForm,
    Column,
    Lagrangian,
    Membership,
    Part,
    Reduced,
    Symbols,
    conjugate_factor,
    is_plain,
    letter_of,
    named,
    symbol,
)

# The dual as a CVXPY problem. Import this module only where CVXPY is needed.


DENSE = 1000
"""Matrices smaller than this, squared, are handed to CVXPY as dense arrays."""


def _squares(lam: Any, u: Any) -> Any:
    if lam.size == 1:
        return cp.quad_over_lin(u, 4.0 * lam)
    return cp.sum([cp.quad_over_lin(u[i], 4.0 * lam[i]) for i in range(lam.size)])


def _entropy(lam: Any, u: Any) -> Any:
    return cp.sum(cp.rel_entr(u, lam) + cp.rel_entr(lam - u, lam))


CONJUGATES: dict[str, Any] = {"squares": _squares, "square": _squares, "logistic": _entropy}
"""Of a function that is not homogeneous: (lam function)*(u), lam times the conjugate at u / lam."""


def assemble(lagrangian: Lagrangian, reduced: Reduced) -> tuple[Any, dict[int, Any]]:
    """Pose the dual; returns the problem and the variable of each part that is left."""
    parts = lagrangian.parts
    variables = {
        key: cp.Variable(parts[key].shape, name=parts[key].name, symmetric=parts[key].symmetric)
        for key in reduced.kept
    }

    def expression(form: AffineForm, shape: tuple[int, ...] | None = None) -> Any:
        found: Any = None if form.terms and form.constant is None else form.constant_vector()
        for key, matrix in form.terms.items():
            term = _product(matrix, _vec(variables[key]))
            found = term if found is None else found + term
        found = found if isinstance(found, cp.Expression) else cp.Constant(found)
        return found if shape in (None, found.shape) else cp.reshape(found, shape, order="F")

    def multiplier(key: int) -> Any:
        if key in variables:
            return variables[key]
        return expression(reduced.multipliers[key], parts[key].shape)

    constant = lagrangian.offset + reduced.linear.constant_vector()[0]
    terms = [
        matrix.entries.toarray()[0] @ _vec(variables[key])
        for key, matrix in reduced.linear.terms.items()
    ]
    value: Any = sum(terms[1:], terms[0]) if terms else cp.Constant(constant)
    if terms and constant:
        value = value + constant
    constraints: list[Any] = []
    for member in lagrangian.memberships:
        if member.kind not in CONJUGATES:
            continue
        lam, u = (reduced.multipliers[key] for key in member.parts)
        used = lam.used()
        of_u = used if lam.rows == u.rows else np.repeat(used, u.rows)
        limits = [] if used.all() else [expression(u)[~of_u] == 0]
        if member.kind != "logistic" and not lagrangian.is_signed(lam):
            limits.append(expression(lam) >= 0)
        constraints += [each.set_label(f"{member.label}: domain") for each in limits]
        if used.any():
            lam, u = lam.only(used).common(), u.only(of_u)
            value = value - CONJUGATES[member.kind](expression(lam), expression(u))
    for j, form in reduced.stationarity.items():
        column = lagrangian.columns[j]
        label = f"stationarity of {column.name}"
        if column.quadratic is None:
            if not form.is_zero:
                constraints.append((expression(form) == 0).set_label(label))
            continue
        factor, null = conjugate_factor(column.quadratic.entries)
        scale, inner = 0.5, expression(form.mostly_positive())
        multiple = named(factor, "F").identity_factor()
        if multiple is None:
            inner = factor @ inner
        else:
            scale *= multiple**2
        value = value - scale * cp.sum_squares(inner)
        if null.shape[0]:
            constraints.append((null @ expression(form) == 0).set_label(label))
    for member in lagrangian.memberships:
        members = list(_membership(member, [multiplier(key) for key in member.parts]))
        for index, constraint in enumerate(members, start=1):
            ending = f" ({index})" if len(members) > 1 else ""
            constraints.append(constraint.set_label(f"{member.label}: dual cone{ending}"))
    goal = cp.Minimize(-value) if lagrangian.maximise else cp.Maximize(value)
    return (_Deep if any(y.ndim > 2 for y in variables.values()) else cp.Problem)(
        goal, constraints
    ), variables


class _Deep(cp.Problem):
    """With multipliers of more than two axes, of which CVXPY warns that one backend lacks them."""

    def solve(self, *args: Any, **options: Any) -> Any:
        """As ``cvxpy.Problem.solve``, by the backend that has them."""
        return super().solve(*args, **{"canon_backend": cp.SCIPY_CANON_BACKEND} | options)


def _vec(variable: Any) -> Any:
    return variable if variable.ndim == 1 else cp.vec(variable, order="F")


def _product(matrix: Any, vector: Any) -> Any:
    """The identity, a number or a dense matrix where that reads better than a sparse one."""
    factor = matrix.identity_factor()
    if factor is not None:
        return {1.0: vector, -1.0: -vector}.get(factor, factor * vector)
    entries = matrix.entries
    return (entries.toarray() if max(entries.shape) <= DENSE else entries) @ vector


def _membership(member: Membership, y: list[Any]) -> Iterator[Any]:
    match member.kind:
        case "nonneg":
            yield y[0] >= 0
            if member.data is not None:
                yield cp.multiply(member.data, y[0]) == 0
        case "psd":
            yield y[0] >> 0
        case "soc":
            axis = member.data if y[1].ndim == 2 else None
            yield cp.norm(y[1], 2, axis=axis) <= (y[0] if axis is not None else cp.sum(y[0]))
        case "abs":
            yield cp.abs(y[1]) <= y[0]
        case "norm1":
            yield cp.norm_inf(y[1]) <= cp.sum(y[0])
        case "norm_inf":
            yield cp.norm1(y[1]) <= cp.sum(y[0])
        case "logistic":
            yield y[1] >= 0
            yield y[1] <= y[0]
        case "max":
            yield y[1] >= 0
            yield cp.sum(y[1]) == cp.sum(y[0])
        case "exp":
            yield cp.ExpCone(-y[1], -y[0], np.e * y[2])
        case "pow3d":
            alpha: Any = np.reshape(member.data, y[0].shape)
            alpha = alpha if alpha.ndim else float(alpha)
            yield cp.PowCone3D(y[0] / alpha, y[1] / (1.0 - alpha), y[2], alpha)
        case "pownd":
            alpha, axis = member.data
            yield cp.PowConeND(y[0] / alpha, y[1], alpha, axis=axis)


# Functions kept whole: their epigraph is one constraint, not cones and auxiliary variables.
#
# Import this module only where CVXPY is needed: it loads it.


class Epigraph(cp.Constraint):
    """{(t, X): function(X) <= t}; the function is a key of ``HEADS``, or "square".

    The multipliers (lam, u) of -t and X have lam >= 0 and a price (lam function)*(u). Of what is
    homogeneous it is 0, for abs(u) <= lam entry by entry, |u|_inf <= lam, |u|_1 <= lam, and
    u >= 0 with sum(u) = lam; of others it is in ``assemble.CONJUGATES``.
    """

    def __init__(self, t: Any, X: Any, function: str, constr_id: int | None = None) -> None:
        self.function = function
        super().__init__([t, X], constr_id)

    def get_data(self) -> Any:
        """What a copy needs besides the arguments."""
        return [self.function, self.id]

    def name(self) -> str:
        """As CVXPY writes constraints."""
        return f"{self.function}({self.args[1]}) <= {self.args[0]}"

    def is_dcp(self, dpp: bool = False) -> bool:
        """Whether the arguments are affine."""
        return all(arg.is_affine() for arg in self.args)

    def is_dgp(self, dpp: bool = False) -> bool:
        """No."""
        return False

    def is_dqcp(self) -> bool:
        """As ``is_dcp``."""
        return self.is_dcp()

    @property
    def residual(self) -> None:
        """Not needed: nobody solves with this constraint."""
        return None


def _whole(expr: Any, args: Any) -> Any:
    return args[0] if getattr(expr, "axis", None) is None else None


def _over_number(expr: Any, args: Any) -> Any:
    whole = expr.axis is None and args[1].is_constant()
    return args[0] / np.sqrt(args[1].value.item()) if whole else None


def _root(expr: Any, args: Any) -> Any:
    factor = quadratic_factor(args[1].value)
    return None if factor is None else factor @ args[0]


def _of_square(expr: Any, args: Any) -> Any:
    return args[0] if expr.p_used == 2 else None


HEADS: dict[Any, tuple[str, Callable[[Any, Any], Any]]] = {
    cp.abs: ("abs", _whole),
    cp.norm1: ("norm1", _whole),
    cp.norm_inf: ("norm_inf", _whole),
    cp.max: ("max", _whole),
    cp.logistic: ("logistic", _whole),
    cp.quad_over_lin: ("squares", _over_number),
    cp.QuadForm: ("squares", _root),
    cp.Power: ("square", _of_square),
    cp.PowerApprox: ("square", _of_square),
}
"""Atom: the function it is, and of what argument; CVXPY's way where that is None."""


def _epigraph(function: str, shape: Any, X: Any) -> tuple[Any, list[Any]]:
    t = cp.Variable(shape)
    return t, [Epigraph(cp.vec(t, order="F"), cp.vec(X, order="F"), function)]


def _head(
    function: str, argument: Callable[[Any, Any], Any]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replace an atom by the head of its epigraph."""

    def make(default: Callable[..., Any]) -> Callable[..., Any]:
        def canonicalize(expr: Any, args: Any, solver_context: Any = None) -> Any:
            X = argument(expr, args)
            if X is None:
                return default(expr, args, solver_context=solver_context)
            return _epigraph(function, expr.shape, X)

        return canonicalize

    return make


def _huber(square: Callable[[Any], tuple[Any, list[Any]]]) -> Callable[..., Any]:
    """n^2 + 2 M abs(s) with x = n + s."""

    def canonicalize(expr: Any, args: Any, solver_context: Any = None) -> Any:
        n, s = cp.Variable(expr.shape), cp.Variable(expr.shape)
        (squared, own), (t, head) = square(n), _epigraph("abs", expr.shape, s)
        return squared + 2 * expr.M * t, [args[0] == n + s, *own, *head]

    return canonicalize


def to_cones(problem: Any) -> tuple[Any, dict[int, int]]:
    """Pose a minimisation with affine arguments of cones and a quadratic objective.

    Returns the problem and, by the id of each constraint, the id of its affine successor.
    """
    heads = {atom: _head(*head) for atom, head in HEADS.items()}
    heads[cp.huber] = lambda default: _huber(lambda n: _epigraph("square", n.shape, n))
    squares = {cp.huber: _huber(lambda n: (symbolic_square(n), []))}
    with unvalued(problem):
        posed, successor = in_cones(problem, heads, squares)
    found = evaluated(posed)  # such as the M of huber, no argument of the atom
    renamed = dict(
        zip((c.id for c in posed.constraints), (c.id for c in found.constraints), strict=True)
    )
    return found, {old: renamed[new] for old, new in successor.items()}


# The arguments of cone constraints as parts of a Lagrangian, with named multipliers.


USER = {
    "free": (("nu", "A", "b"),),
    "nonneg": (("lambda", "A", "b"),),
    "psd": (("S", "A", "b"),),
    "norm": (("lambda", "C", "d"), ("u", "A", "b")),
    "exp": (("r", "C", "d"), ("s", "A", "b"), ("t", "Q", "f")),
    "pow3d": (("r", "C", "d"), ("s", "A", "b"), ("t", "Q", "f")),
    "pownd": (("r", "A", "b"), ("t", "C", "d")),
}
"""For each argument of a kind of cone: its multiplier, its matrix and its constant.

A matrix of one row is written in lower case, a constant that is a matrix in upper case.
"""

ATOM = {
    "free": (("y", "G", "h"),),
    "nonneg": (("eta", "K", "l"),),
    "psd": (("W", "M", "n"),),
    "norm": (("mu", "J", "p"), ("v", "F", "g")),
    "exp": (("rho", "J", "p"), ("sigma", "L", "q"), ("tau", "H", "m")),
    "pow3d": (("rho", "J", "p"), ("sigma", "L", "q"), ("tau", "H", "m")),
    "pownd": (("rho", "L", "q"), ("tau", "J", "p")),
}
"""The same where no user's constraint owns it."""

Names = tuple[tuple[str, float], ...]


class PartBuilder:
    """Collects the parts and memberships of one problem.

    Signs follow L = f + lam'g + nu'(Ax - b): arguments s of a cone enter as -y's with y in the
    dual cone, as CVXPY's dual values; only the argument X of an atom's norm enters as +u'X.
    """

    def __init__(
        self, read: Coefficients, columns: list[Column], starts: list[int], symbols: Symbols
    ) -> None:
        self.parts: list[Part] = []
        self.memberships: list[Membership] = []
        self._read, self._columns, self._starts = read, columns, starts
        self._symbols = symbols
        self._names: set[str] = set()
        self._count: Counter[str] = Counter()

    def add(self, constraint: Any, owner: Owner | None) -> None:
        """Add a constraint whose arguments are affine, and the user's constraint it stands for."""
        match constraint:
            case cp.constraints.Equality() | cp.constraints.Zero():
                self._add("free", constraint, owner, None)
            case cp.constraints.Inequality() | cp.constraints.NonPos() | cp.constraints.NonNeg():
                self._add("nonneg", constraint, owner, absent_bounds(constraint))
            case cp.constraints.PSD():
                self._add("psd", constraint, owner, None)
            case cp.constraints.SOC():
                self._add("soc", constraint, owner, constraint.axis)
            case Epigraph():
                self._add(constraint.function, constraint, owner, None)
            case cp.constraints.ExpCone():
                self._add("exp", constraint, owner, None)
            case cp.constraints.PowCone3D():
                self._add("pow3d", constraint, owner, np.asarray(constraint.alpha.value))
            case cp.constraints.PowConeND():
                data = (np.asarray(constraint.alpha.value), constraint.axis)
                self._add("pownd", constraint, owner, data)
            case _:
                raise InputError(
                    f"dualize: constraints of type {type(constraint).__name__} have no dual cone "
                    "here; pose them by the cones of CVXPY (SOC, PSD, ExpCone, PowCone3D)."
                )

    def _add(self, kind: str, constraint: Any, owner: Owner | None, data: Any) -> None:
        table = ATOM if owner is None else USER
        letters = table.get(kind, table["norm"])
        letter = letters[-1][0] if owner is None or len(letters) == 1 else "cone"
        label, index = self._label(letter, owner)
        first = len(self.parts)
        for position, (letter, matrix, constant) in enumerate(letters):
            argument, sign, flipped = _argument(constraint, position, owner)
            direction = -1.0 if flipped else 1.0
            side = direction if len(letters) > 1 else -direction  # A x + b, but A x <= b
            names = ((matrix, direction), (constant, side))
            relation = kind == "nonneg" and owner is not None
            kept = 1.0 - data.ravel(order="F") if kind == "nonneg" and data is not None else None
            form = self._form(argument, sign, names, index, relation, kept)
            tex = self._symbols.new(symbol(letter), index)
            alone = len(letters) == 1 or (owner is None and letter == letters[-1][0])
            name = label if alone else f"{label}.{letter}"
            user = None if owner is None else owner.constraint
            self.parts.append(Part(name, tex, argument.shape, form, user, kind == "psd"))
        members = tuple(range(first, len(self.parts)))
        self.memberships.append(Membership(kind, members, label, data))

    def _label(self, letter: str, owner: Owner | None) -> tuple[str, str]:
        """A name never given before, and the index that it has in LaTeX.

        It is the user's label, else a letter with a number: that of the constraint for the
        user's, a number of its own for an atom's.
        """
        self._count[letter] += owner is None
        index = str(self._count[letter] if owner is None else owner.number)
        wanted = f"{letter}_{index}"
        if owner is not None:
            ending = " (imaginary)" * owner.imaginary
            labelled = owner.constraint.label is not None
            wanted = (str(owner.constraint.label) if labelled else wanted) + ending
            index = wanted if labelled else index + ending
        found, copies = wanted, 2
        while found in self._names:
            found, copies = f"{wanted} ({copies})", copies + 1
        self._names.add(found)
        return found, index if found == wanted else found

    def _form(
        self,
        expression: Any,
        sign: float,
        names: Names,
        label: str,
        relation: bool,
        kept: Array | None,
    ) -> AffineForm:
        """The expression times ``sign``; ``names``: of matrix and constant, with their factors.

        ``relation``: that it is <= 0; beside the auxiliary variable of a norm, names then stand
        for what is on the right of |F x + g| <= c'x + d. ``kept``: 0 for a row that asks for
        nothing, else 1.
        """
        (letter, factor), (constant_letter, constant_factor) = names
        coefficients, constant = self._read.affine(expression)
        if kept is not None:
            coefficients = sparse.csc_array(sparse.diags_array(kept) @ coefficients)
            constant = np.where(kept > 0.0, constant, 0.0)
        blocks = {
            key: sign * coefficients[:, start : start + column.size]
            for key, (column, start) in enumerate(zip(self._columns, self._starts, strict=True))
        }
        blocks = {key: block for key, block in blocks.items() if block.nnz}
        several = sum(not is_plain(named(block, "")) for block in blocks.values()) > 1
        one_row = expression.size == 1
        norms = any(self._columns[key].is_auxiliary for key in blocks)
        terms = {}
        for key, block in blocks.items():
            column = self._columns[key]
            turned = norms and not column.is_auxiliary and relation
            index = (label, column.tex if several else "")
            matrix = named(block, "", -1.0 if turned else factor)
            if not is_plain(matrix):
                name = self._symbols.new(letter.lower() if one_row else letter, *index)
                matrix = replace(matrix, name=name + (TRANSPOSE if one_row else ""))
            terms[key] = matrix
        right = named(sign * constant[:, None], "", constant_factor)
        if not is_plain(right) and not right.is_zero:
            is_matrix = sum(count > 1 for count in expression.shape) > 1
            called = constant_letter.upper() if is_matrix else constant_letter
            right = replace(right, name=self._symbols.new(called, label))
        return AffineForm(expression.size, terms, right).cleaned()


def _argument(constraint: Any, position: int, owner: Owner | None) -> tuple[Any, float, bool]:
    """The affine expression, its sign in the Lagrangian, and whether it reads better negated."""
    argument = constraint.args[position]
    match constraint:
        case cp.constraints.Equality() | cp.constraints.Inequality():
            left, right = constraint.args
            return left - right, 1.0, left.is_constant()
        case cp.constraints.Zero() | cp.constraints.NonPos():
            return argument, 1.0, False
        case cp.constraints.SOC() | Epigraph() if position == 1 and owner is None:
            return argument, 1.0, False
    return argument, -1.0, True


def pose(problem: Any) -> Lagrangian:
    """Write a DCP problem as a Lagrangian in the multipliers of its constraints.

    Raises
    ------
    InputError
        Where the problem is not DCP, has integer variables or a parameter without value.
    """
    require_problem(problem, "dualize")
    check_problem(problem, "dualize")
    maximise = isinstance(problem.objective, cp.Maximize)
    try:
        real = to_real(evaluated(problem), problem.constraints)
        posed, successor = to_cones(minimised(real.problem) if maximise else real.problem)
    except UNWRITTEN as error:
        said = f"{type(error).__name__}: {error}"
        raise InputError(f"dualize: CVXPY cannot write the problem in cones: {said}") from None
    owners = {successor[key]: owner for key, owner in real.owners.items() if key in successor}
    variables = posed.variables()
    names = _variable_names(real.names, variables)
    attributes = []
    for variable in variables:
        for constraint in attribute_constraints(variable, names[variable.id]):
            attributes.append(constraint)
            if variable.id in real.names:
                owners[constraint.id] = Owner(constraint)
    constraints = list({c.id: c for c in [*posed.constraints, *attributes]}.values())
    read = Coefficients(variables, constraints)
    sign = -1.0 if maximise else 1.0
    symbols = Symbols(map(symbol, names.values()))
    columns, offset = _columns(posed, read, names, set(real.names), sign, symbols)
    builder = PartBuilder(read, columns, [read.starts[v.id] for v in variables], symbols)
    for constraint in constraints:
        if constraint.size:
            builder.add(constraint, owners.get(constraint.id))
    return Lagrangian(columns, builder.parts, builder.memberships, offset, maximise)


def _variable_names(own: dict[int, str], variables: list[Any]) -> dict[int, str]:
    """The user's names; x_1, x_2 ... where CVXPY made one up; z_1 ... for auxiliary variables.

    Where a variable of the user is called z, those are zeta_1 ... or xi_1 ...
    """
    taken = set(own.values())
    letters = {letter_of(symbol(name)) for name in taken}
    auxiliary = next(name for name in ("z", "zeta", "xi", "zz") if symbol(name) not in letters)
    found: dict[int, str] = {}
    for variable in variables:
        given = own.get(variable.id, "")
        if given and given not in found.values():
            found[variable.id] = given
            continue
        letter, index = "x" if variable.id in own else auxiliary, 1
        while f"{letter}_{index}" in taken:
            index += 1
        found[variable.id] = f"{letter}_{index}"
        taken.add(found[variable.id])
    return found


def _columns(
    posed: Any,
    read: Coefficients,
    names: dict[int, str],
    own: set[int],
    sign: float,
    symbols: Symbols,
) -> tuple[list[Column], float]:
    """Read P, q and the constant of the objective; ``sign`` times q is what the user wrote."""
    if not read.size:
        return [], float(posed.objective.expr.value)
    P, q, offset = read.quadratic(posed.objective.expr)
    P = (P + P.T).tocsr()  # CVXPY writes x'Px, we write x'Px / 2
    blocks = {
        variable.id: slice(read.starts[variable.id], read.starts[variable.id] + variable.size)
        for variable in posed.variables()
    }
    several = sum(
        not is_plain(named(q[rows, None], "c")) for rows in blocks.values() if q[rows].any()
    )
    found = []
    for identity, rows in blocks.items():
        tex = symbol(names[identity])
        alone = identity in own and several < 2
        quadratic, linear = named(P[rows, rows], ""), named(q[rows, None], "", sign)
        if not (is_plain(quadratic) or quadratic.is_zero):
            index = "" if len(own) < 2 else tex
            quadratic = replace(quadratic, name=symbols.new("P", variable=index))
        if not (is_plain(linear) or linear.is_zero):
            linear = replace(linear, name=symbols.new("c", variable="" if alone else tex))
        found.append(
            Column(
                names[identity],
                tex,
                rows.stop - rows.start,
                identity not in own,
                None if quadratic.is_zero else quadratic,
                None if linear.is_zero else linear,
            )
        )
    return found, offset
