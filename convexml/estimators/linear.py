"""Estimators that hold coefficients of the features: ``coef_`` and ``intercept_``."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import linalg, optimize
from sklearn import linear_model
from sklearn.utils.multiclass import check_classification_targets

from .. import models
from ..errors import InputError
from ..losses import Loss
from ..models import LearningProblem
from ..models.base import Hyperparameter
from ..models.solution import Solution
from ..numerics import EPS, Array
from ..penalties import L1, L2, NonnegativeElasticNet, Penalty
from ..penalties import ElasticNet as ElasticNetPenalty
from .base import CertifiedFit, Given, Parts, Solutions, coefficients, named, posed

OF_SOLVERS = {**CertifiedFit._defaults, "solver": "auto"}
"""Defaults where the namesake names a solver of its own."""


class LinearFit(CertifiedFit):
    """A certified fit of ``coef_`` and ``intercept_``, one row for each part."""

    fit_intercept: bool
    tol: float

    def _begin(self, given: Given) -> None:
        targets = np.shape(given.y)[1:]
        self.coef_ = np.zeros((*targets, given.X.shape[1]))
        self.intercept_: Any = np.zeros(targets) if targets and self.fit_intercept else 0.0

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        shape, unit = self.coef_.shape, float(getattr(self, "intercept_scaling", 1.0))
        found = [
            coefficients(part, solution, shape[-1], unit)
            for part, solution in zip(parts, solutions, strict=True)
        ]
        self.coef_ = np.reshape([w for w, _ in found], shape)
        if self.fit_intercept:
            b = np.ravel([shift for _, shift in found])
            self.intercept_ = b if np.ndim(self.intercept_) else float(b[0])


class ClassifierFit(LinearFit):
    """The same for labels: one row of ``coef_`` for two classes, else one for each class."""

    classes_: Array
    class_weight: Any
    _reading: ClassVar = {}
    _held_at_zero: ClassVar[bool] = True
    """Whether ``intercept_`` is the number 0.0 where none is fitted, and no vector."""

    def _begin(self, given: Given) -> None:
        self.classes_ = read_classes(type(self).__name__, given, self.class_weight)
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.coef_ = np.zeros((rows, given.X.shape[1]))
        self.intercept_ = self._no_intercept(rows)

    def _no_intercept(self, rows: int) -> Any:
        """0 in the shape of the namesake."""
        return np.zeros(rows) if self.fit_intercept or not self._held_at_zero else 0.0


def read_classes(owner: str, given: Given, class_weight: Any = None) -> Array:
    """The labels in increasing order, two at least, each of a positive weight.

    Raises
    ------
    InputError
        If a class is alone, or has no weight.
    """
    y, weights = given.y, given.weights
    check_classification_targets(y)
    classes, index = np.unique(y, return_inverse=True)
    names = classes.tolist()
    if len(names) < 2:
        raise InputError(f"{owner}.fit: y holds one class, {names[0]!r}; two classes are needed.")
    total: Any = np.ones(len(names))
    if weights is not None:
        total = np.bincount(index, weights=weights)
    if isinstance(class_weight, dict):
        total = total * [class_weight.get(name, 1.0) for name in names]
    empty = total == 0.0
    if np.any(empty) and not np.all(empty):  # where all are, the weights are refused as such
        name = names[int(np.argmax(empty))]
        raise InputError(
            f"{owner}.fit: the samples of class {name!r} have no weight; leave them out, or give "
            "them a positive sample_weight and class_weight."
        )
    return classes


# Losses with l1 and squared norms of one strength, which a path follows.


class Net(LearningProblem):
    """The mean of a loss plus lam (rho |w|_1 + (1 - rho) |w|^2 / 2), rho = l1_ratio; or w >= 0."""

    lam = Hyperparameter()
    l1_ratio = Hyperparameter()

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        l1_ratio: float,
        *,
        positive: bool = False,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._loss, self._positive = loss, positive
        self._start(X, y, fit_intercept, sample_weight, lam=1.0, l1_ratio=l1_ratio)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        lam, l1_ratio = hyper["lam"], hyper["l1_ratio"]
        if self._positive:
            return self._loss, NonnegativeElasticNet(lam, l1_ratio), "mean"
        if l1_ratio in (0.0, 1.0):
            return self._loss, L1(lam) if l1_ratio else L2(lam), "mean"
        return self._loss, ElasticNetPenalty(lam, l1_ratio), "mean"


# Least squares, as scikit-learn has it.


LARGE = 20_000_000
"""Entries of X above which of several minimisers any is taken."""


class LinearRegression(LinearFit, linear_model.LinearRegression):
    """Minimise sum_i s_i (y_i - x_i.w - b)^2, and certify it.

    That is 2 sum(s) times ``cml.LeastSquares``. Of many minimisers it is the one of least
    |w|, where X has no more than 2e7 entries.

    Parameters
    ----------
    fit_intercept : bool
        The intercept is not penalised.
    copy_X : bool
        Has no effect: X is never changed.
    tol : float
        Verified relative gap that the fit is to reach.
    n_jobs : int, optional
        Has no effect.
    positive : bool
        Whether w >= 0.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        super()._end(given, parts, solutions)
        objective, before = parts[0].objective, self.coef_
        if self.positive or objective.n * objective.d > LARGE:
            return
        X, centre = objective.design.dense(), np.zeros(objective.d)
        if self.fit_intercept:
            centre = objective.c @ X / objective.c.sum()
        X = X - centre
        if not _independent(X):
            self.coef_ = linalg.lstsq(X, X @ before.T, cond=max(X.shape) * EPS)[0].T
            self.intercept_ = self.intercept_ + (before - self.coef_) @ centre


