"""The base of the models whose point is no (w, b): a few arrays by name."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate, Verdict
from ..certificates.judge import Better, settled
from ..certificates.sums import certify_sum
from ..deadline import limited
from ..errors import InputError, UnsuitableSolverError, nearest
from ..modelling import cp
from ..numerics import Array, all_finite
from ..problem import Statement, pose_sum, pose_sum_dual
from ..progress import at, evaluated
from ..solvers import Record, supports
from ..solvers.reference import REFERENCE, ReferenceRun, run_reference, suits
from ..solvers.registry import check_name, suitable_instead
from ..validation import finite_array, positive_number
from .base import Problem
from .checkpoint import without_checkpoint
from .inputs import Samples
from .outcome import SUPPORT_SHARE
from .portfolio import Limits, available, first_verified, in_time
from .solution import Solution

# Solve a problem in named arrays: its own methods, then CVXPY; the judge has the last word.


MAX_ITER = 1000
"""Steps of a method, where no other limit is given."""
STEPS = 400
"""Of those that a point is compared with."""
Arrays = dict[str, Array]
Shapes = Mapping[str, tuple[int, ...]]


def solve_arrays(
    problem: ArrayProblem, solver: str, limits: Limits, options: dict[str, Any]
) -> Solution:
    """Run one solver, or for "auto" one after the other until a claim is verified."""
    chosen = "auto" if solver == "auto" else check_name(solver)
    if chosen != "auto" and available(chosen):
        suited, reason = supports(chosen, problem)
        if not suited:
            raise UnsuitableSolverError(f"{reason}{suitable_instead(problem)}")
    known = problem._absence(limits.tol) if problem._shows_absence else None
    if known is not None:
        solution = conclude(problem, known, chosen)
        solution.choice = "The data show that there is no optimal point: nothing was run."
        return solution
    if chosen != "auto":
        return _attempt(problem, chosen, limits, options)
    own = next(iter(problem._turns), "")
    why = f"auto chose {own}: {problem.why}." if own else "auto asks the reference solvers in turn."
    return first_verified(_in_turn(problem, limits, options), why)


def _in_turn(problem: ArrayProblem, limits: Limits, options: dict[str, Any]) -> Iterator[Solution]:
    there = (name for name in problem._turns if problem._brings(name) or available(name))
    for name, left in in_time(limits, there):
        if problem._brings(name) or suits(name, problem.statement.problem)[0]:
            yield _attempt(problem, name, left, options)
            options = {}


def _attempt(problem: ArrayProblem, name: str, limits: Limits, options: dict[str, Any]) -> Solution:
    if problem._brings(name):
        if options:
            raise InputError(f"{name}: {problem.name} takes no option {next(iter(options))!r}.")
        return problem._run(name, limits)
    if not available(name):
        message = f"{name} is not installed; pip install {name} makes it available."
        return failed(problem, name, ReferenceRun("not installed", 0.0, 0.0, 0, message), limits)
    posed = problem.statement
    tol, seconds, steps = limits.tol, limits.max_seconds, limits.max_iter
    run = run_reference(
        posed.problem, name, tol=tol, max_seconds=seconds, max_steps=steps, **options
    )
    run = replace(run, compile_seconds=run.compile_seconds + problem.posing_seconds())
    values = problem._read_point() if run.has_point else {}
    if not values or not all(v is not None and np.all(np.isfinite(v)) for v in values.values()):
        return failed(problem, name, run, limits)
    point = problem._complete({key: np.array(value) for key, value in values.items()})
    return finished(problem, name, run, point, problem._read_duals(), limits)


def finished(
    problem: ArrayProblem, name: str, run: ReferenceRun, point: Arrays, dual: Arrays, limits: Limits
) -> Solution:
    """Judge the point that a run ended with, polished where a model does; or say there is none."""
    at(f"{name}: certifying")
    point, dual, polished = problem._polished(point, _finite(dual), limits)
    dual = _finite(dual)
    certificate = problem._judge(point, dual, limits.tol, search=False)
    if dual and certificate.verdict is not Verdict.CERTIFIED:
        other = problem._judge(point, {}, limits.tol, search=False)
        certificate = min(certificate, other, key=Certificate.standing)
    known = None if certificate.verdict is Verdict.CERTIFIED else _evidence(problem, run, limits)
    if known is not None:
        return _told(conclude(problem, known, name), run)
    found = conclude(problem, certificate, name, point)
    found.polished = polished
    return _told(found, run)


def _finite(dual: Arrays) -> Arrays:
    return {name: value for name, value in dual.items() if all_finite(value)}


def _evidence(problem: ArrayProblem, run: ReferenceRun, limits: Limits) -> Certificate | None:
    """Evidence that there is no optimal point, where it has to be looked for after a run."""
    if problem._shows_absence or run.claimed in ("error", "not installed"):
        return None
    return problem._absence(limits.tol)


def failed(problem: ArrayProblem, name: str, run: ReferenceRun, limits: Limits) -> Solution:
    """The Solution of a run without a point."""
    known = _evidence(problem, run, limits)
    if known is not None:
        return _told(conclude(problem, known, name), run)
    message = run.message or f"{name} returned no point ({run.claimed})."
    nothing = Certificate(
        "optimal", np.inf, -np.inf, np.inf, np.inf, (), Verdict.UNDECIDED, limits.tol, message
    )
    solution = _told(conclude(problem, nothing, name), run)
    solution.status, solution.message = "failed", message
    return solution


def _told(solution: Solution, run: ReferenceRun) -> Solution:
    solution.claimed_status, solution.message = run.claimed, run.message
    solution.iterations = run.iterations
    solution.seconds, solution.compile_seconds = run.seconds, run.compile_seconds
    return solution


def _by_hand(problem: ArrayProblem, name: str, limits: Limits) -> Solution:
    """The iterates of a method, the promising ones judged, until one holds or a limit is met."""
    start = time.perf_counter()
    most = MAX_ITER if limits.max_iter is None else limits.max_iter
    seconds = np.inf if limits.max_seconds is None else limits.max_seconds
    best: tuple[Certificate, Arrays] | None = None
    pending: tuple[Arrays, Arrays] | None = None
    trace: list[Record] = []
    step, claimed, message = 0, "", ""
    at(name)

    def judged(point: Arrays, dual: Arrays) -> Certificate:
        nonlocal best
        found = problem._judge(point, dual, limits.tol, search=False)
        values = (found.primal_objective, found.dual_objective, found.gap)
        spent = time.perf_counter() - start
        trace.append(Record(step, float(step), spent, *values, found.relative_gap))
        evaluated(*trace[-1].told)
        if best is None or found.standing() < best[0].standing():
            best = found, point
        return found

    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for step, (point, dual) in enumerate(problem._iterates(name)):
                spent = time.perf_counter() - start
                ends = "max_iter" * (step >= most) or "max_seconds" * (spent >= seconds)
                pending = point, dual
                if ends or step == 0 or not problem._promise > limits.tol:
                    pending = None
                    found = judged(point, dual)
                    claimed = "optimal" if found.verdict is Verdict.CERTIFIED else ends
                else:
                    evaluated(step)
                if claimed:
                    break
            if pending is not None:
                judged(*pending)
    except KeyboardInterrupt:
        claimed = message = "interrupted"
    except np.linalg.LinAlgError as error:
        claimed, message = "error", f"{name} stopped: {error}"
    spent = time.perf_counter() - start
    run = ReferenceRun(claimed or "no further step", spent, 0.0, step, message)
    if best is None:
        return failed(problem, name, run, limits)
    solution = _told(conclude(problem, best[0], name, best[1]), run)
    solution.evaluated = trace
    return solution


def conclude(
    problem: ArrayProblem, certificate: Certificate, solver: str, point: Arrays | None = None
) -> Solution:
    """The Solution of a certificate: its point and dual point, or its evidence."""
    status = certificate.claim
    if status == "optimal":
        status = "optimal" if certificate.verdict is Verdict.CERTIFIED else "inaccurate"
    names = problem.shapes()[1]
    dual = {name: value for name, value in certificate.dual.items() if name in names}
    dual = dual if point is not None and all(map(all_finite, dual.values())) else {}
    return Solution(
        status=status,
        problem=problem.snapshot(),
        primal={name: np.asarray(value) + 0.0 for name, value in (point or {}).items()},
        dual=dual,
        certificate=certificate,
        solver=solver,
        evidence=dict(certificate.evidence),
        shadow_prices=problem._prices(dual) if dual else {},
    )


class ArrayProblem(Problem):
    """A convex problem in named arrays, with a certificate of its own.

    A model says the names and shapes of its arrays, its two objectives and how a point is judged;
    it poses itself with CVXPY like all others. From these come ``solve``, ``certify``,
    ``objective``, paths, JSON and tables. ``docs/extending.md`` has an example.
    """

    why: ClassVar[str] = "it is written for this model"
    """Why "auto" takes the first of them."""
    program: Any
    """The problem as its certificate sees it, where ``_value`` and ``_dual_value`` are its own."""
    _constraint_of: ClassVar[Mapping[str, str]] = {}
    """The label of the constraint whose multiplier a dual array is."""
    _hyper: dict[str, Any]
    _warm: Mapping[str, Array] | None = None
    """A dual point that a method may start from."""
    _closer: ClassVar[float] = 0.01
    """The share of tol to which a step is certified that another point is compared with."""
    _promise: float = 0.0
    """The relative gap that a method expects of its last step: not judged where it is too large."""

    # -- what a model says of itself -------------------------------------------------------------

    @abstractmethod
    def shapes(self) -> tuple[Shapes, Shapes]:
        """The shapes of the arrays of a point, and of a dual point, by name."""

    def _taken(self, point: Arrays) -> tuple[Any, ...]:
        """A point as the methods of ``program`` take it."""
        return tuple(point[name] for name in self.shapes()[0])

    def _value(self, point: Arrays) -> float:
        """P at a point; inf where it is infeasible."""
        return float(self.program.value(*self._taken(point)))

    def _dual_value(self, dual: Arrays) -> float:
        """D at a dual point; -inf where it is infeasible."""
        return float(self.program.dual_value(*(dual[name] for name in self.shapes()[1])))

    def _judge_by(self, point: Arrays, dual: Arrays, tol: float, *, passed: bool) -> Certificate:
        """Judge a point as it is by these dual arrays; those that are not there are constructed.

        Its ``dual`` holds the dual point by name; ``passed`` says whether somebody brought it.
        """
        given = (dual.get(name) for name in self.shapes()[1])
        taken = self._taken(point)
        found: Certificate = self.program.certify(*taken, *given, tol=tol, passed=passed)
        return found

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        """Judge a point by the dual arrays that are passed.

        Only where it is to ``search`` is a better point, or dual point, looked for, which may take
        as long as solving.
        """
        found = self._judge_by(point, dual, tol, passed=bool(dual))
        better = partial(self._better, found, point)
        return settled(found, better, with_own=not dual) if search else found

    def _better(self, found: Certificate, point: Arrays) -> Better | None:
        """A step of our own method, beside a point that was judged."""
        best = self._improved(found.dual, self._closer * found.tol)
        if best is None:
            return None
        taken = map(self._taken, (point, best[0]))
        lost = float(sum(self.program.value_rounding(*each) for each in taken))
        again = partial(self._judge_by, point, best[1], found.tol, passed=False)
        if self._is_closed:
            return Better(best[0], self.program.cost(*self._taken(best[0])), lost)
        return Better(best[0], self._value(best[0]), lost, again)

    def _improved(self, start: Mapping[str, Array], tol: float) -> tuple[Arrays, Arrays] | None:
        """The step of the first of ``methods`` that is certified, or its last."""
        if self._is_closed:
            return next(self._iterates(self.methods[0]), None)
        twin, best = self.snapshot(), None
        twin._warm = start
        for best in islice(twin._iterates(self.methods[0]), STEPS):
            if twin._promise <= tol:
                found = self._judge_by(*best, tol, passed=False)
                if found.verdict is Verdict.CERTIFIED:
                    break
        return best

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        """(point, dual point) of one of ``methods``, step by step, the start first."""
        raise NotImplementedError

    def _brings(self, name: str) -> bool:
        """Whether a solver is one of the model's own."""
        return name in self.methods or name not in REFERENCE

    def _run(self, name: str, limits: Limits) -> Solution:
        """The answer of one of the model's own solvers."""
        return _by_hand(self, name, limits)

    def _polished(self, point: Arrays, dual: Arrays, limits: Limits) -> tuple[Arrays, Arrays, str]:
        """A better point and dual point than a reference solver's, and what made them so."""
        return point, dual, ""

    def _prices(self, dual: Arrays) -> dict[str, Array]:
        """The derivatives of the optimal value by right-hand side, by name."""
        return {}

    _is_closed: ClassVar[bool] = False
    """Whether the best multipliers are those that are constructed, and the first of ``methods``
    ends at once, or ``_improved`` does."""
    _shows_absence: ClassVar[bool] = True
    """Whether ``_absence`` reads it off the data, before anything is run."""

    def _absence(self, tol: float) -> Certificate | None:
        """Evidence that there is no optimal point, where the data show it."""
        return None

    @property
    def _asks(self) -> bool:
        """Whether "auto" asks the reference solvers where ``methods`` fall short."""
        return True

    @property
    def _turns(self) -> tuple[str, ...]:
        """What "auto" tries in turn, until a claim is verified."""
        return (*self.methods, *(REFERENCE if self._asks else ()))

    def _complete(self, point: Arrays) -> Arrays:
        """A point with the arrays that were not passed, where they follow from the others."""
        return point

    def _check(self, **hyper: Any) -> dict[str, Any]:
        """The hyperparameters, validated."""
        return hyper

    def _parameters(self) -> dict[str, Any]:
        """CVXPY Parameters for the hyperparameters that are numbers >= 0."""
        return {
            name: cp.Parameter(name=name, nonneg=True, value=value)
            for name, value in self._hyper.items()
        }

    def _read_point(self) -> dict[str, Any]:
        """The arrays of a point that a reference solver left in ``variables``."""
        there = self.variables
        return {name: there[name].value for name in self.shapes()[0] if name in there}

    def _read_duals(self) -> Arrays:
        """The dual arrays that a reference solver left in ``constraints``, as far as it did."""
        found = {name: self.constraints[of].dual_value for name, of in self._constraint_of.items()}
        known = {name: value for name, value in found.items() if value is not None}
        return {name: np.array(value) for name, value in known.items()}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        """The values of ``variables``, and the dual values of ``constraints``, by name."""
        labels = {name: of for name, of in self._constraint_of.items() if name in dual}
        return point, {of: dual[name] for name, of in labels.items()}

    # -- solved and judged: any arrays, whoever computed them -------------------------------------

    @limited
    def solve(
        self,
        solver: str = "auto",
        *,
        tol: float = 1e-6,
        max_seconds: float | None = None,
        max_iter: int | None = None,
        **options: Any,
    ) -> Solution:
        """Solve and certify; fills the values of ``primal``.

        Parameters
        ----------
        solver : str
            "auto" (the first of ``methods``, then the reference solvers until a claim is verified,
            where they suit), or the name of a solver.
        tol : float
            Relative, for the certificate.
        max_seconds, max_iter : number, optional
            Limits.
        **options
            ``progress``, and a reference solver's own options; ``polish=False`` leaves its answer
            to a linear program as it is. ``seed`` and ``w0`` have no effect here.

        Returns
        -------
        Solution
            "optimal" only where the certificate holds.
        """
        options = {key: value for key, value in options.items() if key not in ("seed", "w0")}
        options = without_checkpoint(f"{self.name}.solve", options)
        limits = Limits.read(tol, max_seconds, max_iter, polish=options.pop("polish", True))
        self._last = solve_arrays(self, solver, limits, options)
        if self._statement is not None:
            self._fill()
        return self._last

    def certify(self, *point: Any, tol: float = 1e-6, **arrays: Any) -> Certificate:
        """Judge a point as it is; what is missing of its dual point is constructed.

        Parameters
        ----------
        *point : array
            The array of the point, where it has only one.
        tol : float
            For the relative gap and the feasibilities, relative to their rows.
        **arrays
            The arrays of ``Solution.primal``, and any of ``Solution.dual``, by name.

        Returns
        -------
        Certificate
            Claim "optimal".
        """
        tol = positive_number(tol, f"{self.name}.certify", "tol")
        primal, dual = self._read("certify", point, arrays)
        return self._judge(primal, dual, tol, search=True)

    def objective(self, *point: Any, **arrays: Any) -> float:
        """P at the arrays of a point, as ``certify`` takes them; inf where it is infeasible."""
        return self._value(self._read("objective", point, arrays, duals=False)[0])

    def dual_objective(self, *dual: Any, **arrays: Any) -> float:
        """D at the arrays of a dual point, by name or a single one; -inf where it is infeasible."""
        shapes = self.shapes()[1]
        return self._dual_value(self._arrays("dual_objective", dual, arrays, shapes, tuple(shapes)))

    def _read(
        self, method: str, given: tuple[Any, ...], arrays: dict[str, Any], duals: bool = True
    ) -> tuple[Arrays, Arrays]:
        """The point, complete, and the dual arrays among what was passed."""
        ours, theirs = self.shapes()
        first = {name: value for name, value in arrays.items() if not (duals and name in theirs)}
        point = self._complete(self._arrays(method, given, first, ours))
        lacking = [name for name in ours if name not in point]
        if lacking:
            raise InputError(
                f"{self.name}.{method}: {lacking[0]!r} is missing; pass the arrays "
                f"{', '.join(ours)} by name, as Solution.primal holds them."
            )
        rest = {name: value for name, value in arrays.items() if name not in first}
        return point, self._arrays(method, (), rest, theirs)

    def _arrays(
        self,
        method: str,
        given: tuple[Any, ...],
        arrays: Mapping[str, Any],
        shapes: Shapes,
        needed: tuple[str, ...] = (),
    ) -> Arrays:
        """Finite arrays of the right shapes, by name."""
        owner, names = f"{self.name}.{method}", list(shapes)
        if len(given) > 1 or (given and isinstance(given[0], Mapping)):
            raise InputError(
                f"{owner}: takes its arrays by name: {', '.join(names)}; with a dict "
                f"{method}(**solution.primal)."
            )
        found = dict(zip(names, given, strict=False)) | dict(arrays)
        if given and names[0] in arrays:
            raise InputError(f"{owner}: {names[0]!r} is passed twice.")
        for name in found:
            if name not in shapes:
                known = f"{nearest(name, names)} Arrays: {', '.join(names)}."
                raise InputError(f"{owner}: there is no array {name!r}.{known}")
        for name in needed:
            if name not in found:
                raise InputError(f"{owner}: {name!r} is missing; pass {', '.join(needed)}.")
        read = {name: finite_array(value, owner, name) for name, value in found.items()}
        for name, value in read.items():
            if value.size == 0 and 0 in shapes[name]:
                read[name] = value = value.reshape(shapes[name])  # a list says no more of it
            if value.shape != tuple(shapes[name]):
                raise InputError(
                    f"{owner}: {name} must have shape {tuple(shapes[name])}, got {value.shape}."
                )
        return read

    # -- stored, posed with CVXPY ----------------------------------------------------------------

    def recertify(self, primal: Arrays, dual: Arrays, document: dict[str, Any]) -> Solution:
        """Judge a stored point anew, or look again for the evidence that there is none."""
        tol, solver = float(document.get("tol", 1e-6)), document.get("solver", "")
        if primal:
            primal, dual = self._read("from_json", (), primal | dual)
            return conclude(self, self._judge(primal, dual, tol, search=True), solver, primal)
        evidence = self._absence(tol)
        if evidence is None:
            raise InputError(f"{self.name}: the stored solution has no point.")
        return conclude(self, evidence, solver)

    def _set_hyperparameter(self, name: str, value: Any) -> None:
        self._hyper, self._last = self._check(**(self._hyper | {name: value})), None
        vars(self).pop("program", None)
        for statement in (self._statement, self._dual_statement):
            if statement is not None and name in statement.parameters:
                statement.parameters[name].value = self._hyper[name]

    def _fill(self) -> None:
        if self._last is None or not self._last.primal:
            return
        values, duals = self._posed_values(dict(self._last.primal), dict(self._last.dual))
        for name in values.keys() & self.statement.variables.keys():
            self.statement.variables[name].value = np.array(values[name])
        for label, value in duals.items():
            self.statement.constraints[label].save_dual_value(np.array(value))


