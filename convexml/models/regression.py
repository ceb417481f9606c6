"""Least squares, ridge, lasso and their kin: regressions with a loss and a penalty."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..data.columns import NamedColumns
from ..errors import InputError
from ..formulas import constant
from ..losses import EpsilonInsensitive, Huber, Interpolation, Loss, Pinball, Poisson, Squared
from ..modelling import cp
from ..numerics import Array
from ..penalties import L1, L2, GroupL2, L1Ball, L2Ball, Penalty, SortedL1, Zero
from ..penalties import ElasticNet as ElasticNetPenalty
from ..penalties.sorted_l1 import decreasing
from ..problem import Statement
from ..validation import nonnegative_array, positive_number
from .base import Hyperparameter
from .grid import leave_one_out
from .kernel import KernelModel
from .posing import pose_in_slacks, posed_coefficients
from .problem import TextbookModel, WithStrength
from .solution import Solution

# Least squares, and the minimum-norm solution of an underdetermined system.


class LeastSquares(TextbookModel):
    r"""Minimise (1/2) mean (y - X w - b)^2, the mean weighted by sample_weight.

    The normal equations X' S (X w + b - y) = 0, 1' S (X w + b - y) = 0 characterise the solutions.
    Sources: [G] 2.3, [H] 4, [E] 1.7.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"LinearRegression": {}}

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), Zero(), "mean"


class MinimumNorm(TextbookModel):
    r"""Minimise (1/2) |w|^2 subject to X w = y (no intercept).

    The multiplier of ``interpolation`` is nu (equal to u), and w = -X' nu. Gradient descent and SGD
    from 0 converge to this point. Source: [H] 2.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    fit_intercept : bool
        Whether b is free; False unless asked for.
    sample_weight : array, shape (n,), optional
        Only whether a weight is 0 matters: such rows are dropped.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, bad weights.
    """

    _has_intercept = False
    multiplier_names: ClassVar = {"interpolation": "nu"}

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Interpolation(), L2(1.0), "sum"

    _pose = pose_in_slacks

    def _pose_dual(self) -> Statement:
        parts = self.objective_parts
        nu = cp.Variable(parts.n, name="nu")
        constraints = {"intercept": cp.sum(nu) == 0.0} if parts.fit_intercept else {}
        value = -0.5 * cp.sum_squares(constant(parts.design.constant, "X").T @ nu)
        value = value - constant(parts.y, "y") @ nu
        return Statement.of(cp.Maximize(value), {"nu": nu}, constraints)

    def dual_from_constraints(self) -> Array | None:
        return self.constraints["interpolation"].dual_value


# Ridge regression, penalised and constrained.


class Ridge(WithStrength):
    r"""Minimise (1/2) mean (y - X w - b)^2 + (lam/2) |w|^2.

    Closed form (centred data): (X'X + n lam I)^-1 X'y = X'(XX' + n lam I)^-1 y. Sources: [G] 2.5,
    [P] 16.3, [E] 1.9, [H] 5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {
        "Ridge": {"alpha": "lam = alpha / S"},
        "RidgeClassifier": {"alpha": "lam = alpha / S"},
    }

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), L2(hyper["lam"]), "mean"

    def leave_one_out(self, lams: Any) -> Array:
        """The mean squared error of predicting each sample from all others, in closed form.

        Parameters
        ----------
        lams : sequence of float
            Values of ``lam`` >= 0; each fit is that of ``Ridge`` posed on the other samples with
            the same ``lam``. A sample of weight 2 is left out whole and counts twice.

        Returns
        -------
        array, shape (len(lams),)

        Raises
        ------
        InputError
            For values that are none, or fewer than two samples.
        """
        owner = f"{self.name}.leave_one_out"
        values = nonnegative_array(lams, owner, "lams")
        if self.objective_parts.n < 2:
            raise InputError(f"{owner}: takes two samples of positive weight at least.")
        self._samples.refuse_changed(self.name)
        return leave_one_out(self.objective_parts, self._samples.weights, values)


class ConstrainedRidge(TextbookModel):
    r"""Minimise (1/2) mean (y - X w - b)^2 subject to |w|_2 <= radius.

    The multiplier of ``ball`` is mu >= 0; the solution is the ridge solution with
    lam = mu / radius. Source: [H] 5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    radius : float
        Radius of the ball, > 0, in units of w.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For radius <= 0, NaN or infinite entries, wrong shapes, bad weights.
    """

    multiplier_names: ClassVar = {"ball": "mu"}

    radius: float = Hyperparameter()

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        radius = positive_number(hyper["radius"], self.name, "radius")
        return Squared(), L2Ball(radius), "mean"


# The lasso, penalised and constrained.


class Lasso(WithStrength):
    r"""Minimise (1/2) mean (y - X w - b)^2 + lam |w|_1.

    KKT: |x_j'u| <= lam, with x_j'u = -lam sign(w_j) where w_j is not 0; u is (X w + b - y) / n.
    w = 0 exactly for lam >= ``lam_max``. Source: [H] 6.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"Lasso": {"alpha": "lam = alpha"}}

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), L1(hyper["lam"]), "mean"


