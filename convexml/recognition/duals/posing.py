"""The learning problem whose dual was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ... import penalties
from ...errors import InputError
from ...kernels import Precomputed
from ...models.kernel.classification import KernelSVM
from ...models.problem import LearningProblem
from ...numerics import Array
from ...penalties import Penalty
from ..posing.design import learning
from ..reading.declined import Declined, named
from ..reading.maps import LARGEST, LinearMap
from ..reading.terms import Reading, Term
from .program import DualProgram, read_program
from .samples import DualSamples, samples_of


@dataclass
class PosedDual:
    """A learning problem whose dual was read.

    sign f(a) = ``constant`` - D(u), u = tau a; X'u is turn M a.
    """

    reading: Reading
    program: DualProgram
    samples: DualSamples
    problem: LearningProblem
    X: Any
    constant: float

    @property
    def is_kernel(self) -> bool:
        """Whether a form was given, not a design."""
        return isinstance(self.problem, KernelSVM)

    @property
    def intercept(self) -> bool:
        """Whether b is free."""
        return self.program.equality is not None

    def point(self, u: Array) -> Array:
        """The entries of the variable at u, within their bounds."""
        entries = u / self.samples.tau
        return np.asarray(np.clip(entries, self.program.lower, self.program.upper) + 0.0)

    def pull(self, u: Array) -> Array:
        """X'u by the posed problem; K u of a kernel matrix."""
        if self.is_kernel:
            return np.asarray(self.X @ u)
        return np.asarray(self.problem.objective_parts.design.rmatvec(u))

    def predictions(self, primal: dict[str, Any]) -> Array:
        """Xw + b."""
        coefficients = primal["q"] if self.is_kernel else primal["w"]
        return np.asarray(self.X @ coefficients).ravel() + float(primal.get("b", 0.0))


def pose_dual(reading: Reading) -> PosedDual | None:
    """The learning problem whose dual was read; None where it has not the shape of one.

    Raises
    ------
    Declined
        Where it has the shape, and is none, or not surely.
    """
    program = read_program(reading)
    if program is None or (program.outer is None) == (not program.blocks):
        return None
    samples = samples_of(program)
    constant = reading.constant + float(program.constant.sum())
    intercept = program.equality is not None
    if program.outer is not None and program.outer.kind == "form":
        X, problem = _of_a_form(reading, program, program.outer, samples, intercept)
    else:
        X, penalty = _features(program, samples)
        problem = learning(X, samples.y, samples.c, samples.loss, penalty, intercept)
    return PosedDual(reading, program, samples, problem, X, constant)


def _features(program: DualProgram, samples: DualSamples) -> tuple[Any, Penalty]:
    """X = (turn M / tau)', and the penalty whose conjugate is written of X'u."""
    if program.outer is not None:
        each, weight = program.outer.affine.maps[program.key], program.outer.weight
        if not (weight > 0.0).all():
            raise Declined(f"{named(program.outer.said)} counts some features for nothing")
        return _design(each, samples), penalties.L2(*_level(0.5 / weight))
    parts = [_design(each.map, samples) for each in program.blocks]
    level = np.concatenate([each.level() for each in program.blocks])
    if any(sparse.issparse(each) for each in parts):
        X: Any = sparse.csr_array(sparse.hstack(parts))
    else:
        X = parts[0] if len(parts) == 1 else np.hstack(parts)
    return X, penalties.L1(*_level(level))


def _level(values: Array) -> tuple[float, Any]:
    same = bool((values == values[0]).all())
    return (float(values[0]), None) if same else (1.0, values)


def _design(each: LinearMap, samples: DualSamples) -> Any:
    matrix, factor = each.full(), samples.turn / samples.tau
    if sparse.issparse(matrix):
        return sparse.csr_array(sparse.diags_array(factor) @ matrix.T)
    return matrix.T if (factor == 1.0).all() else matrix.T * factor[:, None]


def _of_a_form(
    reading: Reading, program: DualProgram, form: Term, samples: DualSamples, intercept: bool
) -> tuple[Array, LearningProblem]:
    """The SVM with the kernel matrix 2 weight Q_ij / (tau_i tau_j)."""
    if samples.loss.name != "hinge":
        raise Declined(f"{named(form.said)}: its entries have no upper bound of a kernel machine")
    each = form.affine.maps[program.key]
    if not each.is_selection or np.unique(each.index).size < each.width or each.rows > each.width:
        raise Declined(f"{named(form.said)} is not of all entries")
    if each.width**2 > LARGEST:
        raise Declined(f"{named(form.said)} has a matrix that is too large")
    Q = form.matrix.toarray() if sparse.issparse(form.matrix) else form.matrix
    order = np.argsort(each.index)
    scale = each.scales[order] / samples.tau
    K = (2.0 * float(form.weight[0])) * Q[np.ix_(order, order)] * scale[:, None] * scale
    if not (K == K.T).all():
        K = 0.5 * (K + K.T)
    c = samples.c
    same = bool((c == c[0]).all())
    try:
        problem = KernelSVM(
            K,
            samples.y,
            float(c[0]) if same else 1.0,
            Precomputed(),
            fit_intercept=intercept,
            sample_weight=None if same else c,
        )
    except InputError as error:
        raise Declined(str(error)) from None
    return K, problem