def _independent(X: Array) -> bool:
    """Whether the columns are independent, far beyond rounding."""
    if X.shape[0] < X.shape[1]:
        return False
    units = np.sqrt(np.sum(X**2, axis=0))
    if np.any(units == 0.0):
        return False
    spectrum = linalg.eigvalsh((X / units).T @ (X / units))
    return bool(spectrum[0] > 1e-10 * spectrum[-1])


# Ridge regression, as scikit-learn has it.


class Ridge(LinearFit, linear_model.Ridge):
    """Minimise sum_i s_i (y_i - x_i.w - b)^2 + alpha |w|^2, and certify it.

    That is 2 sum(s) times ``cml.Ridge`` with lam = alpha / sum(s).

    Parameters
    ----------
    alpha : float or array of shape (K,)
        Strength >= 0; of each target.
    fit_intercept : bool
        The intercept is not penalised.
    copy_X : bool
        Has no effect: X is never changed.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem; ``engine`` solves it.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    engine : str
        A solver of convexml; "auto" chooses.
    """


# The lasso, as scikit-learn has it.


class Lasso(LinearFit, linear_model.Lasso):
    """Minimise sum_i s_i (y_i - x_i.w - b)^2 / (2 sum(s)) + alpha |w|_1, and certify it.

    That is ``cml.Lasso`` with lam = alpha.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    precompute : bool or array
        Has no effect: Gram matrices are made where they pay.
    copy_X : bool
        Has no effect: X is never changed.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    warm_start : bool
        Has no effect: every fit starts anew.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    selection : str
        Has no effect.
    engine : str
        A solver of convexml; "auto" chooses.
    """


# The elastic net, as scikit-learn has it.


class ElasticNet(LinearFit, linear_model.ElasticNet):
    """Minimise the loss of ``Lasso`` + alpha (rho |w|_1 + (1 - rho) |w|^2 / 2), rho = l1_ratio.

    That is ``cml.ElasticNet`` with lam = alpha.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    l1_ratio : float
        Share of the l1 norm, from 0 to 1.
    fit_intercept : bool
        The intercept is not penalised.
    precompute : bool or array
        Has no effect: Gram matrices are made where they pay.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    copy_X : bool
        Has no effect: X is never changed.
    tol : float
        Verified relative gap that the fit is to reach.
    warm_start : bool
        Has no effect: every fit starts anew.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    selection : str
        Has no effect.
    engine : str
        A solver of convexml; "auto" chooses.
    """


# The lasso of several targets with common features, as scikit-learn has it.