class ConstrainedLasso(TextbookModel):
    r"""Minimise (1/2) mean (y - X w - b)^2 subject to |w|_1 <= radius.

    The multiplier of ``ball`` is lambda >= 0, the strength of the equivalent lasso:
    lambda = max_j |x_j'u|. Source: [H] 6.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    radius : float
        Radius of the l1 ball, > 0, in units of w.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For radius <= 0, NaN or infinite entries, wrong shapes, bad weights.
    """

    multiplier_names: ClassVar = {"ball": "lambda"}

    radius: float = Hyperparameter()

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        radius = positive_number(hyper["radius"], self.name, "radius")
        return Squared(), L1Ball(radius), "mean"


# The elastic net and the group lasso.


class ElasticNet(WithStrength):
    r"""Minimise (1/2) mean (y - X w - b)^2 + lam (rho |w|_1 + (1 - rho)/2 |w|^2), rho = l1_ratio.

    As scikit-learn's ElasticNet with alpha = lam. ``lam_max`` is that of the lasso divided by rho.
    Source: Zou and Hastie (2005), https://doi.org/10.1111/j.1467-9868.2005.00503.x.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    l1_ratio : float
        rho, from 0 (ridge) to 1 (lasso).
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, l1_ratio outside [0, 1], NaN or infinite entries, wrong shapes, bad
        weights.
    """

    scikit_learn: ClassVar = {"ElasticNet": {"alpha": "lam = alpha", "l1_ratio": "l1_ratio = ρ"}}

    l1_ratio: float = Hyperparameter()

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), ElasticNetPenalty(hyper["lam"], hyper["l1_ratio"]), "mean"


class GroupLasso(WithStrength):
    r"""Minimise (1/2) mean (y - X w - b)^2 + lam sum_g sqrt|g| |w_g|_2.

    KKT: |X_g'u| <= lam sqrt|g|, with X_g'u = -lam sqrt|g| w_g / |w_g| where w_g is not 0. Source:
    Yuan and Lin (2006), https://doi.org/10.1111/j.1467-9868.2005.00532.x.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    groups : array, shape (d,)
        The label of each feature's group.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, groups of a wrong length, NaN or infinite entries, wrong shapes, bad
        weights.
    """

    groups: Any = Hyperparameter(structural=True)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Squared(), GroupL2(hyper["lam"], hyper["groups"]), "mean"


# A ball around w, or a penalty on it: two problems with one solution.


PENALISED = {"ConstrainedLasso": Lasso, "ConstrainedRidge": Ridge}
CONSTRAINED = {"Lasso": ConstrainedLasso, "Ridge": ConstrainedRidge}


def equivalent(solution: Solution) -> Any:
    """The penalised problem with the solution of a constrained one, or the other way round.

    (1/2) mean r^2 subject to |w| <= radius, with the multiplier lambda (mu) of the ball, has the
    solution of (1/2) mean r^2 + lam |w|_1 with lam = lambda, and of (1/2) mean r^2 + (lam/2)
    |w|_2^2 with lam = mu / radius. Back, radius = |w|. The gap of (w, b) with its u is the same in
    both where |X'u| is the multiplier and |w| the radius.

    Parameters
    ----------
    solution : Solution
        Of ``Lasso``, ``ConstrainedLasso``, ``Ridge`` or ``ConstrainedRidge``.

    Returns
    -------
    problem
        Of the other form, posed on the samples of positive weight. A ball that does not bind has
        the multiplier 0, and lam = 0.

    Raises
    ------
    InputError
        For other models, and for w = 0, which no radius > 0 has for certain.

    References
    ----------
    Hajjar, *Linear Models* (2019), sections 5 and 6; Boyd and Vandenberghe (2004), section 5.5.3.
    """
    problem = getattr(solution, "problem", None)
    name = getattr(problem, "name", type(solution).__name__)
    if problem is None or name not in {**PENALISED, **CONSTRAINED}:
        known = ", ".join((*CONSTRAINED, *PENALISED))
        raise InputError(f"equivalent: takes a solution of {known}; got one of {name}.")
    w = np.asarray(solution.primal["w"])
    if name in PENALISED:
        lam = float(solution.dual["lambda" if "Lasso" in name else "mu"])
        lam = lam if "Lasso" in name else lam / problem.radius
        return _posed(PENALISED[name], problem, lam)
    radius = float(np.linalg.norm(w, 1 if name == "Lasso" else 2))
    if not radius > 0.0:
        raise InputError(
            f"equivalent: w = 0 at lam = {problem.lam:g}; a ball needs a radius > 0. Take a "
            "smaller lam."
        )
    return _posed(CONSTRAINED[name], problem, radius)


