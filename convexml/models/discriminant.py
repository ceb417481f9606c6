"""Discriminant analysis: Gaussians with a mean for each class, by maximum likelihood."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from ..certificates import Certificate
from ..certificates.judge import judge
from ..certificates.likelihood import Precision, certify_unbounded, data_row, name_column, summed
from ..formulas import constant
from ..modelling import cp
from ..numerics import Array
from ..problem import Statement
from ..problem.likelihood import Moments, moments, pooled, precision_steps
from ..validation import yes_or_no
from .arrays import ArrayProblem, Arrays, Shapes
from .inputs import Samples, dense, read_new, read_rows
from .latex import Latex, such_that
from .likelihood import refuse_lost_variances
from .prediction import score

# Discriminant analysis and its dual as CVXPY problems, and both in LaTeX.


Parts = Sequence[tuple[str, float, Precision]]
"""Name, share in the objective and problem of each Theta."""


def pose_discriminant_primal(parts: Parts) -> Statement:
    """Minimise sum_k share_k (-log det Theta_k + tr(S_k Theta_k)); one has no index."""
    variables: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    value: Any = cp.Constant(0.0)
    for k, (_, share, one) in enumerate(parts):
        mark = f"_{k}" if len(parts) > 1 else ""
        Theta = variables[f"Theta{mark}"] = cp.Variable((one.d, one.d), name=f"Theta{mark}")
        constraints[f"symmetric{mark}"] = Theta == Theta.T
        value = value + share * (cp.trace(constant(one.S, f"S{mark}") @ Theta) - cp.log_det(Theta))
    return Statement.of(cp.Minimize(value), variables, constraints)


def pose_discriminant_dual(parts: Parts) -> Statement:
    """Maximise sum_k share_k (log det W_k + d) s.t. W_k = S_k."""
    variables: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    value: Any = cp.Constant(0.0)
    for k, (_, share, one) in enumerate(parts):
        mark = f"_{k}" if len(parts) > 1 else ""
        W = variables[f"W{mark}"] = cp.Variable((one.d, one.d), name=f"W{mark}")
        constraints[f"covariance{mark}"] = W == constant(one.S, f"S{mark}")
        value = value + share * (cp.log_det(W) + one.d)
    return Statement.of(cp.Maximize(value), variables, constraints)


def discriminant_latex(shared: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions; with an index k where none is shared."""
    k = "" if shared else "_k"
    total = "" if shared else r"\sum_k \pi_k "
    value = rf"-\log\det\Theta{k} + \operatorname{{tr}}(S{k} \Theta{k})"
    gain = rf"\log\det W{k} + d"
    if not shared:
        value, gain = f"({value})", f"({gain})"
    within = r"\text{covariance within the classes}"
    if not shared:
        within = r"\text{covariance of class } k,\ \pi_k = \text{its share}"
    rows = rf"W{k} = S{k}", rf"\Theta{k} W{k} = I"
    return Latex(
        rf"\min_{{\Theta{k}}}\ {total}{value}",
        f"{total}{value}".replace(f"S{k}", f"W{k}") + rf",\quad {rows[0]}",
        rf"\max_{{W{k}}}\ {total}{gain}" + such_that(rows[0]),
        rows,
        rf"S{k} = {within},\ d = \text{{number of features}}",
    )


# Classes that are predicted by Gaussians of their own.