class MultiTaskLasso(LinearFit, linear_model.MultiTaskLasso):
    """Minimise sum_i s_i |y_i - W'x_i - b|^2 / (2 sum(s)) + alpha sum_j |W_j.|, and certify it.

    W, of shape (d, K), is the transpose of ``coef_``; its rows vanish together. That is
    ``cml.MultiTaskLasso`` with lam = alpha.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercepts are not penalised.
    copy_X : bool
        Has no effect: X is never changed.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    warm_start : bool
        Has no effect: every fit starts anew.
    random_state : int, optional
        Has no effect: nothing is random.
    selection : str
        Has no effect.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    def _begin(self, given: Given) -> None:
        if np.ndim(given.y) != 2:
            raise InputError("MultiTaskLasso.fit: for mono-task outputs, use Lasso.")
        super()._begin(given)

    def _solved(self, part: Any, tol: float) -> Solution:
        it = part.targets
        X, given = named(it.design.constant, it.features), {"fit_intercept": it.fit_intercept}
        problem = models.MultiTaskLasso(X, it.Y, it.lam, sample_weight=it.c, **given)
        return self._solution(problem, tol)


# Huber's regression with its scale, as scikit-learn has it.


DEEP = 10.0
"""Log-scales below that of y at which it is asked whether any scale > 0 is best."""
SMALLEST = 10.0 * EPS
"""Of the largest |y|: the scale of an exact fit, of which there is no least one."""
EXACT = 1e-9
"""Relative gap to which the problems of fixed scale are solved."""


class HuberRegressor(LinearFit, linear_model.HuberRegressor):
    """Minimise sum_i s_i (sigma + sigma H(r_i / sigma)) + alpha |w|^2 over (w, b, sigma).

    r = X w + b - y; H(t) = t^2 where |t| <= epsilon, 2 epsilon |t| - epsilon^2 beyond. The scale
    sigma > 0 is estimated with the coefficients, in one convex problem, and certified with them.
    ``cml.HuberRegression`` has a fixed delta = epsilon sigma.

    Parameters
    ----------
    epsilon : float
        Residuals beyond epsilon sigma count linearly; >= 1.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    alpha : float
        Strength >= 0.
    warm_start : bool
        Has no effect: every fit starts anew.
    fit_intercept : bool
        The intercept is not penalised.
    tol : float
        Verified relative gap that the fit is to reach.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _holds_solution = False

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        self.scale_ = 1.0

    def _solved(self, part: Any, tol: float) -> Solution:
        """The solution at the best scale, where sum_i u_i^2 / (4 s_i) = sum_i s_i.

        The left side is minus the derivative of the least value at a scale, which is convex in it.
        Where none is best, that of the least absolute deviations, at the smallest scale.
        """
        found: dict[float, Solution] = {}
        exact = min(tol, EXACT)

        def slope(log_scale: float) -> float:
            objective = part.at_scale(float(np.exp(log_scale)))
            found[log_scale] = solution = self._solution(posed(objective), exact)
            return -float(part.excess(np.asarray(solution.dual["u"])))

        size = float(np.max(np.abs(part.y - np.median(part.y)), initial=0.0)) or 1.0
        least, high = np.log(SMALLEST * max(size, float(np.max(np.abs(part.y))))), np.log(size)
        while slope(high) < 0.0:
            high += 2.0
        low, step, deep = high - 2.0, 4.0, np.log(size) - DEEP
        while low > least and slope(low) > 0.0:
            high, low, step = low, low - step, 2.0 * step
            if low < deep <= high:
                limit = self._solution(posed(part.without_scale()), exact)
                if limit.status == "optimal" and part.excess(np.asarray(limit.dual["u"])) <= 0.0:
                    self.scale_ = float(np.exp(least))
                    return limit
        best = max(low, least)
        if low > least:
            best = optimize.brentq(slope, low, high, xtol=1e-14, rtol=4.0 * EPS)
        if best not in found:
            slope(best)
        solution = found[best]
        solution.iterations = sum(each.iterations for each in found.values())
        return solution

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        solution = solutions[0]
        self.coef_ = np.array(solution.primal["w"])
        self.intercept_ = float(solution.primal["b"])
        delta = getattr(solution.problem.objective_parts.loss, "delta", self.scale_ * self.epsilon)
        self.scale_ = delta / self.epsilon
        away = np.abs(given.y - given.X @ self.coef_ - self.intercept_)
        self.outliers_ = away > self.scale_ * self.epsilon


