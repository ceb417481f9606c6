"""The answer of a learning problem as a panel: its margin, its fit, its coefficients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ...data import rows_in_blocks
from ...errors import InputError
from ...numerics import Array
from ...pictures.functions import outline
from ...pictures.style import (
    BLUE,
    GREY,
    LABELLED,
    MAP,
    ORANGE,
    PALE,
    PALETTE,
    SIZES,
    STYLES,
    Panel,
    name_features,
    plain,
    titled,
    whole,
)

# The answer as a panel: coefficients, matrices, curves, points.


LEAST = 1e-300
"""Below it the entries of a matrix have no colour of their own."""


def draw_arrays(axes: Any, arrays: Mapping[str, Any]) -> None:
    """The first array that has entries: a matrix by colours, a vector by its entries."""
    every = {name: np.asarray(value, dtype=float) for name, value in arrays.items()}
    found = {name: value for name, value in every.items() if np.all(np.isfinite(value))}
    long = [name for name, value in found.items() if value.size > 1]
    if not long:
        draw_numbers(axes, {name: value.item() for name, value in found.items() if value.size})
    elif found[long[0]].ndim == 1:
        draw_entries(axes, long[0], found[long[0]])
    else:
        draw_matrix(axes, long[0], found[long[0]])


def draw_numbers(axes: Any, numbers: Mapping[str, float]) -> None:
    """A few scalars as bars, with their values."""
    if not numbers:
        axes.set_axis_off()
        titled(axes, "no point")
        return
    bars = axes.bar([plain(name) for name in numbers], list(numbers.values()), color=BLUE)
    axes.bar_label(bars, fmt="%.4g", padding=2, fontsize=9)
    axes.margins(y=0.15)
    titled(axes, ", ".join(f"{name} = {value:.6g}" for name, value in numbers.items()))


def draw_entries(axes: Any, name: str, w: Array, features: Sequence[str] | None = None) -> None:
    """Entries of a vector; those that are 0 are hollow."""
    places, zero = np.arange(w.size), w == 0.0
    axes.vlines(places[~zero], 0.0, w[~zero], color=BLUE, linewidth=1.2)
    axes.plot(places[~zero], w[~zero], "o", color=BLUE, markersize=4)
    axes.plot(places[zero], w[zero], "o", color=GREY, markersize=4, fillstyle="none")
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    if features is not None and w.size <= LABELLED:
        name_features(axes, places, features)
    else:
        whole(axes.xaxis)
        axes.set_xlabel("index")
    axes.set_ylabel(name)
    titled(axes, f"{np.count_nonzero(~zero)} of {w.size} entries of {name} are not 0")


def draw_matrix(axes: Any, name: str, matrix: Array) -> None:
    """A matrix by colours, white at 0; of one hue where no entry is negative."""
    flat = matrix.reshape(-1, matrix.shape[-1]) if matrix.ndim > 2 else matrix
    most = max(float(np.max(np.abs(flat), initial=0.0)), LEAST)
    hues, low = (SIZES, 0.0) if np.all(flat >= 0.0) else (MAP, -most)
    image = axes.imshow(flat, cmap=hues, vmin=low, vmax=most, aspect="auto")
    axes.grid(visible=False)
    for axis in (axes.xaxis, axes.yaxis):
        whole(axis)
    axes.figure.colorbar(image, ax=axes, shrink=0.9)
    axes.set(xlabel="column", ylabel="row")
    rows, columns = flat.shape
    titled(axes, f"{name}, {rows} by {columns}: {np.count_nonzero(flat)} entries are not 0")


def draw_curve(axes: Any, x: Array, y: Array, fitted: Array, words: str) -> None:
    """Observations, and the sequence that was fitted to them."""
    whole(axes.xaxis)
    axes.set_xlabel("index")
    axes.plot(x, y, "o", color=GREY, markersize=3, label="y")
    axes.plot(x, fitted, color=BLUE, linewidth=1.8, label="fitted")
    axes.legend(frameon=False, fontsize=9)
    titled(axes, words)


def draw_fit(axes: Any, y: Array, fitted: Array, words: str) -> None:
    """Targets against predictions, beside the line on which they agree."""
    axes.plot(fitted, y, "o", color=BLUE, markersize=3, alpha=0.6)
    ends = [float(np.min(fitted)), float(np.max(fitted))]
    axes.plot(ends, ends, color=ORANGE, linewidth=1.2)
    axes.set(xlabel="prediction", ylabel="y")
    titled(axes, words)


def draw_blocks(axes: Any, Z: Array, bound: float) -> None:
    """A matrix of shared clusters, samples of one beside each other, and what it bounds."""
    from scipy.cluster.hierarchy import leaves_list, linkage

    order = leaves_list(linkage(Z, "average")) if len(Z) > 1 else np.arange(len(Z))
    image = axes.imshow(Z[np.ix_(order, order)], cmap=SIZES, vmin=0.0)
    axes.grid(visible=False)
    axes.figure.colorbar(image, cax=axes.inset_axes((1.04, 0.0, 0.05, 1.0)))
    for axis in (axes.xaxis, axes.yaxis):
        whole(axis)
    axes.set(xlabel="sample, by cluster", ylabel="sample, by cluster")
    titled(axes, f"Z_ij = 1/size in one cluster; none costs less than {bound:.6g}")


# Classifiers as a panel: margins, and the samples that hold them.


SIDES = ((1.0, BLUE, "o"), (-1.0, ORANGE, "s"))
"""Label, hue and mark."""


def draw_margin(
    axes: Any,
    scores: Array,
    y: Array,
    alpha: Array,
    holds: Array,
    across: Array | None,
    edge: float = 1.0,
    features: int = 0,
) -> None:
    """Samples by their score f(x); those that hold it are filled, their area grows with alpha_i.

    ``across`` is another coordinate of the samples, along the margin; without one they are in the
    order of their scores. The margin is between -edge and edge. Of more than two ``features`` this
    is a projection.
    """
    height = np.empty(scores.size)
    if across is None:
        height[np.argsort(scores, kind="stable")] = np.arange(scores.size)
    else:
        height = across
    area = areas(alpha)
    for label, hue, marker in SIDES:
        rest, held = (y == label) & ~holds, (y == label) & holds
        axes.scatter(
            scores[rest], height[rest], 14, marker=marker, facecolors="none", edgecolors=hue, lw=0.7
        )
        axes.scatter(
            scores[held], height[held], area[held], marker=marker, color=hue, alpha=0.6, lw=0.0
        )
    for place, style in ((-edge, "--"), (0.0, "-"), (edge, "--")):
        axes.axvline(place, color=GREY, linewidth=1.0, linestyle=style if edge else "-")
    words = f", the margin between {-edge:.3g} and {edge:.3g}" if edge else ""
    axes.set_xlabel(f"f(x){words}")
    axes.set_ylabel("order of the scores" if across is None else "along the margin")
    told = f"{np.count_nonzero(holds)} of {y.size} samples hold the function, filled"
    flat = f"; projected from {features} features" if across is not None and features > 2 else ""
    titled(axes, told + flat)


def areas(alpha: Array) -> Array:
    """The areas of marks, by the multipliers of their samples."""
    most = float(np.max(alpha, initial=0.0))
    return 14.0 + 90.0 * (alpha / most if most > 0.0 else alpha)


def draw_scores(axes: Any, scores: Array, y: Array) -> None:
    """How the scores of the two classes lie, as shares of samples up to each score."""
    for label, hue, _ in SIDES:
        own = np.sort(scores[y == label])
        shares = np.arange(1, own.size + 1) / max(own.size, 1)
        axes.step(own, shares, where="post", color=hue, linewidth=1.6, label=f"y = {label:+.0f}")
    axes.axvline(0.0, color=GREY, linewidth=1.0)
    axes.set(xlabel="f(x)", ylabel="share of the class below")
    axes.legend(frameon=False, fontsize=9)
    wrong = int(np.count_nonzero(y * scores <= 0.0))
    titled(axes, f"{wrong} of {y.size} samples are on the wrong side of 0")


def draw_margins(axes: Any, margins: Array) -> None:
    """The distribution of margins of a combination of weak learners, per weight of 1."""
    order = np.sort(margins)
    axes.step(order, np.arange(1, order.size + 1) / order.size, where="post", color=BLUE, lw=1.6)
    axes.axvline(0.0, color=GREY, linewidth=1.0)
    axes.set(xlabel="margin y f(x) / |w|_1", ylabel="share of the samples below")
    titled(axes, f"the least margin is {order[0]:.3g}, the middle one {np.median(order):.3g}")


# One feature: the samples, and the functions that were fitted to them.


SIDE = 400
"""Points of the curve."""
ROOM = 0.05


def fit_panel(owner: str, solution: Any, beside: Sequence[Any] = ()) -> list[Panel]:
    """The panel of one solution, and of others of the same samples.

    Raises
    ------
    InputError
        Where there is not one feature, or no function of it.
    """
    every = [solution, *beside]
    data = [_samples(owner, each) for each in every]
    if any(
        not np.array_equal(one, other)
        for x in data[1:]
        for one, other in zip(x, data[0], strict=True)
    ):
        raise InputError(
            f"{owner}: beside must be solutions on the samples of this one, x and y; pose them "
            "on the same arrays."
        )
    x, y = data[0]
    return [partial(_draw, solutions=every, x=x, y=y)]


def _samples(owner: str, solution: Any) -> tuple[Array, Array]:
    """The only feature, and the targets."""
    problem = getattr(solution, "problem", None)
    samples: Any = getattr(problem, "_samples", None)
    X: Any = getattr(samples, "X", None)
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1
    takes = getattr(getattr(problem, "kernel", None), "takes_samples", True)
    if not dense or rows_in_blocks(getattr(problem, "objective_parts", None)) or not takes:
        raise InputError(
            f"{owner}: kind='fit' draws a function of one feature; "
            f"{getattr(problem, 'name', repr(solution))} has "
            f"{X.shape[1] if np.ndim(X) == 2 else 'no'} features in memory. Pose it on one column."
        )
    solution._point(f"{owner}: kind='fit'")
    return np.ravel(X), np.asarray(samples.y)


def _draw(axes: Any, solutions: Sequence[Any], x: Array, y: Array) -> None:
    """The samples; P(y = the larger label) where there is one, else the function."""
    spread = float(np.ptp(x)) or 1.0
    grid = np.linspace(x.min() - ROOM * spread, x.max() + ROOM * spread, SIDE)
    first, problem = solutions[0], solutions[0].problem
    several = len(solutions) > 1
    for k, solution in enumerate(solutions):
        curve, heights, words = _curve(solution, grid, y)
        if k == 0:
            axes.plot(x, heights, "o", color=GREY, markersize=3, label="samples")
            shown = words
        hue, style = PALETTE[k % len(PALETTE)], STYLES[k % len(STYLES)]
        label = _told(solution.problem) if several else words
        axes.plot(grid, curve, style, color=hue, linewidth=1.8, label=label)
    if problem.sample_parts.loss.labels == "binary" and not shown.startswith("P"):
        axes.axhline(0.0, color=ORANGE, linewidth=0.8)
    axes.margins(y=0.05 + 0.1 * several * len(solutions))  # room for their names
    axes.legend(frameon=False, fontsize=9)
    axes.set(xlabel=plain((problem.features or ["x"])[0]), ylabel="y")
    end = f"{len(solutions)} times" if several else f"P = {first.objective:.6g}"
    titled(axes, f"{shown}, fitted to {x.size} samples{',' if several else ';'} {end}")


def _curve(solution: Any, grid: Array, y: Array) -> tuple[Array, Array, str]:
    """The function of a solution, where the samples lie beside it, and what it is."""
    loss = solution.problem.sample_parts.loss
    curve = solution.problem.decision_function(grid[:, None], solution.primal)
    share = loss.probabilities(curve)
    if loss.labels == "binary" and share is not None:
        return share[:, -1], (y > 0.0).astype(float), "P(the larger label | x)"
    if loss.labels == "count":
        return np.exp(curve), y, "the expected count exp(w x + b)"
    return curve, y, "f(x) = w x + b" if "w" in solution.primal else "f(x)"


def _told(problem: Any) -> str:
    """What tells a curve from others: its kernel, and its hyperparameters."""
    parts = [repr(problem.kernel)] if getattr(problem, "kernel", None) is not None else []
    for name in ("lam", "C", "nu", "radius", "tau"):
        value = getattr(problem, name, None)
        if isinstance(value, float):
            parts.append(f"{name} = {value:.3g}")
    return ", ".join(parts) or str(problem.name)


# Samples as points: in their own plane, or projected, which the picture then says.


def draw_points(
    axes: Any, points: Array, centers: Array, words: str, names: Sequence[str] | None = None
) -> None:
    """Samples and centers, in their own plane or that of the samples' two widest directions."""
    d = points.shape[1]
    mean, plane = np.zeros(d), np.eye(d, 2)
    first, second = [*(names or ("first feature", "second feature")), ""][:2]
    if d > 2:
        first, second = "first direction", "second direction"
        words += f"; projected from {d} features"
        mean = points.mean(axis=0)
        plane = np.linalg.svd(points - mean, full_matrices=len(points) < 2)[2][:2].T
    for at, marker, color, label in (
        (points, "o", GREY, "samples"),
        (centers, "X", ORANGE, "centers"),
    ):
        axes.plot(*((at - mean) @ plane).T, marker, color=color, markersize=5, label=label, mew=0.5)
    axes.legend(frameon=False, fontsize=9)
    axes.set(xlabel=plain(first, 40), ylabel=plain(second, 40))
    titled(axes, words)


