"""Linear programs, as ``scipy.optimize.linprog`` reads them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..certificates.algebra.searchers import highs
from ..certificates.algebra.sums import exact_dot
from ..certificates.certificate import Certificate, Verdict
from ..certificates.linear.absence import (
    certify_infeasible,
    certify_unbounded,
    find_infeasibility,
    find_unboundedness,
)
from ..certificates.linear.bound import (
    NAMES,
    LinearMultipliers,
    complete_multipliers,
    equilibrated,
    meets_rows,
    read_multipliers,
    split_reduced_cost,
)
from ..certificates.linear.program import certify_linear, polish_linear
from ..deadline import limited
from ..errors import InputError, UnsuitableSolverError
from ..formulas import Row, constant, entries, listed, plus
from ..modelling import cp
from ..numerics import Array
from ..problem import Statement
from ..problem.linear_program import LinearData, linear_to_dict, read_linear_data, read_point
from ..progress import at
from ..solvers import supports
from ..solvers.linear_program import run_linear
from ..solvers.reference import ReferenceRun, run_reference
from ..solvers.registry import check_name, suitable_instead
from ..validation import positive_number
from .base import Problem
from .checkpoint import without_checkpoint
from .latex import Latex, such_that
from .pictures.polytope import draw_polytope, half_planes, is_plane
from .portfolio import Limits, available, first_verified, in_time
from .rate_audit import RecordedProgram
from .solution import Solution

# What is made of a linear program's points: evidence, polished vertices, shadow prices.


def find_evidence(data: LinearData, tol: float, owner: str) -> Certificate | None:
    """Verified evidence that the program is infeasible or unbounded; None where not found."""
    tol = positive_number(tol, owner, "tol")
    infeasible = find_infeasibility(data, tol)
    if infeasible is not None and infeasible.within is None:
        data.memo["exact point"] = False  # no point is certified next to this
    return find_unboundedness(data, tol) if infeasible is None else infeasible


def polish(
    data: LinearData, x: Any, multipliers: Mapping[str, Any] | None, tol: float, owner: str
) -> tuple[Array, dict[str, Array]]:
    """Solve the active constraints exactly; what is passed comes back unless that is better."""
    tol = positive_number(tol, owner, "tol")
    x = read_point(data, x, owner)
    read = dict(read_multipliers(data, multipliers, owner))
    rows = [("lambda_ub", data.b_ub), ("nu", data.b_eq)]
    if any(side.size and name not in read for name, side in rows):
        built = certify_linear(data, x, read, tol=tol, owner=owner).dual
        read |= {name: built[name] for name, _ in rows}
    given = {name: read[name] for name, side in rows if side.size}
    if not all(np.all(np.isfinite(value)) for value in given.values()):
        return x, read
    point, polished = polish_linear(data, x, complete_multipliers(data, given, owner), tol)
    return point, polished.as_dict()


def shadow_prices(point: LinearMultipliers) -> dict[str, Array]:
    """The derivatives of p* by right-hand side, as SciPy's marginals."""
    return {
        "ub": 0.0 - point.lambda_ub,
        "eq": 0.0 - point.nu,
        "lower": point.lambda_lower,
        "upper": 0.0 - point.lambda_upper,
    }


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


def _entries(data: LinearData, label: str) -> Any:
    """Which entries of a full-length multiplier the labelled constraint has."""
    if label in ("lower", "upper"):
        return np.isfinite(data.lower if label == "lower" else data.upper)
    return slice(None)


def linear_duals(data: LinearData, constraints: dict[str, Any]) -> dict[str, Array]:
    """The dual values that CVXPY holds, by multiplier; 0 where there is no bound."""
    found = {"lambda_lower": np.zeros(data.n), "lambda_upper": np.zeros(data.n)}
    for label, constraint in constraints.items():
        value = constraint.dual_value
        values = found.setdefault(MULTIPLIER_OF[label], np.zeros(constraint.size))
        values[_entries(data, label)] = np.nan if value is None else value
    return found


def fill_linear(data: LinearData, statement: Statement, x: Array, dual: dict[str, Array]) -> None:
    """Write a solution into the variables and constraints of the primal."""
    statement.variables["x"].value = x
    for label, constraint in statement.constraints.items():
        found = dual.get(MULTIPLIER_OF[label])  # none of them where one overflowed
        constraint.save_dual_value(None if found is None else found[_entries(data, label)])


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


