"""Maximum likelihood of a Gaussian: its inverse covariance, sparse or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate
from ..certificates.likelihood import Precision, certify_unbounded, name_column
from ..errors import InputError
from ..formulas import constant, listed
from ..modelling import cp
from ..numerics import Array
from ..problem import Statement
from ..problem.likelihood import Moments, moments, precision_steps
from ..validation import nonnegative_number, yes_or_no
from .arrays import ArrayProblem, Arrays, Shapes
from .base import Hyperparameter
from .inputs import Samples, read_rows
from .latex import MOMENTS, Latex, such_that

# Columns whose squares leave float64.


def refuse_lost_variances(
    owner: str, rows: Samples, variances: Array, errors: Array, group: Any = slice(None)
) -> None:
    """Raise InputError for columns so large or small that their squares leave float64.

    Parameters
    ----------
    owner : str
    rows : Samples
    variances, errors : array, shape (d,)
        Those of the columns, and bounds on their errors.
    group : index
        The rows whose variances these are.
    """
    X = rows.X[group]
    lost = ~np.isfinite(variances) | ~np.isfinite(errors)
    lost |= (variances <= np.finfo(float).tiny) & (np.ptp(X, axis=0) > 0.0)
    if np.any(lost):
        j = int(np.argmax(lost))
        name = rows.feature_names[j] if rows.feature_names else j
        raise InputError(
            f"{owner}: the variance of column {name} is beyond float64 "
            f"(entries up to {np.max(np.abs(X[:, j])):g}); change its unit."
        )


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
    _samples: Samples | None
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
        problem._assume_centered = False
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
        names, about = rows.feature_names, not self._assume_centered
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
        names, about = rows.feature_names, not self._assume_centered
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
