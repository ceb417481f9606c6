"""A solution as a picture: the answer, how good it is, how it was found, where its gap lives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...data import rows_in_blocks
from ...errors import InputError, instead, nearest
from ...numerics import Array, without_warnings
from ...pictures.style import (
    BLUE,
    GREY,
    LABELLED,
    ORANGE,
    Panel,
    draw_panels,
    inches,
    name_features,
    plain,
    shade_below,
    titled,
    whole,
)
from ...typesetting.formulas import plain_name
from .answers import draw_arrays, fit_panel, regions_panel, touching_panel
from .polytope import dual_panel

# How good a solution is, as a panel: the verified gap along its run, or its conditions.


LEAST = 1e-17
"""Below the rounding of anything: residuals of 0 are drawn here."""
WIDTH, LETTERS = 34, 7.5
"""Characters of a line of a name, no more than so many to an inch of the panel."""
LETTER, MARGIN = 0.068, 0.5
"""Inches of a letter of a name, and of the room that every panel has for them."""
LARGEST, LEADING, BETWEEN = 8.5, 1.35, 0.4
"""Points of the letters of names, lines to them, and what is between two names, in lines."""
ROWS, SMALLEST, PANEL = 10, 6.0, 0.55
"""Residuals that are shown, points of their names, and the share of a panel that words leave."""
STEPS = 3
"""Records that make a course."""


def draw_quality(axes: Any, solution: Any) -> None:
    """The course of the run where it left one, else every condition against its tolerance."""
    if len(solution.trace) >= STEPS:
        draw_course(axes, solution, "seconds")
    else:
        _draw_conditions(axes, solution.certificate)


def course_panels(owner: str, solution: Any) -> list[Panel]:
    """The verified gap against passes, and against seconds.

    Raises
    ------
    InputError
        Where the run left no course, as that of a closed form or of a reference solver.
    """
    if len(solution.trace) < 2:
        raise InputError(
            f"{owner}: kind='convergence' needs the iterates of a run, and {solution.solver} "
            f"left none. convexml.convergence(problem).plot() follows every solver that fits."
        )
    return [partial(draw_course, solution=solution, axis=axis) for axis in ("passes", "seconds")]


def draw_course(axes: Any, solution: Any, axis: str) -> None:
    """The verified relative gap along the run, tol, and what rounding leaves of it."""
    places = [getattr(record, axis) for record in solution.trace]
    gaps = np.maximum([record.relative_gap for record in solution.trace], _least(solution))
    axes.semilogy(places, gaps, marker="o", markersize=3, linewidth=1.2, color=BLUE)
    axes.locator_params(axis="x", nbins=5)
    draw_levels(axes, solution.certificate)
    axes.set_xlabel("passes over the data" if axis == "passes" else axis)
    axes.set_ylabel("verified relative gap")
    steps = "1 iteration" if solution.iterations == 1 else f"{solution.iterations} iterations"
    titled(axes, f"{steps}; {_ending(solution, float(gaps[-1]))}")


def _least(solution: Any) -> float:
    """What no look counts as less than: looks leave out the rounding that the answer accounts."""
    certificate = solution.certificate
    answered = solution.status in ("optimal", "inaccurate")
    end = certificate.relative_gap if answered else 0.0
    known = end if np.isfinite(end) else 0.0
    return float(max(known, certificate.relative_rounding, LEAST))


def _ending(solution: Any, last: float) -> str:
    """What the answer is certified to, beside the iterate that the curve ends with."""
    if solution.status not in ("optimal", "inaccurate"):
        return f"the answer: {solution.status}"
    end = max(solution.certificate.relative_gap, LEAST)
    if abs(end - last) <= 0.05 * last:
        return f"certified in the end: {end:.1e}"
    return f"the last: {last:.1e}; the answer: {end:.1e}"


def draw_levels(axes: Any, certificate: Any) -> None:
    """Where a gap is small enough; and where it is rounding, of which nothing is certified."""
    axes.axhline(certificate.tol, linewidth=1.0, linestyle="--", color=ORANGE, label="tol")
    shade_below(axes, certificate.relative_rounding, LEAST)
    axes.legend(frameon=False, fontsize=9)


def _draw_conditions(axes: Any, certificate: Any) -> None:
    priced = certificate.claim in ("optimal", "unattained")
    rows = [("relative gap", certificate.relative_gap)] * priced
    rows += [(row.name, row.relative) for row in certificate.conditions]
    within = sum(value <= certificate.tol for _, value in rows)
    finite = [(name, float(value)) for name, value in rows if np.isfinite(value)]
    width = max(16, min(WIDTH, int(LETTERS * inches(axes))))
    told = [plain(plain_name(name), width) for name, _ in finite]
    lines = np.array([1.0 + name.count("\n") + BETWEEN for name in told])
    tall = 72.0 * axes.get_window_extent().height / axes.figure.dpi
    room = PANEL * tall / (LEADING * SMALLEST)
    worst = sorted(range(len(finite)), key=lambda k: -finite[k][1])
    fit = int(np.count_nonzero(np.cumsum(lines[worst]) <= room))
    worst = sorted(worst[: max(min(fit, ROWS), 1)])
    known, names, heights = [finite[k] for k in worst], [told[k] for k in worst], lines[worst]
    values = [max(value, LEAST) for _, value in known]
    total = max(float(heights.sum()), 1.0)
    places = total - np.cumsum(heights) + 0.5 * heights
    axes.hlines(places, LEAST, values, color=BLUE, linewidth=1.2)
    axes.plot(values, places, "o", color=BLUE, markersize=4)
    axes.axvline(certificate.tol, linewidth=1.0, linestyle="--", color=ORANGE)
    axes.set_xscale("log")
    axes.set_xlim(LEAST / 3.0, 10.0 * max(certificate.tol, *values, LEAST))
    axes.set_ylim(0.0, total)
    axes.set_yticks(places, names, fontsize=min(LARGEST, tall / (LEADING * total)))
    axes.set_xlabel("relative residual")
    words = f"{within} of {len(rows)} within tol (dashed)"
    smaller = len(finite) - len(known)
    more = [
        (smaller, "smaller one" if smaller == 1 else "smaller ones"),
        (len(rows) - len(finite), "without a bound"),
    ]
    words = ", ".join([words, *(f"{count} {what}" for count, what in more if count)])
    longest = max((len(line) for name in names for line in name.split("\n")), default=0)
    titled(axes, words, max(LETTER * longest - MARGIN, 0.0))


# Where the gap lives: P - D as a sum of terms >= 0, of the samples and of the features.


CONTRIBUTIONS_LEAST, MOST = 1e-300, 1e200
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
    axes: Any, places: Array, terms: Array, what: str, total: float, names: list[str] | None = None
) -> None:
    """One line for each term; the largest is told by its share of the gap."""
    sizes = np.maximum(terms, 0.0)
    shown = sizes > CONTRIBUTIONS_LEAST
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


# The way of a run over the level sets of P, in a plane of two coordinates.


SIDE = 61
"""Points of the grid along each coordinate."""
ROOM = 0.25
"""Of the spread of the iterates, beyond them."""
LEVELS = 12
PRINCIPAL = ("first principal direction", "second principal direction")
FARTHEST = 4.0
"""Iterates further from the last than so many times the first are out of sight."""


TRAJECTORY_MOST = 3
"""Runs side by side."""


def trajectory_panels(
    owner: str, solution: Any, coordinates: Any = None, beside: Sequence[Any] = ()
) -> list[Panel]:
    """The panel of one run, and of others beside it.

    Raises
    ------
    InputError
        Where a run left no iterates, where there are no two coordinates, for names that are none,
        and for more than three runs.
    """
    if len(beside) >= TRAJECTORY_MOST:
        raise InputError(
            f"{owner}: at most {TRAJECTORY_MOST} runs stand side by side, got {1 + len(beside)}."
        )
    return [_panel(owner, each, coordinates) for each in (solution, *beside)]


def _panel(owner: str, solution: Any, coordinates: Any) -> Panel:
    objective: Any = getattr(solution.problem, "objective_parts", None)
    known = objective is not None and len(getattr(objective, "w_shape", ())) == 1
    if not known or rows_in_blocks(objective) or "q" in solution.primal:
        raise InputError(
            f"{owner}: kind='trajectory' needs a run over the weights of a loss and a penalty, "
            f"with one score a sample and rows in memory; {solution.problem.name} is none."
        )
    run = solution.iterates
    x = np.column_stack([run.w, run.b]) if objective.fit_intercept else run.w
    x = x[np.isfinite(x).all(axis=1)]
    names = [*(solution.problem.features or [f"w_{j}" for j in range(objective.d)]), "b"]
    axes, words = _plane(owner, x, names[: x.shape[1]], coordinates)
    steps = run.step[np.isfinite(run.step)]
    step = f"steps {steps[0]:.3g}: " if steps.size and np.ptp(steps) == 0.0 else ""
    return partial(_draw, objective=objective, x=x, plane=axes, names=words, step=step)


def _plane(
    owner: str, x: Array, names: list[str], coordinates: Any
) -> tuple[Array, tuple[str, str]]:
    """Two directions, (2, d + 1), and what they are called."""
    if coordinates is None and len(names) > 2:
        directions = np.linalg.svd(x - x[-1], full_matrices=True)[2][:2]
        return directions, PRINCIPAL
    chosen = list(range(len(names))) if coordinates is None else list(coordinates)
    found = [names.index(each) if each in names else each for each in chosen]
    for each in found:
        if isinstance(each, bool) or not isinstance(each, int | np.integer):
            raise InputError(
                f"{owner}: no coordinate is named {each!r}.{instead(str(each), names)}"
            )
        if not 0 <= each < len(names):
            raise InputError(f"{owner}: coordinate {each} is not one of 0 ... {len(names) - 1}.")
    if len(set(found)) != 2:
        raise InputError(
            f"{owner}: kind='trajectory' needs two coordinates of {', '.join(names[:6])}, got "
            f"{chosen!r}."
        )
    first, second = found
    return np.eye(len(names))[[first, second]], (names[first], names[second])


def _draw(
    axes: Any, objective: Any, x: Array, plane: Array, names: tuple[str, str], step: str
) -> None:
    """Level sets of P through the plane at the last iterate, and the iterates projected on it."""
    places = (x - x[-1]) @ plane.T
    away = np.abs(places).max(axis=1)
    seen = places[away <= FARTHEST * max(float(away[0]), 1e-300)]
    low, high = seen.min(axis=0), seen.max(axis=0)
    spread = np.maximum(high - low, 1e-3 * max(float((high - low).max()), 1e-12))
    ticks = [
        np.linspace(low[k] - ROOM * spread[k], high[k] + ROOM * spread[k], SIDE) for k in range(2)
    ]
    origin, rows = x[-1], plane[:, : objective.d]
    z = objective.predict(origin[: objective.d], _intercept(objective, origin))
    along = [
        objective.design.matvec(row) + _intercept(objective, side)
        for row, side in zip(rows, plane, strict=True)
    ]

    def value(s: float, t: float) -> float:
        w = origin[: objective.d] + s * rows[0] + t * rows[1]
        if objective.penalty.violation(w) > 0.0:
            return np.nan
        return float(
            objective.loss_value(z + s * along[0] + t * along[1]) + objective.penalty.value(w)
        )

    P = np.array([[value(s, t) for s in ticks[0]] for t in ticks[1]])
    shift = np.zeros(2) if names == PRINCIPAL else plane @ origin
    across, up = (ticks[k] + shift[k] for k in range(2))
    finite = P[np.isfinite(P)]
    if finite.size and finite.max() > finite.min():
        levels = (
            finite.min() + (finite.max() - finite.min()) * np.linspace(0.0, 1.0, LEVELS + 1) ** 3
        )
        axes.contour(across, up, P, levels[1:], colors="0.7", linewidths=0.8)
    axes.plot(*(places + shift).T, "o-", color=BLUE, markersize=3, linewidth=1.0)
    axes.plot(*(places[0] + shift), "s", color=GREY, markersize=6)
    axes.plot(*(places[-1] + shift), "*", color=ORANGE, markersize=11)
    axes.set_xlim(across[0], across[-1])
    axes.set_ylim(up[0], up[-1])
    axes.set(xlabel=plain(names[0], 30), ylabel=plain(names[1], 30))
    titled(axes, f"{step}{len(x)} points from the square to the star; lines: level sets of P")


def _intercept(objective: Any, x: Array) -> float:
    return float(x[-1]) if objective.fit_intercept else 0.0


OWNER = "Solution.plot"
WITHOUT = ("infeasible", "unbounded", "failed")
"""Without an answer: the evidence is drawn."""


class Pictured:
    """The part of a ``Solution`` that is asked for pictures."""

    problem: Any
    solver: str
    status: str

    @without_warnings
    def plot(
        self,
        path: str | Path | None = None,
        *,
        kind: str | None = None,
        coordinates: Any = None,
        beside: Any = None,
        labels: Any = None,
        ax: Any = None,
        figsize: Any = None,
    ) -> Any:
        """Draw the answer, and how good it is: the verified gap of the run, or every condition.

        Parameters
        ----------
        path : str or Path, optional
            Where to save the picture; the suffix says the format: .png, .svg, .pdf.
        kind : str, optional
            None: "answer" beside "quality". "convergence": the verified gap against passes and
            against seconds. "gap": the part of every sample and of every feature in P - D.
            "plane": of two coefficients, the level set of the loss that touches that of the
            penalty. "dual": of a linear program with two multipliers beside those of bounds, the
            dual polytope, with x as the multipliers of its rows. "trajectory": the iterates of a
            run over level sets of P. "fit": of one feature, the samples and the function of it.
            "regions": of two features, the class that is predicted everywhere.
        coordinates : pair of int or str, optional
            For "trajectory": the two coefficients of its plane, by number or name, "b" for the
            intercept; the others stay where the run ended. The two principal directions of the
            iterates by default, or the coordinates themselves where there are two.
        beside : sequence of Solution, optional
            For "trajectory": at most two other runs, a panel each, as with other steps. For "fit":
            other functions of the same samples in the panel, as with other kernels.
        labels : array, shape (n,), optional
            For "regions" of nearest neighbours: the labels of the samples.
        ax : matplotlib Axes or sequence of them, optional
            Where to draw: an Axes for each panel, or a single one for the first panel alone.
        figsize : pair of float, optional
            Width and height of a new figure in inches; not beside ``ax``.

        Returns
        -------
        matplotlib.figure.Figure
            That of ``ax`` where it is given. Needs the ``report`` extra.

        Raises
        ------
        ConvexmlError
            Without matplotlib.
        InputError
            For another kind, for one that this solution has nothing to show for, for ``ax`` that
            are no axes, a ``figsize`` that is none, and for a path that cannot be written.
        """
        if kind is not None and kind not in KINDS:
            raise InputError(
                f"{OWNER}: kind must be None or one of {', '.join(KINDS)}, got {kind!r}."
                f"{nearest(str(kind), KINDS)}"
            )
        options = {"coordinates": coordinates, "beside": beside, "labels": labels}
        given = {name: value for name, value in options.items() if value is not None}
        for name in given:
            if kind not in OF_KINDS[name]:
                kinds = " and ".join(map(repr, OF_KINDS[name]))
                raise InputError(f"{OWNER}: {name} belongs to kind={kinds}, not to {kind!r}.")
        panels = DEFAULT(self) if kind is None else KINDS[kind](self, **given)
        title = f"{self.problem.name}, {self.solver}: {self.status}"
        return draw_panels(OWNER, title, panels, path, ax, figsize)


def draw_answer(axes: Any, solution: Any) -> None:
    """The point in the words of its problem; the evidence where there is none."""
    if solution.primal and solution.status not in WITHOUT:
        solution.problem.draw(axes, solution)
    else:
        draw_arrays(axes, solution.evidence)


Panels = Callable[..., list[Panel]]


def panels_by(*draws: Callable[..., None]) -> Panels:
    """The panels of a solution, one for each function of axes and solution."""
    return lambda solution: [partial(draw, solution=solution) for draw in draws]


DEFAULT = panels_by(draw_answer, draw_quality)
KINDS: Mapping[str, Panels] = {
    "answer": panels_by(draw_answer),
    "quality": panels_by(draw_quality),
    "convergence": partial(course_panels, OWNER),
    "gap": partial(contribution_panels, OWNER),
    "plane": partial(touching_panel, OWNER),
    "dual": partial(dual_panel, OWNER),
    "trajectory": partial(trajectory_panels, OWNER),
    "fit": partial(fit_panel, OWNER),
    "regions": partial(regions_panel, OWNER),
}
OF_KINDS = {
    "coordinates": ("trajectory",),
    "beside": ("trajectory", "fit"),
    "labels": ("regions",),
}
"""The kinds that take an option."""
