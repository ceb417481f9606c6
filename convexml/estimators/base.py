"""What the estimators add to their namesakes of scikit-learn: a fit that is certified."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from ..certificates import Certificate
from ..data.columns import NamedColumns
from ..errors import InputError, NoSuchNameError, SolverError, UnknownSolverError, warn
from ..models import LearningProblem
from ..models.inputs import read_matrix, read_weights
from ..models.row_blocks import refuse_blocks
from ..models.solution import Solution
from ..numerics import Array, without_warnings
from ..problem import Objective
from ..progress import watched
from ..sklearn.estimators import parts_of
from ..sklearn.fitted import FunctionPart, LearningPart, certify_parts
from ..sklearn.regressors import TargetsPart
from ..solvers import names
from ..validation import float_array, positive_integer, positive_number

# A part of an estimator at the coefficients that it holds, and its certificate.


@dataclass(frozen=True)
class Held:
    """What an estimator holds of a solution: the same point, or one that rounding has moved."""

    part: LearningPart | FunctionPart | TargetsPart
    solution: Solution

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def value(self) -> float:
        return self.part.value

    def certify(self, tol: float) -> Certificate:
        """The certificate of the solution, where its point is held; else another one."""
        part, point = self.part, self.solution.primal
        u, same = self.solution.dual.get("u"), np.array_equal(point["b"], self.part.b)
        if isinstance(part, FunctionPart):
            posed: Any = self.solution.problem
            same = same and np.array_equal(posed.kernel_parts.c, part.objective.c)
            held, place = part.q, "q"
        else:
            held, place = part.w, "w"
        if same and np.array_equal(np.ravel(point[place]), np.ravel(held)) and u is not None:
            return self.solution.certificate
        if not isinstance(part, FunctionPart) and u is not None:
            part = replace(part, u=np.array(u))
        return part.certify(tol)


def check_steps(estimator: Any) -> None:
    """Refuse a ``max_iter`` that the namesake, where it has one, refuses; None is ours."""
    from sklearn.utils._param_validation import validate_parameter_constraints

    kind, steps = type(estimator), getattr(estimator, "max_iter", None)
    known = _constraints(kind)
    if steps is not None and "max_iter" in known:
        allowed = {"max_iter": known["max_iter"]}
        validate_parameter_constraints(allowed, {"max_iter": steps}, kind.__name__)
    elif steps is not None:
        positive_integer(steps, kind.__name__, "max_iter")


def check_solver(estimator: Any) -> None:
    """Refuse a ``solver`` that is neither the namesake's nor "auto"; ours go by ``engine``."""
    solver = getattr(estimator, "solver", "auto")
    owner, allowed = type(estimator).__name__, {"auto"}
    for option in _constraints(type(estimator)).get("solver", []):
        allowed |= set(getattr(option, "options", ()))
    if solver not in allowed:
        ours = f" engine={solver!r} is one of convexml's." if solver in names() else ""
        listed = ", ".join(sorted(allowed))
        raise InputError(f"{owner}.fit: solver must be one of {listed}, got {solver!r}.{ours}")


def _constraints(kind: type) -> Mapping[str, Any]:
    """What the namesake says of its parameters."""
    return getattr(_namesake(kind), "_parameter_constraints", {})


def _namesake(kind: type) -> type | None:
    """The class of scikit-learn that an estimator derives from."""
    bases = (base for base in kind.__mro__ if base.__module__.startswith("sklearn."))
    return next(bases, None)


def constructor(kind: Any) -> Callable[..., None]:
    """``__init__`` of the namesake's parameters, with defaults of our own."""
    namesake: Any = _namesake(kind)
    known, own = signature(namesake.__init__).parameters, dict(kind._defaults)
    taken = [each.replace(default=own.pop(each.name, each.default)) for each in known.values()]
    taken += [Parameter(name, Parameter.KEYWORD_ONLY, default=value) for name, value in own.items()]
    shown = Signature(taken)

    def __init__(self: Any, *args: Any, **named: Any) -> None:
        namesake.__init__(self)  # what it holds beside its parameters
        vars(self).update(list(bound(kind, shown, self, *args, **named).items())[1:])

    vars(__init__)["__signature__"] = shown
    return __init__


def bound(kind: type, shown: Signature, *args: Any, **named: Any) -> dict[str, Any]:
    """The arguments of a call by their names, with defaults; a TypeError in Python's words."""
    try:
        given = shown.bind(*args, **named)
    except TypeError as error:
        raise TypeError(f"{kind.__name__}.__init__() {error}") from None
    given.apply_defaults()
    return given.arguments


OURS = dict.fromkeys(("engine", "solver", "tol", "max_iter"), "no_validation")
"""Parameters with another range than the namesake's; what solves is what refuses them."""


CLOSER = 1e-4
"""Of tol: how close a solution comes where it lost too much on the way to the coefficients."""


class Given(NamedTuple):
    """What an estimator is fitted on, read: X, y and the weights, if there are any."""

    X: Any
    y: Any
    weights: Any


