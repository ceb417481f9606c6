"""Any loss with any penalty: the general learning problem, and the base of the textbook models."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, InitVar, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

import numpy as np

from ..certificates import Certificate, certify_objective
from ..certificates.learning.existence import Evidence
from ..certificates.support import CertifiedSupport, certify_support
from ..data.columns import match_coefficients
from ..deadline import limited
from ..errors import InputError, WorkersLostError
from ..kernels import Kernel
from ..losses import Loss
from ..numerics import Array
from ..penalties import Penalty
from ..problem import Objective, Statement, pose_dual, pose_primal
from ..solvers.driver import LOST
from ..system import writable
from ..validation import positive_number, yes_or_no
from . import outcome, posing
from .base import Argument, Hyperparameter
from .checkpoint import INSTEAD, Checkpoint, SavedPoint, read
from .cross_validation import CrossValidated
from .inputs import Samples, read_coefficients, read_dual
from .latex import Latex, latex_of
from .outcome import Attempt, finite_or
from .path import follow, lam_max, slope_of
from .portfolio import SHORT
from .posing import PosedLearning, Values
from .prediction import Predictor
from .row_blocks import TakesBlocks, read_any
from .solution import Solution
from .solving import solve_learning

# Solves that keep their best point in a file, and go on from the one that is there.


SAME = 1e-9
"""Up to this share of their size sums are the same: they are added up in other blocks."""


def solve_kept(
    problem: PosedLearning, solver: str = "auto", *, checkpoint: Any = None, **options: Any
) -> Solution:
    """``solve_learning`` with a file for the best point, or without.

    What the file says is used as a start alone: the gap of the answer is computed from the data.
    """
    if checkpoint is None:
        return solve_learning(problem, solver, **options)
    kept = opened(problem, checkpoint)
    before = kept.best
    if before is not None:
        options["w0"] = before.w.reshape(problem.objective_parts.w_shape)
    try:
        solution = solve_learning(problem, solver, kept=kept, **options)
        if solution.claimed_status != LOST:  # else there is nobody to judge it
            solution = _better(solution, kept)
        w, b = solution.primal.get("w"), solution.primal.get("b", 0.0)
        if w is not None and w.shape == problem.objective_parts.w_shape:
            values = solution.objective, solution.gap, solution.iterations, solution.solver
            kept.keep(SavedPoint(np.ravel(w), b, *values))
    except WorkersLostError as error:
        there = f"The best point so far is in {kept.path}, to go on from."
        raise WorkersLostError(f"{error} {there}" if kept.best else str(error)) from error
    finally:
        kept.flush()
    if before is not None:
        told = f" Resumed from {before.solver}, iteration {before.iteration}."
        solution.choice = (solution.choice + told).strip()
    return solution


def opened(problem: PosedLearning, path: Any) -> Checkpoint:
    """The checkpoint of a path, with its point where there is one, of which P is computed anew.

    Raises
    ------
    InputError
        Where no file can be written, or the one that is there is damaged or of another problem.
    """
    owner = f"{problem.name}.solve: checkpoint"
    target = writable(path, owner)
    found = Checkpoint(target, identity(problem))
    if not target.exists():
        return found
    if not target.is_file():
        raise InputError(f"{owner}: {target} is no file to write to and to read. Name another.")
    told, point = read(target, owner)
    other = difference(told, found.identity)
    if other:
        raise InputError(f"{owner}: {target} is of another problem: {other}. {INSTEAD}")
    objective = problem.objective_parts
    w = point.w.reshape(objective.w_shape)
    w, b = read_coefficients(problem.name, w, point.b, objective)
    value = finite_or(np.inf, objective.primal, w, b)
    found.best = replace(point, w=w, b=b, objective=value)
    return found


def identity(problem: PosedLearning) -> dict[str, Any]:
    """Model, sizes, settings, X'c and its scale, and P at a point that depends on every column."""
    objective = problem.objective_parts
    scores = objective.zero_scores + objective.coefficients
    norms = objective.column_norms
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        probe = np.cos(1.0 + np.arange(len(norms))) * np.sqrt(objective.n / len(norms)) / norms
        probe[~np.isfinite(probe)] = 0.0
        sums = objective.design.rmatvec(scores)
        sizes = norms * np.sqrt((scores * scores).sum())
        value = float(objective.primal(probe, objective.null_model[0]))
    settings = {k: v for k, v in problem._hyper.items() if np.ndim(v) == 0}
    return {
        "model": problem.name,
        "settings": {k: v if isinstance(v, float | None) else str(v) for k, v in settings.items()},
        "loss": repr(objective.loss),
        "penalty": repr(objective.penalty),
        "intercept": bool(objective.fit_intercept),
        "samples": int(objective.n),
        "shape": list(objective.w_shape),
        "sums": sums.tolist(),
        "sizes": sizes.tolist(),
        "value": value,
    }


def difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """The first thing that two problems differ in, in words; empty where they are the same."""
    if there["model"] != here["model"]:
        return f"{there['model']} there, {here['model']} here"
    for name in sorted({*there["settings"], *here["settings"]}):
        one, other = there["settings"].get(name), here["settings"].get(name)
        if one != other:
            return f"{name} = {one} there, {other} here"
    words = {"samples": "samples", "shape": "coefficients", "loss": "the loss"}
    words |= {"penalty": "the penalty", "intercept": "the intercept"}
    for key, word in words.items():
        if there[key] != here[key]:
            return f"{word}: {there[key]} there, {here[key]} here"
    off = np.abs(np.subtract(there["sums"], here["sums"]))
    bad = ~(off <= SAME * np.maximum(there["sizes"], here["sizes"]))
    if bad.any():
        return f"other numbers in column {int(np.argmax(bad)) % here['shape'][0]} of X"
    one, other = there["value"], here["value"]
    if not (one == other or abs(one - other) <= SAME * max(abs(one), abs(other))):
        return "other numbers in X, y or the weights"
    return ""


def _better(solution: Solution, kept: Checkpoint) -> Solution:
    """A solution that falls short gives way to the best point of the file, if that has less gap."""
    point = kept.best
    if point is None or solution.status not in SHORT or not point.objective < solution.objective:
        return solution
    names = ("claimed_status", "iterations", "passes", "seconds", "evaluated", "message")
    facts = {name: getattr(solution, name) for name in (*names, "compile_seconds", "recorded")}
    told = Attempt(solution.problem, solution.solver, solution.certificate.tol, facts)
    again = told.certified(point.w, point.b, None)
    return min(solution, again, key=lambda each: each.relative_gap)


