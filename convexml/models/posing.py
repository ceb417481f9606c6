"""From samples, loss and penalty to an Objective: read, checked, scaled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, Self

import numpy as np
from scipy import sparse

from .. import kernels, losses, penalties
from ..certificates import Certificate
from ..certificates.learning.existence import SMALL_ENOUGH, Evidence, inconsistent
from ..certificates.learning.separation import excluded, inseparable
from ..data import StackedDesign, rows_in_blocks
from ..data.columns import NamedColumns
from ..duality.interface import record
from ..errors import InputError
from ..formulas import constant
from ..kernels import Kernel
from ..losses import Loss
from ..modelling import cp
from ..numerics import Array
from ..penalties import Penalty
from ..problem import MulticlassObjective, Objective, Statement, frame_of, once, parameters_of
from ..problem.statement import pose_distance
from ..solvers.reference import installed, run_reference
from ..validation import arguments, for_part, positive_number
from .inputs import Samples, dense, samples_of_dict
from .solution import REBUILD, Solution

STATEMENTS = (
    "convex_regression",
    "dantzig_selector",
    "enclosing_ball",
    "generalized_lasso",
    "optimal_transport",
    "square_root_lasso",
)
"""Models of before that are plain CVXPY now: their files in problems/, named as the model was."""
Parts = tuple[Loss, Penalty, str | float]
"""Loss, penalty and the scale of the loss: "mean", "sum" or a number."""


def read_parts(loss: Any, penalty: Any, scale: Any, owner: str = "LearningProblem") -> Parts:
    """The parts of a general learning problem, validated."""
    if not isinstance(loss, Loss):
        instead = for_part(loss, "losses", (each.__name__ for each in losses.ALL.values()))
        if isinstance(loss, Penalty):
            instead = " The loss comes before the penalty."
        raise InputError(f"{owner}: loss must be a Loss, got {loss!r}.{instead}")
    if not isinstance(penalty, Penalty):
        instead = for_part(penalty, "penalties", (each.__name__ for each in penalties.ALL.values()))
        raise InputError(f"{owner}: penalty must be a Penalty, got {penalty!r}.{instead}")
    if isinstance(scale, str) and scale not in ("mean", "sum"):
        raise InputError(
            f"{owner}: loss_scale must be 'mean', 'sum' or a number > 0, got {scale!r}."
        )
    if not isinstance(scale, str):
        scale = positive_number(scale, owner, "loss_scale")
    return loss, penalty, scale


def made(
    owner: str, make: Callable[..., Parts], hyper: Mapping[str, Any]
) -> tuple[Parts, dict[str, Any]]:
    """What a model makes of its hyperparameters, and these as floats; it is named in errors."""
    try:
        parts = make(**hyper)
    except InputError as error:
        _, _, what = str(error).partition(": ")
        raise InputError(f"{owner}: {what or error}") from None
    return parts, {
        key: value if isinstance(value, str | None) or np.ndim(value) > 0 else float(value)
        for key, value in hyper.items()
    }


def in_words(hyper: Mapping[str, Any]) -> str:
    """The hyperparameters that are no arrays, for ``repr``."""
    return "".join(f", {key}={value!r}" for key, value in hyper.items() if np.ndim(value) == 0)


def compose(owner: str, samples: Samples, parts: Parts, intercept: bool) -> Objective:
    """The objective of loss + penalty on samples; several outputs for a loss of classes."""
    loss, penalty, scale = parts
    names = tuple(samples.feature_names or ())
    c = coefficients(owner, samples.weights, scale)
    given = (samples.y, loss, penalty, c, intercept, names)
    objective: Objective
    if samples.outputs:
        objective = MulticlassObjective(StackedDesign(samples.design, *samples.outputs), *given)
    else:
        objective = Objective(samples.design, *given)
    check_penalty(owner, penalty, objective)
    check_blocks(owner, objective)
    return objective


def recompose(owner: str, objective: Any, weights: Array, parts: Parts) -> Any:
    """The same samples with other parts."""
    loss, penalty, scale = parts
    check_penalty(owner, penalty, objective)
    found = replace(objective, loss=loss, penalty=penalty, c=coefficients(owner, weights, scale))
    check_blocks(owner, found)
    return found


def with_penalty(problem: Any, penalty: Penalty) -> Any:
    """A learning problem of the same samples and loss with another penalty."""
    loss, _, scale = problem._parts
    twin = problem.snapshot()
    twin._parts = loss, penalty, scale
    weights = problem._samples.weights
    twin._objective = recompose(problem.name, problem.objective_parts, weights, twin._parts)
    return twin


def coefficients(owner: str, weights: Array, scale: str | float) -> Array:
    """The factor c_i of each sample's loss, finite and none of them rounded to 0."""
    if scale == "sum":
        return weights
    c = weights / weights.sum() if scale == "mean" else float(scale) * weights
    if not np.all((c > 0.0) & (c < np.inf)):
        k = int(np.argmin((c > 0.0) & (c < np.inf)))
        what = "its share of the sum" if scale == "mean" else f"times {float(scale):g}"
        raise InputError(
            f"{owner}: a sample_weight of {weights[k]:g} is {c[k]:g} as {what}; bring the weights "
            "nearer to 1."
        )
    return c