def draw_plane(axes: Any, points: Array, components: Array) -> None:
    """Samples by their first two components, each with its share of the spread."""
    about = points - points.mean(axis=0)
    scores, total = about @ components.T, float((about**2).sum())
    shares = (scores**2).sum(axis=0) / (total or 1.0)
    second = scores[:, 1] if scores.shape[1] > 1 else np.zeros(len(scores))
    axes.plot(scores[:, 0], second, "o", color=BLUE, markersize=4, alpha=0.6)
    axes.set_xlabel(f"first component, {shares[0]:.0%} of the spread")
    if scores.shape[1] > 1:
        axes.set_ylabel(f"second component, {shares[1]:.0%}")
    k, d = components.shape
    words = f"{k} of {d} directions hold {min(shares.sum(), 1.0):.1%} of the spread"
    titled(axes, words + ("; a projection" if d > 2 else ""))


# Functions of two features over their plane: where they change sign, and who holds them.


REGIONS_SIDE = 80
"""Points of the grid along each feature."""
MOST = 4_000_000
"""Values of a kernel that a picture may take."""
REGIONS_ROOM = 0.08
MARKS = "os^Dv"


def is_planar(X: Any, samples: int) -> bool:
    """Whether there are two features, and few enough samples to ask for a function everywhere."""
    dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 2
    return dense and samples * REGIONS_SIDE**2 <= MOST