class GaussianClasses:
    """The part of a model that predicts, from "Theta", "means" and "priors"."""

    name: Any
    features: Any
    classes: Array
    means: Array

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """log pi_k + log det(Theta_k) / 2 - (x - mu_k)'Theta_k (x - mu_k) / 2, shape (n, K).

        For two classes the second less the first, shape (n,).
        """
        K, d = self.means.shape
        matrix = dense(read_new(self.name, X, self.features, d))
        thetas = np.broadcast_to(primal["Theta"], (K, d, d))
        found = np.empty((len(matrix), K))
        for k, (Theta, mean, prior) in enumerate(
            zip(thetas, primal["means"], primal["priors"], strict=True)
        ):
            R = matrix - mean
            level = np.log(prior) + 0.5 * np.linalg.slogdet(Theta)[1]
            found[:, k] = level - 0.5 * np.einsum("ij,ij->i", R @ Theta, R)
        return found[:, 1] - found[:, 0] if K == 2 else found

    def predict(self, X: Any, primal: Arrays) -> Array:
        """The most probable class, in the caller's labels."""
        scores = self.decision_function(X, primal)
        best = (scores > 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes[best]

    def predict_proba(self, X: Any, primal: Arrays) -> Array:
        """Probabilities of the classes, (n, K), in the order of ``classes``."""
        scores = self.decision_function(X, primal)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        return np.asarray(softmax(scores, axis=1))

    def score(self, X: Any, y: Any, primal: Arrays, sample_weight: Any = None) -> float:
        """Accuracy."""
        problem: Any = self
        return score(problem, X, y, primal, sample_weight)


class DiscriminantAnalysis(GaussianClasses, ArrayProblem):
    r"""Minimise -log det Theta + tr(S Theta), S the covariance of samples about their class means.

    Linear discriminant analysis ([H] 9), S = sum_k pi_k S_k with the shares pi_k of classes; or
    quadratic, sum_k pi_k (-log det Theta_k + tr(S_k Theta_k)). All with 1/n, by maximum likelihood.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Labels of any kind, two classes or more.
    shared : bool
        Whether the classes share one covariance.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first. They make the shares, too.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, one class, bad weights.

    Notes
    -----
    A solution holds "Theta", (d, d) or (K, d, d), "means" (K, d) and "priors" (K,); of these only
    Theta has to be passed to ``certify`` and ``objective``. Its dual is W = S, its gap measured on
    d. Where a column, or a combination of columns, is constant in each class (in one of them, if
    none is shared), it is "unbounded".
    """

    scikit_learn: ClassVar = {"LinearDiscriminantAnalysis": {}}
    methods: ClassVar[tuple[str, ...]] = ("newton",)
    why: ClassVar[str] = "one Newton step, which is S^-1"
    _asks = False
    _samples: Samples | None
    _names: list[str] | None
    classes: Array
    """The labels in increasing order, (K,)."""
    priors: Array
    """The shares of the classes, (K,)."""
    means: Array
    """Of the classes, (K, d)."""
    covariances: tuple[Moments, ...]
    """The one of all classes, or one for each."""

    def __init__(self, X: Any, y: Any, shared: bool = True, *, sample_weight: Any = None) -> None:
        one = yes_or_no(shared, self.name, "shared")
        self._samples = rows = read_rows(self.name, X, sample_weight, y, "classes")
        assert rows.classes is not None
        self.classes, self._index = rows.classes, rows.y.astype(int)
        index = self._index
        groups = [index == k for k in range(len(self.classes))]
        self.priors = np.array([rows.weights[group].sum() for group in groups])
        self.priors = self.priors / self.priors.sum()
        with np.errstate(over="ignore", invalid="ignore"):
            found = [moments(rows.X[group], rows.weights[group]) for group in groups]
            self.covariances = (pooled(self.priors, found),) if one else tuple(found)
        self.means = np.array([each.mean for each in found])
        for each, group in zip(found, groups, strict=True):
            refuse_lost_variances(self.name, rows, np.diag(each.S), np.diag(each.noise), group)
        self._hyper, self._names = {}, rows.feature_names

    @property
    def features(self) -> list[str] | None:
        return self._names

    @classmethod
    def of_moments(
        cls,
        classes: Any,
        priors: Any,
        means: Any,
        covariances: Sequence[Array],
        features: Sequence[str] | None = None,
    ) -> DiscriminantAnalysis:
        """Pose the problem of moments that are known exactly.

        Parameters
        ----------
        classes, priors : array, shape (K,)
        means : array, shape (K, d)
        covariances : sequence of arrays, shape (d, d)
            One, or one for each class.
        features : sequence of str, optional
            Names of the columns.
        """
        problem = object.__new__(cls)
        problem.classes, problem._samples, problem._hyper = np.asarray(classes), None, {}
        problem.priors, problem.means = (np.array(each, dtype=float) for each in (priors, means))
        problem._names = None if features is None else [str(each) for each in features]
        zero = np.zeros(problem.means.shape[1])
        problem.covariances = tuple(
            Moments(zero, np.array(S, dtype=float), np.zeros(np.shape(S))) for S in covariances
        )
        return problem

    @property
    def shared(self) -> bool:
        """Whether the classes share one covariance."""
        return len(self.covariances) == 1

    def _parts(self) -> list[tuple[str, float, Precision]]:
        """Name, share in the objective and problem of each Theta."""
        found = [Precision(each.S, each.noise, 0.0) for each in self.covariances]
        if self.shared:
            return [("", 1.0, found[0])]
        names = [f"class {label}" for label in self.classes.tolist()]
        return list(zip(names, self.priors.tolist(), found, strict=True))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        K, d = self.means.shape
        square = (d, d) if self.shared else (K, d, d)
        return {"Theta": square, "means": (K, d), "priors": (K,)}, {"W": square}

    def _complete(self, point: Arrays) -> Arrays:
        return {**point, **{n: getattr(self, n) for n in ("means", "priors") if n not in point}}

    def _each(self, matrices: Array) -> Array:
        """One matrix for each part."""
        return matrices[None] if self.shared else matrices

    def _value(self, point: Arrays) -> float:
        if any(row.breaks(1e-12) for row in self._given(point)):
            return np.inf
        thetas = self._each(point["Theta"])
        if not all(np.array_equal(Theta, Theta.T) for Theta in thetas):
            return np.inf
        parts = zip(self._parts(), thetas, strict=True)
        return float(sum(share * one.value(Theta) for (_, share, one), Theta in parts))

    def _dual_value(self, dual: Arrays) -> float:
        parts = zip(self._parts(), self._each(dual["W"]), strict=True)
        return float(sum(share * one.dual_value(W) for (_, share, one), W in parts))

    def _given(self, point: Arrays) -> list[Any]:
        variances = np.max([np.diag(each.S) for each in self.covariances], axis=0)
        size = np.abs(self.means) + np.sqrt(variances)
        return [
            data_row("means are those of the classes", point["means"], self.means, size),
            data_row("priors are their shares", point["priors"], self.priors, 1.0),
        ]

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        thetas = self._each(point["Theta"])
        W: Any = self._each(dual["W"]) if "W" in dual else [None] * len(thetas)
        found = [
            (name, share, self._named(one.certify(thetas[k], W[k], tol, search=search), k))
            for k, (name, share, one) in enumerate(self._parts())
        ]
        whole = summed(found, tol)
        if self.shared:
            whole = whole.but(dual={"W": whole.dual["W"][0]})
        elif whole.witness is not None:  # that of one class, and the others as they are or better
            parts = zip(found, thetas, strict=True)
            each = [one.witness["Theta"] if one.witness else Theta for (*_, one), Theta in parts]
            better = self._complete({"Theta": np.array(each)})
            named = {"Theta": better["Theta"], "objective": self._value(better)}
            whole = whole.but(witness={**whole.witness, **named})
        rows = tuple(self._given(point))
        met = all(row.meets(tol) for row in rows)
        whole = whole.but(conditions=(*whole.conditions, *rows))
        return whole if met else judge(whole)

    def _group(self, k: int) -> tuple[Array, list[str] | None, Array | None]:
        """Samples of part k, names of their columns and, with a shared covariance, classes."""
        X, names = self._samples.X, self._names  # type: ignore[union-attr]
        return (X, names, self._index) if self.shared else (X[self._index == k], names, None)

    def _named(self, found: Certificate, k: int) -> Certificate:
        return found if self._samples is None else name_column(found, *self._group(k))

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        found = [next(precision_steps(each.S, np.zeros_like(each.S))) for each in self.covariances]
        Theta = np.array([step[0] for step in found])
        yield self._complete({"Theta": Theta[0] if self.shared else Theta}), {}

    def _absence(self, tol: float) -> Certificate | None:
        for k, (name, _, one) in enumerate(self._parts() if self._samples is not None else ()):
            found = certify_unbounded(one, tol, *self._group(k), remedy="Leave columns out.")
            if found is not None:
                return found.but(reason=f"{name}: {found.reason}") if name else found
        return None

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        return pose_discriminant_primal(self._parts())

    def _pose_dual(self) -> Statement:
        return pose_discriminant_dual(self._parts())

    def _read_point(self) -> dict[str, Any]:
        values = [variable.value for variable in self.variables.values()]
        if any(value is None for value in values):
            return {"Theta": None}
        return {"Theta": values[0] if self.shared else np.array(values)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        thetas = self._each(point["Theta"])
        return dict(zip(self.variables, thetas, strict=True)), {}

    def to_dict(self) -> dict[str, Any]:
        """The samples, or the moments that were passed."""
        if self._samples is not None:
            return super().to_dict()
        known = {name: getattr(self, name).tolist() for name in ("classes", "priors", "means")}
        covariances = [each.S.tolist() for each in self.covariances]
        return {"kind": self.name, **known, "S": covariances, "features": self._names}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> DiscriminantAnalysis:
        """Pose the problem again that ``to_dict`` described."""
        if "S" not in stored:
            return super().from_dict(stored)
        return cls.of_moments(*(stored[k] for k in ("classes", "priors", "means", "S", "features")))

    def _formulas(self) -> Latex:
        return discriminant_latex(self.shared)

    def __repr__(self) -> str:
        K, d = self.means.shape
        return f"{self.name}({d} features, {K} classes{', shared' if self.shared else ''})"
