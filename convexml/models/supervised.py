"""A learning problem posed with CVXPY: its data, hyperparameters and constraints by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..certificates import Condition
from ..certificates.learning.passed_point import PassedPoint
from ..design import Design, StackedDesign, as_design
from ..errors import InputError
from ..losses import Loss
from ..numerics import Array
from ..objective import (
    MulticlassObjective,
    Objective,
    Statement,
    parameters_of,
    pose_dual,
    pose_primal,
)
from ..penalties import Penalty
from ..validation import yes_or_no
from .base import Problem
from .reading.inputs import Samples, read_samples
from .solution import Solution


class SupervisedProblem(Problem):
    """Loss + penalty on samples (X, y), as CVXPY states it; what a textbook model overrides."""

    multiplier_names: ClassVar[Mapping[str, str]] = {}
    """Textbook names of the multipliers, by the label of their constraint."""

    classes: Array | None
    """The two (or K) labels in increasing order; None for real targets."""
    objective_parts: Objective
    """Design, loss, penalty and coefficients: what solvers and certificates work on."""

    # -- what a textbook model overrides -----------------------------------------------------

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str | float]:
        """Return (loss, penalty, loss scale) for these hyperparameters, validated."""
        raise NotImplementedError

    def _made(self, hyper: Mapping[str, Any]) -> tuple[Loss, Penalty, str | float]:
        """As ``_make``, with the model's own name in the error."""
        try:
            return self._make(**hyper)
        except InputError as error:
            _, _, what = str(error).partition(": ")
            raise InputError(f"{self.name}: {what or error}") from None

    def textbook_conditions(self, point: PassedPoint) -> Sequence[Condition]:
        """The model's KKT conditions under their textbook names."""
        return ()

    # -- construction ------------------------------------------------------------------------

    def _start(self, X: Any, y: Any, fit_intercept: bool, sample_weight: Any, **hyper: Any) -> None:
        intercept = yes_or_no(fit_intercept, self.name, "fit_intercept")
        loss, penalty, scale = self._made(hyper)
        self._hyper = _validated(hyper)
        samples = read_samples(self.name, X, y, sample_weight, loss.labels)
        self.classes = samples.classes
        self._samples = samples
        self._theta: dict[str, Any] | None = None
        self._last: Solution | None = None
        design, c = self._design(samples), self._coefficients(scale)
        parts = (samples.y, loss, penalty, c, intercept)
        if samples.classes is not None and loss.labels == "classes":
            stacked = StackedDesign(design, len(samples.classes))
            self.objective_parts = MulticlassObjective(stacked, *parts)
        else:
            self.objective_parts = Objective(design, *parts)
        check_penalty(self.name, penalty, self.objective_parts.d)

    def _design(self, samples: Samples) -> Design:
        """The design matrix behind the samples."""
        return as_design(samples.X)

    def _coefficients(self, scale: str | float) -> Array:
        weights = self._samples.weights
        if scale == "mean":
            return weights / weights.sum()
        return weights if scale == "sum" else float(scale) * weights

    def _set_hyperparameter(self, name: str, value: Any) -> None:
        hyper = self._hyper | {name: value}
        loss, penalty, scale = self._made(hyper)
        check_penalty(self.name, penalty, self.objective_parts.d)
        self._hyper = _validated(hyper)
        self.objective_parts = replace(
            self.objective_parts, loss=loss, penalty=penalty, c=self._coefficients(scale)
        )
        self._last = None
        if self._theta is not None:
            for kind, part in (("loss", loss), ("penalty", penalty)):
                for key, number in part.hyperparameters().items():
                    self._theta[kind][key].value = number
            if "C" in self._theta:
                self._theta["C"].value = float(scale)

    # -- posing ------------------------------------------------------------------------------

    @property
    def theta(self) -> dict[str, Any]:
        """The CVXPY Parameters of the loss and the penalty, and C where the model has one."""
        if self._theta is None:
            import cvxpy as cp

            self._theta = {**parameters_of(self.objective_parts)}
            if "C" in self._hyper:
                self._theta["C"] = cp.Parameter(name="C", pos=True, value=float(self._hyper["C"]))
        return self._theta

    @property
    def _posed_c(self) -> Any:
        if "C" in self.theta:
            return self.theta["C"] * self._samples.weights
        return self.objective_parts.c

    def _pose(self) -> Statement:
        return pose_primal(self.objective_parts, self.theta, self._posed_c)

    def _pose_dual(self) -> Statement:
        return pose_dual(self.objective_parts, self.theta, self._posed_c)

    def posed_values(self, w: Array, b: Any, u: Array) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of the primal's variables, and multipliers of its constraints by label."""
        parts = self.objective_parts
        z = parts.predict(w, b)
        w = w.reshape(parts.w_shape)
        values = {"w": w, "b": np.asarray(b), "z": z, **parts.loss.slacks(parts.y, z)}
        multipliers = {
            "prediction": u,
            **parts.loss.multipliers(parts.y, u, parts.c),
            **parts.penalty.multipliers(-parts.design.rmatvec(u)),
        }
        return values, multipliers

    def coordinates(self, primal: Mapping[str, Array]) -> Array:
        """The coefficients that solvers work on, as one vector."""
        return np.ravel(primal["w"])

    def norm(self, primal: Mapping[str, Array]) -> float:
        """|w|, the norm behind the margin."""
        return float(np.linalg.norm(primal["w"]))

    def dual_from_constraints(self) -> Array | None:
        """U, read from the multipliers that a solver left in the posed primal."""
        return self.constraints["prediction"].dual_value

    def _fill(self) -> None:
        if self._last is None or self._statement is None or "u" not in self._last.dual:
            return
        u = self._last.dual["u"][self._samples.kept]
        w, b = self.coordinates(self._last.primal), self._last.primal["b"]
        values, multipliers = self.posed_values(w, b if b.ndim else float(b), u)
        for name, variable in self.variables.items():
            if name in values:
                variable.value = values[name]
        for label, constraint in self.constraints.items():
            if label in multipliers:
                shape = constraint.dual_variables[0].shape
                constraint.dual_variables[0].save_value(np.reshape(multipliers[label], shape))
        # CVXPY keeps value and status of its own last solve; this one may be another solver's.
        verified = self._last.status == "optimal"
        self.primal._value = self._last.objective
        self.primal._status = "optimal" if verified else "optimal_inaccurate"


def _validated(hyper: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers as floats, what is no number as it is; ``_make`` has checked them."""
    return {
        key: value if isinstance(value, str | None) or np.ndim(value) > 0 else float(value)
        for key, value in hyper.items()
    }


def check_penalty(owner: str, penalty: Any, d: int) -> None:
    """Refuse a penalty whose groups, weights or bounds are not one for each of d features."""
    try:
        penalty.value(np.zeros(d))
        penalty.violation(np.zeros(d))
    except (ValueError, IndexError) as error:
        for name, given in vars(penalty).items():
            if np.ndim(given) == 1 and len(given) != d:
                raise InputError(
                    f"{owner}: {name} must have one entry per feature ({d}), got {len(given)}."
                ) from None
        raise InputError(f"{owner}: {penalty!r} does not fit {d} features ({error}).") from None