def draw_regions(
    axes: Any,
    score: Callable[[Array], Array],
    X: Array,
    y: Array,
    alpha: Array | None,
    holds: Array | None,
    edge: float,
    names: list[str] | None = None,
) -> None:
    """Where f > 0 and where f < 0, the lines f = 0 and f = -edge, edge, and the samples.

    Samples that hold the function are filled, their area grows with alpha_i.
    """
    across, up = _grid(X)
    values = np.array([score(np.column_stack([across, np.full(REGIONS_SIDE, q)])) for q in up])
    if values.min() < 0.0 < values.max():
        ends = [values.min() - 1.0, 0.0, values.max() + 1.0]
        axes.contourf(across, up, values, ends, colors=[PALE[1], PALE[0]])
    for level, style in ((-edge, "--"), (0.0, "-"), (edge, "--")):
        if values.min() < level < values.max() and (level or style == "-"):
            axes.contour(across, up, values, [level], colors="0.3", linestyles=style, linewidths=1)
    held = np.zeros(y.size, dtype=bool) if holds is None else holds
    area = np.full(y.size, 40.0) if alpha is None else areas(alpha)
    for label, hue, marker in SIDES:
        rest, kept = (y == label) & ~held, (y == label) & held
        axes.scatter(*X[rest].T, 14, marker=marker, facecolors="none", edgecolors=hue, lw=0.8)
        axes.scatter(
            *X[kept].T, area[kept], marker=marker, color=hue, alpha=0.7, lw=0.6, edgecolors="0.2"
        )
    axes.grid(visible=False)
    _name(axes, names)
    if holds is None:
        titled(axes, "line: f = 0")
    else:
        lines = f"; dashed: |f| = {edge:.3g}" if edge else ""
        titled(axes, f"{np.count_nonzero(held)} of {y.size} samples hold f, filled{lines}")