class SampledProblem(ArrayProblem):
    """A problem of samples in rows, which are stored with its hyperparameters."""

    _samples: Samples
    _supports: ClassVar[str] = ""
    """The dual array whose positive entries are those of the support, where there is one."""

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve and certify, as every problem; ``support`` are samples with a multiplier > 0."""
        self._samples.refuse_changed(self.name)
        solution = super().solve(solver, **options)
        if self._supports in solution.dual:
            weights = solution.dual[self._supports]
            solution.support = np.flatnonzero(weights > SUPPORT_SHARE * weights.max(initial=0.0))
        return solution


class SumProblem(ArrayProblem):
    """A problem whose ``program`` is an ``Approximation``: posed, read and valued by its terms."""

    def shapes(self) -> tuple[Shapes, Shapes]:
        first, *others = self.program.terms
        x = np.zeros(first.function.targets.shape)
        duals = {term.dual: term.map.forward(x)[0].shape for term in others}
        return {first.variable: x.shape}, duals

    def _judge_by(self, point: Arrays, dual: Arrays, tol: float, *, passed: bool) -> Certificate:
        (x,) = point.values()
        return certify_sum(self.program, x, dual or self.program.multipliers(x), tol, passed=passed)

    @abstractmethod
    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        """A sum has a method of its own, which points are compared with."""

    def _pose(self) -> Statement:
        return pose_sum(self.program, self._parameters())

    def _pose_dual(self) -> Statement:
        return pose_sum_dual(self.program, self._parameters())

    @property
    def _posed(self) -> list[Any]:
        """The terms with multipliers, where they are posed."""
        return [term for term in self.program.terms[1:] if term.constraint in self.constraints]

    def _read_duals(self) -> Arrays:
        found = {term.dual: self.constraints[term.constraint].dual_value for term in self._posed}
        known = all(value is not None for value in found.values())
        return {name: np.array(value) for name, value in found.items()} if known else {}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        (x,) = point.values()
        images = {each.variable: each.map.forward(x)[0] for each in self._posed if each.variable}
        return {**point, **images}, {each.constraint: dual[each.dual] for each in self._posed}
