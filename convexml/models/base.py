"""The facade of a posed problem: what every model offers."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from functools import cache, partial
from typing import Any, ClassVar, Self, cast

import numpy as np

from ..certificates import Certificate
from ..errors import InputError, NoSuchNameError, nearest
from ..numerics import without_warnings
from ..problem import Statement
from ..progress import at, counted, watched
from ..validation import SOLVE, PublicNames, arguments, positive_number, refuse_unknown
from .checkpoint import refuse_for_path
from .explanation import ExplainedProblem
from .pictures.answers import draw_arrays
from .posing import from_dict, stated, to_dict
from .row_blocks import refuse_blocks
from .solution import Solution, SolutionPath

# What to say of a name that a model does not have: what scikit-learn or CVXPY call it.


SYMBOLS = {
    "S": "S the sum of the sample weights, n without weights",
    "σ": "σ its scale_",
    "ρ": "ρ its l1_ratio",
    "ε": "ε its epsilon",
}
"""In the formulas of ``scikit_learn``."""
ARGUMENTS: Mapping[str, str] = {
    "class_weight": "Give each sample the weight of its class by sample_weight; the estimators of "
    "convexml.estimators take class_weight",
    "n_jobs": "Leave it out: a problem is solved by one process; threads are those of BLAS "
    "(OMP_NUM_THREADS)",
    "positive": "Coefficients >= 0: LearningProblem(X, y, loss, penalties.Nonnegative()), or "
    "penalties.NonnegativeElasticNet(lam)",
    "standardize": "Scale the columns of X before they are passed",
    "normalize": "Scale the columns of X before they are passed",
    "copy_X": "Leave it out: X is never changed",
    "precompute": "Leave it out: the solver decides",
    "gamma": "A Gaussian kernel has sigma: kernel=kernels.Gaussian(sigma), gamma = 1 / (2 sigma^2)",
    "degree": "kernel=kernels.Polynomial(degree, coef0, gamma)",
    "n_components": "The number of components is k",
    "n_clusters": "The number of clusters is k",
    "multi_class": "Several classes: SoftmaxRegression",
}
"""Of constructors elsewhere; and what to do here."""
STRENGTHS = ("alpha", "C", "lam", "lambda_", "lambd", "reg", "reg_lambda", "reg_alpha")
"""Names of a penalty's strength."""
ATTRIBUTES: Mapping[str, str] = {
    "fit": "A problem is posed with its data: problem.solve() returns a Solution",
    "optimize": "problem.solve() returns a Solution",
    "minimize": "problem.solve() returns a Solution",
    "value": "problem.solve().objective, or problem.objective(w, b) of a point",
    "X": "The samples are in problem.objective_parts.design",
    "y": "The targets are problem.objective_parts.y",
    "w": 'problem.solve().primal["w"]',
    "b": 'problem.solve().primal["b"]',
    "x": 'problem.solve().primal["x"]',
    "n_features_in_": "problem.objective_parts.d",
    "feature_names_in_": "problem.features",
    "classes_": "problem.classes",
    "cross_validate": "Models of (w, b) with lam, C or a radius have it; else pose and score one "
    "problem for each value and fold",
    "leave_one_out": "Ridge has it, in closed form; any problem has cross_validate(lams, folds=n)",
    "loss": "problem.objective_parts.loss",
    "penalty": "problem.objective_parts.penalty",
    "variable": "problem.variables, {name: cvxpy.Variable}",
}
"""Of other libraries' problems and estimators; and where it is here."""


def of_constant(model: Any, name: str) -> str:
    """What a constant of the model's counterpart in scikit-learn is here."""
    for estimator, constants in model.scikit_learn.items():
        if name in constants:
            ours = constants[name].partition(" = ")[0]
            formula = f": {in_full(constants[name])}" if ours != name else ""
            return f" Pass {ours} in place of {name} of scikit-learn's {estimator}{formula}."
    return ""


