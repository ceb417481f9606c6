"""Linear programs, as ``scipy.optimize.linprog`` reads them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..certificates.algebra.searchers import highs
from ..certificates.algebra.sums import exact_dot
from ..certificates.certificate import Certificate
from ..certificates.conic.infeasible import certify_linear_infeasible, find_linear_infeasibility
from ..certificates.conic.linear_absence import certify_unbounded, find_unboundedness
from ..certificates.conic.linear_bound import (
    completed,
    dual_value,
    equilibrated,
    meets_rows,
    read_multipliers,
    split_reduced_cost,
)
from ..certificates.conic.linear_optimum import certify_linear, polish_linear
from ..formulas import Row, constant, entries, listed, plus
from ..modelling import cp
from ..numerics import Array
from ..problem import Statement
from ..problem.linear_program import LinearData, linear_to_dict, read_linear_data, read_point
from ..progress import at
from ..solvers.linear_program import run_linear
from ..solvers.reference import ReferenceRun
from ..validation import positive_number
from .arrays import ArrayProblem, Arrays, Shapes, failed, finished
from .latex import Latex, such_that
from .pictures.polytope import draw_polytope, half_planes, is_plane
from .portfolio import Limits
from .rate_audit import RecordedProgram
from .solution import Solution

# A linear program and its dual as CVXPY problems, and both in LaTeX.


def pose_linear_primal(data: LinearData) -> Statement:
    """Minimise c'x s.t. "ub", "eq", "lower", "upper"; bounds only where they are finite."""
    x = cp.Variable(data.n, name="x")
    lower, upper = (np.flatnonzero(np.isfinite(side)) for side in (data.lower, data.upper))
    constraints: dict[str, Any] = {}
    if data.b_ub.size:
        constraints["ub"] = constant(data.A_ub, "A_ub") @ x <= constant(data.b_ub, "b_ub")
    if data.b_eq.size:
        constraints["eq"] = constant(data.A_eq, "A_eq") @ x == constant(data.b_eq, "b_eq")
    if lower.size:
        constraints["lower"] = entries(x, lower, "I_lower") >= constant(data.lower[lower], "lower")
    if upper.size:
        constraints["upper"] = entries(x, upper, "I_upper") <= constant(data.upper[upper], "upper")
    return Statement.of(cp.Minimize(constant(data.c, "c") @ x), {"x": x}, constraints)


def pose_linear_dual(data: LinearData) -> Statement:
    """Maximise -b_ub'lambda_ub - b_eq'nu + lower'lambda_lower - upper'lambda_upper.

    Subject to c + A_ub'lambda_ub + A_eq'nu - lambda_lower + lambda_upper = 0 ("stationarity")
    and lambda_ub, lambda_lower, lambda_upper >= 0 (labelled by their names). The multipliers of
    bounds have n entries, 0 ("... of no bound") where there is none.
    """
    variables: dict[str, Any] = {}
    absent: dict[str, Any] = {}
    gradient: Any = constant(data.c, "c")
    value: Any = cp.Constant(0.0)
    for name, matrix, side in (("ub", data.A_ub, data.b_ub), ("eq", data.A_eq, data.b_eq)):
        if side.size:
            y = cp.Variable(side.size, name=MULTIPLIER_OF[name])
            variables[y.name()] = y
            gradient = gradient + constant(matrix, f"A_{name}").T @ y
            value = value - constant(side, f"b_{name}") @ y
    for name, side in (("lower", data.lower), ("upper", data.upper)):
        finite, rest = np.flatnonzero(np.isfinite(side)), np.flatnonzero(~np.isfinite(side))
        if finite.size:
            y = cp.Variable(data.n, name=MULTIPLIER_OF[name])
            variables[y.name()] = y
            push = y if name == "upper" else -y
            gradient = gradient + push
            value = value - constant(side[finite], name) @ entries(push, finite, f"I_{name}")
            if rest.size:
                absent[f"{y.name()} of no bound"] = entries(y, rest, f"I_no_{name}") == 0.0
    constraints = {"stationarity": gradient == 0.0}
    constraints |= {name: v >= 0.0 for name, v in variables.items() if name != "nu"} | absent
    return Statement.of(cp.Maximize(value), variables, constraints)


MULTIPLIER_OF = {"ub": "lambda_ub", "eq": "nu", "lower": "lambda_lower", "upper": "lambda_upper"}
"""The multiplier of each labelled constraint."""