def check_blocks(owner: str, objective: Any) -> None:
    """Refuse what is known of samples in memory alone: constraints on the predictions."""
    if not rows_in_blocks(objective):
        return
    if objective.loss.is_indicator:
        raise InputError(
            f"{owner}: row blocks take losses that are finite everywhere; {objective.loss!r} is a "
            "constraint on the predictions. Pass X and y in memory."
        )


def check_penalty(owner: str, penalty: Any, objective: Objective) -> None:
    """Refuse a penalty whose groups, weights or bounds are not one for each coefficient."""
    d = objective.d
    features, *outputs = getattr(objective, "w_shape", (d,))  # a function of a kernel has (d,)
    each, instead = "feature", f"Pass {d} numbers, one for each column of X."
    if outputs:
        each = "coefficient"
        instead = f"Pass {d} numbers, {outputs[0]} for each of {features} columns of X."
    penalty.check_size(owner, d, each, instead)


# What the functions of this room ask of a learning problem.


Values = Mapping[str, Array]
"""Primal or dual values by their textbook names."""


class PosedLearning(Protocol):
    """The part of ``LearningProblem`` that solving, judging and storing work on."""

    classes: Array | None
    _hyper: dict[str, Any]
    _parts: Parts
    _poses_coordinates: bool
    _design_name: str
    _last: Solution | None
    _samples: Samples
    _statement: Statement | None

    @property
    def name(self) -> str: ...

    @property
    def statement(self) -> Statement: ...

    @property
    def _kernel(self) -> Kernel | None: ...

    @property
    def objective_parts(self) -> Objective: ...

    @property
    def sample_parts(self) -> Objective: ...

    @property
    def multiplier_names(self) -> Mapping[str, str]: ...

    @property
    def theta(self) -> dict[str, Any]: ...

    def snapshot(self) -> Self: ...

    def posing_seconds(self) -> float: ...

    def posed_values(self, w: Array, b: Any, u: Array) -> tuple[dict[str, Any], dict[str, Any]]: ...

    def dual_from_constraints(self) -> Array | None: ...

    def decision_function(self, X: Any, primal: Values) -> Array: ...

    def predict(self, X: Any, primal: Values) -> Array: ...

    def confirmed(self, claim: str, evidence: Evidence) -> Evidence | None: ...

    def judge_solved(self, w: Array, b: Any, u: Array | None, tol: float) -> Certificate: ...


# A learning problem as CVXPY states it: its Parameters, and values for what is posed.


def parameters(objective: Objective, hyper: Mapping[str, Any]) -> dict[str, Any]:
    """The CVXPY Parameters of the loss and the penalty, and C where the model has one."""
    theta: dict[str, Any] = {**parameters_of(objective)}
    if "C" in hyper:
        theta["C"] = cp.Parameter(name="C", pos=True, value=float(hyper["C"]))
    return theta


def posed_coefficients(problem: PosedLearning) -> Any:
    """The factors c_i of the losses, with C as a Parameter where the model has one."""
    if "C" in problem.theta:
        weights = constant(problem._samples.weights, "s")
        return problem.theta["C"] * weights if problem._samples.weighted else problem.theta["C"]
    return problem.objective_parts.c