def in_full(formula: str) -> str:
    """A formula of ``scikit_learn`` with its symbols explained."""
    used = [words for symbol, words in SYMBOLS.items() if re.search(rf"\b{symbol}\b", formula)]
    return ", ".join([formula, *used])


def of_argument(model: Any, name: str) -> str:
    """Advice for a keyword that the constructor does not take."""
    found = of_constant(model, name)
    if found:
        return found
    if name in STRENGTHS:
        return of_strength(model, name)
    if name in ARGUMENTS:
        return f" {ARGUMENTS[name]}."
    if name in SOLVE:
        ours = SOLVE[name]
        return f" It is an argument of solve: {model.__name__}(...).solve({ours}=...)."
    return ""


def of_strength(model: Any, name: str) -> str:
    """What a model has in place of another name of its penalty's strength."""
    taken = next((key for key in ("lam", "C", "radius") if key in arguments(model.__init__)), None)
    if taken is None:
        return f" {model.__name__} has no penalty to weigh: leave it out, or take another model."
    formulas = [
        f" (of scikit-learn's {estimator}: {in_full(constants[key])})"
        for estimator, constants in model.scikit_learn.items()
        for key in ("C", "alpha")
        if constants.get(key, "").startswith(f"{taken} = ")
    ]
    if taken == "C":
        formulas = [f" (for the mean of the losses + lam / 2 |w|^2: {in_full('C = 1 / (lam S)')})"]
    if taken == "radius":
        formulas = [" (the penalty's strength is the multiplier of its constraint)"]
    formula = formulas[0] if formulas and name in ("alpha", "C", "lam") else ""
    return f" Did you mean {taken!r}{formula}?"


def of_attribute(model: Any, name: str) -> str:
    """Advice for an attribute that a problem does not have."""
    found = of_constant(model, name)
    if found:
        return found
    told = ATTRIBUTES.get(name, "")
    if told and ("objective_parts" not in told or hasattr(model, "objective_parts")):
        return f" {told}."
    known = {key for key in dir(Solution) if not key.startswith("_")}
    known |= {each.name for each in fields(Solution)}
    if name in known:
        return f" A solution has it: problem.solve().{name}."
    here = [key for key in dir(model) if not key.startswith("_")]
    advice = nearest(name, here)
    return advice or nearest(name, known).replace("mean '", "mean 'problem.solve().")


def of_estimator(models: Mapping[str, Any], name: str) -> str:
    """The models that have the minimiser of a scikit-learn estimator, or what one of before is."""
    words = stated(name)
    for model, found in models.items():
        constants = vars(found).get("scikit_learn", {}).get(name)
        if constants is not None:
            formulas = "; ".join(in_full(each) for each in constants.values())
            words += f" Posed: convexml.{model}{f' ({formulas})' if formulas else ''}."
    return words


# Hyperparameters: attributes of a posed problem that may be changed.


Value: Any = object
"""What is declared has the type of its value."""


class Argument(Value):
    """An argument of a constructor that follows from what a model declares, and its attribute.

    It is read from ``_hyper``, or as the instance holds it by itself.
    """

    NEEDED = object()

    def __init__(self, *, default: Any = NEEDED, structural: bool = False) -> None:
        self.default, self.structural = default, structural

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return instance._hyper.get(self.name, vars(instance).get(f"_{self.name}"))


class Hyperparameter(Argument):
    """An attribute whose change rebuilds the objective and sets the CVXPY Parameter.

    Nothing is compiled again: ``problem.lam = 0.2`` only changes a value. What is no number but
    part of the structure (``structural=True``: the groups of the group lasso) poses anew.
    """

    def __set__(self, instance: Any, value: Any) -> None:
        instance._set_hyperparameter(self.name, value)
        if self.structural:
            instance._statement = instance._dual_statement = None


@cache
def is_settable(model: type, name: str) -> bool:
    """Whether a class has a hyperparameter of this name, or annotates an attribute."""
    declared = (vars(part).get("__annotations__", {}) for part in model.__mro__)
    slot = getattr(model, name, None)
    if isinstance(slot, Argument):
        return isinstance(slot, Hyperparameter)
    return any(name in names for names in declared)