# Solve a linear program by a reference solver; the status is what the certificate allows.


EQUILIBRATED = "highs, equilibrated"
AUTO = ("highs", "clarabel", EQUILIBRATED, "ecos", "interior_point", "piqp", "scs", "osqp")
"""Each is tried where those before it gave nothing that could be verified."""

POLISHED = "the equations of its active rows"


def solve_linear(
    problem: LinearProgram, solver: str, limits: Limits, options: dict[str, Any]
) -> Solution:
    """Run one solver, or for "auto" one after the other until a claim is verified."""
    if solver == "auto":
        why = f"auto chose {AUTO[0]}: the problem is a linear program."
        return first_verified(_in_turn(problem, limits, options), why)
    solver = check_name(solver)
    if available(solver):
        suited, reason = supports(solver, problem)
        if not suited:
            raise UnsuitableSolverError(f"{reason}{suitable_instead(problem)}")
    return _attempt(problem, solver, limits, options)


def _in_turn(problem: LinearProgram, limits: Limits, options: dict[str, Any]) -> Iterator[Solution]:
    for name, left in in_time(limits, (name for name in AUTO if available(name))):
        yield _attempt(problem, name, left, options if name == AUTO[0] else {})


def _attempt(
    problem: LinearProgram, name: str, limits: Limits, settings: dict[str, Any]
) -> Solution:
    tol = limits.tol
    if name == EQUILIBRATED:
        return _equilibrated(problem, tol)
    if name in problem.methods:
        return _by_hand(problem, name, limits, settings)
    if not available(name):
        message = f"{name} is not installed; pip install {name} makes it available."
        run = ReferenceRun("not installed", 0.0, 0.0, 0, message)
        return _conclude(problem, name, run, None, tol)
    posed = problem.statement
    seconds, steps = limits.max_seconds, limits.max_iter
    run = run_reference(
        posed.problem, name, tol=tol, max_seconds=seconds, max_steps=steps, **settings
    )
    run = replace(run, compile_seconds=run.compile_seconds + problem.posing_seconds())
    x = posed.variables["x"].value if run.has_point else None
    if x is None or not np.all(np.isfinite(x)):
        return _without_point(problem, name, run, tol)
    duals = linear_duals(problem.data, posed.constraints)
    return _judged(problem, name, run, np.asarray(x, dtype=float), duals, limits)


def _by_hand(
    problem: LinearProgram, name: str, limits: Limits, settings: dict[str, Any]
) -> Solution:
    if settings:
        raise InputError(f"{name}: a linear program takes no option {next(iter(settings))!r}.")
    run, last = run_linear(
        problem.data, tol=limits.tol, max_seconds=limits.max_seconds, max_iter=limits.max_iter
    )
    if last is None:
        return _without_point(problem, name, run, limits.tol)
    solution = _judged(problem, name, run, last.x, last.multipliers, limits)
    solution.recorded = RecordedProgram(problem.data)
    return solution


def _judged(
    problem: LinearProgram,
    name: str,
    run: ReferenceRun,
    x: Array,
    duals: dict[str, Array],
    limits: Limits,
) -> Solution:
    """Certify a point, polished if asked; without success, look for evidence that there is none."""
    data, tol, owner = problem.data, limits.tol, problem.name
    at(f"{name}: certifying")
    duals, polished = _finite(duals), ""
    if limits.polish:
        better, finished = polish(data, x, duals, tol, owner)
        if np.all(np.isfinite(better)):
            polished = "" if np.array_equal(better, x) else POLISHED
            x, duals = better, _finite(finished)
    certificate = certify_linear(data, x, duals, tol=tol, owner=owner)
    if certificate.verdict is Verdict.UNDECIDED:
        again = certify_linear(data, x, None, tol=tol, owner=owner)
        certificate = again if again.verdict is Verdict.CERTIFIED else certificate
    if certificate.verdict is not Verdict.CERTIFIED:
        evidence = find_evidence(data, tol, owner)
        certificate = certificate if evidence is None else evidence
    solution = _conclude(problem, name, run, certificate, tol)
    solution.polished = polished if solution.primal else ""
    return solution


