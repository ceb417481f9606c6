"""Bounds refuse arguments for which their theorem says nothing."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from convexml import errors, theory

X = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]])
RIGHT: dict[str, dict[str, Any]] = {
    "accelerated_value": {"t": 3, "L": 2.0, "distance": 1.0},
    "conjugate_gradients_value": {"t": 3, "condition": 4.0, "start": 1.0},
    "gradient_descent_distance": {"t": 3, "step": 0.1, "mu": 1.0, "distance": 1.0},
    "gradient_descent_value": {"t": 3, "step": 0.1, "distance": 1.0},
    "inexact_distance": {"distance": 0.1, "residual": 0.0, "m": 1.0, "M": 1.0},
    "newton_distance": {"distance": 0.1, "m": 1.0, "M": 1.0},
    "proximal_gradient_rate": {"step": 0.1, "mu_f": 1.0, "mu_g": 0.0},
    "subgradient_value": {"t": 3, "step": 0.1, "rho": 1.0, "distance": 1.0},
    "leader_regret": {"t": 3, "step": 0.1, "slope": 1.0, "spread": 1.0},
    "online_regret": {"t": 3, "step": 0.1, "slope": 1.0, "distance": 1.0},
    "decreasing_subgradient_value": {"t": 3, "scale": 0.1, "rho": 1.0, "distance": 1.0},
    "pegasos_value": {"t": 3, "lam": 0.1, "rho": 1.0},
    "perceptron_updates": {"radius": 1.0, "w": np.ones(2), "b": 0.0},
    "saga_factor": {"step": 0.1, "n": 5, "mu_f": 1.0, "mu_g": 0.0},
    "saga_distance": {"t": 3, "factor": 0.5, "start": 1.0},
    "sgd_distance": {"t": 3, "step": 0.1, "mu": 1.0, "noise": 1.0, "distance": 1.0},
    "vc_halfspaces": {"d": 2},
    "vc_growth": {"dimension": 2, "m": 5},
    "vc_error": {"dimension": 2, "m": 50, "delta": 0.1},
    "stability": {"rho": 1.0, "lam": 0.1, "m": 10},
    "finite_class": {"classes": 10, "eps": 0.1, "delta": 0.1},
    "hoeffding": {"m": 10, "eps": 0.1, "width": 1.0},
    "validation_error": {"classes": 10, "m": 10, "delta": 0.1},
    "prior_scale": {"lam": 0.1, "n": 10.0, "sigma": 1.0},
    "prior_strength": {"scale": 0.1, "n": 10.0, "sigma": 1.0},
    "ridge_risk": {"X": X, "theta": np.ones(2), "sigma": 1.0, "lam": 0.1},
    "ridge_best_lam": {"X": X, "theta": np.ones(2), "sigma": 1.0},
    "ridge_risk_bound": {"X": X, "theta": np.ones(2), "sigma": 1.0, "lam": 0.1},
    "least_squares_excess_risk": {"X": X, "sigma": 1.0},
    "least_squares_variance": {"X": X, "sigma": 1.0},
    "ridge_variance": {"X": X, "sigma": 1.0, "lam": 0.1},
    "regularized_excess": {"rho": 1.0, "lam": 0.1, "m": 10, "norm": 1.0},
    "bernstein": {"m": 10, "eps": 0.1, "variance": 0.1, "width": 1.0},
    "boosting_error": {"edges": np.array([0.1, 0.2])},
    "kmeans_plus_plus_factor": {"k": 3},
    "nearest_neighbor_risk": {"bayes": 0.1, "m": 10, "d": 2, "c": 1.0},
    "vc_intervals": {"count": 2},
    "entropy": {"p": np.array([0.5, 0.5])},
    "divergence": {"p": np.array([0.5, 0.5]), "q": np.array([0.25, 0.75])},
    "bayes_risk": {"p": np.full((2, 2), 0.25)},
    "bayes_predictor": {"p": np.full((2, 2), 0.25)},
    "no_free_lunch": {"m": 3},
    "excess_error": {"approximation": 0.1, "classes": 10, "m": 10, "delta": 0.1},
    "source_risk": {"X": X, "sigma": 1.0, "lam": 0.1, "source": 0.25, "norm": 1.0},
    "ridge_bias": {"X": X, "theta": np.ones(2), "lam": 0.1},
    "lloyd_decrease": {"sizes": np.array([3, 4]), "moves": np.array([0.1, 0.2])},
    "descent_decrease": {"step": 0.1, "L": 2.0, "square": 1.0},
    "gradient_descent_steps": {"eps": 0.1, "step": 0.1, "mu": 1.0, "distance": 1.0},
}
"""Arguments of every bound for which its theorem speaks."""
SIGNED = {"b"}
WRONG = [
    *[(name, key, -1.0) for name, row in RIGHT.items() for key in row if np.ndim(row[key]) == 0],
    *[(name, key, np.nan) for name, row in RIGHT.items() for key in row if np.ndim(row[key]) == 0],
    *[(name, key, "3") for name, row in RIGHT.items() for key in row],
    *[(name, "delta", each) for name in ("vc_error", "finite_class") for each in (0.0, 1.0, 2.0)],
    *[(name, "m", 0) for name in ("stability", "finite_class", "hoeffding") if "m" in RIGHT[name]],
    *[(name, "m", 2.5) for name in ("stability", "hoeffding", "vc_error", "validation_error")],
    ("conjugate_gradients_value", "condition", 0.5),
    ("pegasos_value", "t", 0),
    ("finite_class", "classes", 0),
    ("finite_class", "eps", 0.0),
    ("sgd_distance", "mu", 0.0),
]
CASES = [each for each in WRONG if not (each[1] in SIGNED and each[2] == -1.0)]


def numbers_only(function: Any) -> bool:
    """Whether this is a bound in numbers, not a constant of an objective or a theorem."""
    if not inspect.isfunction(function) or function is theory.simulate:
        return False
    names = inspect.signature(function).parameters
    return "objective" not in names


def test_every_bound_is_in_the_table() -> None:
    bounds = {name for name in theory.__all__ if numbers_only(getattr(theory, name))}
    assert set(RIGHT) == bounds


@pytest.mark.parametrize("name", sorted(RIGHT))
def test_right_arguments_are_taken(name: str) -> None:
    assert np.all(np.isfinite(getattr(theory, name)(**RIGHT[name])))


@pytest.mark.parametrize(("name", "key", "value"), CASES)
def test_a_wrong_argument_is_refused_by_its_name(name: str, key: str, value: Any) -> None:
    with pytest.raises(errors.InputError, match=rf"^{name}: {key} must "):
        getattr(theory, name)(**{**RIGHT[name], key: value})


def test_the_entry_of_an_array_is_named() -> None:
    with pytest.raises(errors.InputError, match=r"t must be >= 0, got -1\.0 at entry 1\."):
        theory.accelerated_value(np.array([1.0, -1.0]), L=1.0, distance=1.0)


def test_an_infinite_constant_makes_an_infinite_bound() -> None:
    assert theory.accelerated_value(3, L=np.inf, distance=1.0) == np.inf