CLOSER = 0.05
"""Of the gap that is to hold between the points of a path: that of the points themselves."""


class Problem(ExplainedProblem, PublicNames, ABC):
    """A convex problem posed once: solved by anything, certified from its raw data."""

    methods: ClassVar[tuple[str, ...]] = ()
    """Solvers that this model brings for itself, by names of registered ones."""
    _statement: Statement | None = None
    _dual_statement: Statement | None = None
    _theta: dict[str, Any] | None = None
    _last: Solution | None = None
    _posing: float = 0.0
    scikit_learn: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """Estimators of scikit-learn with the same minimiser: what their constants are here."""
    _hands_on: bool = False
    """Whether ``solve`` takes ``carried``, what solvers know from other points of a path."""

    def __init_subclass__(cls) -> None:
        quiet = ("__init__", "decision_function")
        long = ("solve", "certify", "certified_support")
        for name in (name for name in (*quiet, *long) if name in vars(cls)):
            call = without_warnings(vars(cls)[name])
            setattr(cls, name, watched(call) if name in long else call)

    def __new__(cls, *args: Any, **named: Any) -> Self:
        """Refuse a keyword that ``__init__`` does not take, and row blocks where it takes none."""
        refuse_blocks(cls, *args, *named.values())
        if named:
            words = partial(of_argument, cls)
            refuse_unknown(cls.__init__, named, cls.__name__, words)
        return super().__new__(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse what the class neither defines nor annotates: ``problem.alpha = 3`` is a slip."""
        if not (name.startswith("_") or is_settable(type(self), name)):
            known = dir(type(self))
            choices = [key for key in known if isinstance(getattr(type(self), key), Hyperparameter)]
            words = of_constant(type(self), name) or nearest(name, choices)
            raise NoSuchNameError(
                f"{self.name} has no attribute {name!r} to set.{words} "
                f"Hyperparameters: {', '.join(choices) or 'none'}."
            )
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        """What a copy is made of: not what CVXPY compiled, which is posed anew when asked for."""
        posed = ("_statement", "_dual_statement", "_theta")
        return {name: value for name, value in self.__dict__.items() if name not in posed}

    def _advice(self, name: str) -> str:
        return of_attribute(type(self), name)

    # -- posed with CVXPY --------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The model's name."""
        return type(self).__name__

    @property
    def features(self) -> list[str] | None:
        """The names of the columns of X where it was a data frame."""
        samples = getattr(self, "_samples", None)
        return None if samples is None else samples.feature_names

    @property
    def statement(self) -> Statement:
        """The posed primal: problem, variables, constraints."""
        if self._statement is None:
            start = time.perf_counter()
            self._statement = self._pose()
            self._posing = time.perf_counter() - start
            self._fill()
        return self._statement

    def posing_seconds(self) -> float:
        """What posing the primal took, for the first who asks; 0 for everybody after."""
        seconds, self._posing = self._posing, 0.0
        return seconds

    def snapshot(self) -> Self:
        """A copy with today's hyperparameters and the same data, not posed."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._statement = twin._dual_statement = twin._theta = twin._last = None
        return twin

    @property
    def dual_statement(self) -> Statement:
        """The posed dual: problem, multipliers, constraints."""
        if self._dual_statement is None:
            self._dual_statement = self._pose_dual()
        return self._dual_statement

    @property
    def primal(self) -> Any:
        """The textbook primal, a ``cvxpy.Problem`` (Minimize)."""
        return self.statement.problem

    @property
    def dual(self) -> Any:
        """The textbook dual, a ``cvxpy.Problem`` of its own (Maximize)."""
        return self.dual_statement.problem

    @property
    def variables(self) -> dict[str, Any]:
        """The primal's variables, {name: cvxpy.Variable}."""
        return self.statement.variables

    @property
    def constraints(self) -> dict[str, Any]:
        """The primal's constraints, {label: cvxpy.Constraint}."""
        return self.statement.constraints

    @property
    def multipliers(self) -> dict[str, Any]:
        """The dual's variables, {name: cvxpy.Variable}, without helpers of how it is posed."""
        posed = self.dual_statement
        return {name: v for name, v in posed.variables.items() if name not in posed.helpers}

    @abstractmethod
    def _pose(self) -> Statement:
        """Pose the primal."""

    @abstractmethod
    def _pose_dual(self) -> Statement:
        """Pose the dual."""

    @abstractmethod
    def _fill(self) -> None:
        """Write the last solution, if any, into the primal's variables and constraints."""

    # -- to be solved and certified ----------------------------------------------------------

    @abstractmethod
    def certify(self, *args: Any, **kwargs: Any) -> Certificate:
        """Certify a point."""

    @abstractmethod
    def solve(self, solver: str = "auto", **kwargs: Any) -> Solution:
        """Solve and certify."""

    def to_dict(self) -> dict[str, Any]:
        """The arguments of the constructor as plain lists, for JSON."""
        return to_dict(self)

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Pose the problem again that ``to_dict`` described."""
        return cast(Self, from_dict(cls, stored))

    def draw(self, axes: Any, solution: Solution) -> None:
        """The answer of a solution as a panel of matplotlib."""
        draw_arrays(axes, solution.primal)

    @watched
    def path(self, lams: Any = None, *, everywhere: float | None = None, **kwargs: Any) -> Any:
        """Solve for each hyperparameter value in turn, warm started; order as given.

        Parameters
        ----------
        lams : sequence of float
            Values of ``lam``, or of ``C`` or ``nu`` for the support vector machines.
        everywhere : float, optional
            A relative gap: then ``lams`` are the two ends (high, low) of an interval, and a grid is
            chosen such that at every value between them some solution of the grid is that good.
        **kwargs
            Passed to ``solve``; ``progress`` shows the whole path.

        Returns
        -------
        SolutionPath, or IntervalPath
            A list of Solution with ``.plot()``; with ``everywhere`` the latter: ``.at(lam)``,
            ``.gap_at(lam)``, ``.worst_gap`` and ``.plot()``.

        Raises
        ------
        InputError
            For a value that is none, no interval, or a model that has no such hyperparameter.
        """
        name = self._path_parameter()
        if lams is None or np.ndim(lams) != 1:
            raise InputError(f"{self.name}.path: needs a list of values of {name}, got {lams!r}.")
        refuse_for_path(f"{self.name}.path", name, kwargs.get("checkpoint"))
        before = getattr(self, name)
        last: Solution | None = None
        carried: dict[str, Any] = {"carried": {}} if self._hands_on else {}

        def solve(value: float) -> Solution:
            nonlocal last
            setattr(self, name, value)
            if everywhere is not None:
                at(f"{name} = {value:.4g}")
            point = {} if last is None else last.primal
            start = point.get("q", point.get("w"))
            last = self.solve(**({"w0": start} | carried | kwargs))
            return last

        try:
            if everywhere is None:
                steps = counted(list(lams), f"{name} = {{:.4g}}".format)
                return SolutionPath(name, lams, [solve(value) for value in steps])
            tol = positive_number(everywhere, f"{self.name}.path", "everywhere")
            kwargs = {"tol": CLOSER * tol} | kwargs
            return self._interval_path(name, lams, tol, solve)
        finally:
            setattr(self, name, before)

    def _interval_path(self, name: str, ends: Any, tol: float, solve: Any) -> Any:
        raise InputError(f"{self.name}.path: no bound between two values of {name} is known.")

    def _path_parameter(self) -> str:
        for name in ("lam", "C", "radius", "nu"):
            if isinstance(getattr(type(self), name, None), Hyperparameter):
                return name
        what = f"a path follows lam, C, radius or nu, and {self.name} has none of them."
        advice = "Solve it as it is, or pose one problem for each value."
        raise InputError(f"{self.name}.path: {what} {advice}")