def _finite(duals: dict[str, Array]) -> dict[str, Array]:
    """The multipliers, none of them where one overflowed."""
    return duals if all(np.all(np.isfinite(value)) for value in duals.values()) else {}


def _equilibrated(problem: LinearProgram, tol: float) -> Solution:
    """HiGHS in units that make rows and columns of size 1; judged in the units of the problem."""
    start = time.perf_counter()
    at(EQUILIBRATED)
    certificate = solve_equilibrated(problem.data, tol, problem.name)
    seconds = time.perf_counter() - start
    found = "no point", "equilibrated: nothing was verified"
    if certificate is not None:
        found = certificate.claim, "rows and columns equilibrated"
    run = ReferenceRun(found[0], seconds, 0.0, 0, found[1])
    return _conclude(problem, "highs", run, certificate, tol)


def solve_equilibrated(data: LinearData, tol: float, owner: str) -> Certificate | None:
    """The certificate of what HiGHS finds; None where it gives nothing that can be verified."""
    scaled = equilibrated(data)
    found = highs(scaled.data)
    if found.x is None or found.lambda_ub is None or found.nu is None:
        return find_evidence(data, tol, owner)
    point = split_reduced_cost(scaled.data, found.lambda_ub, found.nu)
    x, duals = scaled.point(found.x), _finite(scaled.multipliers(point.as_dict()))
    if not np.all(np.isfinite(x)):  # of entries whose units leave float64
        return find_evidence(data, tol, owner)
    plain = certify_linear(data, x, duals, tol=tol, owner=owner)
    if plain.verdict is Verdict.CERTIFIED:
        return plain
    better, finished = polish(data, x, duals, tol, owner)
    if not np.all(np.isfinite(better)):
        return plain
    return certify_linear(data, better, _finite(finished), tol=tol, owner=owner)


def _without_point(problem: LinearProgram, name: str, run: ReferenceRun, tol: float) -> Solution:
    evidence = find_evidence(problem.data, tol, problem.name) if run.claimed != "error" else None
    return _conclude(problem, name, run, evidence, tol)


def _conclude(
    problem: LinearProgram,
    name: str,
    run: ReferenceRun,
    certificate: Certificate | None,
    tol: float,
) -> Solution:
    message, failed = run.message, certificate is None
    if certificate is None:
        message = message or f"{name} claims {run.claimed!r}, of which no evidence was verified."
        certificate = Certificate(
            "optimal", np.inf, -np.inf, np.inf, np.inf, (), Verdict.UNDECIDED, tol, message
        )
    solution = build_solution(problem, certificate, name)
    solution.status = "failed" if failed else solution.status
    solution.claimed_status = run.claimed
    solution.message = message
    solution.iterations = run.iterations
    solution.seconds, solution.compile_seconds = run.seconds, run.compile_seconds
    return solution


def build_solution(problem: LinearProgram, certificate: Certificate, solver: str) -> Solution:
    """The Solution of a certificate: its point and multipliers, or its evidence."""
    status, found = certificate.claim, {}
    if status == "optimal":
        found = certificate.dual
        status = "optimal" if certificate.verdict is Verdict.CERTIFIED else "inaccurate"
    dual = _finite({name: found[name] for name in NAMES if name in found})
    prices = shadow_prices(complete_multipliers(problem.data, dual, problem.name)) if dual else {}
    return Solution(
        status=status,
        problem=problem,
        primal={"x": found["x"] + 0.0} if found else {},  # -0.0 reads badly
        dual=dual,
        certificate=certificate,
        solver=solver,
        evidence=dict(certificate.evidence),
        shadow_prices=prices,
    )


def judge_stored(
    problem: LinearProgram,
    primal: Mapping[str, Array],
    dual: Mapping[str, Array],
    document: Mapping[str, Any],
) -> Solution:
    """Certify a stored point, or look again for the evidence that there is none."""
    tol, solver = float(document.get("tol", 1e-6)), document.get("solver", "")
    if "x" in primal:
        certificate = certify_linear(problem.data, primal["x"], dual, tol=tol, owner=problem.name)
        return build_solution(problem, certificate, solver)
    evidence = find_evidence(problem.data, tol, problem.name)
    if evidence is None:
        raise InputError(f"{problem.name}: the stored solution has no point x.")
    return build_solution(problem, evidence, solver)