def regions_panel(owner: str, solution: Any, labels: Any = None) -> list[Panel]:
    """The regions of the classes that a solution predicts over two features.

    Raises
    ------
    InputError
        Where there are not two features or no classes, and for neighbours without labels.
    """
    problem = solution.problem
    kept: Any = getattr(problem, "_samples", None)
    if hasattr(problem, "votes"):
        X = problem.distances.X
        if np.shape(labels) != (len(X),):
            raise InputError(
                f"{owner}: kind='regions' of {problem.name} needs labels=, one for each of its "
                f"{len(X)} samples, got shape {np.shape(labels)}."
            )
        y, predict = np.asarray(labels), partial(problem.votes, labels=labels)
    else:
        X, y, predict = getattr(kept, "X", None), None, solution.predict
    classes = np.unique(y) if y is not None else getattr(problem, "classes", None)
    if (labels is not None and y is None) or classes is None or not is_planar(X, len(classes)):
        raise InputError(
            f"{owner}: kind='regions' needs a classifier of two features, and takes labels for "
            f"nearest neighbours alone; {problem.name} has {np.shape(X)[1:]} features. Pose it on "
            "two columns of X."
        )
    if y is None:
        solution._point(f"{owner}: kind='regions'")
        y = np.asarray(classes)[np.maximum(kept.y, 0.0).astype(int)]
    return [partial(_draw_classes, X=X, y=y, classes=classes, predict=predict, problem=problem)]