def set_parameters(theta: dict[str, Any], parts: Parts) -> None:
    """Write other hyperparameters into the Parameters; nothing is compiled again."""
    loss, penalty, scale = parts
    for kind, part in (("loss", loss), ("penalty", penalty)):
        for key, number in part.hyperparameters().items():
            theta[kind][key].value = number
    if "C" in theta:
        theta["C"].value = float(scale)


def pose_in_slacks(problem: PosedLearning) -> Statement:
    """Minimise (1/2) |w|^2 + sum_i c_i l(y_i, x_i.w + b) in w, b and the slacks of the loss."""
    parts, w = problem.objective_parts, cp.Variable(problem.objective_parts.d, name="w")
    X = constant(parts.design.constant, problem._design_name)
    variables, prediction = {"w": w}, X @ w
    if parts.fit_intercept:
        variables["b"] = cp.Variable(name="b")
        prediction = prediction + variables["b"]
    terms = parts.loss.expression(parts.y, prediction, problem.theta["loss"])
    value: Any = 0.5 * cp.sum_squares(w)
    if not parts.loss.is_indicator:
        value = value + cp.sum(cp.multiply(posed_coefficients(problem), terms.value))
    statement = Statement.of(cp.Minimize(value), variables, terms.constraints)
    variables |= {slack.name(): slack for slack in statement.problem.variables()}
    return statement