class LearningProblem(TakesBlocks, CrossValidated, Predictor):
    """Minimise P(w, b) = sum_i c_i l(y_i, x_i.w + b) + Omega(w).

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d), or RowBlocks, which bring y
        Samples in rows. float64 in one piece, or sparse in order, is read where it is, not copied.
    y : array, shape (n,)
        Real numbers, two labels of any kind (the larger is +1) or counts >= 0, as the loss asks.
    loss : Loss
        For example ``losses.Huber(1.0)``.
    penalty : Penalty
        For example ``penalties.L1(0.1)``. The intercept b is never penalised.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.
    loss_scale : "mean", "sum" or float
        c_i = s_i / sum(s), s_i, or the number times s_i.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, labels that do not fit the loss, bad weights.
    """

    _objective: Objective
    _kernel: Kernel | None = None
    """Of functions of a kernel; None of features."""
    slater = "w = 0"
    _hands_on = True
    _poses_coordinates = True
    """Whether the posed primal is in the coordinates of ``objective_parts``."""
    _design_name = "X"
    """What posed problems call the matrix of predictions."""
    _interval_path = follow
    _slope = slope_of
    _judge: ClassVar[Callable[..., Certificate]] = staticmethod(certify_objective)
    multiplier_names: ClassVar[Mapping[str, str]] = {}
    """Textbook names of the multipliers, by the label of their constraint."""

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        penalty: Penalty,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        loss_scale: str | float = "mean",
    ) -> None:
        self._parts = posing.read_parts(loss, penalty, loss_scale)
        self._start(X, y, fit_intercept, sample_weight)

    def _make(self, **hyper: Any) -> posing.Parts:
        return self._parts  # loss, penalty, loss scale, validated

    def _start(self, X: Any, y: Any, fit_intercept: bool, sample_weight: Any, **hyper: Any) -> None:
        intercept = yes_or_no(fit_intercept, self.name, "fit_intercept")
        parts, self._hyper = posing.made(self.name, self._make, hyper)
        samples = read_any(self.name, X, y, sample_weight, parts[0].labels)
        self._parts, self._samples, self.classes = parts, samples, samples.classes
        self._compose(samples, intercept)

    def _compose(self, samples: Samples, intercept: bool) -> None:
        self._objective = posing.compose(self.name, samples, self._parts, intercept)

    @property
    def objective_parts(self) -> Objective:
        """Design, loss, penalty and coefficients: what solvers and certificates work on."""
        return self._objective

    @property
    def _valued(self) -> Any:
        """What points that are passed are valued and judged by."""
        return self.objective_parts

    @property
    def sample_parts(self) -> Objective:
        """The same where only the samples, the loss and the intercept are asked for."""
        return self.objective_parts

    def _set_hyperparameter(self, name: str, value: Any) -> None:
        parts, hyper = posing.made(self.name, self._make, self._hyper | {name: value})
        before, weights = self._objective, self._samples.weights
        self._objective = posing.recompose(self.name, before, weights, parts)
        self._parts, self._hyper, self._last = parts, hyper, None
        if self._theta is not None:
            posing.set_parameters(self._theta, parts)

    @property
    def coefficients_shape(self) -> tuple[int, ...]:
        """The shape of the coefficients that ``certify`` judges: (d,), or (d, K) for K classes."""
        return self.objective_parts.w_shape

    # -- solved and judged: any (w, b) and u, whoever computed them ----------------------------

    @limited
    def solve(
        self,
        solver: str = "auto",
        *,
        tol: float = 1e-6,
        max_seconds: float | None = None,
        max_iter: int | None = None,
        seed: int = 0,
        w0: Any = None,
        polish: bool = True,
        checkpoint: str | PathLike[str] | None = None,
        **options: Any,
    ) -> Solution:
        """Solve, polish, certify.

        Parameters
        ----------
        solver : str
            A registered name, or "auto".
        tol : float
            Relative gap that ends the solve.
        max_seconds, max_iter : optional
            Limits of time and of the solver's own steps.
        seed : int
            Of solvers that draw at random.
        w0 : array, optional
            Coefficients to start from.
        polish : bool
            Whether to solve the active conditions exactly in the end.
        checkpoint : path, optional
            A file for the best point: see docs/scaling.
        **options
            progress=False, and what the solver itself takes.

        Returns
        -------
        Solution

        Raises
        ------
        UnknownSolverError, UnsuitableSolverError
            If there is no such solver, or it cannot solve this problem.
        """
        options |= {"tol": tol, "max_seconds": max_seconds, "max_iter": max_iter, "seed": seed}
        options |= {"w0": w0, "polish": polish, "checkpoint": checkpoint}
        self._last = solve_kept(self, solver, **options)
        self._fill()
        return self._last

    def certify(self, w: Any, b: Any = None, u: Any = None, *, tol: float = 1e-6) -> Certificate:
        """Judge a point, whoever computed it.

        Parameters
        ----------
        w : array, shape (d,)
        b : float, optional
            Intercept; judged as it is. None: the best one for this w.
        u : array, shape (n,), optional
            Dual point; judged as it is. None: constructed.
        tol : float

        Returns
        -------
        Certificate
        """
        tol = positive_number(tol, self.name, "tol")
        found = self._judge(self._valued, *self._passed(w, b, u), tol=tol)
        return outcome.in_own_rows(self, found)

    def _passed(self, w: Any, b: Any, u: Any) -> tuple[Array, Any, Array | None]:
        self._samples.refuse_changed(self.name)
        w, b = self._passed_point(w, b)
        return w, b, None if u is None else read_dual(self.name, u, self._samples)

    def _passed_point(self, w: Any, b: Any) -> tuple[Array, Any]:
        """(w, b) as floats; a series of coefficients by the names of the columns."""
        w = match_coefficients(self.name, w, self._samples.feature_names)
        return read_coefficients(self.name, w, b, self.objective_parts)

    def judge_solved(self, w: Array, b: float, u: Array | None, tol: float) -> Certificate:
        """The certificate of what a solver returned; its u competes with the constructed one."""
        return outcome.certify_solved(self, w, b, u, tol)

    def confirmed(self, claim: str, evidence: Evidence) -> Evidence | None:
        """Evidence of ``objective_parts`` as evidence of the problem; None where it is none."""
        return evidence

    def certified_support(self, w: Any, b: float | None = None, u: Any = None) -> CertifiedSupport:
        """Label the samples and coefficients of every solution, as far as this point decides.

        Parameters
        ----------
        w, b, u
            As of ``certify``; w near a minimiser.

        Returns
        -------
        CertifiedSupport
            Of samples of weight 0 it says "not_support".

        Raises
        ------
        InputError
            For wrong shapes, entries that are not finite, and models with several outputs.
        """
        samples = self._samples
        if samples.outputs:
            raise InputError(
                f"{self.name}: certified_support labels problems with one output; this one has "
                "several."
            )
        if samples.layout is not None:
            raise InputError(
                f"{self.name}: certified_support labels samples in memory; these lie in blocks. "
                "Pose the problem on X and y."
            )
        found = certify_support(self.objective_parts, *self._passed(w, b, u))
        return found.expanded(samples.kept, samples.total)

    def objective(self, w: Any, b: float = 0.0) -> float:
        """P(w, b), w of shape (d,); inf where a constraint is violated beyond rounding."""
        return finite_or(np.inf, self._valued.primal, *self._passed_point(w, b))

    def dual_objective(self, u: Any) -> float:
        """D(u), u of shape (n,); -inf where u is infeasible beyond rounding."""
        u = read_dual(self.name, u, self._samples)
        return finite_or(-np.inf, self._valued.dual, u)

    @property
    def lam_max(self) -> float:
        """The smallest lam for which w = 0 is optimal (norm penalties)."""
        return lam_max(self.objective_parts, self.name)

    def coordinates(self, primal: Values) -> Array:
        """The coefficients that solvers work on, as one vector."""
        return np.ravel(primal["w"])

    def recertify(self, primal: Values, dual: Values, document: Mapping[str, Any]) -> Solution:
        """Judge a stored point again; nothing that the document claims is used."""
        return outcome.judge_stored(self, primal, dual, document)

    @property
    def theta(self) -> dict[str, Any]:
        """The CVXPY Parameters of the loss and the penalty, and C where the model has one."""
        if self._theta is None:
            self._theta = posing.parameters(self.objective_parts, self._hyper)
        return self._theta

    @property
    def _posed_parts(self) -> tuple[Objective, dict[str, Any], Any, str]:
        """The objective, its Parameters and factors, and what its design is called."""
        return self.objective_parts, self.theta, posing.posed_coefficients(self), self._design_name

    def _pose(self) -> Statement:
        return pose_primal(*self._posed_parts)

    def _pose_dual(self) -> Statement:
        return pose_dual(*self._posed_parts)

    def posed_values(self, w: Array, b: Any, u: Array) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of the primal's variables, and multipliers of its constraints by label."""
        return posing.posed_values(self.objective_parts, w, b, u)

    def dual_from_constraints(self) -> Array | None:
        """The dual point u, read from the multipliers that a solver left in the posed primal."""
        return self.constraints["prediction"].dual_value

    def _fill(self) -> None:
        posing.fill(self)

    def _formulas(self) -> Latex:
        how = self._samples.weighted, bool(self.multiplier_names), self._kernel
        return latex_of(self.sample_parts, self._parts[2], *how)

    def __repr__(self) -> str:
        parts, is_general = self.objective_parts, type(self) is LearningProblem
        hyper = {"loss": parts.loss, "penalty": parts.penalty} if is_general else self._hyper
        settings = posing.in_words(hyper)
        return f"{self.name}(n={parts.n}, d={self._samples.design.shape[1]}{settings})"