def _draw_classes(axes: Any, X: Array, y: Any, classes: Any, predict: Any, problem: Any) -> None:
    """The class that is predicted everywhere, and the samples with their own."""
    from matplotlib.colors import ListedColormap

    across, up = _grid(X)
    plane = np.column_stack([each.ravel() for each in np.meshgrid(across, up)])
    found = np.searchsorted(classes, predict(plane)).reshape(REGIONS_SIDE, REGIONS_SIDE)
    hues = [PALETTE[k % len(PALETTE)] for k in range(len(classes))]
    ends = (across[0], across[-1], up[0], up[-1])
    image = axes.imshow(found, origin="lower", extent=ends, aspect="auto", alpha=0.25)
    image.set(cmap=ListedColormap(hues), clim=(-0.5, len(classes) - 0.5))
    for k, each in enumerate(classes):
        marker = MARKS[k % len(MARKS)]
        axes.scatter(*X[y == each].T, 16, color=hues[k], marker=marker, lw=0.0, label=plain(each))
    axes.legend(frameon=True, framealpha=0.7, fontsize=8.5)
    axes.grid(visible=False)
    _name(axes, problem.features)
    wrong = np.count_nonzero(np.asarray(predict(X)) != y)
    titled(axes, f"the class that is predicted; {wrong} of {len(y)} samples are of another one")