Parts = Sequence[Any]
"""What an estimator minimises: one problem for each target, class or pair."""
Solutions = Sequence[Solution]
"""Of these, one each."""


class CertifiedFit:
    """The ``fit`` of a scikit-learn estimator, by convexml: read, posed, solved, certified.

    A class derives from this one and from its namesake, whose parameters, tags and predictions it
    keeps. What it minimises is what ``cml.certify`` reads of its namesake: here is no second table
    of constants. ``fit`` sets the coefficients to 0, has this read, solves what it reads, and puts
    the solutions where the coefficients were.

    Attributes
    ----------
    certificate_ : Certificate
        Of what is held, in the namesake's own scale; of several problems (targets, classes, pairs)
        P, D and the gap are sums.
    gap_ : float
        Its gap: P(coef_, intercept_) is no further above the minimum.
    dual_ : dict
        The dual point "u", one number for each sample of positive weight; of several problems
        {name: u}.
    problem_ : LearningProblem or tuple of LearningProblem
        As posed. It holds the training data: a pickle leaves it out, unless ``pickles_problem``.
    """

    pickles_problem: bool = False
    """Set it to True on an estimator whose pickle shall hold ``problem_``, and the data with it."""
    certificate_: Certificate
    gap_: float
    dual_: dict[str, Any]
    problem_: Any
    n_iter_: Any
    engine: str
    _validate_params: Callable[[], None]
    _parameter_constraints: ClassVar[Mapping[str, Any]]
    _defaults: ClassVar[Mapping[str, Any]] = {"tol": 1e-6, "max_iter": None, "engine": "auto"}
    """Parameters that the namesake lacks, or has with another default."""
    _reading: ClassVar[Mapping[str, Any]] = {}
    """What ``validate_data`` is told about X and y beside what the tags say."""
    _takes_sparse: ClassVar[bool] = True
    _holds_solution: ClassVar[bool] = True
    """Whether a certificate of a solution may stand for that of what is held."""

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        if cls.__bases__[-1] is not _namesake(cls):
            return
        cls.__init__ = constructor(cls)  # type: ignore[method-assign]
        if "_parameter_constraints" not in vars(cls):
            cls._parameter_constraints = {**_constraints(cls), **OURS}

    @watched
    @without_warnings
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Solve to a verified relative gap of ``tol``.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)
        y : array, shape (n,) or (n, K)
        sample_weight : float or array, shape (n,), optional
            Weights >= 0: 0 is as good as left out, 2 as repeated.

        Returns
        -------
        self : object
            Fitted.

        Raises
        ------
        InputError
            For data that it cannot be fitted on.
        SolverError
            If nothing reached a point.
        """
        refuse_blocks(type(self), X)
        self._validate_params()
        check_solver(self)
        check_steps(self)
        tol = positive_number(getattr(self, "tol", 1e-6), type(self).__name__, "tol")
        X, y = self._read(X, y)
        given = Given(X, y, self._weights(sample_weight, X.shape[0]))
        fitted = copy.copy(self)  # what fails leaves self as it was
        fitted._begin(given)
        parts = fitted._parts(given)
        for asked in (tol, CLOSER * tol):
            solutions = fitted._solutions(parts, asked)
            fitted._end(given, parts, solutions)
            fitted.certificate_ = certify_parts(fitted._standing(given, parts, solutions), tol)
            if fitted.certificate_.holds() or any(s.status != "optimal" for s in solutions):
                break  # else it was rounded on the way to where it is held
        fitted.n_iter_ = fitted._iterations(solutions)
        problems = tuple(solution.problem for solution in solutions)
        fitted.problem_ = problems[0] if len(problems) == 1 else problems
        fitted.gap_ = fitted.certificate_.gap
        fitted.dual_ = dict(fitted.certificate_.dual)
        self.__dict__.update(fitted.__dict__)
        _tell(type(self).__name__, self.certificate_, solutions)
        return self

    def _read(self, X: Any, y: Any) -> tuple[Any, Any]:
        """X in float64, dense or by rows or columns, and y, as scikit-learn reads them.

        What X holds that is no number is named by row and column.
        """
        from sklearn.utils import get_tags
        from sklearn.utils.validation import validate_data

        tags = get_tags(self)
        sparse = ("csr", "csc") if tags.input_tags.sparse else False
        read = {"accept_sparse": sparse, "dtype": np.float64, **self._reading}
        if tags.estimator_type == "regressor":
            read |= {"y_numeric": True, "multi_output": tags.target_tags.multi_output}
        try:
            found = validate_data(self, X, y, **read)
        except (ValueError, np.exceptions.DTypePromotionError) as error:
            try:
                read_matrix(f"{type(self).__name__}.fit", X)
            except InputError as named:
                first = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
                raise InputError(f"{named} ({first}.)") from None
            raise
        return found if isinstance(found, tuple) else (found, None)

    def _weights(self, sample_weight: Any, n: int) -> Array | None:
        """A vector, of a number too."""
        if sample_weight is None:
            return None
        owner = f"{type(self).__name__}.fit"
        weights = float_array(sample_weight, owner, "sample_weight")
        return read_weights(owner, np.full(n, weights) if weights.ndim == 0 else weights, n)

    def _parts(self, given: Given) -> list[Any]:
        """What the namesake with these coefficients is to minimise, and where they stand."""
        owner = type(self).__name__
        try:
            return list(parts_of(self, *given))
        except InputError as error:
            what = str(error).removeprefix("certify: ").removeprefix(f"{owner}: ")
            raise InputError(f"{owner}.fit: {what}") from None

    def _solutions(self, parts: Parts, tol: float) -> Solutions:
        """Of the parts, one each, or one that answers for all."""
        return [self._solved(part, tol) for part in parts]

    def _solved(self, part: Any, tol: float) -> Solution:
        """A solution of one part."""
        return self._solution(posed(part.objective), tol, part.name)

    def _solution(self, problem: Any, tol: float, name: str = "") -> Solution:
        steps = getattr(self, "max_iter", None)
        limit = None if steps is None or steps < 0 else steps
        try:
            solution = problem.solve(self.engine, tol=tol, max_iter=limit)
        except UnknownSolverError:
            raise UnknownSolverError(
                f"{type(self).__name__}.fit: engine={self.engine!r} is none of convexml's; leave "
                "it at 'auto', or see convexml.solvers.available()."
            ) from None
        if solution.status in ("infeasible", "unbounded"):
            raise InputError(f"{type(self).__name__}.fit: {solution.certificate.reason}")
        if not {"w", "q", "Theta"} & {*solution.primal}:
            raise SolverError(
                f"{type(self).__name__}.fit{f' ({name})' if name else ''}: {solution.solver} ended "
                f"{solution.status}: {solution.certificate.reason or solution.message}"
            )
        return solution

    def _begin(self, given: Given) -> None:
        """Set the coefficients to 0, in the shapes of the namesake."""
        raise NotImplementedError

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        """Put the solutions where the coefficients stand."""
        raise NotImplementedError

    def _standing(self, given: Given, parts: Parts, solutions: Solutions) -> Parts:
        """The parts at the coefficients that are held."""
        if not self._holds_solution:
            return self._parts(given)
        return [Held(*each) for each in zip(self._parts(given), solutions, strict=True)]

    def _iterations(self, solutions: Solutions) -> Any:
        """The most steps that any of the problems took, 1 at least."""
        return max([1, *(solution.iterations for solution in solutions)])

    def __getstate__(self) -> dict[str, Any]:
        found: Any = super().__getstate__()
        state = dict(found)
        if "problem_" in state and not self.pickles_problem:
            state["problem_"] = LeftOut(type(self).__name__)
        return state

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.array_api_support = False
        tags.input_tags.sparse = self._takes_sparse
        return tags


class LeftOut:
    """What stands for ``problem_`` in an estimator that was unpickled without its data."""

    def __init__(self, owner: str) -> None:
        self._owner = owner

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NoSuchNameError(f"{self!r}, and has no attribute {name!r}.")

    def __repr__(self) -> str:
        return (
            f"{self._owner}.problem_ was left out of the pickle with its training data: judge the "
            "estimator anew by cml.certify(estimator, X, y), or set estimator.pickles_problem = "
            "True before it is pickled"
        )


def named(X: Any, names: Sequence[str]) -> Any:
    """X with these names of its columns, if there are any."""
    return NamedColumns(X, names) if names else X


def posed(objective: Objective) -> LearningProblem:
    """The learning problem with this objective, whose columns keep their names."""
    return LearningProblem(
        named(objective.design.constant, objective.features),
        objective.y,
        objective.loss,
        objective.penalty,
        fit_intercept=objective.fit_intercept,
        sample_weight=objective.c,
        loss_scale="sum",
    )


def coefficients(
    part: LearningPart, solution: Solution, d: int, unit: float = 1.0
) -> tuple[Array, Any]:
    """(w, b) for d features of a part that was read at w = 0, b = 0.

    Where b is the coefficient of a column, the part tells where b = 0 stands; ``unit`` is the entry
    of that column.
    """
    w = np.array(solution.primal["w"])
    if w.ndim > 1:  # of several scores in one problem
        return w.T, np.array(solution.primal["b"])
    b = unit * (w[d:] - part.w[d:]) if w.size > d else [float(solution.primal["b"])]
    return w[:d], float(b[0])


def _tell(owner: str, certificate: Certificate, solutions: Solutions) -> None:
    """Warn where the fit is not verified at its tol, and say what to do."""
    from sklearn.exceptions import ConvergenceWarning

    absent = next((s for s in solutions if s.status == "unattained"), None)
    if certificate.holds() and absent is None:
        return
    if absent is not None:
        what = f"there is no minimiser ({absent.certificate.reason}); a penalty makes one"
    else:
        reason = f" ({certificate.reason})" if certificate.reason else ""
        what = (
            f"the verified relative gap is {certificate.relative_gap:.1e}, tol={certificate.tol:g}"
            f"{reason}; raise max_iter if it was set, bring the columns of X to one scale, or "
            "accept the gap with a larger tol"
        )
    warn(f"{owner}: {what}.", ConvergenceWarning)
