"""Logistic and softmax regression, support vector machines, and learning a halfspace."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..errors import InputError, nearest
from ..formulas import constant
from ..losses import HardMargin, Hinge, Logistic, Loss, Softmax
from ..modelling import cp
from ..numerics import Array
from ..penalties import L1, L2, GroupL2, Penalty, Zero
from ..problem import Objective, Statement
from ..validation import positive_number
from .base import Argument, Hyperparameter
from .inputs import Samples
from .kernel import KernelModel
from .posing import pose_in_slacks, posed_coefficients
from .problem import TextbookModel, WithStrength

# Margins: alpha are the multipliers of their first constraint, u_i = -y_i alpha_i.


class MarginModel(TextbookModel):
    """A model of two classes that is posed with margins, whose multipliers are alpha."""

    def dual_from_constraints(self) -> Array | None:
        """The u = -y alpha of the multiplier that a solver left in the posed primal."""
        alpha = self.constraints[next(iter(self.multiplier_names))].dual_value
        return None if alpha is None else -self.objective_parts.y * alpha


# Learning a halfspace as a linear program of which only the feasibility matters.


class HalfspaceLP(MarginModel):
    """Find w (and b) with y_i (w.x_i + b) >= 1 for every sample.

    Where there is none, ``evidence`` holds Farkas multipliers alpha >= 0, sum alpha_i = 1, with
    sum alpha_i y_i x_i = 0 (and sum alpha_i y_i = 0 with an intercept). With a residual r they
    prove that no such w has abs(w) < 1 / r.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    fit_intercept : bool
        Whether b is free; by default b = 0.
    sample_weight : array, shape (n,), optional
        Rows of weight 0 are dropped; other weights change nothing.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, other than two classes, bad weights.

    References
    ----------
    Shalev-Shwartz and Ben-David, *Understanding Machine Learning*, section 9.1.1.
    """

    _has_intercept = False
    multiplier_names: ClassVar = {"halfspace": "alpha"}

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return HardMargin(), Zero(), "sum"

    def _pose(self) -> Statement:
        parts = self.objective_parts
        variables = {"w": cp.Variable(parts.d, name="w")}
        scores = constant(parts.design.constant, "X") @ variables["w"]
        if parts.fit_intercept:
            variables["b"] = cp.Variable(name="b")
            scores = scores + variables["b"]
        constraints = {"halfspace": cp.multiply(constant(parts.y, "y"), scores) >= 1.0}
        return Statement.of(cp.Minimize(0.0), variables, constraints)

    def _pose_dual(self) -> Statement:
        parts = self.objective_parts
        alpha, y = cp.Variable(parts.n, name="alpha"), constant(parts.y, "y")
        pull = constant(parts.design.constant, "X").T @ cp.multiply(y, alpha)
        constraints = {"balance": pull == 0.0, "alpha": alpha >= 0.0}
        if parts.fit_intercept:
            constraints["intercept"] = y @ alpha == 0.0
        return Statement.of(cp.Maximize(cp.sum(alpha)), {"alpha": alpha}, constraints)

    def posed_values(self, w: Array, b: float, u: Array) -> tuple[dict[str, Any], dict[str, Any]]:
        """Values of w, b and z, and the multiplier alpha = -y u of "halfspace"."""
        values = {"w": w, "b": np.asarray(b), "z": self.objective_parts.predict(w, b)}
        return values, {"halfspace": -self.objective_parts.y * u + 0.0}


# The hard-margin support vector machine.


class HardMarginSVM(MarginModel):
    r"""Minimise (1/2) |w|^2 subject to y_i (w.x_i + b) >= 1.

    The multipliers of ``margin`` are alpha >= 0: w = sum_i alpha_i y_i x_i, sum_i alpha_i y_i = 0;
    the support vectors are those with alpha_i > 0, a subset of the points on the margin, which is
    1/|w| wide on either side. Inseparable data are "infeasible", with Farkas multipliers in
    ``evidence``. u_i = -y_i alpha_i. Sources: [E] 2, [H] 8.1.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Only whether a weight is 0 matters: such rows are dropped.

    Raises
    ------
    InputError
        For other than two classes, NaN or infinite entries, wrong shapes, bad weights.
    """

    multiplier_names: ClassVar = {"margin": "alpha"}

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return HardMargin(), L2(1.0), "sum"

    _pose = pose_in_slacks

    def _pose_dual(self) -> Statement:
        return pose_margin_dual(self.objective_parts)


def pose_margin_dual(objective: Objective, upper: Any = None, X: str = "X") -> Statement:
    """Maximise sum_i alpha_i - (1/2) |sum_i alpha_i y_i x_i|^2, 0 <= alpha_i <= upper_i."""
    alpha, y = cp.Variable(objective.n, name="alpha"), constant(objective.y, "y")
    constraints = {"alpha": alpha >= 0.0}
    if upper is not None:
        constraints["beta"] = alpha <= upper
    if objective.fit_intercept:
        constraints["balance"] = y @ alpha == 0.0
    normal = constant(objective.design.constant, X).T @ cp.multiply(y, alpha)
    value = cp.sum(alpha) - 0.5 * cp.sum_squares(normal)
    return Statement.of(cp.Maximize(value), {"alpha": alpha}, constraints)


# Logistic regression.


PENALTIES = {"l2": L2, "l1": L1}


def named_penalty(name: str | None, lam: float, others: tuple[str, ...] = ()) -> Penalty:
    """The penalty "l2", "l1" or None of strength lam; None refuses a negative lam all the same.

    ``others`` are names that the caller knows.
    """
    if name is not None and name not in PENALTIES:
        known = ", ".join(map(repr, (*PENALTIES, *others)))
        raise InputError(
            f"LogisticRegression: penalty must be {known} or None, got {name!r}.{_instead(name)}"
        )
    penalty = L2(lam) if name is None else PENALTIES[name](lam)
    return Zero() if name is None else penalty


def _instead(name: Any) -> str:
    if isinstance(name, str) and name.lower() == "none":
        return " Pass None, not text."
    near = nearest(name, PENALTIES) if isinstance(name, str) else ""
    return near or " Others: LearningProblem(X, y, losses.Logistic(), penalties.ElasticNet(...))."


class LogisticRegression(TextbookModel):
    r"""Minimise mean log(1 + exp(-y z)) + lam Omega(w), z = X w + b, y in {-1, +1}.

    Omega is (1/2)|w|^2 ("l2"), |w|_1 ("l1") or 0 (None). The dual variable u_i = -c_i y_i p_i,
    where
    p_i is the probability of the other class. On separable data with lam = 0 there is no minimiser:
    the status is "unattained" and the separating direction is in ``evidence``. scikit-learn's C is
    1 / (n lam). Sources: [G] 3.1, [P] 16.4, [H] 3, [E] 1.7.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    lam : float
        Strength, >= 0.
    penalty : "l2", "l1" or None
        Omega.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, an unknown penalty, other than two classes, NaN or infinite entries,
        wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"LogisticRegression": {"C": "lam = 1 / (C S)"}}

    lam: float = Hyperparameter(default=0.0)
    penalty: str | None = Argument(default="l2")

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Logistic(), named_penalty(hyper["penalty"], hyper["lam"]), "mean"


