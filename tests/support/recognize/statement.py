"""What a statement is: a problem as people write it in CVXPY, and what should be read in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Statement:
    """A problem as somebody writes it.

    ``loss`` and ``penalty`` are names of our catalogue, None where any will do. ``unique`` numbers
    the constraints whose multiplier is unique. ``spells`` says what is tried.
    """

    name: str
    build: Callable[[], Any]
    loss: str | None
    penalty: str | None
    spells: str
    unique: tuple[int, ...] = ()


STATEMENTS: dict[str, Statement] = {}


def states(
    loss: str | None, penalty: str | None, spells: str, unique: tuple[int, ...] = ()
) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Enter the function that builds a problem under its name."""

    def enter(build: Callable[[], Any]) -> Callable[[], Any]:
        assert build.__name__ not in STATEMENTS
        STATEMENTS[build.__name__] = Statement(build.__name__, build, loss, penalty, spells, unique)
        return build

    return enter


# -- data -------------------------------------------------------------------------------------


def regression(n: int = 30, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A linear model with noise, about a level that is not 0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.3
    w = np.array([2.0, -1.0, 0.0, 0.5, 0.0, 1.5])[:d]
    return X, X @ w + 0.7 + 0.4 * rng.normal(size=n)


def classes(n: int = 36, d: int = 4, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Labels -1 and 1 that no plane separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.2
    y = np.where(X[:, 0] - 0.5 * X[:, 1] + 0.8 * rng.normal(size=n) > 0.1, 1.0, -1.0)
    return X, y


def separable(n: int = 24, d: int = 3, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Labels -1 and 1 that a plane separates."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    score = X @ np.array([1.0, -2.0, 0.5])[:d] + 0.2
    y = np.where(score > 0.0, 1.0, -1.0)
    return X + 0.4 * y[:, None] * np.array([1.0, -2.0, 0.5])[:d], y


def counts(n: int = 30, d: int = 3, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of events."""
    rng = np.random.default_rng(seed)
    X = 0.5 * rng.normal(size=(n, d))
    return X, rng.poisson(np.exp(X @ np.array([0.8, -0.5, 0.3])[:d] + 0.4)).astype(float)


def species(n: int = 36, d: int = 3, K: int = 3, seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Labels 0, ..., K - 1 that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.argmax(X @ rng.normal(size=(d, K)) + rng.normal(size=(n, K)), axis=1)
