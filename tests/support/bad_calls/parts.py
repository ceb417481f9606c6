"""Bad calls of hyperparameters, kernels, losses and penalties."""

from __future__ import annotations

import numpy as np

import convexml as cml
from convexml import kernels, losses, penalties
from support.bad_calls.things import CODES, YB, Row, X, Y

ROWS: dict[str, Row] = {
    "lam negative": (lambda: cml.Ridge(X, Y, -0.5), "Ridge: lam | -0.5 | >= 0 | 0 is no penalty"),
    "lam nan": (lambda: cml.Lasso(X, Y, np.nan), "Lasso: lam | nan | finite | 0 is no penalty"),
    "lam infinite": (
        lambda: cml.Lasso(X, Y, np.inf),
        "Lasso: lam | inf | finite | 0 is no penalty",
    ),
    "lam a word": (lambda: cml.Lasso(X, Y, "much"), "Lasso: lam | 'much' | number | not text"),
    "lam as text": (
        lambda: cml.Lasso(X, Y, "0.1"),
        "Lasso: lam | '0.1' | number | Pass 0.1, not text",
    ),
    "lam None": (lambda: cml.Lasso(X, Y, None), "Lasso: lam | None | number | Pass a number"),
    "lam True": (
        lambda: cml.Lasso(X, Y, True),
        "Lasso: lam | True | number | Pass 1 if that is meant",
    ),
    "lam an array": (
        lambda: cml.Lasso(X, Y, np.array([0.1, 0.2])),
        "Lasso: lam | [0.1, 0.2] | number | path(values)",
    ),
    "lam a list": (lambda: cml.Lasso(X, Y, [0.1]), "Lasso: lam | [0.1] | number | path(values)"),
    "lam complex": (lambda: cml.Lasso(X, Y, 1j), "Lasso: lam | 1j | number | Pass a number"),
    "lam set to less than 0": (
        lambda: setattr(cml.Lasso(X, Y, 0.1), "lam", -1),
        "Lasso: lam | -1 | >= 0 | 0 is no penalty",
    ),
    "C of 0": (
        lambda: cml.SoftMarginSVM(X, YB, 0),
        "SoftMarginSVM: C | got 0 | > 0 | C weighs the losses",
    ),
    "C infinite": (
        lambda: cml.SoftMarginSVM(X, YB, np.inf),
        "SoftMarginSVM: C | inf | finite | C weighs the losses",
    ),
    "C negative": (lambda: cml.SVR(X, Y, -1, 0.1), "SVR: C | -1 | > 0 | C weighs the losses"),
    "epsilon negative": (
        lambda: cml.SVR(X, Y, 1, -0.1),
        "SVR: epsilon | -0.1 | >= 0 | 0 leaves no tube",
    ),
    "tau beyond 1": (
        lambda: cml.QuantileRegression(X, Y, 1.5, 0.1),
        "QuantileRegression: tau | 1.5 | between 0 and 1 | strictly",
    ),
    "tau in per cent": (
        lambda: cml.QuantileRegression(X, Y, 50, 0.1),
        "QuantileRegression: tau | 50 | between 0 and 1 | 0.5",
    ),
    "delta of 0": (
        lambda: cml.HuberRegression(X, Y, 0, 0.1),
        "HuberRegression: delta | got 0 | > 0 | count linearly",
    ),
    "l1_ratio beyond 1": (
        lambda: cml.ElasticNet(X, Y, 0.1, 1.5),
        "ElasticNet: l1_ratio | 1.5 | <= 1 | 1 is l1",
    ),
    "l1_ratio negative": (
        lambda: cml.ElasticNet(X, Y, 0.1, -1),
        "ElasticNet: l1_ratio | -1 | >= 0 | 0 is the ridge",
    ),
    "radius of 0": (
        lambda: cml.ConstrainedLasso(X, Y, 0),
        "ConstrainedLasso: radius | got 0 | > 0 | bounds the norm of w",
    ),
    "radius negative": (
        lambda: cml.ConstrainedRidge(X, Y, -1),
        "ConstrainedRidge: radius | -1 | > 0 | bounds the norm of w",
    ),
    "an unknown penalty": (
        lambda: cml.LogisticRegression(X, YB, 0.1, "elasticnet"),
        ("LogisticRegression: penalty | 'elasticnet' | 'l2', 'l1' or None | penalties.ElasticNet"),
    ),
    "a penalty in capitals": (
        lambda: cml.LogisticRegression(X, YB, 0.1, "L1"),
        "LogisticRegression: penalty | 'L1' | 'l2', 'l1' or None | Did you mean 'l1'?",
    ),
    "none as text": (
        lambda: cml.SoftmaxRegression(X, CODES, 0.1, "none"),
        "SoftmaxRegression: penalty | 'none' | 'l2', 'l1', 'group' or None | Pass None",
    ),
    "a penalty object": (
        lambda: cml.LogisticRegression(X, YB, 0.1, penalties.L1(0.1)),
        "LogisticRegression: penalty | L1(lam=0.1) | 'l2', 'l1' or None | LearningProblem",
    ),
    "too few groups": (
        lambda: cml.GroupLasso(X, Y, 0.1, [0, 0, 1]),
        "GroupLasso: groups | got 3 | one entry | per feature (5)",
    ),
    "lists of features": (
        lambda: cml.GroupLasso(X, Y, 0.1, [[0, 1], [2, 3, 4]]),
        "GroupLasso: groups | several lengths | one label | flat list",
    ),
    "a number of groups": (
        lambda: cml.GroupLasso(X, Y, 0.1, 2),
        "GroupLasso: groups | got 2 | label for each feature | [0, 0, 1, 1, 1]",
    ),
    "no groups": (
        lambda: cml.GroupLasso(X, Y, 0.1, None),
        "GroupLasso: groups | None | label for each feature | [0, 0, 1, 1, 1]",
    ),
    "groups of two kinds": (
        lambda: cml.GroupLasso(X, Y, 0.1, [0, 0, "a", 1, 1]),
        "GroupLasso: groups | 0 of type int | mixes text | labels of one kind",
    ),
    "fit_intercept no": (
        lambda: cml.Ridge(X, Y, 0.1, fit_intercept="no"),
        "Ridge: fit_intercept | 'no' | True or False | True or False",
    ),
    "fit_intercept None": (
        lambda: cml.Ridge(X, Y, 0.1, fit_intercept=None),
        "Ridge: fit_intercept | None | True or False | True or False",
    ),
    "kernel rbf": (
        lambda: cml.KernelSVM(X, YB, 1.0, "rbf"),
        "KernelSVM: kernel | 'rbf' | one of convexml.kernels | kernels.Gaussian(...)",
    ),
    "kernel linear": (
        lambda: cml.KernelRidge(X, Y, 0.1, "linear"),
        "KernelRidge: kernel | 'linear' | one of convexml.kernels | kernels.Linear(...)",
    ),
    "kernel poly": (
        lambda: cml.KernelRidge(X, Y, 0.1, "poly"),
        "KernelRidge: kernel | 'poly' | one of convexml.kernels | kernels.Polynomial(...)",
    ),
    "a kernel class": (
        lambda: cml.KernelRidge(X, Y, 0.1, kernels.Gaussian),
        "KernelRidge: kernel | Gaussian | one of convexml.kernels | an instance",
    ),
    "a kernel function": (
        lambda: cml.KernelRidge(X, Y, 0.1, np.dot),
        "KernelRidge: kernel | dot | one of convexml.kernels | Precomputed()",
    ),
    "no kernel": (
        lambda: cml.KernelRidge(X, Y, 0.1, None),
        "KernelRidge: kernel | None | one of convexml.kernels | Gaussian, Laplacian",
    ),
    "lam and kernel swapped": (
        lambda: cml.KernelRidge(X, Y, kernels.Linear(), 0.1),
        "KernelRidge: kernel | 0.1 | one of convexml.kernels | Gaussian, Laplacian",
    ),
    "sigma of 0": (
        lambda: kernels.Gaussian(0),
        "Gaussian: sigma | got 0 | > 0 | width of the kernel",
    ),
    "sigma auto": (
        lambda: kernels.Gaussian("auto"),
        "Gaussian: sigma | 'auto' | number | not text",
    ),
    "degree of 0": (lambda: kernels.Polynomial(0), "Polynomial: degree | got 0 | integer | >= 1"),
    "half a degree": (lambda: kernels.Polynomial(1.5), "Polynomial: degree | 1.5 | integer | >= 1"),
    "a kernel times -1": (lambda: -1.0 * kernels.Linear(), "kernel: factor | -1 | > 0 | > 0"),
    "a kernel plus a number": (
        lambda: kernels.Linear() + 3,
        "kernel | got 3 | only a kernel | added to a kernel",
    ),
    "not semidefinite": (
        lambda: cml.KernelRidge(
            np.array([[1.0, 2.0], [2.0, 1.0]]), [1, 2], 0.1, kernels.Precomputed()
        ),
        "kernel matrix | eigenvalue is -1 | positive semidefinite | multiple of the identity",
    ),
    "not symmetric": (
        lambda: cml.KernelRidge(
            np.array([[1.0, 0.5], [0.0, 1.0]]), [1, 2], 0.1, kernels.Precomputed()
        ),
        "kernel matrix | K[0, 1] = 0.5 | symmetric | (K + K.T) / 2",
    ),
    "not square": (
        lambda: cml.KernelRidge(X, Y, 0.1, kernels.Precomputed()),
        "KernelRidge | (24, 5) | shape (n, n) | precomputed kernel",
    ),
    "an unknown kernel": (
        lambda: kernels.RBF,
        "convexml.kernels | 'RBF' | no attribute | Did you mean 'Gaussian'?",
    ),
    "an unknown loss": (
        lambda: losses.Logit,
        "convexml.losses | 'Logit' | no attribute | Did you mean 'Logistic'?",
    ),
    "an unknown penalty class": (
        lambda: penalties.GroupLasso,
        "convexml.penalties | 'GroupLasso' | no attribute | Did you mean 'GroupL2'?",
    ),
    "a loss as text": (
        lambda: cml.LearningProblem(X, Y, "squared", penalties.L2(0.1)),
        "LearningProblem: loss | 'squared' | must be a Loss | losses.Squared(...)",
    ),
    "a loss class": (
        lambda: cml.LearningProblem(X, Y, losses.Squared, penalties.L2(0.1)),
        "LearningProblem: loss | Squared | must be a Loss | an instance",
    ),
    "a penalty as text": (
        lambda: cml.LearningProblem(X, Y, losses.Squared(), "l2"),
        "LearningProblem: penalty | 'l2' | must be a Penalty | penalties.L2(...)",
    ),
    "no penalty": (
        lambda: cml.LearningProblem(X, Y, losses.Squared(), None),
        "LearningProblem: penalty | None | must be a Penalty | penalties.Zero()",
    ),
    "loss and penalty swapped": (
        lambda: cml.LearningProblem(X, Y, penalties.L2(0.1), losses.Squared()),
        "LearningProblem: loss | L2(lam=0.1) | must be a Loss | comes before the penalty",
    ),
    "a scale of losses": (
        lambda: cml.LearningProblem(X, Y, losses.Squared(), penalties.L2(0.1), loss_scale="total"),
        "LearningProblem: loss_scale | 'total' | 'mean', 'sum' or a number | 'mean', 'sum'",
    ),
    "a bad quantile": (
        lambda: losses.Pinball(1.5),
        "Pinball: tau | 1.5 | between 0 and 1 | strictly",
    ),
    "a negative weight of l1": (
        lambda: penalties.L1(0.1, weights=[-1]),
        "L1: weights | -1 at entry 0 | >= 0 | >= 0",
    ),
    "too few weights of l1": (
        lambda: cml.LearningProblem(X, Y, losses.Squared(), penalties.L1(0.1, weights=[1, 2])),
        "LearningProblem: weights | got 2 | one entry | per feature (5)",
    ),
    "an empty box": (
        lambda: penalties.Box(1, -1),
        "Box | lo = 1, hi = -1 | between lo and hi | some number must lie",
    ),
    "a nan in a box": (
        lambda: penalties.Box(np.nan, 1),
        "Box: lo | nan | number or a vector | without NaN",
    ),
}
"""What is called; object | value | requirement | remedy."""