# The soft-margin support vector machine.


class SoftMarginSVM(MarginModel):
    r"""Minimise (1/2) |w|^2 + C sum_i s_i xi_i s.t. y_i (w.x_i + b) >= 1 - xi_i, xi_i >= 0.

    The multipliers of ``margin`` are alpha, those of ``slack`` beta: alpha_i + beta_i = C s_i.
    w = sum_i alpha_i y_i x_i, u_i = -y_i alpha_i. The lambda form (1/n) sum hinge + (lam/2)|w|^2
    has
    C = 1 / (lam n). Sources: [E] 2, [H] 8.2.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    C : float
        Cost of a unit of slack, > 0.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        The s_i.

    Raises
    ------
    InputError
        For C <= 0, other than two classes, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"SVC": {"C": "C = C"}}

    C: float = Hyperparameter(default=1.0)
    multiplier_names: ClassVar = {"margin": "alpha", "slack": "beta"}

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, float]:
        return Hinge(), L2(1.0), positive_number(hyper["C"], self.name, "C")

    _pose = pose_in_slacks

    def _pose_dual(self) -> Statement:
        return pose_margin_dual(self.objective_parts, posed_coefficients(self), self._design_name)


# Softmax regression: logistic regression with K classes.


GROUP = "group"
"""The penalty on the norms of the rows of W."""


class SoftmaxRegression(WithStrength):
    r"""Minimise mean (log sum_k exp(z_k) - z_y) + lam Omega(W), Z = X W + 1 b'.

    P(y = k) is proportional to exp(<x, w_k> + b_k). W has shape (d, K), b has shape (K,),
    predictions have shape (n, K); Omega is (1/2) |W|_F^2 ("l2"), sum |W_jk| ("l1"), sum_j |W_j|_2
    over the rows of W ("group": a feature is used for all classes or for none) or 0 (None).
    The dual variable u_i = c_i (p_i - e_{y_i}), shape (n, K), p_i the probabilities of the classes.
    b, and an unpenalised W, are unique up to a constant over the classes. Where the classes are
    separable and lam = 0 there is no minimiser: the status is "unattained". scikit-learn's C is
    1 / (n lam). With K = 2 and "l2" this is the logistic regression of strength lam / 2, for
    w = w_2 - w_1. Source: [P] 16.4.3.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Labels of two or more classes, of any kind that can be ordered.
    lam : float
        Strength, >= 0.
    penalty : "l2", "l1", "group" or None
        Omega.
    fit_intercept : bool
        The intercepts are not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, an unknown penalty, a single class, NaN or infinite entries, wrong
        shapes, bad weights.
    """

    scikit_learn: ClassVar = {"LogisticRegression": {"C": "lam = 1 / (C S)"}}

    penalty: str | None = Argument(default="l2")
    _shape = 1, 1
    """Of W, once the samples are read."""

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        name, lam = hyper["penalty"], hyper["lam"]
        if name != GROUP:
            return Softmax(), named_penalty(name, lam, (GROUP,)), "mean"
        d, classes = self._shape
        return Softmax(), GroupL2(lam, np.repeat(np.arange(d), classes), np.ones(d)), "mean"

    def _compose(self, samples: Samples, intercept: bool) -> None:
        self._shape = samples.design.shape[1], samples.outputs[0]
        self._parts = self._make(**self._hyper)
        super()._compose(samples, intercept)


# Kernel logistic regression and the support vector machine with a kernel.


class KernelLogistic(KernelModel, WithStrength):
    r"""Minimise mean log(1 + exp(-y z)) + (lam/2) |f|_H^2, z = f(x) + b, y in {-1, +1}.

    f = sum_j q_j k(x_j, .), q_i = c_i y_i P(other class) / lam. Sources: [G] 5, [P] 16.5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    lam : float
        Strength, >= 0.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, other than two classes, a kernel matrix that is not positive
        semidefinite, NaN or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"LogisticRegression": {"C": "lam = 1 / (C S)"}}

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Logistic(), L2(hyper["lam"]), "mean"


class KernelSVM(KernelModel, SoftMarginSVM):
    r"""Minimise (1/2) |f|_H^2 + C sum_i s_i xi_i s.t. y_i (f(x_i) + b) >= 1 - xi_i, xi_i >= 0.

    f = sum_j q_j k(x_j, .), q_i = alpha_i y_i. As scikit-learn's SVC. Sources: [G] 5, [E] 2.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    C : float
        Cost of a unit of slack, > 0.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        The s_i.

    Raises
    ------
    InputError
        For C <= 0, other than two classes, a kernel matrix that is not positive semidefinite, NaN
        or infinite entries, wrong shapes, bad weights.
    """

    C: float = Hyperparameter()
    scikit_learn: ClassVar = {"SVC": {"C": "C = C"}}