def _posed(model: Any, problem: Any, value: float) -> Any:
    """The model on the samples of another problem."""
    samples = problem._samples
    X = samples.X
    if samples.feature_names and isinstance(X, np.ndarray):
        X = NamedColumns(X, samples.feature_names)
    intercept = problem.objective_parts.fit_intercept
    weights = samples.weights
    return model(X, samples.y, value, fit_intercept=intercept, sample_weight=weights)


# Huber regression.


class HuberRegression(TextbookModel):
    r"""Minimise mean huber_delta(y - X w - b) + (lam/2) |w|^2.

    huber_delta(r) = r^2/2 for |r| <= delta, delta (|r| - delta/2) beyond: Huber's own (1964), not
    scikit-learn's, which also estimates a scale.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    delta : float
        Where the loss turns linear, > 0, in units of y.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For delta <= 0, a negative lam, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {
        "HuberRegressor": {"epsilon": "delta = epsilon σ", "alpha": "lam = alpha σ / S"}
    }

    delta: float = Hyperparameter()
    lam: float = Hyperparameter()

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Huber(hyper["delta"]), L2(hyper["lam"]), "mean"


# Poisson regression with the log link.


class PoissonRegression(WithStrength):
    r"""Minimise mean (e^z - y z + y log y - y) + (lam/2) |w|^2, z = X w + b, y >= 0.

    Half the mean Poisson deviance, as scikit-learn's PoissonRegressor with alpha = lam.
    Predictions are e^z.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Counts, or rates, >= 0.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, a negative y, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"PoissonRegressor": {"alpha": "lam = alpha"}}

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Poisson(), L2(hyper["lam"]), "mean"


# Quantile regression.


