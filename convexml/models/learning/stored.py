"""Learning problems as plain dictionaries, for JSON, and back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ... import kernels, losses, penalties
from ..formats.stored_solution import BLOCKS, REBUILD
from ..reading.names import NamedColumns
from .posed import PosedLearning

GENERAL = ("LearningProblem", "KernelProblem")
"""Models whose loss is an argument."""


def learning_to_dict(problem: PosedLearning) -> dict[str, Any]:
    """The rows kept, their labels and weights, the loss, the penalty, the hyperparameters.

    Of row blocks, in place of the first three, how many rows each block has.
    """
    parts, samples = problem.sample_parts, problem._samples
    stored: dict[str, Any] = {
        "kind": type(problem).__name__,
        **(_rows_of(problem) if samples.layout is None else {BLOCKS: list(samples.layout.totals)}),
        "fit_intercept": parts.fit_intercept,
        "features": samples.feature_names,
        "parameters": {key: _plain(value) for key, value in problem._hyper.items()},
    }
    if stored["kind"] in GENERAL:
        stored["loss"] = _describe(parts.loss)
        stored["loss_scale"] = problem._parts[2]
    if stored["kind"] == "LearningProblem":
        stored["penalty"] = _describe(parts.penalty)
    if problem._kernel is not None:
        stored["kernel"] = _describe(problem._kernel)
    return stored


def _rows_of(problem: PosedLearning) -> dict[str, Any]:
    """The samples that are in memory."""
    parts, samples = problem.sample_parts, problem._samples
    labels = parts.y
    if samples.classes is not None:
        codes = parts.y if parts.loss.labels == "classes" else parts.y > 0
        labels = samples.classes[codes.astype(int)]
    return {
        "X": (samples.X.toarray() if sparse.issparse(samples.X) else samples.X).tolist(),
        "y": labels.tolist(),
        "sample_weight": samples.weights.tolist(),
        "rows": samples.kept.tolist(),
        "total": samples.total,
    }


def learning_from_dict(model: type, stored: dict[str, Any]) -> Any:
    """Pose a stored problem again; dropped rows come back with weight 0."""
    rows, total = np.array(stored["rows"], dtype=int), int(stored["total"])
    kept = np.array(stored["X"], dtype=float)
    X, weight = np.zeros((total, kept.shape[1])), np.zeros(total)
    X[rows], weight[rows] = kept, stored["sample_weight"]
    labels = np.array(stored["y"])
    y = np.repeat(labels[:1], total, axis=0)
    y[rows] = labels
    given = dict(stored["parameters"])
    if stored["kind"] in GENERAL:
        given["loss"] = _rebuild(losses, stored["loss"])
        given["loss_scale"] = stored["loss_scale"]
    if "penalty" in stored:
        given["penalty"] = _rebuild(penalties, stored["penalty"])
    if "kernel" in stored:
        given["kernel"] = _rebuild(kernels, stored["kernel"])
    frame = NamedColumns(X, stored["features"]) if stored.get("features") else X
    return model(frame, y, **given, fit_intercept=stored["fit_intercept"], sample_weight=weight)


def _plain(value: Any) -> Any:
    if isinstance(value, kernels.Kernel):
        return _describe(value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def _describe(part: Any) -> dict[str, Any]:
    given = {key: _plain(value) for key, value in vars(part).items() if not key.startswith("_")}
    return {"class": type(part).__name__, "parameters": given}


def _rebuild(module: Any, described: dict[str, Any]) -> Any:
    given = {
        key: _rebuild(module, value) if isinstance(value, dict) else value
        for key, value in described["parameters"].items()
    }
    return getattr(module, described["class"])(**given)


def described(kernel: kernels.Kernel) -> dict[str, Any]:
    """A kernel as plain lists."""
    return _describe(kernel)


def rebuilt(stored: dict[str, Any]) -> Any:
    """The kernel that ``described`` told."""
    return _rebuild(kernels, stored)


def register_models(names: list[str], model_of: Callable[[str], type]) -> None:
    """Tell ``Solution.from_json`` how to pose each model again, once it is asked for."""
    for name in names:
        REBUILD[name] = partial(_pose_again, model_of, name)


def _pose_again(model_of: Callable[[str], type], name: str, stored: dict[str, Any]) -> Any:
    model = model_of(name)
    again = getattr(model, "from_dict", partial(learning_from_dict, model))
    return again(stored)