# Quantile regression, as scikit-learn has it.


class QuantileRegressor(LinearFit, linear_model.QuantileRegressor):
    """Minimise the mean pinball loss of y - x.w - b, + alpha |w|_1, and certify it.

    That is ``cml.QuantileRegression`` with tau = quantile, lam = alpha.

    Parameters
    ----------
    quantile : float
        Between 0 and 1.
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem; ``engine``
        solves it.
    solver_options : dict, optional
        Has no effect.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _defaults: ClassVar = OF_SOLVERS


# Poisson regression, as scikit-learn has it.


class PoissonRegressor(LinearFit, linear_model.PoissonRegressor):
    """Minimise the mean of half the deviance of y from exp(x.w + b), + (alpha / 2) |w|^2.

    That is ``cml.PoissonRegression`` with lam = alpha.

    Parameters
    ----------
    alpha : float
        Strength >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem; ``engine``
        solves it.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    tol : float
        Verified relative gap that the fit is to reach.
    warm_start : bool
        Has no effect: every fit starts anew.
    verbose : int
        Has no effect.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _defaults: ClassVar = OF_SOLVERS

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        self._base_loss = self._get_loss()  # what the namesake predicts and scores with


# Logistic regression, as scikit-learn has it.


class LogisticRegression(ClassifierFit, linear_model.LogisticRegression):
    """Minimise C sum_i v_i s_i log(1 + exp(-y_i z_i)) + Omega(w), z = X w + b, and certify it.

    With K > 2 classes the loss is log sum_k exp(z_ik) - z_i,y_i (softmax). v are the class weights,
    Omega = rho |w|_1 + (1 - rho) |w|^2 / 2 with rho = l1_ratio; C = inf: no Omega. That is
    ``cml.LogisticRegression`` with lam = 1 / (C sum(v s)). With ``solver="liblinear"`` it is
    liblinear's problem, Omega(w, b/m) with m = intercept_scaling, of two classes.

    Parameters
    ----------
    penalty : str, optional
        As of scikit-learn, which wants l1_ratio and C in its place.
    C : float
        Weight > 0 of the losses; np.inf is no penalty.
    l1_ratio : float
        Share of the l1 norm, from 0 to 1.
    dual : bool or "auto"
        Has no effect: both problems are solved.
    tol : float
        Verified relative gap that the fit is to reach.
    fit_intercept : bool
        The intercept is not penalised, but for ``solver="liblinear"``.
    intercept_scaling : float
        With ``solver="liblinear"``: entry of the column whose coefficient is the intercept.
    class_weight : dict or "balanced", optional
        Weights of the classes, times those of the samples.
    random_state : int, optional
        Has no effect: nothing is random.
    solver : str
        A solver of scikit-learn, or "auto": it names the problem, "liblinear" its own; ``engine``
        solves it.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    verbose : int
        Has no effect.
    warm_start : bool
        Has no effect: every fit starts anew.
    n_jobs : int, optional
        Has no effect.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _defaults: ClassVar = OF_SOLVERS
    _held_at_zero: ClassVar = False

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        if self.solver != "liblinear":
            return
        if len(self.classes_) > 2:
            raise InputError(
                "LogisticRegression.fit: solver='liblinear' does not support multiclass "
                f"classification (n_classes={len(self.classes_)}); another solver does, or a "
                "OneVsRestClassifier around it."
            )
        rho = self.l1_ratio or 0.0
        if self.C == np.inf or self.penalty is None or rho not in (0.0, 1.0):
            raise InputError(
                "LogisticRegression.fit: solver='liblinear' takes a finite C and l1_ratio=0 or 1, "
                f"got C={self.C:g}, l1_ratio={rho:g}; leave solver at 'auto'."
            )

    def _iterations(self, solutions: Any) -> Any:
        return np.array([super()._iterations(solutions)])
