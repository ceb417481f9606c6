"""What the machines with nu share: a margin rho that is found with the function."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.learning.machines.functions import Functions, OfFeatures, OfSamples
from ...certificates.learning.machines.nu import HeldPoint, NuPart
from ...conditions import worst
from ...errors import InputError
from ...kernels import Kernel
from ...kernels.matrix import KernelMatrix
from ...numerics import Array
from ...objective import Statement
from ...validation import positive_number
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..base import Hyperparameter
from ..learning.outcomes import SUPPORT_SHARE
from ..reading.inputs import Samples, expand
from ..solution import Solution
from .matrix import kernel_matrix
from .nu_path import follow_nu
from .nu_samples import samples_from_dict, samples_to_dict, scores_of
from .nu_statement import pose_nu, pose_nu_dual

STEPS, NEAR = 1000, 1e-9
"""Steps of a method, and its relative gap, where a point is judged by a dual point of ours."""


class NuMachine(ArrayProblem):
    """A machine with nu, linear or with a kernel.

    The function is f(x) = w.x, or f = sum_j q_j k(x_j, .) where there is a kernel; with classes
    there is a b beside rho.
    """

    nu = Hyperparameter()
    methods: ClassVar[tuple[str, ...]] = ("smo", "augmented_lagrangian", "interior_point")
    why: ClassVar[str] = "the dual is a quadratic program in a box, of few support vectors"
    _samples: Samples
    _matrix: KernelMatrix | None = None
    _interval_path = follow_nu

    def _start(self, samples: Samples, nu: Any, kernel: Any) -> None:
        self._samples, self._hyper = samples, self._check(nu=nu)
        if kernel is not None and not isinstance(kernel, Kernel):
            raise InputError(
                f"{self.name}: kernel must be None or one of convexml.kernels, got {kernel!r}."
            )
        if kernel is not None:
            self._matrix = kernel_matrix(self.name, kernel, samples)

    @property
    def kernel(self) -> Kernel | None:
        """The kernel, fixed; None for a linear machine."""
        return None if self._matrix is None else self._matrix.kernel

    def _check(self, **hyper: Any) -> dict[str, Any]:
        nu = positive_number(hyper["nu"], self.name, "nu")
        if not nu <= 1.0:
            raise InputError(f"{self.name}: nu must be in (0, 1], got {nu:g}.")
        return {"nu": nu}

    # -- as the base asks ------------------------------------------------------------------------

    @property
    def function_name(self) -> str:
        """What the array of f is called: "w" of features, "q" of samples."""
        return "w" if self._matrix is None else "q"

    @cached_property
    def space(self) -> Functions:
        """Where f is."""
        return OfFeatures(self._samples.X) if self._matrix is None else OfSamples(self._matrix)

    @property
    def total(self) -> float:
        """nu times the sum of the weights: that of alpha."""
        return float(self._hyper["nu"]) * float(self._samples.weights.sum())

    @property
    @abstractmethod
    def labels(self) -> Array:
        """y_i, (n,): ones where there are no classes."""

    def shapes(self) -> tuple[Shapes, Shapes]:
        n = (self._samples.total,)
        f = (self._samples.X.shape[1],) if self._matrix is None else n
        return {self.function_name: f, **self._scalars, "xi": n}, {"alpha": n, "beta": n}

    _scalars: ClassVar[Shapes] = {"rho": ()}

    def _part(self, point: Arrays, alpha: Array) -> NuPart:
        """The point, with a dual point, among the samples that count."""
        kept, s = self._samples.kept, self._samples.weights
        f = point[self.function_name]
        f = f if self._matrix is None else f[kept]
        b, xi = float(point.get("b", 0.0)), point.get("xi")
        at = HeldPoint(f, b, float(point["rho"]), self.labels * alpha,
                       None if xi is None else xi[kept])  # fmt: skip
        return NuPart(self.space, self.labels, s, self.total, at, self._again)

    def _again(self) -> HeldPoint:
        """The end of a fast method, of the first that comes near enough."""
        best: NuPart | None = None
        for name in self.methods:
            *_, (point, dual) = islice(self._iterates(name), STEPS)
            part = self._part(point, dual["alpha"][self._samples.kept])
            if best is None or part.dual(part.point.q) > best.dual(best.point.q):
                best = part
            if best.judged(NEAR).holds():
                break
        assert best is not None
        return best.point

    def _value(self, point: Arrays) -> float:
        part = self._part(point, np.zeros_like(self._samples.weights))
        at = part.point
        slack = np.maximum(at.level - part.margins(at), 0.0)
        if at.xi is not None and not part.rows(at, at.q)[1].meets(1e-12):
            return np.inf
        return part.primal(at) if slack.size else np.inf

    def _dual_value(self, dual: Arrays) -> float:
        alpha = dual["alpha"][self._samples.kept]
        part = self._part(self._nothing(), alpha)
        rows = part.rows(part.point, part.point.q)
        if not all(row.meets(1e-12) for row in rows if row.kind == "dual_feasibility"):
            return -np.inf
        return part.dual(part.point.q)

    def _nothing(self) -> Arrays:
        ours = self.shapes()[0]
        return {name: np.zeros(shape) for name, shape in ours.items() if name != "xi"}

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        kept, s = self._samples.kept, self._samples.weights
        beta = dual["beta"][kept] if "beta" in dual else None
        passed = dual["alpha"][kept] if "alpha" in dual else None if beta is None else s - beta
        if passed is not None:
            part = self._part(point, passed)
            found = part.judged_as_passed(tol)
        else:
            guess = self.labels * point["q"][kept] if self._matrix is not None else 0.0 * s
            part = self._part(point, guess)
            found = part.certify(tol) if search else part.judged(tol)
        alpha = -self.labels * found.dual["u"]
        told = {"alpha": expand(alpha, self._samples), "beta": expand(s - alpha, self._samples)}
        witness = found.witness
        if witness is not None:
            own = {self.function_name: self._of_all(witness["w"]), "rho": witness["level"]}
            own |= {"b": witness["b"]} if "b" in self._scalars else {}
            witness = {**own, "objective": witness["objective"]}
        source = "solver" if found.dual_source == "passed" and not search else found.dual_source
        moved = found.moved
        if moved is not None and passed is not None and beta is not None:
            row = worst("alpha_i + beta_i = s_i", "dual_feasibility", passed + beta - s, s)
            moved = max(moved, row, key=lambda row: row.relative)
            source = source if moved.meets(tol) else "constructed"
        return found.but(dual=told, witness=witness, dual_source=source, moved=moved)

    @abstractmethod
    def _best(self, f: Array) -> Arrays:
        """The scalars that are best for f."""

    def _complete(self, point: Arrays) -> Arrays:
        """The best scalars and the least slacks, where they were not passed."""
        samples = self._samples
        if len(samples.kept) < samples.total:  # a solver's have no entries of weight 0
            there = {key: point[key] for key in ("q", "xi") if key in point}
            own = {key: v for key, v in there.items() if len(v) == len(samples.kept)}
            point = point | {key: expand(v, samples) for key, v in own.items()}
        if self.function_name not in point:
            return point
        f = point[self.function_name]
        f = f if self._matrix is None else f[self._samples.kept]
        if not self._scalars.keys() & point.keys():
            point = point | self._best(f)
        if "xi" in point or not self._scalars.keys() <= point.keys():
            return point
        return point | {"xi": self._told(f, point, self._samples.weights)[0]["xi"]}

    def _of_all(self, f: Array) -> Array:
        return f if self._matrix is None else expand(f, self._samples)

    def _told(self, f: Array, scalars: Arrays, alpha: Array) -> tuple[Arrays, Arrays]:
        """A point with its least slacks, and a dual point, in the numbering of the caller."""
        scores, s = self.space.scores(f), self._samples.weights
        margins = self.labels * (scores + scalars.get("b", 0.0))
        xi = expand(np.maximum(scalars["rho"] - margins, 0.0), self._samples)
        dual = {"alpha": alpha, "beta": s - alpha}
        point = {self.function_name: self._of_all(f), **scalars, "xi": xi}
        return point, {name: expand(value, self._samples) for name, value in dual.items()}

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve and certify, as every problem; ``support`` are the samples with alpha > 0."""
        self._samples.refuse_changed(self.name)
        solution = super().solve(solver, **options)
        if "alpha" in solution.dual:
            alpha = solution.dual["alpha"]
            solution.support = np.flatnonzero(alpha > SUPPORT_SHARE * alpha.max(initial=0.0))
        return solution

    # -- predictions, storage ----------------------------------------------------------------------

    def scores(self, X: Any, primal: Arrays) -> Array:
        """f(x) for new samples (the matrix k(new, training), if precomputed), shape (m,)."""
        f = np.asarray(primal[self.function_name])
        return scores_of(self.name, self._samples, self.kernel, X, f)

    def to_dict(self) -> dict[str, Any]:
        """The rows kept, nu and the kernel."""
        return {"kind": self.name, "nu": self.nu, **samples_to_dict(self._samples, self.kernel)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Any:
        """Pose the problem again that ``to_dict`` described; dropped rows have weight 0."""
        data, kernel, weights = samples_from_dict(stored)
        return cls(*data, stored["nu"], kernel, sample_weight=weights)

    def __repr__(self) -> str:
        n, d = self._samples.X.shape
        what = f"d={d}" if self.kernel is None else f"kernel={self.kernel!r}"
        return f"{self.name}(n={n}, {what}, nu={self.nu!r})"

    def _read_duals(self) -> Arrays:
        alpha = self.statement.constraints["margin"].dual_value
        return {} if alpha is None else {"alpha": expand(np.asarray(alpha), self._samples)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        kept = self._samples.kept
        known = dict(point)
        if self._matrix is not None:
            known["q"] = known["q"][kept]
            known["w"] = self._matrix.factor.T @ known["q"]
        known["xi"] = known["xi"][kept]
        named = {"margin": "alpha", "slack": "beta"}
        return known, {label: dual[name][kept] for label, name in named.items() if name in dual}

    # -- posed with CVXPY --------------------------------------------------------------------------

    def _pose(self) -> Statement:
        return pose_nu(*self._posed())

    def _pose_dual(self) -> Statement:
        return pose_nu_dual(*self._posed())

    def _posed(self) -> tuple[Any, Array, Array | None, float, bool]:
        """X, or a factor of K: f(x_i) = A_i.w; the weights, the labels, nu, whether it is K."""
        A = self._samples.X if self._matrix is None else self._matrix.factor
        labels = self.labels if "b" in self._scalars else None
        return A, self._samples.weights, labels, self.nu, self._matrix is not None