def posed_values(
    objective: Objective, w: Array, b: Any, u: Array
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of the variables of ``pose_primal``, and multipliers of its constraints.

    Products are made where there are slacks, or multipliers of the penalty; ``fill`` adds z.
    """
    values = {"w": w.reshape(objective.w_shape), "b": np.asarray(b)}
    if type(objective.loss).slacks is not Loss.slacks:
        z = objective.predict(w, b)
        values |= {"z": z, **objective.loss.slacks(objective.y, z)}
    multipliers = {"prediction": u, **objective.loss.multipliers(objective.y, u, objective.c)}
    if type(objective.penalty).multipliers is not Penalty.multipliers:
        multipliers |= objective.penalty.multipliers(-objective.design.rmatvec(u))
    return values, multipliers


def fill(problem: PosedLearning) -> None:
    """Write the last solution, if any, into the variables and constraints of the posed primal."""
    statement, solution = problem._statement, problem._last
    if statement is None or solution is None or solution.posed is None:
        return
    values, multipliers = solution.posed
    if "z" in statement.variables and "z" not in values:
        z = problem.objective_parts.predict(np.ravel(values["w"]), values["b"])
        values = values | {"z": z}
    for name, variable in statement.variables.items():
        if name in values:
            known = bool(np.all(np.isfinite(values[name])))  # CVXPY refuses nan
            variable.value = values[name] if known else None
    for label, constraint in statement.constraints.items():
        if label in multipliers:
            shape = constraint.dual_variables[0].shape
            constraint.dual_variables[0].save_value(np.reshape(multipliers[label], shape))
    # CVXPY keeps value and status of its own last solve; this one may be another solver's.
    verified = solution.status == "optimal"
    status = "optimal" if verified else "optimal_inaccurate"
    record(
        statement.problem,
        solution.objective,
        status,
        solution.solver,
        solve_time=solution.seconds,
        setup_time=solution.compile_seconds,
        num_iters=solution.iterations,
    )


# Why no point meets a constraint on the predictions: looked for once, proved by certificates.


ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("clarabel", {"tol_gap_abs": 1e-14, "tol_gap_rel": 1e-10, "tol_feas": 1e-12}),
    ("ecos", {}),
    ("scs", {}),
)
"""In turn, until one answers; tightly, as the distance may be small."""


@once
def contradiction(objective: Objective) -> Evidence | None:
    """Evidence that no w has predictions that the loss allows; None where there is none.

    First that of the predictions alone, then, where the penalty is a constraint, that of both. It
    depends on nothing but the objective, which keeps it.
    """
    evidence = (inseparable if objective.loss.labels == "binary" else inconsistent)(objective)
    small = objective.n * objective.d <= SMALL_ENOUGH
    if evidence is None and objective.penalty.is_constraint and small:
        evidence = _of_both(objective)
    return evidence


def _of_both(objective: Objective) -> Evidence | None:
    """From the shortest way between the predictions of the penalty's w and those allowed."""
    frame = frame_of(objective)
    u = _shortest(frame.objective)
    return None if u is None else excluded(frame, objective, u)


def _shortest(inner: Objective) -> Array | None:
    """The multiplier of the least |X w + b - z|_2 over all w and z that are allowed."""
    statement = pose_distance(inner, parameters_of(inner))
    for name, options in ASKED:
        if not installed(name):
            continue
        run = run_reference(statement.problem, name, tol=1e-9, **options)
        u = statement.constraints["prediction"].dual_value if run.has_point else None
        if u is not None and np.all(np.isfinite(u)):
            return np.array(u, dtype=float)
    return None


# Problems as plain dictionaries, for JSON, and back.


ROOMS = {"loss": losses, "penalty": penalties, "kernel": kernels}
"""Where the classes of arguments are."""
TOLD = ("self", "X", "H", "y", "Y", "sample_weight")
"""What samples tell; and what is no argument."""


def to_dict(problem: Any) -> dict[str, Any]:
    """The arguments of its constructor, which a problem holds by their names; rows that count."""
    own = vars(problem)
    held = own | {name[1:]: value for name, value in own.items() if name.startswith("_")}
    parts = zip(("loss", "penalty", "loss_scale"), own.get("_parts", ()), strict=False)
    held = {**dict(parts), **held, **problem._hyper}
    held["fit_intercept"] = getattr(getattr(problem, "sample_parts", None), "fit_intercept", None)
    taken, samples = arguments(type(problem).__init__), held.get("samples")
    found = {} if samples is None else samples.to_dict()
    if not {"y", "Y"} & taken.keys():
        found.pop("y", None)
    left = TOLD[:1] if samples is None else TOLD
    for name in (name for name in taken if name not in left):
        found[name] = _plain(held[name] if name in held else getattr(problem, name))
    return {"kind": problem.name, **found}


def from_dict(model: Any, stored: Mapping[str, Any]) -> Any:
    """Pose a stored problem again; dropped rows come back with weight 0."""
    taken, data = arguments(model.__init__), list[Any]()
    stored = dict(stored.get("parameters", {})) | dict(stored)  # older documents hold them apart
    given: dict[str, Any] = stored
    if "rows" in stored:
        X, y, weights = samples_of_dict(stored)
        data = [X, y] if {"y", "Y"} & taken.keys() else [X]
        given = {k: v for k, v in stored.items() if k not in TOLD} | {"sample_weight": weights}
    named = {name: _read(name, value) for name, value in given.items() if name in taken}
    return model(*data, **named)


def _plain(value: Any) -> Any:
    if isinstance(value, Loss | Penalty | Kernel):
        return describe(value)
    if isinstance(value, NamedColumns):
        return {"columns": list(value.columns), "values": value.values.tolist()}
    known = isinstance(value, np.ndarray) or sparse.issparse(value)
    return dense(value).tolist() if known else value


def _read(name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "columns" in value:
        return NamedColumns(np.array(value["values"]), value["columns"])
    return rebuild(ROOMS[name], value)


def describe(part: Any) -> dict[str, Any]:
    """A loss, a penalty or a kernel as plain lists."""
    given = {key: _plain(value) for key, value in vars(part).items() if not key.startswith("_")}
    return {"class": type(part).__name__, "parameters": given}


def rebuild(module: Any, described: dict[str, Any]) -> Any:
    """What ``describe`` told, of ``losses``, ``penalties`` or ``kernels``."""
    given = {
        key: rebuild(module, value) if isinstance(value, dict) else value
        for key, value in described["parameters"].items()
    }
    return getattr(module, described["class"])(**given)


def stated(name: str) -> str:
    """What to use in place of a model that is a statement in plain CVXPY now, else ""."""
    for file in STATEMENTS:
        if name.replace("_", "").casefold() == file.replace("_", ""):
            return (
                f" It is plain CVXPY now: pose it as problems/{file}.py does; cml.solve(problem) "
                f'solves and certifies it. A problem file says statement = "{file}.py".'
            )
    return ""


def register_models(names: list[str], model_of: Callable[[str], Any]) -> None:
    """Tell ``Solution.from_json`` how to pose each model again, once it is asked for.

    Of what is plain CVXPY now it says so.
    """
    gone = (name.title().replace("_", "") for name in STATEMENTS)
    for name in (*names, *gone):
        REBUILD[name] = lambda stored: model_of(stored["kind"]).from_dict(stored)
