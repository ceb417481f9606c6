"""What the regressions share that penalise or bound their residuals as a whole."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from ....certificates import Certificate
from ....errors import InputError
from ....losses import Squared
from ....numerics import LEAST_SQUARE, Array
from ....objective import Objective
from ....objective.residuals.samples import RegressionSamples
from ....penalties import L1
from ....validation import nonnegative_number, positive_number, yes_or_no
from ...arrays.problem import ArrayProblem, Arrays, Shapes
from ...base import Hyperparameter
from ...folds.cross_validation import CrossValidated
from ...learning.predictor import Predictor
from ...learning.stored import learning_to_dict
from ...reading.inputs import (
    Samples,
    expand,
    read_coefficients,
    read_dual,
    read_intercept,
    read_samples,
)
from ...reading.names import match_coefficients
from ...solution import Solution


class ResidualProblem(CrossValidated, Predictor, ArrayProblem):
    """A regression in (w, b) with a strength lam, whose dual point has a name of its own."""

    lam = Hyperparameter()
    classes: Array | None = None
    _dual_name = "u"
    _dual_of_samples = True
    """Whether the dual point has an entry per sample; else per feature."""
    _kernel: Any = None
    _samples: Samples

    def _start(self, X: Any, y: Any, lam: Any, fit_intercept: Any, sample_weight: Any) -> None:
        intercept = yes_or_no(fit_intercept, self.name, "fit_intercept")
        self._hyper = self._check(lam=lam)
        samples = read_samples(self.name, X, y, sample_weight, "real")
        self._compose(samples, intercept)
        null, flat = self.residuals.spread, not np.any(samples.y != self.residuals.mean)
        if not (math.sqrt(LEAST_SQUARE) < null < 1e140 or flat):
            raise InputError(
                f"{self.name}: squares of y are beyond float64 (entries up to "
                f"{np.max(np.abs(samples.y)):g}); change its unit."
            )

    def _compose(self, samples: Samples, intercept: bool) -> None:
        self._samples = samples
        c = samples.weights / math.fsum(samples.weights.tolist())
        if not np.all(c > 0.0):
            k = int(np.argmin(c > 0.0))
            raise InputError(
                f"{self.name}: a sample_weight of {samples.weights[k]:g} is 0 as its share of the "
                "sum; bring the weights nearer to 1."
            )
        self.residuals = RegressionSamples(samples.design, samples.y, c, intercept)

    residuals: RegressionSamples
    """The samples, as residuals see them."""

    def _check(self, **hyper: Any) -> dict[str, Any]:
        return {"lam": nonnegative_number(hyper["lam"], self.name, "lam")}

    @property
    def sample_parts(self) -> Objective:
        """The samples with the loss that they are scored by, and whether there is an intercept."""
        it, names = self.residuals, tuple(self._samples.feature_names or ())
        return Objective(it.design, it.y, Squared(), L1(self.lam), it.c, it.fit_intercept, names)

    @property
    def _parts(self) -> tuple[Any, Any, str]:
        return Squared(), L1(self.lam), "mean"

    # -- solved and judged -----------------------------------------------------------------------

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve and certify, as every problem; w0 has no effect here."""
        self._samples.refuse_changed(self.name)
        return super().solve(solver, **options)

    @abstractmethod
    def _judged(
        self, w: Array, b: float, dual: Array | None, tol: float, search: bool
    ) -> Certificate:
        """Judge (w, b) by a dual point on the rows kept, or by one that is constructed."""

    def certify(self, *point: Any, tol: float = 1e-6, **arrays: Any) -> Certificate:
        """Judge a point, whoever computed it: (w, b, dual point), by position or by name.

        Parameters
        ----------
        *point : array
            w, shape (d,); b, the intercept, judged as it is, the best one for this w where None or
            absent; and the dual point, judged as it is, constructed where None or absent.
        tol : float
            For the relative gap and the feasibilities, relative to their rows.
        **arrays
            The same by name: the dual point is "u", shape (n,), or "v", shape (d,), of
            ``DantzigSelector``.

        Returns
        -------
        Certificate
            Claim "optimal".
        """
        owner, names = f"{self.name}.certify", ("w", "b", self._dual_name)
        tol = positive_number(tol, owner, "tol")
        taken = [name for name, _ in zip(names, point, strict=False) if name in arrays]
        unknown = next((name for name in arrays if name not in names), None)
        if taken or unknown is not None or len(point) > len(names):
            wrong = f"{taken[0]!r} is passed twice" if taken else f"there is no array {unknown!r}"
            wrong = wrong if taken or unknown is not None else f"got {len(point)} arrays"
            raise InputError(f"{owner}: {wrong}; it takes {', '.join(names)}.")
        found = dict(zip(names, point, strict=False)) | arrays
        if found.get("w") is None:
            raise InputError(f"{owner}: 'w' is missing; pass {', '.join(names)}.")
        w, b, dual = (found.get(name) for name in names)
        self._samples.refuse_changed(self.name)
        w = match_coefficients(self.name, w, self._samples.feature_names)
        w, b = read_coefficients(self.name, w, b, self.sample_parts)
        b = self.residuals.best_intercept(w) if b is None else b
        arrays = {} if dual is None else self._read_dual(dual)
        return self._judge({"w": w, "b": np.array(b)}, arrays, tol, search=True)

    def _read_dual(self, dual: Any) -> Arrays:
        name = self._dual_name
        if not self._dual_of_samples:
            shapes = self.shapes()[1]
            return self._arrays("certify", (dual,), {}, shapes, (name,))
        return {name: expand(read_dual(self.name, dual, self._samples), self._samples)}

    def objective(self, w: Any, b: Any = 0.0) -> float:
        """P(w, b); inf where a constraint is violated beyond rounding."""
        w = match_coefficients(self.name, w, self._samples.feature_names)
        w, b = read_coefficients(self.name, w, b, self.sample_parts)
        b = self.residuals.best_intercept(w) if b is None else b
        return self._value({"w": w, "b": np.array(b)})

    def dual_objective(self, dual: Any) -> float:
        """D at a dual point; -inf where it is infeasible beyond rounding."""
        return self._dual_value(self._read_dual(dual))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        d, n = self._samples.design.shape[1], self._samples.total
        return {"w": (d,), "b": ()}, {self._dual_name: (n if self._dual_of_samples else d,)}

    def _complete(self, point: Arrays) -> Arrays:
        if "w" not in point or "b" in point:
            b = read_intercept(self.name, point.get("b"), self.sample_parts)
            return point if b is None else {**point, "b": np.array(b)}
        return {**point, "b": np.array(self.residuals.best_intercept(point["w"]))}

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        name, kept = self._dual_name, self._samples.kept
        given = dual.get(name)
        if given is not None and self._dual_of_samples:
            given = given[kept]
        found = self._judged(point["w"], float(point["b"]), given, tol, search)
        if self._dual_of_samples:
            found = found.but(dual={name: expand(found.dual[name], self._samples)})
        names = self._samples.feature_names
        if names is None:
            return found
        return found.but(conditions=tuple(row.of_columns(names) for row in found.conditions))

    def to_dict(self) -> dict[str, Any]:
        posed: Any = self
        return learning_to_dict(posed)

    def __repr__(self) -> str:
        n, d = self._samples.design.shape
        return f"{self.name}(n={n}, d={d}, lam={self.lam!r})"
