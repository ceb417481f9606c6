"""Where the gap lives: P - D as a sum of terms >= 0, of the samples and of the features."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ...pictures.look import BLUE, LABELLED, ORANGE, Panel, name_features, plain, titled, whole

LEAST, MOST = 1e-300, 1e200
"""Terms of 0 have no place on a logarithmic axis, which needs room below the largest float."""


def contribution_panels(owner: str, solution: Any) -> list[Panel]:
    """The terms of the samples beside those of the features.

    Raises
    ------
    InputError
        For a problem that is no sum of a loss and a penalty, or a solution without a point.
    """
    samples, features = (np.minimum(each, MOST) for each in gap_terms(owner, solution))
    total = float(np.maximum(samples, 0.0).sum() + np.maximum(features, 0.0).sum())
    names = _coordinates(solution.problem)
    kept = solution.problem._samples.kept
    return [
        partial(_draw_terms, places=kept, terms=samples, what="sample", total=total),
        partial(
            _draw_terms,
            places=np.arange(features.size),
            terms=features,
            what=_what(features.size, np.size(solution.primal.get("w", ()))),
            total=total,
            names=names if names is not None and len(names) == features.size else None,
        ),
    ]


def _what(terms: int, coefficients: int) -> str:
    """What has a term of its own in the penalty: each feature, each group, or nothing."""
    if terms == 1:
        return "penalty"
    return "feature" if terms == coefficients else "group"


def _coordinates(problem: Any) -> list[str] | None:
    """The names of the features; of several classes those of each feature for each class."""
    names, outputs = problem.features, problem._samples.outputs
    if not outputs:
        return names
    classes = problem._samples.classes
    count = problem._samples.design.shape[1]
    of = range(outputs[0]) if classes is None else classes
    named = names or [str(j) for j in range(count)]
    return [f"{name}, {each}" for name in named for each in of]


def gap_terms(owner: str, solution: Any) -> tuple[Array, Array]:
    """c_i l(y_i, z_i) + c_i l*(y_i, u_i/c_i) - u_i z_i, and those of Omega(w) + Omega*(v) - <w, v>.

    With v = -X'u and 1'u = 0 they add up to P - D. Of a kernel the penalty is one term,
    lam/2 |f|^2 + |sum_i u_i k(x_i, .)|^2 / (2 lam) + sum_i u_i f(x_i).
    """
    problem, primal = solution.problem, solution.primal
    if not _has_terms(solution):
        raise InputError(
            f"{owner}: kind='gap' needs a solved problem of a loss and a penalty, with weights and "
            f"a dual point u; {problem.name} ({solution.status}) is none. kind='quality' shows "
            "its conditions."
        )
    if problem._samples.layout is not None:
        raise InputError(
            f"{owner}: kind='gap' shows a term of each sample, and those of {problem.name} lie in "
            "blocks. kind='quality' shows its conditions."
        )
    rows, b = problem.sample_parts, primal["b"]
    u = np.asarray(solution.dual["u"])[problem._samples.kept]
    if "q" in primal:
        parts, q = problem.kernel_parts, primal["q"][problem._samples.kept]
        apart = parts.lam * q + u
        square = float(apart @ parts.matrix.product(apart)) / (2.0 * parts.lam or np.inf)
        return rows.sample_terms(parts.predict(q, b), u), np.array([max(square, 0.0)])
    objective, w = problem.objective_parts, problem.coordinates(primal)
    z, v = objective.predict(w, b), -objective.design.rmatvec(u)
    return objective.sample_terms(z, u), np.ravel(objective.feature_terms(w, v))


def _has_terms(solution: Any) -> bool:
    """Whether the point is one of a loss of each sample and a penalty, in their coordinates."""
    problem, primal = solution.problem, solution.primal
    if not hasattr(problem, "sample_parts") or "u" not in solution.dual or not primal:
        return False
    if "q" in primal:
        return True
    parts = getattr(problem, "objective_parts", None)
    # Several targets are rows of their own.
    return parts is not None and len(problem._samples.kept) == parts.n


def _draw_terms(
    axes: Any,
    places: Array,
    terms: Array,
    what: str,
    total: float,
    names: list[str] | None = None,
) -> None:
    """One line for each term; the largest is told by its share of the gap."""
    sizes = np.maximum(terms, 0.0)
    shown = sizes > LEAST
    low = float(np.min(sizes[shown], initial=1.0)) / 3.0
    worst = int(np.argmax(sizes)) if sizes.size else 0
    for at, hue in ((shown, BLUE), (shown & (np.arange(sizes.size) == worst), ORANGE)):
        axes.vlines(places[at], low, sizes[at], color=hue, linewidth=1.0)
        axes.plot(places[at], sizes[at], "o", color=hue, markersize=3.5)
    if shown.any():
        axes.set_yscale("log")
        axes.set_ylim(low, 3.0 * float(sizes.max()))
    if places.size == 1:
        axes.set_xticks(places, [what])
        axes.set_xlim(places[0] - 1.0, places[0] + 1.0)
    elif names is not None and len(names) <= LABELLED:
        name_features(axes, places, names)
        axes.set_xlim(-0.5, places.size - 0.5)
    else:
        whole(axes.xaxis)
        axes.set_xlim(places.min() - 0.5, places.max() + 0.5)
        axes.set_xlabel(f"index of the {what}")
    axes.set_ylabel("part in P - D")
    if not total > 0.0 or not shown.any():
        axes.set_yticks([])
        titled(axes, f"{what}: nothing of the gap")
        return
    words = f"{what}: {sizes.sum() / total:.0%} of {total:.1e}"
    if places.size > 1:
        name = names[worst] if names is not None else str(places[worst])
        words += f"; of {plain(name, 99)} alone: {sizes[worst] / total:.0%}"
    titled(axes, words)