def linear_latex(data: LinearData) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions of the constraints that are there."""
    bounds = [np.isfinite(side) for side in (data.lower, data.upper)]
    lower, upper = (bool(there.any()) for there in bounds)
    some = any(there.any() and not there.all() for there in bounds)
    table = [
        (data.b_ub.size, Row(r"\lambda_{ub}", r"A_{ub} x", r"\le", "b_{ub}"), r"A_{ub}^\top "),
        (data.b_eq.size, Row(r"\nu", r"A_{eq} x", "=", "b_{eq}"), r"A_{eq}^\top "),
        (lower, Row(r"\lambda_{\text{lower}}", "x", r"\ge", r"\text{lower}"), "-"),
        (upper, Row(r"\lambda_{\text{upper}}", "x", r"\le", r"\text{upper}"), ""),
    ]
    rows = [(row, factor) for there, row, factor in table if there]
    gains = (f"{'' if f == '-' else '-'}{row.right}^\\top {row.multiplier}" for row, f in rows)
    gradient = plus("c", *(f"{factor}{row.multiplier}" for row, factor in rows)) + " = 0"
    signs = [rf"{row.multiplier} \ge 0" for row, _ in rows if row.sense != "="]
    terms = [row._replace(multiplier=rf"{row.multiplier}^\top").product for row, _ in rows]
    slack = [f"{term} = 0" for term, (row, _) in zip(terms, rows, strict=True) if row.sense != "="]
    statements = [str(row) for row, _ in rows]
    below = f"_{{{', '.join(row.multiplier for row, _ in rows)}}}" if rows else ""
    return Latex(
        r"\min_x\ c^\top x" + such_that(*statements),
        plus(r"c^\top x", *terms),
        rf"\max{below}\ {plus(*gains)}" + such_that(gradient, *signs),
        tuple(filter(None, (gradient, listed(*statements), listed(*signs), listed(*slack)))),
        r"0 \cdot \infty = 0" if some else "",
        canonical=canonical_pair(rows, not np.any(data.lower)),
    )


def canonical_pair(rows: Sequence[tuple[Row, str]], is_signed: bool) -> tuple[str, str]:
    """As min c'x s.t. Ax = b, x >= 0 and max b'lam s.t. A'lam <= c; x is a difference if free.

    Slacks make equations of inequalities, and lam has minus the multipliers of the equations.
    """
    over = ["x"] if is_signed else ["x^+", "x^-"]
    held, lams, gains, pushes, signs = [], [], [], [], []
    kept = [each for each in rows if each[1] != "-" or not is_signed]
    for (row, factor), slack in zip(kept, "stuv", strict=False):
        sign, lam = "-" * (factor == "-"), f"-{row.multiplier}"
        gains.append(rf"{sign}{row.right}^\top ({lam})")
        pushes.append(f"{factor}({lam})")
        lams.append(lam)
        if row.sense == "=":
            held.append(str(row))
            continue
        held.append(f"{sign}{row.left} + {slack} = {sign}{row.right}")
        over.append(slack)
        signs.append(rf"{lam} \le 0")
    if not is_signed:
        held.append("x = x^+ - x^-")
    held += [rf"{name} \ge 0" for name in over]
    limit = f"{plus(*pushes)} " + (r"\le c" if is_signed else "= c")
    below = rf"_{{\lambda = ({', '.join(lams)})}}" if lams else ""
    return (
        rf"\min_{{{', '.join(over)}}}\ c^\top x" + such_that(*held),
        rf"\max{below}\ {plus(*gains)}" + such_that(limit, *signs),
    )


EQUILIBRATED = "highs, equilibrated"
"""HiGHS in units that make rows and columns of size 1; judged in the units of the problem."""


class LinearProgram(ArrayProblem):
    """Minimise c'x subject to A_ub x <= b_ub, A_eq x = b_eq and lower <= x <= upper.

    Parameters
    ----------
    c : array, shape (n,)
        Cost.
    A_ub, b_ub : array or sparse array, shapes (m, n) and (m,), optional
        Inequalities.
    A_eq, b_eq : array or sparse array, shapes (p, n) and (p,), optional
        Equalities.
    bounds : pair, or sequence of n pairs (min, max)
        ``None`` or an infinity where there is no bound; by default x >= 0, as SciPy.

    Raises
    ------
    InputError
        Where shapes do not agree, an entry is not finite or a bound is empty.

    Notes
    -----
    L = c'x + lambda_ub'(A_ub x - b_ub) + nu'(A_eq x - b_eq) - lambda_lower'(x - lower)
    + lambda_upper'(x - upper), all multipliers but nu >= 0. The dual maximises
    -b_ub'lambda_ub - b_eq'nu + lower'lambda_lower - upper'lambda_upper subject to
    c + A_ub'lambda_ub + A_eq'nu - lambda_lower + lambda_upper = 0.

    References
    ----------
    Boyd and Vandenberghe, *Convex Optimization*, section 5.2.1.
    """

    methods: ClassVar[tuple[str, ...]] = ("interior_point",)
    why: ClassVar[str] = "the problem is a linear program"
    _shows_absence = False
    data: LinearData
    """The validated arrays of the program."""

    def __init__(
        self,
        c: Any,
        A_ub: Any = None,
        b_ub: Any = None,
        A_eq: Any = None,
        b_eq: Any = None,
        bounds: Any = (0, None),
    ) -> None:
        self.data, self._hyper = read_linear_data(c, A_ub, b_ub, A_eq, b_eq, bounds, self.name), {}

    # -- judged: any x and multipliers, whoever computed them ----------------------------------

    def certify(  # type: ignore[override]
        self, x: Any, multipliers: Mapping[str, Any] | None = None, *, tol: float = 1e-6
    ) -> Certificate:
        """Judge a point, with the multipliers passed or with constructed ones.

        Parameters
        ----------
        x : array, shape (n,)
            Judged as it is.
        multipliers : dict, optional
            Any of "lambda_ub", "nu", "lambda_lower", "lambda_upper".
        tol : float
            For the relative gap and the feasibilities, relative to their rows.

        Returns
        -------
        Certificate
            Claim "optimal".
        """
        return certify_linear(self.data, x, multipliers, tol=tol, owner=self.name)

    def certify_infeasible(
        self, multipliers: Mapping[str, Any], *, tol: float = 1e-6
    ) -> Certificate:
        """Verify Farkas multipliers, by name; claim "infeasible"."""
        return certify_linear_infeasible(self.data, multipliers, tol=tol, owner=self.name)

    def certify_unbounded(self, ray: Any, point: Any, *, tol: float = 1e-6) -> Certificate:
        """Verify a ray of descent from a feasible point; claim "unbounded"."""
        return certify_unbounded(self.data, ray, point, tol=tol, owner=self.name)

    def find_evidence(self, *, tol: float = 1e-6) -> Certificate | None:
        """Verified evidence that the program is infeasible or unbounded; None where not found."""
        data, tol = self.data, positive_number(tol, self.name, "tol")
        infeasible = find_linear_infeasibility(data, tol)
        if infeasible is not None and infeasible.within is None:
            data.memo["exact point"] = False  # no point is certified next to this
        return find_unboundedness(data, tol) if infeasible is None else infeasible

    def polish(
        self, x: Any, multipliers: Mapping[str, Any] | None = None, *, tol: float = 1e-6
    ) -> tuple[Array, dict[str, Array]]:
        """Solve the active constraints exactly; what is passed comes back unless that is better.

        Parameters
        ----------
        x : array, shape (n,)
            An approximate solution.
        multipliers : dict, optional
            Its multipliers; missing ones are constructed.
        tol : float
            As of ``certify``.

        Returns
        -------
        tuple
            The point and the dict of its four multipliers.
        """
        data, tol = self.data, positive_number(tol, self.name, "tol")
        x = read_point(data, x, self.name)
        read = dict(read_multipliers(data, multipliers, self.name))
        rows = [("lambda_ub", data.b_ub), ("nu", data.b_eq)]
        if any(side.size and name not in read for name, side in rows):
            built = self.certify(x, read, tol=tol).dual
            read |= {name: built[name] for name, _ in rows}
        given = {name: read[name] for name, side in rows if side.size}
        if not all(np.all(np.isfinite(value)) for value in given.values()):
            return x, read
        point, polished = polish_linear(data, x, self._completed(given), tol)
        return point, dict(polished)

    def dual_objective(self, multipliers: Mapping[str, Any]) -> float:
        """D at these multipliers, -inf where they are infeasible by more than rounding.

        Bound multipliers that are missing come from the reduced costs.
        """
        return dual_value(self.data, self._completed(multipliers))

    def _completed(self, multipliers: Mapping[str, Any]) -> Arrays:
        return completed(self.data, read_multipliers(self.data, multipliers, self.name))

    def shadow_prices(self, multipliers: Mapping[str, Any]) -> dict[str, Array]:
        """The derivatives of p* by right-hand side, {"ub", "eq", "lower", "upper"}.

        -lambda_ub, -nu, lambda_lower and -lambda_upper: SciPy's marginals.
        """
        found = self._completed(multipliers)
        signs = {"ub": -1.0, "eq": -1.0, "lower": 1.0, "upper": -1.0}
        return {name: 0.0 + sign * found[MULTIPLIER_OF[name]] for name, sign in signs.items()}

    # -- as the base asks ----------------------------------------------------------------------

    @property
    def _turns(self) -> tuple[str, ...]:
        return "highs", "clarabel", EQUILIBRATED, "ecos", "interior_point", "piqp", "scs", "osqp"

    def shapes(self) -> tuple[Shapes, Shapes]:
        duals = self.data.by_name(self.data.constraints[1])
        return {"x": (self.data.n,)}, {name: part.shape for name, part in duals.items()}

    def _value(self, point: Arrays) -> float:
        x = point["x"]
        return exact_dot(self.data.c, x) if meets_rows(self.data, x) else np.inf

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        return self.certify(point["x"], dual, tol=tol)

    def _absence(self, tol: float) -> Certificate | None:
        return self.find_evidence(tol=tol)

    def _polished(self, point: Arrays, dual: Arrays, limits: Limits) -> tuple[Arrays, Arrays, str]:
        if not limits.polish:
            return point, dual, ""
        better, finished = self.polish(point["x"], dual, tol=limits.tol)
        if not np.all(np.isfinite(better)):
            return point, dual, ""
        told = "" if np.array_equal(better, point["x"]) else "the equations of its active rows"
        return {"x": better}, finished, told

    def _prices(self, dual: Arrays) -> dict[str, Array]:
        return self.shadow_prices(dual)

    def _run(self, name: str, limits: Limits) -> Solution:
        if name == EQUILIBRATED:
            return self._equilibrated(limits)
        run, last = run_linear(
            self.data, tol=limits.tol, max_seconds=limits.max_seconds, max_iter=limits.max_iter
        )
        if last is None:
            return failed(self, name, run, limits)
        solution = finished(self, name, run, {"x": last.x}, last.multipliers, limits)
        solution.recorded = RecordedProgram(self.data)
        return solution

    def _equilibrated(self, limits: Limits) -> Solution:
        start = time.perf_counter()
        at(EQUILIBRATED)
        scaled = equilibrated(self.data)
        found, x, dual = highs(scaled.program), None, {}
        if found.x is not None and found.y is not None:
            split = split_reduced_cost(self.data, scaled.y_out(found.y))
            x, dual = scaled.x_out(found.x), self.data.by_name(split)
        seconds, words = time.perf_counter() - start, "rows and columns equilibrated"
        run = ReferenceRun(found.status, seconds, 0.0, 0, words)
        if x is None or not np.all(np.isfinite(x)):  # of entries whose units leave float64
            return failed(self, "highs", run, limits)
        return finished(self, "highs", run, {"x": x}, dual, limits)

    # -- stored, posed with CVXPY, told in LaTeX -----------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.name, **linear_to_dict(self.data)}

    def _pose(self) -> Statement:
        return pose_linear_primal(self.data)

    def _pose_dual(self) -> Statement:
        return pose_linear_dual(self.data)

    def _entries(self, label: str) -> Any:
        """Which entries of a full-length multiplier the labelled constraint has."""
        if label in ("lower", "upper"):
            return np.isfinite(self.data.lower if label == "lower" else self.data.upper)
        return slice(None)

    def _read_duals(self) -> Arrays:
        found = {name: np.zeros(shape) for name, shape in self.shapes()[1].items()}
        for label, constraint in self.constraints.items():
            value = constraint.dual_value
            found[MULTIPLIER_OF[label]][self._entries(label)] = np.nan if value is None else value
        return found

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        labels = [label for label in self.constraints if MULTIPLIER_OF[label] in dual]
        return point, {each: dual[MULTIPLIER_OF[each]][self._entries(each)] for each in labels}

    def _formulas(self) -> Latex:
        return linear_latex(self.data)

    def draw(self, axes: Any, solution: Solution) -> None:
        """Of two variables the polytope, the rows that hold x, and -c in the cone of normals."""
        if is_plane(self.data):
            rows = half_planes(self.data, solution.dual)
            draw_polytope(axes, rows, self.data.c, solution.primal["x"])
        else:
            super().draw(axes, solution)

    def __repr__(self) -> str:
        sizes = f"{self.data.n} variables, {self.data.b_ub.size} inequalities"
        return f"{self.name}({sizes}, {self.data.b_eq.size} equalities)"