def _grid(X: Array) -> list[Array]:
    low, high = X.min(axis=0), X.max(axis=0)
    room = REGIONS_ROOM * np.where(high > low, high - low, 1.0)
    return [np.linspace(low[j] - room[j], high[j] + room[j], REGIONS_SIDE) for j in range(2)]


def _name(axes: Any, names: list[str] | None) -> None:
    first, second = names or ("first feature", "second feature")
    axes.set(xlabel=plain(first), ylabel=plain(second))


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
    if problem.sample_parts.loss.labels == "binary":
        draw_classes(problem, axes, solution, scores, samples.y)
    else:
        draw_fit(axes, samples.y, scores, FIT)


def draw_classes(
    problem: Any, axes: Any, solution: Any, scores: Array, y: Array, edge: float = 1.0
) -> None:
    """Samples in their plane, else by their scores; with multipliers, the margin up to ``edge``."""
    samples, primal = problem._samples, solution.primal
    alpha = holds = None
    if held := "alpha" in solution.dual:
        alpha = solution.dual["alpha"][samples.kept]
        holds = np.isin(samples.kept, solution.support)
    own = "w" in primal or problem.kernel.takes_samples
    if own and is_planar(samples.X, len(samples.X)):
        score = partial(problem.decision_function, primal=primal)
        level = edge if held else 0.0
        draw_regions(axes, score, samples.X, y, alpha, holds, level, problem.features)
    elif alpha is None or holds is None:
        draw_scores(axes, scores, y)
    else:
        across = _across(samples.X, primal["w"]) if "w" in primal else None
        draw_margin(axes, scores, y, alpha, holds, across, edge, samples.X.shape[1])


def _across(X: Any, w: Array) -> Array | None:
    """The coordinate in which samples spread the most among those orthogonal to w."""
    length = float(np.linalg.norm(w))
    if not isinstance(X, np.ndarray) or X.shape[1] < 2 or not 0.0 < length < np.inf:
        return None
    unit = w / length
    rest = X - X.mean(axis=0)
    rest = rest - np.outer(rest @ unit, unit)
    direction = np.linalg.eigh(rest.T @ rest)[1][:, -1]
    return rest @ direction


# Two coefficients in their plane: a level set of the loss touches one of the penalty.


TOUCHING_SIDE = 61
"""Points of the grid along each coefficient."""
TOUCHING_ROOM = 1.3
"""How far the picture reaches, in the largest l1 norm of w: the corners of its ball are inside,
and the end of the normal, no further than 1 + ARROW."""
ARROW = 0.25
"""Length of the normal, in the same."""
BALLS = 4
"""Level sets of a path, its last one among them."""


def touching_panel(owner: str, solution: Any) -> list[Panel]:
    """The panel of one solution; see ``draw_touching``."""
    return [partial(draw_touching, owner=owner, solutions=[solution])]