class LinearProgram(Problem):
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
        self.data = read_linear_data(c, A_ub, b_ub, A_eq, b_eq, bounds, self.name)

    # -- solved and judged: any x and multipliers, whoever computed them -----------------------

    @limited
    def solve(
        self,
        solver: str = "auto",
        *,
        tol: float = 1e-6,
        max_seconds: float | None = None,
        max_iter: int | None = None,
        polish: bool = True,
        **options: Any,
    ) -> Solution:
        """Solve by a reference solver and certify; fills the values of ``primal``.

        Parameters
        ----------
        solver : str
            "auto" (HiGHS, Clarabel, HiGHS in equilibrated units, then the others, until a claim
            is verified) or the name of a solver.
        tol : float
            Relative, for the certificate.
        max_seconds, max_iter : number, optional
            Limits, passed on to the solver.
        polish : bool
            Solve the active constraints exactly afterwards, where that improves the certificate.
        **options
            ``progress``, and the solver's own options; ``seed`` and ``w0`` have no effect here.

        Returns
        -------
        Solution
            "optimal" only where the certificate holds, "infeasible" and "unbounded" only with
            verified evidence.
        """
        options = {k: v for k, v in options.items() if k not in ("seed", "w0")}
        options = without_checkpoint(f"{self.name}.solve", options)
        limits = Limits.read(tol, max_seconds, max_iter, polish=polish)
        self._last = solve_linear(self, solver, limits, options)
        self._fill()
        return self._last

    def certify(
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
        return certify_infeasible(self.data, multipliers, tol=tol, owner=self.name)

    def certify_unbounded(self, ray: Any, point: Any, *, tol: float = 1e-6) -> Certificate:
        """Verify a ray of descent from a feasible point; claim "unbounded"."""
        return certify_unbounded(self.data, ray, point, tol=tol, owner=self.name)

    def find_evidence(self, *, tol: float = 1e-6) -> Certificate | None:
        """Verified evidence that the program is infeasible or unbounded; None where not found."""
        return find_evidence(self.data, tol, self.name)

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
        return polish(self.data, x, multipliers, tol, self.name)

    def objective(self, x: Any) -> float:
        """c'x, or inf where x is infeasible by more than rounding."""
        x = read_point(self.data, x, self.name)
        return exact_dot(self.data.c, x) if meets_rows(self.data, x) else np.inf

    def dual_objective(self, multipliers: Mapping[str, Any]) -> float:
        """D at these multipliers, -inf where they are infeasible by more than rounding.

        Bound multipliers that are missing come from the reduced costs.
        """
        return self._complete(multipliers).dual_value(self.data)

    def _complete(self, multipliers: Mapping[str, Any]) -> LinearMultipliers:
        return complete_multipliers(self.data, multipliers, self.name)

    def shadow_prices(self, multipliers: Mapping[str, Any]) -> dict[str, Array]:
        """The derivatives of p* by right-hand side, {"ub", "eq", "lower", "upper"}.

        -lambda_ub, -nu, lambda_lower and -lambda_upper: SciPy's marginals.
        """
        return shadow_prices(self._complete(multipliers))

    # -- stored --------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The program as plain lists, for JSON."""
        return {"kind": self.name, **linear_to_dict(self.data)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> LinearProgram:
        """Pose the program again that ``to_dict`` described."""
        return cls(**{key: value for key, value in stored.items() if key != "kind"})

    def recertify(
        self, primal: dict[str, Array], dual: dict[str, Array], document: dict[str, Any]
    ) -> Solution:
        """Judge a stored point anew; its status follows from the new certificate."""
        return judge_stored(self, primal, dual, document)

    # -- posed with CVXPY, told in LaTeX -------------------------------------------------------

    def _pose(self) -> Statement:
        return pose_linear_primal(self.data)

    def _pose_dual(self) -> Statement:
        return pose_linear_dual(self.data)

    def _fill(self) -> None:
        if self._last is not None and self._last.primal:
            point, duals = self._last.primal["x"], self._last.dual
            fill_linear(self.data, self.statement, point, duals)

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
