"""What to say of a name that a model does not have: what scikit-learn or CVXPY call it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..errors import nearest
from ..naming import SOLVE, arguments
from .solution import Solution

SYMBOLS = {
    "S": "S the sum of the sample weights, n without weights",
    "σ": "σ its scale_",
    "ρ": "ρ its l1_ratio",
    "ε": "ε its epsilon",
}
"""In the formulas of ``scikit_learn``."""
ARGUMENTS: Mapping[str, str] = {
    "class_weight": "Give each sample the weight of its class by sample_weight; the estimators of "
    "convexml.estimators take class_weight",
    "n_jobs": "Leave it out: a problem is solved by one process; threads are those of BLAS "
    "(OMP_NUM_THREADS)",
    "positive": "Coefficients >= 0: LearningProblem(X, y, loss, penalties.Nonnegative()), or "
    "penalties.NonnegativeElasticNet(lam)",
    "standardize": "Scale the columns of X before they are passed",
    "normalize": "Scale the columns of X before they are passed",
    "copy_X": "Leave it out: X is never changed",
    "precompute": "Leave it out: the solver decides",
    "gamma": "A Gaussian kernel has sigma: kernel=kernels.Gaussian(sigma), gamma = 1 / (2 sigma^2)",
    "degree": "kernel=kernels.Polynomial(degree, coef0, gamma)",
    "n_components": "The number of components is k",
    "n_clusters": "The number of clusters is k",
    "multi_class": "Several classes: SoftmaxRegression",
}
"""Of constructors elsewhere; and what to do here."""
STRENGTHS = ("alpha", "C", "lam", "lambda_", "lambd", "reg", "reg_lambda", "reg_alpha")
"""Names of a penalty's strength."""
ATTRIBUTES: Mapping[str, str] = {
    "fit": "A problem is posed with its data: problem.solve() returns a Solution",
    "optimize": "problem.solve() returns a Solution",
    "minimize": "problem.solve() returns a Solution",
    "value": "problem.solve().objective, or problem.objective(w, b) of a point",
    "X": "The samples are in problem.objective_parts.design",
    "y": "The targets are problem.objective_parts.y",
    "w": 'problem.solve().primal["w"]',
    "b": 'problem.solve().primal["b"]',
    "x": 'problem.solve().primal["x"]',
    "n_features_in_": "problem.objective_parts.d",
    "feature_names_in_": "problem.features",
    "classes_": "problem.classes",
    "cross_validate": "Models of (w, b) with lam, C or a radius have it; else pose and score one "
    "problem for each value and fold",
    "leave_one_out": "Ridge has it, in closed form; any problem has cross_validate(lams, folds=n)",
    "loss": "problem.objective_parts.loss",
    "penalty": "problem.objective_parts.penalty",
    "variable": "problem.variables, {name: cvxpy.Variable}",
}
"""Of other libraries' problems and estimators; and where it is here."""


def of_constant(model: Any, name: str) -> str:
    """What a constant of the model's counterpart in scikit-learn is here."""
    for estimator, constants in model.scikit_learn.items():
        if name in constants:
            ours = constants[name].partition(" = ")[0]
            formula = f": {in_full(constants[name])}" if ours != name else ""
            return f" Pass {ours} in place of {name} of scikit-learn's {estimator}{formula}."
    return ""


def in_full(formula: str) -> str:
    """A formula of ``scikit_learn`` with its symbols explained."""
    used = [words for symbol, words in SYMBOLS.items() if re.search(rf"\b{symbol}\b", formula)]
    return ", ".join([formula, *used])


def of_argument(model: Any, name: str) -> str:
    """Advice for a keyword that the constructor does not take."""
    found = of_constant(model, name)
    if found:
        return found
    if name in STRENGTHS:
        return of_strength(model, name)
    if name in ARGUMENTS:
        return f" {ARGUMENTS[name]}."
    if name in SOLVE:
        ours = SOLVE[name]
        return f" It is an argument of solve: {model.__name__}(...).solve({ours}=...)."
    return ""


def of_strength(model: Any, name: str) -> str:
    """What a model has in place of another name of its penalty's strength."""
    taken = next((key for key in ("lam", "C", "radius") if key in arguments(model.__init__)), None)
    if taken is None:
        return f" {model.__name__} has no penalty to weigh: leave it out, or take another model."
    formulas = [
        f" (of scikit-learn's {estimator}: {in_full(constants[key])})"
        for estimator, constants in model.scikit_learn.items()
        for key in ("C", "alpha")
        if constants.get(key, "").startswith(f"{taken} = ")
    ]
    if taken == "C":
        formulas = [f" (for the mean of the losses + lam / 2 |w|^2: {in_full('C = 1 / (lam S)')})"]
    if taken == "radius":
        formulas = [" (the penalty's strength is the multiplier of its constraint)"]
    formula = formulas[0] if formulas and name in ("alpha", "C", "lam") else ""
    return f" Did you mean {taken!r}{formula}?"


def of_attribute(model: Any, name: str) -> str:
    """Advice for an attribute that a problem does not have."""
    found = of_constant(model, name)
    if found:
        return found
    told = ATTRIBUTES.get(name, "")
    if told and ("objective_parts" not in told or hasattr(model, "objective_parts")):
        return f" {told}."
    known = {key for key in dir(Solution) if not key.startswith("_")}
    known |= {each.name for each in fields(Solution)}
    if name in known:
        return f" A solution has it: problem.solve().{name}."
    here = [key for key in dir(model) if not key.startswith("_")]
    advice = nearest(name, here)
    return advice or nearest(name, known).replace("mean '", "mean 'problem.solve().")


def of_estimator(models: Mapping[str, Any], name: str) -> str:
    """The models that have the minimiser of a scikit-learn estimator."""
    words = ""
    for model, found in models.items():
        constants = vars(found).get("scikit_learn", {}).get(name)
        if constants is not None:
            formulas = "; ".join(in_full(each) for each in constants.values())
            words += f" Posed: convexml.{model}{f' ({formulas})' if formulas else ''}."
    return words
