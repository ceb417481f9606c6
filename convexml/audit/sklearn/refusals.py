"""Estimators that cannot be judged, and why: most are no minimisers of a convex function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...errors import InputError

NO_PROBLEM = "what it returns is where its steps have stopped, not the minimum of a function"
GREEDY = "it adds one feature after the other, and minimises no convex function"
EVIDENCE = "it maximises a marginal likelihood, which is not concave"
SUBSETS = "it fits random subsets of the samples, and is no minimiser over all of them"

REASONS: Mapping[str, str] = {
    "ARDRegression": EVIDENCE,
    "BayesianRidge": EVIDENCE,
    "Lars": GREEDY + "; LassoLars is judged",
    "LarsCV": GREEDY + "; LassoLarsCV is judged",
    "OrthogonalMatchingPursuit": GREEDY,
    "OrthogonalMatchingPursuitCV": GREEDY,
    "PassiveAggressiveClassifier": NO_PROBLEM,
    "PassiveAggressiveRegressor": NO_PROBLEM,
    "Perceptron": NO_PROBLEM + ": its loss is 0 at w = 0",
    "RANSACRegressor": SUBSETS + "; its estimator_ is one, on the samples of inlier_mask_",
    "TheilSenRegressor": SUBSETS,
    "QuadraticDiscriminantAnalysis": "it inverts covariances in closed form, and solves nothing",
}
"""By the name of the scikit-learn class."""


def refusal(name: str, known: Iterable[str]) -> InputError:
    """The error for a class that has no translation."""
    reason = REASONS.get(name, "")
    if reason:
        return InputError(f"certify: {name} cannot be judged: {reason}.")
    listed = ", ".join(sorted(known))
    return InputError(
        f"certify: {name} is not supported: nothing is known here of a convex function that it "
        f"minimises. What is judged: {listed}."
    )