# Models with a name of their own: what they declare are the arguments of their constructor.


def constructor(model: Any) -> Any:
    """``__init__`` of X, y, what a model and its bases declare, fit_intercept and sample_weight."""
    parts, taken, passed = model.__mro__[::-1], "", ""
    kinds = {k: v for part in parts for k, v in vars(part).get("__annotations__", {}).items()}
    slots = {k: v for part in parts for k, v in vars(part).items() if isinstance(v, Argument)}
    for name, slot in slots.items():
        default = "" if slot.default is Argument.NEEDED else f" = {slot.default!r}"
        taken, passed = f"{taken}, {name}: {kinds[name]}{default}", f"{passed}, {name}={name}"
    last = f"fit_intercept: bool = {model._has_intercept}, sample_weight: Any = None"
    text = f"def __init__(self, X: Any, y: Any{taken}, *, {last}) -> None:"
    made: dict[str, Any] = {}
    text += f" self._start(X, y, fit_intercept, sample_weight{passed})"
    exec(text, vars(sys.modules[model.__module__]), made)
    made["__init__"].__qualname__ = f"{model.__qualname__}.__init__"
    return made["__init__"]


@dataclass_transform(eq_default=False, field_specifiers=(Argument, Hyperparameter))
class Declared:
    """Models whose constructor follows from the arguments that they declare."""

    _has_intercept: ClassVar[bool] = True
    """Whether b is free where nothing else is asked for."""

    def __init_subclass__(cls) -> None:
        if "__init__" not in vars(cls):
            cls.__init__ = constructor(cls)  # type: ignore[method-assign]
        super().__init_subclass__()


class TextbookModel(Declared, LearningProblem):
    """A learning problem of X and y whose loss and penalty follow from what it declares."""

    if TYPE_CHECKING:  # what every constructor takes
        X: InitVar[Any]
        y: InitVar[Any]
        _: KW_ONLY
        fit_intercept: InitVar[bool] = True
        sample_weight: InitVar[Any] = None

    @abstractmethod
    def _make(self, **hyper: Any) -> posing.Parts:
        """The loss, the penalty and the scale of the loss."""


class WithStrength(TextbookModel):
    """A model whose penalty has the strength ``lam``."""

    lam: float = Hyperparameter()