class QuantileRegression(TextbookModel):
    r"""Minimise mean pinball_tau(y - X w - b) + lam |w|_1, as scikit-learn's QuantileRegressor.

    pinball_tau(r) = tau r for r >= 0, (tau - 1) r for r < 0: a linear program. The residual is
    split
    as y - z = r_plus - r_minus; the multiplier of ``residual`` is u, in [-tau/n, (1 - tau)/n].
    Source: Koenker and Bassett (1978), https://doi.org/10.2307/1913643.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    tau : float
        The quantile, strictly between 0 and 1.
    lam : float
        Strength, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For tau outside (0, 1), a negative lam, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {
        "QuantileRegressor": {"alpha": "lam = alpha", "quantile": "tau = quantile"}
    }

    tau: float = Hyperparameter()
    lam: float = Hyperparameter()

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Pinball(hyper["tau"]), L1(hyper["lam"]), "mean"


# The sorted l1 penalty on least squares (SLOPE).


class Slope(TextbookModel):
    r"""Minimise (1/2) mean (y - X w - b)^2 + lam sum_j lams_j |w|_(j), |w|_(1) >= |w|_(2) >= ...

    KKT: the sum of the k largest |x_j'u| is at most lam (lams_1 + ... + lams_k) for every k, with
    equality where |w|_(k) > |w|_(k+1); u is (X w + b - y) / n. Coefficients form clusters of one
    size. ``lam_max`` is the smallest lam for which w = 0; a path follows lam.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    lams : array, shape (d,)
        Strengths by rank, lams_1 >= lams_2 >= ... >= lams_d >= 0. Equal ones are the lasso.
    lam : float
        A factor on all of them, >= 0.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For strengths that increase, are negative or not one per feature, NaN or infinite entries,
        wrong shapes, bad weights.

    References
    ----------
    Bogdan, van den Berg, Sabatti, Su and Candes, *SLOPE: adaptive variable selection via convex
    optimization*, Annals of Applied Statistics 9 (2015), https://doi.org/10.1214/15-AOAS842.
    """

    lams: Any = Hyperparameter(structural=True)
    lam: float = Hyperparameter(default=1.0)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        lams = decreasing(hyper["lams"], self.name)
        return Squared(), SortedL1(lams, hyper["lam"]), "mean"


# Support vector regression.


class SVR(TextbookModel):
    r"""Minimise (1/2) |w|^2 + C sum_i s_i (|y_i - w.x_i - b| - epsilon)_+.

    Posed with slacks: ``above`` y - z <= epsilon + xi (multiplier alpha), ``below``
    z - y <= epsilon + xi_star (alpha_star), ``slack`` and ``slack_star`` xi, xi_star >= 0 (beta,
    beta_star). w = sum_i (alpha_i - alpha_star_i) x_i and u = alpha_star - alpha.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Real targets.
    C : float
        Cost of a unit of slack, > 0.
    epsilon : float
        Half-width of the tube without loss, >= 0, in units of y.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        The s_i.

    Raises
    ------
    InputError
        For C <= 0, a negative epsilon, NaN or infinite entries, wrong shapes, bad weights.

    References
    ----------
    Smola and Schölkopf, *A tutorial on support vector regression*, 2004,
    https://doi.org/10.1023/B:STCO.0000035301.49549.88
    """

    scikit_learn: ClassVar = {"SVR": {"C": "C = C", "epsilon": "epsilon = ε"}}

    C: float = Hyperparameter()
    epsilon: float = Hyperparameter()
    multiplier_names: ClassVar = {
        "above": "alpha",
        "below": "alpha_star",
        "slack": "beta",
        "slack_star": "beta_star",
    }

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, float]:
        loss = EpsilonInsensitive(hyper["epsilon"])
        return loss, L2(1.0), positive_number(hyper["C"], self.name, "C")

    _pose = pose_in_slacks

    def _pose_dual(self) -> Statement:
        parts, epsilon = self.objective_parts, self.theta["loss"]["epsilon"]
        X = constant(parts.design.constant, self._design_name)
        alpha, alpha_star = (
            cp.Variable(parts.n, name="alpha"),
            cp.Variable(parts.n, name="alpha_star"),
        )
        constraints = {
            "alpha": alpha >= 0.0,
            "alpha_star": alpha_star >= 0.0,
            "beta": alpha <= posed_coefficients(self),
            "beta_star": alpha_star <= posed_coefficients(self),
        }
        if parts.fit_intercept:
            constraints["balance"] = cp.sum(alpha - alpha_star) == 0.0
        norm = cp.sum_squares(X.T @ (alpha - alpha_star))
        value = (
            constant(parts.y, "y") @ (alpha - alpha_star)
            - epsilon * cp.sum(alpha + alpha_star)
            - 0.5 * norm
        )
        return Statement.of(
            cp.Maximize(value), {"alpha": alpha, "alpha_star": alpha_star}, constraints
        )

    def dual_from_constraints(self) -> Array | None:
        alpha, alpha_star = (self.constraints[label].dual_value for label in ("above", "below"))
        return None if alpha is None else alpha_star - alpha


# The same over the functions of a kernel.


class KernelRidge(KernelModel, Ridge):
    r"""Minimise (1/2) mean (y - f(x))^2 + (lam/2) |f|_H^2, f = sum_j q_j k(x_j, .).

    Closed form: (K + n lam I) q = y. scikit-learn's KernelRidge has alpha = n lam. Sources: [G] 5,
    [P] 16.5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether an unpenalised b is added to f.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, a kernel matrix that is not positive semidefinite, NaN or infinite
        entries, wrong shapes, bad weights.
    """

    _has_intercept = False
    scikit_learn: ClassVar = {"KernelRidge": {"alpha": "lam = alpha / S"}}


class KernelSVR(KernelModel, SVR):
    r"""Minimise (1/2) |f|_H^2 + C sum_i s_i (|y_i - f(x_i) - b| - epsilon)_+.

    f = sum_j q_j k(x_j, .), q = alpha - alpha_star. As scikit-learn's SVR. Sources: [G] 5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Real targets.
    C : float
        Cost of a unit of slack, > 0.
    epsilon : float
        Half-width of the tube without loss, >= 0, in units of y.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        The s_i.

    Raises
    ------
    InputError
        For C <= 0, a negative epsilon, a kernel matrix that is not positive semidefinite, NaN or
        infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"SVR": {"C": "C = C", "epsilon": "epsilon = ε"}}
