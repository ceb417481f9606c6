"""What scikit-learn's linear classifiers and its boosting minimise."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..certificates import Certificate
from ..certificates.boosting import Exponentials
from ..certificates.learning.nu import HeldPoint, NuPart, NuProgram, OfFeatures
from ..data import StackedDesign, as_design
from ..errors import nearest
from ..losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Softmax,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from ..models.boosting import read_stumps
from ..numerics import Array
from ..penalties import L1, L2, ElasticNet, Penalty, Zero
from ..problem import MulticlassObjective
from ..problem.stumps import Stumps
from ..validation import refuse_nonfinite
from .fitted import (
    Fitted,
    LearningPart,
    Subproblem,
    append_column,
    learning_part,
    one_versus_rest,
    sklearn_class,
)
from .kernel_machines import STEPS, TIGHT

# Multinomial logistic regression with the (W, b) of a fitted estimator.


def softmax_part(fitted: Fitted, penalty: Penalty, c: Array) -> LearningPart:
    """Pose the multinomial problem of a fitted estimator with ``coef_`` (K, d).

    Parameters
    ----------
    fitted : Fitted
    penalty : Penalty
        Of the entries of W, row by row.
    c : array, shape (n,)
        Coefficients >= 0; samples of coefficient 0 are left out.

    Returns
    -------
    LearningPart
        At W as one vector, row by row, and b of shape (K,).

    Raises
    ------
    InputError
        If the coefficients do not fit X, or are not finite, or if no sample has a positive weight.
    """
    W = fitted.coef.T
    K = len(fitted.estimator.classes_)
    b = np.array(np.broadcast_to(fitted.intercepts, (K,)))
    if W.shape != (fitted.X.shape[1], K):
        raise fitted.refuse(f"coef_ of shape {W.T.shape} does not fit X {fitted.X.shape}.")
    for name, values in (("coef_", W.T), ("intercept_", b)):
        refuse_nonfinite(values, f"certify: {fitted.owner}", name)
    kept = np.flatnonzero(c > 0.0)
    if not kept.size:
        raise fitted.refuse("no sample has a positive weight.")
    objective = MulticlassObjective(
        StackedDesign(as_design(fitted.X[kept]), K),
        fitted.labels()[kept].astype(np.float64),
        Softmax(),
        penalty,
        c[kept],
        bool(fitted.estimator.fit_intercept),
        fitted.features,
    )
    return LearningPart(objective, W.ravel(), b)


# liblinear's machines, whose intercept is *penalised*: LinearSVC and LinearSVR.
#
# ===================================  ============================================================
# LinearSVC(loss="hinge")              |(w, b/m)|_2^2 / 2 + C sum_i v_i s_i (1 - y_i z_i)_+
# LinearSVC(loss="squared_hinge")      Omega(w, b/m) + C sum_i v_i s_i (1 - y_i z_i)_+^2
# LinearSVR("epsilon_insensitive")     |(w, b/m)|_2^2 / 2 + C sum_i s_i (|r_i| - epsilon)_+
# LinearSVR("squared_epsilon_...")     |(w, b/m)|_2^2 / 2 + C sum_i s_i (|r_i| - epsilon)_+^2
# ===================================  ============================================================
#
# z = X w + b, r = z - y, v the class weights, m = ``intercept_scaling``: the intercept is the
# coefficient b / m of a constant column m. Omega is |.|_2^2 / 2, or |.|_1 with ``penalty="l1"``.


def linear_svc(fitted: Fitted) -> Iterator[LearningPart]:
    """LinearSVC, one binary problem per class if there are more than two."""
    estimator = fitted.estimator
    if estimator.multi_class != "ovr":
        raise fitted.refuse(f"multi_class={estimator.multi_class!r} is not supported, only 'ovr'.")
    squared = estimator.loss == "squared_hinge"
    loss: Loss = SquaredHinge() if squared else Hinge()
    penalty: Penalty = L1(1.0) if estimator.penalty == "l1" else L2(1.0)
    scale = estimator.C * (2.0 if squared else 1.0)
    if not np.isfinite(scale):
        raise fitted.refuse("C must be finite; without slack it is cml.HardMarginSVM(X, y).")
    for name, y, v, w, b in one_versus_rest(fitted):
        X, w = with_constant(fitted, w, b)
        yield learning_part(
            X, y, loss, penalty, scale * v * fitted.s, w, name=name, features=columns(fitted, X)
        )


def linear_svr(fitted: Fitted) -> Iterator[LearningPart]:
    """LinearSVR."""
    estimator = fitted.estimator
    squared = estimator.loss == "squared_epsilon_insensitive"
    kind = SquaredEpsilonInsensitive if squared else EpsilonInsensitive
    y, w, b = fitted.single()
    X, w = with_constant(fitted, w, b)
    scale = estimator.C * (2.0 if squared else 1.0)
    if not np.isfinite(scale):
        raise fitted.refuse("C must be finite.")
    yield learning_part(
        X, y, kind(estimator.epsilon), L2(1.0), scale * fitted.s, w, features=columns(fitted, X)
    )


def with_constant(fitted: Fitted, w: Array, b: float) -> tuple[Any, Array]:
    """[X, m 1] and (w, b / m): the intercept as liblinear sees it."""
    if not fitted.estimator.fit_intercept:
        return fitted.X, w
    m = float(fitted.estimator.intercept_scaling)
    return append_column(fitted.X, np.full(fitted.n, m)), np.append(w, b / m)


def columns(fitted: Fitted, X: Any) -> tuple[str, ...]:
    """The names of the columns of X, the constant one among them."""
    more = X.shape[1] - fitted.X.shape[1]
    return (*fitted.features, *(["intercept"] * more)) if fitted.features else ()


# LogisticRegression, binary and multinomial.
#
# ==============  ================================================================================
# two classes     C sum_i v_i s_i log(1 + e^{-y_i z_i}) + Omega(w), z = X w + b
# more            C sum_i v_i s_i (log sum_k e^{z_ik} - z_{i y_i}) + Omega(W), Z = X W + 1 b'
# ==============  ================================================================================
#
# v are the class weights. Omega is |w|_2^2 / 2 (``l1_ratio=0``), |w|_1 (``l1_ratio=1``), rho |w|_1
# +
# (1 - rho) |w|_2^2 / 2 between (rho = ``l1_ratio``), and 0 where C is infinite or ``penalty`` None:
# the factor C is then 1. The intercept is not penalised, except by ``solver="liblinear"``, where
# b / m is the coefficient of a constant column m = ``intercept_scaling`` and is penalised as w is.


def logistic_regression(fitted: Fitted) -> Iterator[Subproblem]:
    """LogisticRegression with any solver."""
    estimator = fitted.estimator
    penalty = _penalty(fitted)
    scale = 1.0 if isinstance(penalty, Zero) else float(estimator.C)
    classes, rows = np.asarray(estimator.classes_), len(np.atleast_2d(fitted.coef))
    if len(classes) > 2:
        if rows != len(classes):
            raise fitted.refuse(f"coef_ has {rows} rows for {len(classes)} classes.")
        weights = fitted.class_weights(weighted=True)[fitted.labels()]
        yield softmax_part(fitted, penalty, scale * weights * fitted.s)
        return
    liblinear = estimator.solver == "liblinear"
    for name, y, v, w, b in one_versus_rest(fitted):
        X = fitted.X
        if liblinear:
            X, w = with_constant(fitted, w, b)
        yield learning_part(
            X, y, Logistic(), penalty, scale * v * fitted.s, w, 0.0 if liblinear else b,
            fit_intercept=estimator.fit_intercept and not liblinear, name=name,
            features=columns(fitted, X),
        )  # fmt: skip


def _penalty(fitted: Fitted) -> Penalty:
    """Omega, by the deprecated ``penalty`` where it is set, else by ``l1_ratio`` and C."""
    estimator = fitted.estimator
    given = getattr(estimator, "penalty", "deprecated")
    rho = estimator.l1_ratio or 0.0
    if given == "deprecated":
        given = {0.0: "l2", 1.0: "l1"}.get(float(rho), "elasticnet")
        given = None if estimator.C == np.inf else given
    if given is None:
        return Zero()
    if given == "elasticnet":
        return ElasticNet(1.0, rho)
    return L1(1.0) if given == "l1" else L2(1.0)


# Stochastic gradient descent: SGDClassifier, SGDRegressor and SGDOneClassSVM.
#
#     (1/n) sum_i v_i s_i loss(y_i, z_i) + alpha R(w)
#
# n counts all samples, and is not the sum of the weights: each visit to a sample takes the full
# step of the penalty. R is |w|_2^2 / 2 ("l2"), |w|_1 ("l1"), l1_ratio |w|_1 + (1 - l1_ratio)
# |w|_2^2 / 2 ("elasticnet") or 0 (None). The intercept is not penalised. Losses: "hinge",
# "log_loss", "epsilon_insensitive" and "huber" (delta = ``epsilon``) are those of the catalogue,
# "squared_error" has the factor 1/2, "squared_hinge" and "squared_epsilon_insensitive" have none.
#
#     SGDOneClassSVM   |w|_2^2 / 2 + 1 / (nu n) sum_i s_i (rho - x_i.w)_+ - rho
#
# rho is ``offset_``. That is a OneClassSVM with a linear kernel and its w and rho divided by nu n,
# which is solved for a dual point.


def sgd_classifier(fitted: Fitted) -> Iterator[LearningPart]:
    """SGDClassifier, one binary problem per class if there are more than two."""
    loss, factor = _loss(fitted)
    penalty = _sgd_penalty(fitted)
    for name, y, v, w, b in one_versus_rest(fitted):
        c = factor * v * fitted.s / fitted.n
        yield learning_part(
            fitted.X, y, loss, penalty, c, w, b,
            fit_intercept=fitted.estimator.fit_intercept, features=fitted.features, name=name,
        )  # fmt: skip


def sgd_regressor(fitted: Fitted) -> Iterator[LearningPart]:
    """SGDRegressor."""
    loss, factor = _loss(fitted)
    fitted.single()
    yield from fitted.parts(loss, _sgd_penalty(fitted), factor * fitted.s / fitted.n)


def sgd_one_class_svm(fitted: Fitted) -> Iterator[Subproblem]:
    """SGDOneClassSVM."""
    estimator, n, s = fitted.estimator, fitted.n, fitted.s
    w, nu = fitted.coef.ravel(), float(estimator.nu)
    if not estimator.fit_intercept:
        raise fitted.refuse("without an intercept rho stays at 0, and the minimum is w = 0.")
    if not nu * n <= float(s.sum()):
        raise fitted.refuse("nu is larger than the mean of the weights: there is no minimum.")
    held = HeldPoint(w, 0.0, float(np.ravel(estimator.offset_)[0]), np.zeros(n))
    for name, values in (("coef_", w), ("offset_", np.array([held.level]))):
        refuse_nonfinite(values, f"certify: {fitted.owner}", name)
    again = partial(_by_libsvm, fitted, nu * n)
    yield NuPart(NuProgram(OfFeatures(fitted.X), np.ones(n), s / (nu * n), 1.0), held, again)


def _by_libsvm(fitted: Fitted, total: float) -> HeldPoint:
    """The point of a OneClassSVM on these samples, in the units of SGDOneClassSVM."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import OneClassSVM

    share = min(total / float(fitted.s.sum()), 1.0)
    machine = OneClassSVM(kernel="linear", nu=share, tol=TIGHT, max_iter=STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(fitted.X, sample_weight=fitted.s)
    q = np.zeros(fitted.n)
    held = machine.dual_coef_
    q[np.flatnonzero(fitted.s > 0.0)[machine.support_]] = np.ravel(
        held.toarray() if hasattr(held, "toarray") else held
    )
    w = fitted.X.T @ q
    return HeldPoint(w / total, 0.0, -float(machine.intercept_[0]) / total, q / total)


def _loss(fitted: Fitted) -> tuple[Loss, float]:
    """The loss, and how many times it is taken."""
    name, epsilon = fitted.estimator.loss, fitted.estimator.epsilon
    if name == "huber":
        return Huber(epsilon), 1.0
    losses: dict[str, tuple[Loss, float]] = {
        "hinge": (Hinge(), 1.0),
        "squared_hinge": (SquaredHinge(), 2.0),
        "log_loss": (Logistic(), 1.0),
        "squared_error": (Squared(), 1.0),
        "epsilon_insensitive": (EpsilonInsensitive(epsilon), 1.0),
        "squared_epsilon_insensitive": (SquaredEpsilonInsensitive(epsilon), 2.0),
    }
    if name not in losses:
        known = ", ".join(map(repr, [*losses, "huber"]))
        raise fitted.refuse(
            f"loss={name!r} is not supported; supported are {known}.{nearest(name, losses)}"
        )
    return losses[name]


def _sgd_penalty(fitted: Fitted) -> Penalty:
    estimator = fitted.estimator
    if estimator.penalty is None:
        return Zero()
    if estimator.penalty == "l2":
        return L2(estimator.alpha)
    if estimator.penalty == "l1":
        return L1(estimator.alpha)
    return ElasticNet(estimator.alpha, estimator.l1_ratio)


# AdaBoostClassifier over decision stumps: coordinate descent on the exponential loss.
#
# With two classes its rounds (SAMME) are those of AdaBoost, and lower
#
#     sum_i c_i e^{-y_i f(x_i)},  f = sum_k (estimator_weights_k / 2) h_k,  c_i = s_i / sum(s),
#
# y_i = +1 for the second class, h_k = +-1 what tree k says: its weights are twice those of the
# formula (Hastie, Rosset, Zhu and Zou, 2009, https://doi.org/10.4310/SII.2009.v2.n3.a8). The
# certificate bounds this loss over all combinations of all stumps, and of constants, which a tree
# says whose two sides agree: how much any number of further rounds may still win.


def ada_boost(fitted: Fitted) -> Iterator[BoostedPart]:
    """AdaBoostClassifier of depth-one trees, with ``estimators_`` and ``estimator_weights_``."""
    estimator = fitted.estimator
    classes, trees = np.asarray(estimator.classes_), estimator.estimators_
    if len(classes) != 2:
        raise fitted.refuse(
            f"it was fitted on {len(classes)} classes; rounds lower the exponential loss with two. "
            "Fit OneVsRestClassifier(AdaBoostClassifier(...)), which is judged."
        )
    weights = np.asarray(estimator.estimator_weights_, dtype=np.float64)[: len(trees)]
    if weights.shape != (len(trees),) or not np.all(np.isfinite(weights)):
        raise fitted.refuse("estimator_weights_ must be finite, one for each of estimators_.")
    kept = np.flatnonzero(fitted.s)
    y = np.where(fitted.labels(every=True) == 1, 1.0, -1.0)[kept]
    stumps = read_stumps(f"certify: {fitted.owner}", fitted.X[kept]).with_constant()
    w = np.zeros(stumps.count)
    for k, (tree, weight) in enumerate(zip(trees, weights, strict=True)):
        w[_column(fitted, stumps, tree, k)] += 0.5 * weight
    yield BoostedPart(Exponentials(stumps, y, fitted.s[kept]), w)


def _column(fitted: Fitted, stumps: Stumps, tree: Any, k: int) -> int:
    """Which stump a tree is: the feature, who is on its right, and what it says of them."""
    if sklearn_class(tree) not in ("DecisionTreeClassifier", "ExtraTreeClassifier"):
        raise fitted.refuse(
            f"estimators_[{k}] is a {type(tree).__name__}; judged are decision trees of depth 1, "
            "whose combinations are all known. Fit with DecisionTreeClassifier(max_depth=1)."
        )
    depth = int(tree.get_depth())
    if depth > 1:
        raise fitted.refuse(
            f"estimators_[{k}] is a tree of depth {depth}; judged are trees of depth 1. Fit with "
            "DecisionTreeClassifier(max_depth=1)."
        )
    left, right, above = _sides(fitted, tree)
    if left == right:
        return stumps.count - 2 + int(right == 0)
    place = stumps.place(int(tree.tree_.feature[0]), above[fitted.s > 0.0])
    if place is None:
        raise fitted.refuse(
            f"estimators_[{k}] splits feature {int(tree.tree_.feature[0])} at "
            f"{float(tree.tree_.threshold[0]):g}, which has no sample of X on either side. Pass "
            "the data that it was fitted on."
        )
    return place + int(right == 0)


def _sides(fitted: Fitted, tree: Any) -> tuple[int, int, Array]:
    """The index of the class that a tree says on its left and its right; who is right."""
    nodes, classes = tree.tree_, np.asarray(fitted.estimator.classes_)
    ends = np.array([nodes.children_left[0], nodes.children_right[0]])
    ends = np.where(ends < 0, 0, ends)  # a tree of its root alone
    said = tree.classes_[np.argmax(nodes.value[ends, 0], axis=1)]
    left, right = np.searchsorted(classes, said).tolist()
    return left, right, np.asarray(tree.apply(fitted.X) == ends[1])


@dataclass(frozen=True)
class BoostedPart:
    """The exponential loss over all stumps and constants, and the weights of those taken."""

    program: Exponentials
    w: Array
    name: str = ""

    @property
    def value(self) -> float:
        """The mean exponential loss."""
        return self.program.cost(self.w)[0]

    def certify(self, tol: float) -> Certificate:
        """Judge the weights by the best dual point that is found."""
        return self.program.certify(self.w, None, tol, search=True)
