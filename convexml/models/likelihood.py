"""Models of maximum likelihood: of one probability, of several, of a Gaussian."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..certificates import Certificate
from ..certificates.likelihood import Precision, Shares, certify_unbounded, name_column
from ..data.columns import column_names
from ..errors import InputError
from ..formulas import constant, entries, listed
from ..modelling import cp
from ..numerics import Array
from ..problem import Statement
from ..problem.likelihood import Moments, moments, precision_steps
from ..validation import finite_array, nonnegative_number, read_labels, refuse_masked, yes_or_no
from .arrays import ArrayProblem, Arrays, Shapes
from .base import Hyperparameter
from .inputs import (
    distinct_labels,
    read_many_classes,
    read_matrix,
    read_weights,
    refuse_weightless,
    rows_of_dict,
)
from .latex import MOMENTS, Latex, such_that
from .prediction import score

# The base of likelihoods of labels alone: what their shares say, and the probabilities p.


class LabelLikelihood(ArrayProblem):
    """Minimise -sum_k q_k log p_k over the simplex, q_k the share of class k among the labels."""

    methods: ClassVar[tuple[str, ...]] = ("newton",)
    why: ClassVar[str] = "one Newton step on p nu = q, sum(p) = 1 from nu = 1, which is p = q"
    _entries: ClassVar[str] = ""
    """The entries of p, in LaTeX, where a point has another p."""
    classes: Array
    """The labels that p speaks of, (K,)."""

    def _count(self, index: Array, weights: Array, K: int) -> None:
        """Find the shares of classes 0 ... K - 1; sums are rounded once."""
        sums = [math.fsum(weights[index == k].tolist()) for k in range(K)]
        q = np.array(sums) / math.fsum(weights.tolist())
        lost = (np.array(sums) > 0.0) & (q < np.finfo(float).tiny)
        if np.any(lost):
            raise InputError(
                f"{self.name}: the share of class {self.classes[lost][0]!r} is beyond float64 "
                f"({q[lost][0]:g}); leave it out, or give its samples a larger sample_weight."
            )
        self._hyper, self._shares = {}, Shares(q)

    @property
    def shares(self) -> Array:
        """The empirical distribution q, (K,): the minimiser."""
        return self._shares.q

    @property
    def entropy(self) -> float:
        """H(q) = -sum_k q_k log q_k in nats: the least value."""
        return self._shares.entropy

    def divergence(self, *point: Any, **arrays: Any) -> float:
        """KL(q || p) = sum_k q_k log(q_k / p_k) in nats, the gap of p; inf where p has no bound."""
        return self._shares.divergence(self._whole(self._read("divergence", point, arrays)[0]))

    @abstractmethod
    def _whole(self, point: Arrays) -> Array:
        """The probability of every class."""

    @abstractmethod
    def _point(self, p: Array) -> Arrays:
        """The arrays of the point whose probabilities these are."""

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        K = len(self.shares)
        return {"p": (K,)}, {"nu": (), "lambda": (K,)}

    def _value(self, point: Arrays) -> float:
        return self._shares.value(self._whole(point))

    def dual_objective(self, *dual: Any, **arrays: Any) -> float:
        """D at ``nu``, with the best ``lambda`` where none is passed; -inf where infeasible."""
        shapes = self.shapes()[1]
        given = self._arrays("dual_objective", dual, arrays, shapes, ("nu",))
        return self._dual_value({**self._shares.best_dual(given["nu"]), **given})

    def _dual_value(self, dual: Arrays) -> float:
        return self._shares.dual_value(dual)

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        found = self._shares.certify(self._whole(point), dual, tol)
        if found.witness is None:
            return found
        return found.but(witness={**found.witness, **self._point(found.witness["p"])})

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        yield self._point(self.shares), {}

    # -- of samples: whatever x is ---------------------------------------------------------------

    def predict_proba(self, X: Any, primal: Arrays) -> Array:
        """p for each row of X, (n, K) in the order of ``classes``: nothing depends on x."""
        return np.tile(self._whole(primal), (len(X), 1))

    def predict(self, X: Any, primal: Arrays) -> Array:
        """The most probable class for each row of X."""
        return np.repeat(self.classes[[int(np.argmax(self._whole(primal)))]], len(X))

    def score(self: Any, X: Any, y: Any, primal: Arrays, sample_weight: Any = None) -> float:
        """Accuracy; the mean of -log p(x) on other samples is ``objective`` posed on these."""
        return score(self, X, y, primal, sample_weight)

    # -- posed with CVXPY, told in LaTeX ---------------------------------------------------------

    def _posed(self, variables: dict[str, Any], whole: Any) -> Statement:
        """The primal in these variables, ``whole`` the probability of every class."""
        seen = np.flatnonzero(self._shares.seen)
        constraints = {"total": cp.sum(whole) == 1.0, "nonnegative": whole >= 0.0}
        value = -(constant(self.shares[seen], "q") @ cp.log(entries(whole, seen, "I_seen")))
        return Statement.of(cp.Minimize(value), variables, constraints)

    def _pose_dual(self) -> Statement:
        seen, none = np.flatnonzero(self._shares.seen), np.flatnonzero(~self._shares.seen)
        nu, lam = cp.Variable(name="nu"), cp.Variable(len(self.shares), name="lambda")
        constraints = {"nonnegative": lam >= 0.0}
        if none.size:
            constraints["unseen"] = entries(lam, none, "I_unseen") == nu
        value = (
            self.entropy
            + 1.0
            - nu
            + constant(self.shares[seen], "q") @ cp.log(nu - entries(lam, seen, "I_seen"))
        )
        return Statement.of(cp.Maximize(value), {"nu": nu, "lambda": lam}, constraints)

    def _read_duals(self) -> Arrays:
        rows = self.constraints
        found = {"nu": rows["total"].dual_value, "lambda": rows["nonnegative"].dual_value}
        return {name: np.array(value) for name, value in found.items() if value is not None}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        labels = {"nu": "total", "lambda": "nonnegative"}
        return point, {labels[name]: value for name, value in dual.items()}

    def _formulas(self) -> Latex:
        value, rows = r"-\sum_k q_k \log p_k", (r"\sum_k p_k = 1", r"p_k \ge 0")
        signs = r"\lambda_k \ge 0", r"\lambda_k = \nu \ (k : q_k = 0)"
        gain = r"H(q) + 1 - \nu + \sum_k q_k \log(\nu - \lambda_k)"
        return Latex(
            rf"\min_p\ {value}" + such_that(*rows),
            rf"{value} + \nu \Big(\sum_k p_k - 1\Big) - \sum_k \lambda_k p_k",
            rf"\max_{{\nu, \lambda}}\ {gain}" + such_that(*signs),
            (r"p_k (\nu - \lambda_k) = q_k", *rows, *signs, r"\lambda_k p_k = 0"),
            listed(
                r"H(q) = -\sum_k q_k \log q_k",
                r"q_k = \text{share of label } k",
                self._entries,
            ),
        )

    def __repr__(self) -> str:
        return f"{self.name}({len(self.shares)} classes)"


def read_label_samples(
    owner: str, values: Any, name: str, sample_weight: Any
) -> tuple[Array, Array]:
    """The labels of samples of positive weight, a vector, and their weights."""
    labels = read_labels(values, owner, name)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.ndim != 1 or not labels.size:
        instead = "Pass one column of it." if labels.ndim == 2 else "Pass one label a sample."
        raise InputError(
            f"{owner}: {name} must be a vector of labels, got shape {labels.shape}. {instead}"
        )
    weights = read_weights(owner, sample_weight, len(labels))
    kept = np.flatnonzero(weights)
    return labels[kept], weights[kept]


# Maximum likelihood of one probability.


class BernoulliLikelihood(LabelLikelihood):
    r"""Minimise the mean of -log p(x) over 0 <= p <= 1: -m log p - (1 - m) log(1 - p).

    x is 1 with probability p, else 0; m is the share of ones. The minimiser is m, the least value
    the entropy of m, and the gap of any p the Kullback-Leibler divergence KL(m || p), in nats.

    Parameters
    ----------
    x : array, shape (n,)
        Samples, 0 or 1 (or booleans).
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0 in place of ones; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For other values than 0 and 1, wrong shapes, bad weights.

    Notes
    -----
    A solution holds "p", a number; a dual point "nu" of p + (1 - p) = 1 and "lambda" (2,) >= 0 of
    1 - p >= 0 and p >= 0. The dual maximises H(m) + 1 - nu + m log(nu - lambda_1) + (1 - m)
    log(nu - lambda_0). Gaps are measured on 1 nat.

    References
    ----------
    Cesari, *Machine Learning* (2025), chapter 3; Cover and Thomas, *Elements of Information Theory*
    (2006), section 11.1.
    """

    _entries: ClassVar[str] = r"p_0 = 1 - p,\ p_1 = p"

    def __init__(self, x: Any, *, sample_weight: Any = None) -> None:
        labels, weights = read_label_samples(self.name, x, "x", sample_weight)
        labels = labels.astype(float) if labels.dtype == bool else labels
        ones = finite_array(labels, self.name, "x")
        other = np.flatnonzero((ones != 0.0) & (ones != 1.0))
        if other.size:
            raise InputError(
                f"{self.name}: x must hold 0 and 1 only, got {ones[other[0]]:g}. Pass x == value, "
                "or take CategoricalLikelihood, which has labels of any kind."
            )
        self.classes = np.array([0, 1])
        self._ones, self._weights = ones, weights
        self._count(ones.astype(int), weights, 2)

    def shapes(self) -> tuple[Shapes, Shapes]:
        return {"p": ()}, {"nu": (), "lambda": (2,)}

    def _whole(self, point: Arrays) -> Array:
        p = float(point["p"])
        return np.array([1.0 - p, p])

    def _point(self, p: Array) -> Arrays:
        return {"p": np.array(p[1])}

    def _pose(self) -> Statement:
        p, rest = cp.Variable(name="p"), cp.Variable(name="rest")
        return self._posed({"p": p, "rest": rest}, cp.hstack([rest, p]))

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        values, duals = super()._posed_values(point, dual)
        return {**values, "rest": np.array(1.0 - float(point["p"]))}, duals

    def to_dict(self) -> dict[str, Any]:
        stored = {"x": self._ones.tolist(), "sample_weight": self._weights.tolist()}
        return {"kind": self.name, **stored}


# Maximum likelihood of the probabilities of several classes.


class CategoricalLikelihood(LabelLikelihood):
    r"""Minimise the mean of -log p(x) over the simplex: -sum_k q_k log p_k.

    p_k is the probability of class k, q_k its share of the samples. The minimiser is q, the least
    value the entropy of q, and the gap of any p the Kullback-Leibler divergence KL(q || p), in
    nats.

    Parameters
    ----------
    labels : array, shape (n,)
        Labels of one kind that can be ordered, numbers or text.
    classes : array, shape (K,), optional
        All labels there can be; by default those that occur. p is in their order, as in
        ``problem.classes``.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0 in place of ones; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For NaN, wrong shapes, bad weights, a label that is not among the classes.

    Notes
    -----
    A solution holds "p", (K,); a dual point "nu" of sum(p) = 1 and "lambda" (K,) >= 0 of p >= 0.
    The dual maximises H(q) + 1 - nu + sum_k q_k log(nu - lambda_k), with lambda_k = nu for a class
    without samples. Gaps are measured on 1 nat. ``CategoricalLikelihood(others, classes=...)
    .objective(p)`` is the mean of -log p(x) on other samples.

    References
    ----------
    Cover and Thomas, *Elements of Information Theory* (2006), section 11.1.
    """

    def __init__(self, labels: Any, classes: Any = None, *, sample_weight: Any = None) -> None:
        given, weights = read_label_samples(self.name, labels, "labels", sample_weight)
        own = distinct_labels(self.name, given, np.arange(len(given)), "labels")
        self.classes = own if classes is None else self._read_classes(classes, own)
        order = np.argsort(self.classes)
        index = order[np.searchsorted(self.classes, given, sorter=order)]
        self._given, self._weights = given, weights
        self._count(index, weights, len(self.classes))

    def _read_classes(self, classes: Any, own: Array) -> Array:
        """All classes, each once, in the order that they are passed."""
        known = read_labels(classes, self.name, "classes")
        if known.ndim != 1 or len(set(known.tolist())) != known.size or not known.size:
            raise InputError(
                f"{self.name}: classes must be a list of distinct labels, got {classes!r}. "
                "Pass each once."
            )
        lost = [label for label in own.tolist() if label not in known.tolist()]
        if lost:
            raise InputError(
                f"{self.name}: labels holds {lost[0]!r}, which is not among the classes "
                f"{known.tolist()!r}. Pass all classes, or none."
            )
        return known

    def _whole(self, point: Arrays) -> Array:
        return point["p"]

    def _point(self, p: Array) -> Arrays:
        return {"p": p}

    def _pose(self) -> Statement:
        p = cp.Variable(len(self.classes), name="p")
        return self._posed({"p": p}, p)

    def to_dict(self) -> dict[str, Any]:
        stored = {"labels": self._given.tolist(), "classes": self.classes.tolist()}
        return {"kind": self.name, **stored, "sample_weight": self._weights.tolist()}


# The samples behind a likelihood: dense, weighted, rows of weight 0 dropped.


@dataclass(frozen=True)
class Rows:
    """Samples of positive weight, a copy of those that were passed.

    Attributes
    ----------
    X : array, shape (n, d)
    weights : array, shape (n,)
    kept : array of int
        Their rows in the caller's numbering.
    total : int
        The number of rows passed.
    feature_names : list of str or None
        Of the columns of a data frame.
    """

    X: Array
    weights: Array
    kept: Array
    total: int
    feature_names: list[str] | None

    def refuse_lost(self, owner: str, found: Moments, group: Any = slice(None)) -> None:
        """Raise InputError for columns so large or small that their squares leave float64.

        ``group`` are the rows whose moments were found.
        """
        self.refuse_lost_variances(owner, np.diag(found.S), np.diag(found.noise), group)

    def refuse_lost_variances(
        self, owner: str, variances: Array, errors: Array, group: Any = slice(None)
    ) -> None:
        """The same by the variances alone, (d,), and bounds on their errors."""
        X = self.X[group]
        lost = ~np.isfinite(variances) | ~np.isfinite(errors)
        lost |= (variances <= np.finfo(float).tiny) & (np.ptp(X, axis=0) > 0.0)
        if np.any(lost):
            j = int(np.argmax(lost))
            name = self.feature_names[j] if self.feature_names else j
            raise InputError(
                f"{owner}: the variance of column {name} is beyond float64 "
                f"(entries up to {np.max(np.abs(X[:, j])):g}); change its unit."
            )

    def to_dict(self) -> dict[str, Any]:
        """The rows kept, for JSON."""
        return {
            "X": self.X.tolist(),
            "sample_weight": self.weights.tolist(),
            "rows": self.kept.tolist(),
            "total": self.total,
            "features": self.feature_names,
        }


def read_rows(owner: str, X: Any, sample_weight: Any) -> Rows:
    """Validate X (n, d) and sample weights."""
    matrix = read_matrix(owner, X)
    if sparse.issparse(matrix):
        matrix = matrix.toarray()
    weights = read_weights(owner, sample_weight, len(matrix))
    kept = np.flatnonzero(weights)
    return Rows(np.array(matrix[kept]), weights[kept], kept, len(matrix), column_names(X))


def read_classified(owner: str, X: Any, y: Any, sample_weight: Any) -> tuple[Rows, Array, Array]:
    """Samples of positive weight, the class of each as a number, and the labels of the classes."""
    rows = read_rows(owner, X, sample_weight)
    if sparse.issparse(y):
        raise InputError(f"{owner}: y must be a dense vector; pass y.toarray().ravel().")
    refuse_masked(y, owner, "y")
    labels = read_labels(y, owner, "y")
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (rows.total,):
        raise InputError(
            f"{owner}: y must be a vector with one entry per row of X ({rows.total}), got"
            f" shape {labels.shape}."
        )
    refuse_weightless(owner, labels, rows.kept)
    index, classes = read_many_classes(owner, labels[rows.kept], rows.kept)
    return rows, index.astype(int), classes


# Maximum likelihood of a Gaussian, with a penalty on the entries of its inverse covariance.


LARGEST_CONE = 15
"""Features; beyond, the cone of the log-determinant, of order 2 d, takes too long."""


class GaussianLikelihood(ArrayProblem):
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
    methods: ClassVar[tuple[str, ...]] = ("newton",)
    why: ClassVar[str] = "Newton steps in the orthant of the signs of Theta"
    _samples: Rows | None
    moments: Moments
    """Mean and covariance of the samples."""

    def __init__(
        self, X: Any, lam: float = 0.0, *, sample_weight: Any = None, assume_centered: bool = False
    ) -> None:
        self._centre = not yes_or_no(assume_centered, self.name, "assume_centered")
        self._samples = rows = read_rows(self.name, X, sample_weight)
        with np.errstate(over="ignore", invalid="ignore"):
            found = moments(rows.X, rows.weights, self._centre)
        self._start(found, lam)

    def _start(self, found: Moments, lam: Any) -> None:
        rows: Rows | None = self._samples
        if rows is not None:
            rows.refuse_lost(self.name, found)
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
        problem._centre = True
        problem._start(Moments(np.zeros(len(read)), read, np.zeros_like(read)), lam)
        return problem

    def _check(self, **hyper: Any) -> dict[str, Any]:
        return {"lam": nonnegative_number(hyper["lam"], self.name, "lam")}

    @property
    def precision(self) -> Precision:
        """The problem as its certificate sees it."""
        return Precision(self.moments.S, self.moments.noise, self.lam)

    @property
    def lam_max(self) -> float:
        """The smallest lam for which Theta is diagonal: the largest covariance of two features."""
        return float(np.max(np.abs(np.triu(self.moments.S, 1)), initial=0.0))

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        square = self.moments.S.shape
        return {"Theta": square}, {"W": square}

    def _value(self, point: Arrays) -> float:
        Theta = point["Theta"]
        return self.precision.value(Theta) if np.array_equal(Theta, Theta.T) else np.inf

    def _dual_value(self, dual: Arrays) -> float:
        return self.precision.dual_value(dual["W"])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        found = self.precision.certify(point["Theta"], dual.get("W"), tol, search=search)
        rows = self._samples
        if rows is None or self.lam > 0.0:
            return found
        names, about = rows.feature_names, self._centre
        return name_column(found, rows.X, names, centre=about, remedy=", or take lam > 0")

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        S = self.moments.S
        for Theta, _, lowered in precision_steps(S, np.full_like(S, self.lam)):
            self._promise = lowered / self.moments.d
            yield {"Theta": Theta}, {}

    @property
    def _asks(self) -> bool:
        return self.lam > 0.0 and self.moments.d <= LARGEST_CONE

    def _absence(self, tol: float) -> Certificate | None:
        rows = self._samples
        if rows is None:
            return None
        names, about = rows.feature_names, self._centre
        return certify_unbounded(self.precision, tol, rows.X, names, centre=about)

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        d = self.moments.d
        Theta = cp.Variable((d, d), name="Theta")
        lam = cp.Parameter(name="lam", nonneg=True, value=self.lam)
        S = constant(self.moments.S, "S")
        symmetric = {"symmetric": Theta == Theta.T}
        value = -cp.log_det(Theta) + cp.trace(S @ Theta)
        value = value + lam * cp.sum(cp.abs(Theta - cp.diag(cp.diag(Theta))))
        return Statement.of(cp.Minimize(value), {"Theta": Theta}, symmetric, {"lam": lam})

    def _pose_dual(self) -> Statement:
        S, d = constant(self.moments.S, "S"), self.moments.d
        W = cp.Variable((d, d), name="W")
        lam = cp.Parameter(name="lam", nonneg=True, value=self.lam)
        constraints = {
            "symmetric": W == W.T,
            "diagonal": cp.diag(W) == cp.diag(S),
            "box": cp.abs(W - S) <= lam,
        }
        return Statement.of(cp.Maximize(cp.log_det(W) + d), {"W": W}, constraints, {"lam": lam})

    def to_dict(self) -> dict[str, Any]:
        known = {name: value.tolist() for name, value in vars(self.moments).items()}
        rows = self._samples
        stored = {} if rows is None else rows.to_dict()
        return {"kind": self.name, "lam": self.lam, "centre": self._centre, **known, **stored}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> GaussianLikelihood:
        """Pose the problem again that ``to_dict`` described."""
        if "X" in stored:
            X, s = rows_of_dict(stored)
            centred = not stored["centre"]
            return cls(X, stored["lam"], sample_weight=s, assume_centered=centred)
        return cls.of_covariance(np.array(stored["S"], dtype=float), stored["lam"])

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
