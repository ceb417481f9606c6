"""The Lagrangian of a conic problem, block by block."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import EPS, Array
from ..typesetting.formulas import text

# Affine forms whose matrices carry the names that LaTeX shows.


TRANSPOSE = r"^\top"
INVERSE, INVERSE_TRANSPOSE = "^{-1}", r"^{-\top}"
TRANSPOSED = {INVERSE_TRANSPOSE: INVERSE, INVERSE: INVERSE_TRANSPOSE, TRANSPOSE: "", "": TRANSPOSE}
INVERTED = {INVERSE_TRANSPOSE: TRANSPOSE, INVERSE: "", TRANSPOSE: INVERSE_TRANSPOSE, "": INVERSE}
"""What becomes of the exponent of a name, which has only one."""


@dataclass(frozen=True)
class Matrix:
    """A sparse matrix, equal to ``scale`` times the matrix called ``name``."""

    entries: Any
    name: str
    scale: float = 1.0

    @property
    def T(self) -> Matrix:
        """The transpose; (A')' is A."""
        return Matrix(self.entries.T.tocsr(), _with(TRANSPOSED, self.name), self.scale)

    @property
    def is_zero(self) -> bool:
        """Whether every entry is 0."""
        return not np.any(self.entries.data)

    def __mul__(self, factor: float) -> Matrix:
        return Matrix(self.entries * factor, self.name, self.scale * factor)

    def __add__(self, other: Matrix) -> Matrix:
        entries = self.entries + other.entries
        if self.name == other.name and self.scale + other.scale:
            return Matrix(entries, self.name, self.scale + other.scale)
        sign = "+" if other.scale * self.scale > 0 else "-"
        ratio = abs(other.scale / self.scale)
        shown = other.name if ratio == 1.0 else f"{ratio:.4g} {other.name}"
        return Matrix(entries, f"({self.name} {sign} {shown})", self.scale)

    def __matmul__(self, other: Matrix) -> Matrix:
        """The product; multiples of the identity leave the other name alone."""
        entries, size = self.entries @ other.entries, abs(self.entries) @ abs(other.entries)
        entries = entries.multiply(abs(entries) > 8.0 * EPS * size).tocsr()  # else it is rounding
        for left, right in ((self, other), (other, self)):
            factor = left.identity_factor()
            if factor is not None:
                return Matrix(entries, right.name, right.scale * factor)
        return Matrix(entries, f"{self.name} {other.name}", self.scale * other.scale)

    def identity_factor(self) -> float | None:
        """The number c where the matrix is c times the identity, else None."""
        rows, columns = self.entries.shape
        if rows != columns or rows == 0:
            return None
        diagonal = self.entries.diagonal()
        off = self.entries - sparse.diags_array(diagonal)
        same = np.all(diagonal == diagonal[0]) and not np.any(off.data)
        return float(diagonal[0]) if same else None

    def inverse(self) -> Matrix | None:
        """The inverse of a matrix with one entry in each row and column, else None."""
        found = self.entries.tocoo()
        keep = found.data != 0.0
        row, column, data = found.row[keep], found.col[keep], found.data[keep]
        n = self.entries.shape[0]
        ordered = np.array_equal(np.sort(row), np.arange(n))
        if self.entries.shape != (n, n) or not ordered:
            return None
        if not np.array_equal(np.sort(column), np.arange(n)):
            return None
        entries = sparse.csr_array((1.0 / data, (column, row)), shape=(n, n))
        return Matrix(entries, _with(INVERTED, self.name), 1.0 / self.scale)


def _with(exponents: Mapping[str, str], name: str) -> str:
    """The name with the exponent that follows on its own."""
    own = next(each for each in exponents if name.endswith(each))
    return name.removesuffix(own) + exponents[own]


ONES = r"\mathbf{1}"


def named(entries: Any, name: str, scale: float = 1.0) -> Matrix:
    """A Matrix of whatever holds its entries; multiples of I and of ones are called so."""
    matrix = Matrix(sparse.csr_array(entries, dtype=float), name, scale)
    rows, columns = matrix.entries.shape
    factor = matrix.identity_factor()
    if factor:
        return Matrix(matrix.entries, "I", factor)
    first = matrix.entries[0, 0] if rows and columns else 0.0
    if min(rows, columns) == 1 and first and matrix.entries.nnz == rows * columns:
        if np.all(matrix.entries.toarray() == first):
            return Matrix(matrix.entries, ONES + (TRANSPOSE if rows == 1 else ""), float(first))
    return matrix


def is_plain(matrix: Matrix) -> bool:
    """Whether it is written by numbers and ones, not by a name."""
    return matrix.name.removesuffix(TRANSPOSE) in ("I", ONES)


def identity(size: int) -> Matrix:
    """The identity."""
    return named(sparse.eye_array(size), "I")


@dataclass(frozen=True)
class AffineForm:
    """sum_k terms[k] @ v_k + constant, for vectors v_k called by their keys k."""

    rows: int
    terms: dict[int, Matrix] = field(default_factory=dict)
    constant: Matrix | None = None

    def __add__(self, other: AffineForm) -> AffineForm:
        terms = dict(self.terms)
        for key, matrix in other.terms.items():
            terms[key] = terms[key] + matrix if key in terms else matrix
        constant = self.constant if other.constant is None else other.constant
        if self.constant is not None and other.constant is not None:
            constant = self.constant + other.constant
        return AffineForm(self.rows, terms, constant).cleaned()

    def cleaned(self) -> AffineForm:
        """Without zero matrices."""
        terms = {key: matrix for key, matrix in self.terms.items() if not matrix.is_zero}
        constant = None if self.constant is None or self.constant.is_zero else self.constant
        return AffineForm(self.rows, terms, constant)

    def after(self, matrix: Matrix) -> AffineForm:
        """Return ``matrix`` times this form."""
        terms = {key: matrix @ term for key, term in self.terms.items()}
        constant = None if self.constant is None else matrix @ self.constant
        return AffineForm(matrix.entries.shape[0], terms, constant).cleaned()

    def without(self, key: int) -> AffineForm:
        """Drop one term."""
        terms = {other: term for other, term in self.terms.items() if other != key}
        return AffineForm(self.rows, terms, self.constant)

    def substitute(self, key: int, value: AffineForm) -> AffineForm:
        """Replace v_key by a form of the other vectors."""
        if key not in self.terms:
            return self
        return self.without(key) + value.after(self.terms[key])

    def common(self) -> AffineForm:
        """One row in place of all where they are multiples of 1, the same in each; else all."""
        same = all(m.name == ONES and m.entries.shape[1] == 1 for m in self.matrices())
        return self.only(np.arange(self.rows) == 0) if same and self.rows > 1 else self

    def only(self, kept: Array) -> AffineForm:
        """The rows where ``kept`` is True; names go, but for those of numbers and ones."""
        rows = np.flatnonzero(kept)
        terms = {key: named(matrix.entries[rows], "") for key, matrix in self.terms.items()}
        constant = None if self.constant is None else named(self.constant.entries[rows], "")
        return AffineForm(rows.size, terms, constant).cleaned()

    def used(self) -> Array:
        """Whether a row has an entry that is not 0."""
        rows = [np.abs(matrix.entries).sum(axis=1) > 0.0 for matrix in self.matrices()]
        return np.any([np.zeros(self.rows, dtype=bool), *rows], axis=0)

    def matrices(self) -> list[Matrix]:
        """Those of the terms, and the constant."""
        return [*self.terms.values(), *([] if self.constant is None else [self.constant])]

    @property
    def is_zero(self) -> bool:
        """Whether nothing is left."""
        return not self.terms and self.constant is None

    def mostly_positive(self) -> AffineForm:
        """Return this form or its negative, whichever starts with a plus sign: for what is even."""
        first = next(iter(self.terms.values()), self.constant)
        return self if first is None or first.scale > 0 else self.after(identity(self.rows) * -1.0)

    def constant_vector(self) -> Array:
        """The constant as a dense vector."""
        if self.constant is None:
            return np.zeros(self.rows)
        return self.constant.entries.toarray().ravel()


@dataclass(frozen=True)
class Column:
    """A primal variable: one of the user's, or an auxiliary one of an atom.

    Attributes
    ----------
    name, tex : str
        For labels and for LaTeX.
    size : int
        Entries, column by column where the variable is a matrix.
    is_auxiliary : bool
        Whether it was introduced for an atom.
    quadratic : Matrix or None
        P in the objective's z'Pz / 2.
    linear : Matrix or None
        q in its q'z, as one column.
    """

    name: str
    tex: str
    size: int
    is_auxiliary: bool
    quadratic: Matrix | None = None
    linear: Matrix | None = None


@dataclass(frozen=True)
class Part:
    """y'g(z): one argument of a constraint with its multiplier.

    Attributes
    ----------
    name, tex : str
        Of the multiplier.
    shape : tuple of int
        Of the multiplier.
    form : AffineForm
        g, affine in the columns.
    constraint : cvxpy.Constraint or None
        The user's constraint, or one that says a variable attribute; None for an atom's.
    symmetric : bool
        Whether the multiplier is a symmetric matrix.
    """

    name: str
    tex: str
    shape: tuple[int, ...]
    form: AffineForm
    constraint: Any = None
    symmetric: bool = False


@dataclass(frozen=True)
class Membership:
    """The multipliers of one constraint lie in the dual cone.

    Attributes
    ----------
    kind : str
        "free", "nonneg", "soc", "psd", "exp", "pow3d", "pownd", and of epigraphs of functions
        "abs", "norm1", "norm_inf", "max", "squares", "square" (entry by entry), "logistic".
    parts : tuple of int
        The parts that it rules, in the order of the constraint's arguments.
    label : str
        Of the constraint that the dual problem gets.
    data : object
        Axis or exponents of the cone.
    """

    kind: str
    parts: tuple[int, ...]
    label: str
    data: Any = None


@dataclass(frozen=True)
class Lagrangian:
    """L(z, y) = sum_j (z_j'P_j z_j / 2 + q_j'z_j) + offset + sum_p y_p'g_p(z).

    The problem is to minimise over z what is the largest over y in the dual cones; ``maximise``
    says that the user's objective is -1 times this one.
    """

    columns: list[Column]
    parts: list[Part]
    memberships: list[Membership]
    offset: float
    maximise: bool

    def stationarity(self, column: int) -> AffineForm:
        """q + sum_p G_p'y_p for one column; the gradient in it is P z more."""
        found = AffineForm(self.columns[column].size, {}, self.columns[column].linear)
        for key, part in enumerate(self.parts):
            if column in part.form.terms:
                found = found + AffineForm(found.rows, {key: part.form.terms[column].T})
        return found.cleaned()

    def is_signed(self, form: AffineForm) -> bool:
        """Whether a form of the multipliers is >= 0 where those of inequalities are."""
        signed = {each.parts[0] for each in self.memberships if each.kind == "nonneg"}
        return form.terms.keys() <= signed and all(
            np.all(matrix.entries.data >= 0.0) for matrix in form.matrices()
        )

    def constants(self) -> AffineForm:
        """sum_p h_p'y_p, one row: what the parts add to the dual value."""
        found = AffineForm(1)
        for key, part in enumerate(self.parts):
            if part.form.constant is not None:
                found = found + AffineForm(1, {key: part.form.constant.T})
        return found.cleaned()


def conjugate_factor(P: Any) -> tuple[Any, Any]:
    """F with F'F the pseudo-inverse of P, and N whose rows span P's null space."""
    diagonal = P.diagonal()
    if not np.any((P - sparse.diags_array(diagonal)).data):
        used = np.flatnonzero(diagonal)
        units = sparse.csr_array(sparse.eye_array(diagonal.size))
        return sparse.diags_array(diagonal[used] ** -0.5) @ units[used], units[diagonal == 0.0]
    values, vectors = np.linalg.eigh(P.toarray())
    large: Array = values > 16.0 * values.size * EPS * values[-1]
    return (vectors[:, large] / np.sqrt(values[large])).T, vectors[:, ~large].T


# Solve the stationarity of auxiliary variables for the multipliers that atoms brought in.


@dataclass(frozen=True)
class Reduced:
    """The dual after elimination, in the multipliers that are left.

    Attributes
    ----------
    multipliers : dict
        What the multiplier of each part is: itself, or a form of others.
    stationarity : dict
        q + sum_p G_p'y_p by column; it is 0, or enters through P where the column has one.
    linear : AffineForm
        One row, sum_p h_p'y_p.
    kept : list of int
        The parts whose multipliers are variables.
    """

    multipliers: dict[int, AffineForm]
    stationarity: dict[int, AffineForm]
    linear: AffineForm
    kept: list[int]


def eliminate(lagrangian: Lagrangian, *, only_auxiliary: bool = False) -> Reduced:
    """Eliminate what no user's constraint owns, first by auxiliary columns, then by the others.

    q_j + sum_p G_pj'y_p = 0 gives y_k where G_kj has one entry in each row and column; of several
    such k the one whose substitution fills in least. Semidefinite multipliers stay, as their
    symmetry has to be kept.
    """
    parts, columns = lagrangian.parts, lagrangian.columns
    forms = {key: AffineForm(part.form.rows, {key: identity(part.form.rows)}) for key, part in
             enumerate(parts)}  # fmt: skip
    left = {j: lagrangian.stationarity(j) for j in range(len(columns))}
    linear = lagrangian.constants()
    free = {k for k, part in enumerate(parts) if part.constraint is None and not part.symmetric}
    order = sorted(left, key=lambda j: not columns[j].is_auxiliary)
    for j in order:
        if columns[j].quadratic is not None or (only_auxiliary and not columns[j].is_auxiliary):
            continue
        candidates = [
            (_fill(left[j].without(k)), k)
            for k, matrix in left[j].terms.items()
            if k in free and matrix.inverse() is not None
        ]
        if not candidates:
            continue
        _, k = min(candidates)
        inverse = left[j].terms[k].inverse()
        assert inverse is not None
        value = left[j].without(k).after(inverse * -1.0)
        free.discard(k)
        forms = {key: form.substitute(k, value) for key, form in forms.items()}
        left = {key: form.substitute(k, value) for key, form in left.items() if key != j}
        linear = linear.substitute(k, value)
    kept = [k for k, form in forms.items() if k in form.terms]
    kept.sort(key=lambda k: parts[k].constraint is None)
    return Reduced(forms, left, linear, kept)


def _fill(form: AffineForm) -> int:
    return sum(matrix.entries.nnz for matrix in form.terms.values())


# Names of variables and labels of constraints in LaTeX.


GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()

RELATIONS = {">=": r"\ge", "<=": r"\le", ">>": r"\succeq", "<<": r"\preceq", "==": "="}


def index_of(label: str) -> str:
    """A label as an index; one such as "x >= 0" is written as the formula that it is."""
    match = re.fullmatch(r"(\w+) (>=|<=|>>|<<|==) ([\w.+-]+)", label)
    if label.isdigit():
        return label
    if match is None:
        return text(label)
    left, relation, right = match.groups()
    shown = symbol(right) if right.isidentifier() else right
    if right == f"{left}.T":
        shown = symbol(left) + r"^\top"
    return f"{symbol(left)} {RELATIONS[relation]} {shown}"


def symbol(name: str) -> str:
    """A variable's name: a letter or a Greek one stays itself, digits after it are an index."""
    for ending, operator in ((".real", "Re"), (".imag", "Im")):
        if name.endswith(ending):
            return rf"\operatorname{{{operator}}} {symbol(name.removesuffix(ending))}"
    match = re.fullmatch(r"([A-Za-z]+)_?(\d*)", name)
    if match is None:
        return text(name)
    base, index = match.groups()
    if base in GREEK:
        base = "\\" + base
    elif len(base) > 1:
        base = rf"\mathit{{{base}}}"
    return f"{base}_{{{index}}}" if index else base


def indexed(letter: str, label: str = "", variable: str = "") -> str:
    """A letter with a label, or a number, and a variable's symbol as its index."""
    index = ", ".join(part for part in (index_of(label) if label else "", variable) if part)
    return f"{letter}_{{{index}}}" if index else letter


def letter_of(tex: str) -> str:
    """The letter of a symbol, without its index: "x" of "x_{1}" and of "Re x"."""
    return tex.rpartition(" ")[2].partition("_{")[0]


class Symbols:
    """Gives every object a symbol of its own, with a tilde where a variable has its letter."""

    def __init__(self, variables: Iterable[str]) -> None:
        self._given = set(variables)
        self._letters = {letter_of(tex) for tex in self._given}

    def new(self, letter: str, label: str = "", variable: str = "") -> str:
        """As ``indexed``, and never given before."""
        if letter in self._letters:
            letter = rf"\tilde{{{letter}}}"
        while (found := indexed(letter, label, variable)) in self._given:
            letter = rf"\tilde{{{letter}}}"
        self._given.add(found)
        return found


# Affine forms in LaTeX: numbers and ones are shown, other matrices by their names.


Signed = tuple[float, str]
"""A sign and what follows it."""


def number(value: float) -> str:
    """A positive coefficient; 1 is not written."""
    if value == 1.0:
        return ""
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def term(matrix: Matrix, vector: str) -> Signed:
    """``matrix`` times a vector; an empty vector stands for the number 1."""
    entries = matrix.entries
    rows, columns = entries.shape
    factor = matrix.identity_factor()
    if factor is not None or (
        entries.nnz == rows * columns and np.all(entries.data == entries.data[0])
    ):
        left = ONES if rows > 1 and columns == 1 else rf"{ONES}^\top" if columns > rows else ""
        if min(rows, columns) > 1:
            left = "" if factor is not None else rf"{ONES}{ONES}^\top"
        value = float(entries.data[0]) if factor is None else factor
        shown = " ".join(part for part in (number(abs(value)), left, vector) if part)
        return np.sign(value), shown or "1"
    shown = " ".join(part for part in (number(abs(matrix.scale)), matrix.name, vector) if part)
    return np.sign(matrix.scale), shown


def join(terms: Iterable[Signed]) -> str:
    """The sum of signed terms, 0 where there is none."""
    found = ""
    for sign, shown in terms:
        if found:
            found += " - " if sign < 0 else " + "
        elif sign < 0:
            found = "-"
        found += shown
    return found or "0"


def terms_of(form: AffineForm, names: Callable[[int], str] | Mapping[int, str]) -> list[Signed]:
    """The linear terms of a form; positive ones first."""
    name = names if callable(names) else names.__getitem__
    return positive_first(term(matrix, name(key)) for key, matrix in form.terms.items())


def positive_first(terms: Iterable[Signed]) -> list[Signed]:
    """The terms in an order that avoids a leading minus."""
    return sorted(terms, key=lambda signed: signed[0] < 0)


def constant_of(form: AffineForm) -> list[Signed]:
    """The constant of a form as a list of at most one term."""
    return [] if form.constant is None else [term(form.constant, "")]


def affine(form: AffineForm, names: Callable[[int], str] | Mapping[int, str]) -> str:
    """The form, what is positive first."""
    return join(positive_first([*terms_of(form, names), *constant_of(form)]))


def count(form: AffineForm) -> int:
    """How many terms are added."""
    return len(form.terms) + (form.constant is not None)


def against(
    form: AffineForm, names: Callable[[int], str] | Mapping[int, str], relation: str
) -> str:
    """Form <= 0 (or = 0), what is negative on the right; all negative: turned, with >=."""
    linear = terms_of(form, names)
    right = [(-sign, shown) for sign, shown in constant_of(form)]
    if all(sign < 0 for sign, _ in linear):
        linear = [(-sign, shown) for sign, shown in linear]
        right = [(-sign, shown) for sign, shown in right]
        relation = {r"\le": r"\ge", r"\preceq": r"\succeq"}.get(relation, relation)
    moved = [(1.0, shown) for sign, shown in linear if sign < 0]
    left = [(sign, shown) for sign, shown in linear if sign > 0]
    return f"{join(left)} {relation} {join([*moved, *right])}"


# Cones and their duals in LaTeX.


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
