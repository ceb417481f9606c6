"""The answer of a learning problem as a panel: its margin, its fit, its coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array
from .answers import draw_entries, draw_fit, draw_matrix
from .margins import draw_margin, draw_scores
from .regions import draw_regions, is_planar

FIT = "targets against the function at the samples"


def draw_learning(problem: Any, axes: Any, solution: Any) -> None:
    """Classifiers by the scores of the samples, functions of a kernel by their fit, others by w."""
    primal, samples = solution.primal, problem._samples
    kernel = "q" in primal
    if "theta" in primal:  # a function by its values
        draw_fit(axes, samples.y, primal["theta"], FIT)
        return
    if not kernel and primal["w"].ndim == 2:
        draw_matrix(axes, "W", primal["w"])
        return
    if not kernel and problem.sample_parts.loss.labels != "binary":
        draw_entries(axes, "w", primal["w"], problem.features)
        return
    if kernel:
        scores = problem.kernel_parts.predict(primal["q"][samples.kept], float(primal["b"]))
    else:
        scores = samples.design.matvec(primal["w"]) + primal["b"]
    binary = problem.sample_parts.loss.labels == "binary"
    planar = is_planar(samples.X, len(samples.X)) and (not kernel or problem.kernel.takes_samples)
    held = "alpha" in solution.dual
    if not binary:
        draw_fit(axes, samples.y, scores, FIT)
    elif planar:
        draw_regions(
            axes,
            lambda X: problem.decision_function(X, primal),
            samples.X,
            samples.y,
            solution.dual["alpha"][samples.kept] if held else None,
            np.isin(samples.kept, solution.support) if held else None,
            1.0 if held else 0.0,
            problem.features,
        )
    elif held:
        across = None if kernel else _across(samples.X, primal["w"])
        holds = np.isin(samples.kept, solution.support)
        alpha = solution.dual["alpha"][samples.kept]
        draw_margin(axes, scores, samples.y, alpha, holds, across, features=samples.X.shape[1])
    else:
        draw_scores(axes, scores, samples.y)


def draw_machine(problem: Any, axes: Any, solution: Any, scores: Array, edge: float) -> None:
    """A machine with nu: samples by their scores, the margin between -edge and edge."""
    samples, alpha = problem._samples, solution.dual["alpha"]
    holds, kept = np.isin(samples.kept, solution.support), alpha[samples.kept]
    own = problem.kernel is None or problem.kernel.takes_samples
    if own and is_planar(samples.X, len(samples.X)):
        draw_regions(
            axes,
            lambda X: problem.decision_function(X, solution.primal),
            samples.X,
            problem.labels,
            kept,
            holds,
            edge,
            problem.features,
        )
        return
    f = solution.primal[problem.function_name]
    across = _across(samples.X, f) if problem.kernel is None else None
    draw_margin(axes, scores, problem.labels, kept, holds, across, edge, samples.X.shape[1])


def _across(X: Any, w: Array) -> Array | None:
    """The coordinate in which samples spread the most among those orthogonal to w."""
    length = float(np.linalg.norm(w))
    if not isinstance(X, np.ndarray) or X.shape[1] < 2 or not 0.0 < length < np.inf:
        return None
    unit = w / length
    rest = X - X.mean(axis=0)
    rest = rest - np.outer(rest @ unit, unit)
    direction = np.linalg.eigh(rest.T @ rest)[1][:, -1]
    found: Array = rest @ direction
    return found
