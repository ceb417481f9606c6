"""Gaussians by maximum likelihood: a sparse inverse covariance, and discriminant analysis."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from ..certificates import Certificate
from ..certificates.judge import judge
from ..certificates.likelihood import Covaried, Precision, data_row, summed
from ..errors import InputError
from ..formulas import Condition, constant, listed
from ..modelling import cp
from ..numerics import Array
from ..problem import Statement
from ..problem.likelihood import Moments, moments, pooled, precision_steps
from ..validation import nonnegative_number, yes_or_no
from .arrays import ArrayProblem, Arrays, Shapes
from .base import Hyperparameter
from .inputs import (
    Samples,
    dense,
    read_new,
    read_rows,
    refuse_lost_variances,
)
from .latex import MOMENTS, Latex, such_that
from .prediction import score

# Gaussians by maximum likelihood: one, or one for each class.


Parts = Sequence[tuple[str, float, Precision]]
"""Name, share in the objective and problem of each Theta."""


class Gaussians(ArrayProblem):
    """Minimise sum_k share_k (-log det Theta_k + tr(S_k Theta_k) + lam sum_{i != j} |Theta_k,ij|).

    ``Theta`` is one matrix where there is one part, else an array of them.
    """

    methods: ClassVar[tuple[str, ...]] = ("newton",)
    _remedies: ClassVar[tuple[str, str]] = ("Leave columns out.", "")
    """What to do about a singular covariance, exact or up to rounding."""
    _samples: Samples | None
    _assume_centered: bool = False

    @abstractmethod
    def _parts(self) -> Parts:
        """Name, share in the objective and problem of each Theta."""

    def _group(self, k: int) -> Covaried:
        """The samples of part k."""
        X = self._samples.X  # type: ignore[union-attr]
        return Covaried(X, self.features, None, not self._assume_centered)

    def _given(self, point: Arrays) -> list[Condition]:
        """What a point holds of the data."""
        return []

    def _each(self, matrices: Array) -> Array:
        """One matrix for each part."""
        return matrices if matrices.ndim == 3 else matrices[None]

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        parts = self._parts()
        square = (*([len(parts)] if len(parts) > 1 else []), *parts[0][2].S.shape)
        return {"Theta": square}, {"W": square}

    def _value(self, point: Arrays) -> float:
        thetas = self._each(point["Theta"])
        given = not any(row.breaks(1e-12) for row in self._given(point))
        if not (given and all(np.array_equal(Theta, Theta.T) for Theta in thetas)):
            return np.inf
        parts = zip(self._parts(), thetas, strict=True)
        return float(sum(share * one.value(Theta) for (_, share, one), Theta in parts))

    def _dual_value(self, dual: Arrays) -> float:
        parts = zip(self._parts(), self._each(dual["W"]), strict=True)
        return float(sum(share * one.dual_value(W) for (_, share, one), W in parts))

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        thetas = self._each(point["Theta"])
        W: Any = self._each(dual["W"]) if "W" in dual else [None] * len(thetas)
        found = []
        for k, (name, share, one) in enumerate(self._parts()):
            own = one.compared(thetas[k], W[k], tol, search)
            if self._samples is not None and not one.lam > 0.0:
                own = self._group(k).explained(own, self._remedies[1])
            found.append((name, share, own))
        whole = summed(found, tol) if len(found) > 1 else found[0][2]
        if whole.witness is not None and len(found) > 1:
            # That of one class, and the others as they are or better.
            parts = zip(found, thetas, strict=True)
            each = [one.witness["Theta"] if one.witness else Theta for (*_, one), Theta in parts]
            better = {"Theta": np.array(each)}
            objective = self._value(self._complete(better))
            whole = whole.but(witness={**whole.witness, **better, "objective": objective})
        rows = tuple(self._given(point))
        if rows:
            whole = whole.but(conditions=(*whole.conditions, *rows))
        return whole if all(row.meets(tol) for row in rows) else judge(whole)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        parts = [one for *_, one in self._parts()]
        runs = (precision_steps(one.S, np.full_like(one.S, one.lam)) for one in parts)
        for steps in zip(*runs, strict=False):
            Theta = np.array([found for found, *_ in steps])
            self._promise = max(lowered for *_, lowered in steps) / parts[0].d
            yield self._complete({"Theta": Theta if len(parts) > 1 else Theta[0]}), {}

    def _absence(self, tol: float) -> Certificate | None:
        for k, (name, _, one) in enumerate(self._parts() if self._samples is not None else ()):
            found = self._group(k).unbounded(one, tol, self._remedies[0])
            if found is not None:
                return found.but(reason=f"{name}: {found.reason}") if name else found
        return None

    # -- posed with CVXPY ------------------------------------------------------------------------

    def _pose(self) -> Statement:
        variables: dict[str, Any] = {}
        constraints: dict[str, Any] = {}
        parameters, parts, terms = self._parameters(), self._parts(), []
        for k, (_, share, one) in enumerate(parts):
            mark = f"_{k}" if len(parts) > 1 else ""
            Theta = variables[f"Theta{mark}"] = cp.Variable((one.d, one.d), name=f"Theta{mark}")
            constraints[f"symmetric{mark}"] = Theta == Theta.T
            trace = cp.trace(constant(one.S, f"S{mark}") @ Theta)
            own = trace - cp.log_det(Theta)
            terms.append(own if share == 1.0 else share * own)
            for lam in parameters.values():
                terms.append(lam * cp.sum(cp.abs(Theta - cp.diag(cp.diag(Theta)))))
        return Statement.of(cp.Minimize(sum(terms)), variables, constraints, parameters)

    def _read_point(self) -> dict[str, Any]:
        values = [variable.value for variable in self.variables.values()]
        if any(value is None for value in values):
            return {"Theta": None}
        return {"Theta": values[0] if len(values) == 1 else np.array(values)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        return dict(zip(self.variables, self._each(point["Theta"]), strict=True)), {}


# Maximum likelihood of a Gaussian, with a penalty on the entries of its inverse covariance.


LARGEST_CONE = 15
"""Features; beyond, the cone of the log-determinant, of order 2 d, takes too long."""


class GaussianLikelihood(Gaussians):
    r"""Minimise -log det Theta + tr(S Theta) + lam sum_{i != j} abs(Theta_ij).

    S is the covariance of the samples about their mean, with 1/n; Theta the inverse covariance of
    the Gaussian that is most likely where lam = 0. An entry 0 says that two features are
    independent given the others.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows.
    lam : float
        Strength >= 0; the diagonal is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0 in place of ones, n = sum(s); rows of weight 0 are dropped first.
    assume_centered : bool
        Whether S is taken about 0 instead of the mean.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, bad weights, a negative lam.

    Notes
    -----
    The dual maximises log det W + d subject to W_jj = S_jj, abs(W_ij - S_ij) <= lam, and W =
    Theta^-1. Gaps are measured on d, in nats for a feature. A constant column, and without a
    penalty any exact dependence of the columns, leaves the problem "unbounded":
    ``evidence["ray"]`` is the v of Theta + t v v'.

    References
    ----------
    Banerjee, El Ghaoui and d'Aspremont, *Model selection through sparse maximum likelihood
    estimation* (2008), https://jmlr.org/papers/v9/banerjee08a.html.
    """

    lam = Hyperparameter()
    scikit_learn: ClassVar = {"GraphicalLasso": {"alpha": "lam = alpha"}}
    why: ClassVar[str] = "Newton steps in the orthant of the signs of Theta"
    _remedies: ClassVar = ("Take lam > 0.", ", or take lam > 0")
    moments: Moments
    """Mean and covariance of the samples."""

    def __init__(
        self, X: Any, lam: float = 0.0, *, sample_weight: Any = None, assume_centered: bool = False
    ) -> None:
        self._assume_centered = yes_or_no(assume_centered, self.name, "assume_centered")
        self._samples = rows = read_rows(self.name, X, sample_weight)
        with np.errstate(over="ignore", invalid="ignore"):
            found = moments(rows.X, rows.weights, not self._assume_centered)
        self._start(found, lam)

    def _start(self, found: Moments, lam: Any) -> None:
        rows: Samples | None = self._samples
        if rows is not None:
            refuse_lost_variances(self.name, rows, np.diag(found.S), np.diag(found.noise))
        self._hyper = self._check(lam=lam)
        self.moments = found

    @classmethod
    def of_covariance(cls, S: Any, lam: float = 0.0) -> GaussianLikelihood:
        """Pose the problem of a covariance that is known exactly.

        Parameters
        ----------
        S : array, shape (d, d)
            Symmetric, with a positive diagonal.
        lam : float
            Strength >= 0.

        Raises
        ------
        InputError
            For an S that is not symmetric, or has a variance that is not > 0.
        """
        problem = object.__new__(cls)
        read = problem._arrays("of_covariance", (), {"S": S}, {"S": np.shape(S)})["S"]
        if read.ndim != 2 or not (read.size and np.array_equal(read, read.T)):
            raise InputError(f"{cls.__name__}.of_covariance: S must be a symmetric matrix.")
        if not np.all(np.diag(read) > 0.0):
            j = int(np.argmin(np.diag(read)))
            raise InputError(
                f"{cls.__name__}.of_covariance: S[{j}, {j}] = {read[j, j]:g}; variances are > 0."
            )
        problem._samples = None
        problem._start(Moments(np.zeros(len(read)), read, np.zeros_like(read)), lam)
        return problem

    def _check(self, **hyper: Any) -> dict[str, Any]:
        return {"lam": nonnegative_number(hyper["lam"], self.name, "lam")}

    @property
    def lam_max(self) -> float:
        """The smallest lam for which Theta is diagonal: the largest covariance of two features."""
        return float(np.max(np.abs(np.triu(self.moments.S, 1)), initial=0.0))

    # -- as the base asks ------------------------------------------------------------------------

    def _parts(self) -> Parts:
        return [("", 1.0, Precision(self.moments.S, self.moments.noise, self.lam))]

    @property
    def _asks(self) -> bool:
        return self.lam > 0.0 and self.moments.d <= LARGEST_CONE

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose_dual(self) -> Statement:
        S, d = constant(self.moments.S, "S"), self.moments.d
        W = cp.Variable((d, d), name="W")
        parameters = self._parameters()
        constraints = {
            "symmetric": W == W.T,
            "diagonal": cp.diag(W) == cp.diag(S),
            "box": cp.abs(W - S) <= parameters["lam"],
        }
        return Statement.of(cp.Maximize(cp.log_det(W) + d), {"W": W}, constraints, parameters)

    def to_dict(self) -> dict[str, Any]:
        """The samples, or the covariance that was passed."""
        if self._samples is not None:
            return super().to_dict()
        return {"kind": self.name, "lam": self.lam, "S": self.moments.S.tolist()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> GaussianLikelihood:
        """Pose the problem again that ``to_dict`` described."""
        if "S" in stored:
            return cls.of_covariance(np.array(stored["S"], dtype=float), stored["lam"])
        return super().from_dict(stored)

    def _formulas(self) -> Latex:
        value = r"-\log\det\Theta + \operatorname{tr}(S\Theta)"
        if not self.lam > 0.0:
            rows = "W = S", r"\Theta W = I"
            return Latex(
                rf"\min_{{\Theta}}\ {value}",
                r"-\log\det\Theta + \operatorname{tr}(W\Theta),\quad W = S",
                r"\max_W\ \log\det W + d" + such_that(rows[0]),
                rows,
                MOMENTS,
            )
        penalty = r"\lambda \sum_{i \ne j} |\Theta_{ij}|"
        box = listed("W_{jj} = S_{jj}", r"|W_{ij} - S_{ij}| \le \lambda")
        slack = r"\Theta_{ij} (S_{ij} - W_{ij}) + \lambda |\Theta_{ij}| = 0\ (i \ne j)"
        return Latex(
            rf"\min_{{\Theta}}\ {value} + {penalty}",
            rf"-\log\det\Theta + \operatorname{{tr}}(W\Theta),\quad {box}",
            r"\max_W\ \log\det W + d" + such_that(box),
            (r"\Theta W = I", box, slack),
            MOMENTS,
            over=(r"\Theta", ""),
        )

    def __repr__(self) -> str:
        return f"{self.name}({self.moments.d} features, lam={self.lam:g})"


# Discriminant analysis: Gaussians with a mean for each class.


class DiscriminantAnalysis(Gaussians):
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
    why: ClassVar[str] = "one Newton step, which is S^-1"
    _asks = False
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

    def _parts(self) -> Parts:
        found = [Precision(each.S, each.noise, 0.0) for each in self.covariances]
        if self.shared:
            return [("", 1.0, found[0])]
        names = [f"class {label}" for label in self.classes.tolist()]
        return list(zip(names, self.priors.tolist(), found, strict=True))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        ours, theirs = super().shapes()
        return {**ours, "means": self.means.shape, "priors": self.priors.shape}, theirs

    def _complete(self, point: Arrays) -> Arrays:
        return {**point, **{n: getattr(self, n) for n in ("means", "priors") if n not in point}}

    def _given(self, point: Arrays) -> list[Condition]:
        variances = np.max([np.diag(each.S) for each in self.covariances], axis=0)
        size = np.abs(self.means) + np.sqrt(variances)
        return [
            data_row("means are those of the classes", point["means"], self.means, size),
            data_row("priors are their shares", point["priors"], self.priors, 1.0),
        ]

    def _group(self, k: int) -> Covaried:
        """The samples of part k; with a shared covariance all, by their classes."""
        X, names = self._samples.X, self._names  # type: ignore[union-attr]
        one = None if self.shared else X[self._index == k]
        return Covaried(X, names, self._index) if one is None else Covaried(one, names)

    # -- predictions -----------------------------------------------------------------------------

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """log pi_k + log det(Theta_k) / 2 - (x - mu_k)'Theta_k (x - mu_k) / 2, shape (n, K).

        For two classes the second less the first, shape (n,).

        Raises
        ------
        InputError
            For another number of columns.
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

    def score(self: Any, X: Any, y: Any, primal: Arrays, sample_weight: Any = None) -> float:
        """Accuracy."""
        return score(self, X, y, primal, sample_weight)

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose_dual(self) -> Statement:
        variables: dict[str, Any] = {}
        constraints: dict[str, Any] = {}
        value: Any = cp.Constant(0.0)
        for k, (_, share, one) in enumerate(self._parts()):
            mark = "" if self.shared else f"_{k}"
            W = variables[f"W{mark}"] = cp.Variable((one.d, one.d), name=f"W{mark}")
            constraints[f"covariance{mark}"] = W == constant(one.S, f"S{mark}")
            value = value + share * (cp.log_det(W) + one.d)
        return Statement.of(cp.Maximize(value), variables, constraints)

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
        shared = self.shared
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

    def __repr__(self) -> str:
        K, d = self.means.shape
        return f"{self.name}({d} features, {K} classes{', shared' if self.shared else ''})"