def draw_touching(axes: Any, owner: str, solutions: Sequence[Any]) -> None:
    """Level sets of the loss and of the penalty at w, and -X'u, normal to both.

    Of several solutions the line of their w is drawn, and the level sets of some.

    Raises
    ------
    InputError
        For another number of coefficients than two, or a solution without them.
    """
    for solution in solutions:
        _refuse(owner, solution)
    W = np.array([solution.primal["w"] for solution in solutions])
    last = solutions[-1]
    reach = TOUCHING_ROOM * max(float(np.abs(W).sum(axis=1).max()), 1e-12)
    ticks = np.linspace(-reach, reach, TOUCHING_SIDE)
    grid = np.array([[(first, second) for first in ticks] for second in ticks])
    objective = last.problem.objective_parts
    loss = np.apply_along_axis(partial(_loss_at, objective), 2, grid)
    finite, drawn = loss[np.isfinite(loss)], list[str]()
    if finite.size:
        here = _loss_at(objective, W[-1])
        above = here + (finite.max() - here) * np.linspace(0.1, 1.0, 7)[:-1] ** 2
        below = finite.min() + (here - finite.min()) * np.array([0.1, 0.5])
        levels = np.unique(np.concatenate([below, above]))
        axes.contour(ticks, ticks, loss, levels[np.diff(levels, prepend=-np.inf) > 0.0],
                     colors="0.6", linewidths=0.8)  # fmt: skip
        if finite.min() < here:
            lowest = grid[np.isfinite(loss)][np.argmin(finite)]
            edge = outline(lambda w: _loss_at(objective, w) <= here, lowest, reach)
            axes.plot(edge[:, 0], edge[:, 1], color=BLUE, linewidth=1.8)
            drawn.append("solid: F at w")
    sizes = np.linalg.norm(W, axis=1)
    shares = sizes.max() * np.arange(1, BALLS + 1) / BALLS if len(W) > 1 else sizes
    chosen = sorted({int(np.argmin(np.abs(sizes - share))) for share in shares})
    single = len(solutions) == 1
    edges = [_draw_set(axes, grid, reach, solutions[k], filled=single) for k in chosen]
    drawn += ["dashed: the penalty"] * any(edges)
    axes.plot(W[:, 0], W[:, 1], "o-", color="black", markersize=4, linewidth=1.2)
    if _draw_normal(axes, last, W[-1], ARROW * reach / TOUCHING_ROOM):
        drawn.append("arrow: -X'u, normal to both")
    names = last.problem.features or ["first coefficient", "second coefficient"]
    axes.set(xlabel=plain(names[0]), ylabel=plain(names[1]))
    axes.set_aspect("equal")
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-reach, reach)
    titled(axes, "; ".join(drawn) or "nothing pulls at w: X'u = 0, and no penalty")


def _refuse(owner: str, solution: Any) -> None:
    w = solution.primal.get("w")
    linear = hasattr(solution.problem, "objective_parts") and "u" in solution.dual
    if not linear or w is None or w.shape != (2,):
        found = "no weights" if w is None else f"weights of shape {w.shape}"
        raise InputError(
            f"{owner}: kind='plane' needs a solved problem of a loss and a penalty with two "
            f"coefficients; {solution.problem.name} has {found}. Pose it on two columns of X."
        )


def _loss_at(objective: Any, w: Array) -> float:
    """F(X w + b 1) at the best b."""
    z = objective.predict(np.asarray(w))
    return float(objective.loss_value(z + objective.best_intercept(z)))


def _draw_set(axes: Any, grid: Array, reach: float, solution: Any, filled: bool) -> bool:
    """{Omega <= Omega(w)}, or the set that a constraint leaves; whether its edge is in sight."""
    penalty = solution.problem.objective_parts.penalty
    level = float(penalty.value(solution.primal["w"]))

    def size(w: Array) -> float:
        outside = penalty.violation(w)
        return outside if penalty.is_constraint else float(penalty.value(w)) - level

    sizes = np.apply_along_axis(size, 2, grid)
    edge = 1e-9 if penalty.is_constraint else 0.0
    if not sizes.min() < edge < sizes.max():
        return False
    inside: Array = grid[sizes <= edge].mean(axis=0)
    border = outline(lambda w: size(w) <= edge, inside, reach)
    if filled:
        axes.fill(border[:, 0], border[:, 1], color=PALE[1], alpha=0.7, linewidth=0.0)
    axes.plot(border[:, 0], border[:, 1], color=ORANGE, linewidth=1.6, linestyle="--")
    return True


def _draw_normal(axes: Any, solution: Any, w: Array, length: float) -> bool:
    """-X'u at w: minus the gradient of the loss, and a slope of the penalty; whether it is one.

    What its terms cancel to within tol has no direction.
    """
    objective = solution.problem.objective_parts
    u = np.asarray(solution.dual["u"])[solution.problem._samples.kept]
    v = -objective.design.rmatvec(u)
    size = float(np.linalg.norm(v))
    terms = float(np.linalg.norm(objective.design.abs_rmatvec(u)))
    if not size > solution.certificate.tol * terms:
        return False
    end = w + length * v / size
    axes.annotate("", end, w, arrowprops={"arrowstyle": "-|>", "color": "black", "lw": 1.4})
    return True
