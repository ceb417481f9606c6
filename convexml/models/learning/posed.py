"""What the functions of this room ask of a learning problem."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, Self

from ...certificates import Certificate
from ...certificates.learning.existence.evidence import Evidence
from ...kernels import Kernel
from ...numerics import Array
from ...objective import Objective, Statement
from ..base import PosedProblem
from ..reading.inputs import Samples
from ..solution import Solution
from .construction import Parts

Values = Mapping[str, Array]
"""Primal or dual values by their textbook names."""


class PosedLearning(PosedProblem, Protocol):
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

    def posed_values(self, w: Array, b: Any, u: Array) -> tuple[dict[str, Any], dict[str, Any]]: ...

    def dual_from_constraints(self) -> Array | None: ...

    def decision_function(self, X: Any, primal: Values) -> Array: ...

    def predict(self, X: Any, primal: Values) -> Array: ...

    def confirmed(self, claim: str, evidence: Evidence) -> Evidence | None: ...

    def judge_solved(self, w: Array, b: Any, u: Array | None, tol: float) -> Certificate: ...
