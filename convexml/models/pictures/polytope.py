"""A linear program in two variables: its polytope, the rows that hold x, and the cone of -c."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ...pictures.style import BLUE, ORANGE, PALE, Panel, inches, titled
from ...typesetting.formulas import plain_name

MOST_ROWS = 200
"""Rows up to which all pairs are asked for their vertices."""
NAMED = 5
"""Rows that hold x and are named with their multipliers."""
SLACK = 1e-9
"""Relative to its row: what a vertex may miss."""
ROOM, ARROW, CONE = 0.4, 0.2, 0.25
"""Around the vertices, a share of their spread; -c and its cone, shares of the picture."""
WIDE = 2.0
"""Inches of a panel that has room for words beside it."""
MOST_ABOVE = 0.5
"""Of the height of axes, which a legend above the set takes."""
LIKE = 8.0
"""Ratio of the sides up to which both axes have one unit, so that normals look normal."""


class HalfPlane(NamedTuple):
    """a.x <= b, its name and its multiplier; an equality is two."""

    a: Array
    b: float
    name: str
    multiplier: float


def is_plane(data: Any) -> bool:
    """Whether a program has two variables and few enough rows to be drawn."""
    return bool(data.n == 2 and data.b_ub.size + data.b_eq.size <= MOST_ROWS)


class PlaneWords(NamedTuple):
    """What a picture calls its point, the cost of it, its axes, and the multipliers of its rows."""

    point: str = "x"
    cost: str = "c"
    axes: tuple[str, str] = ("x_0", "x_1")
    multipliers: str = "multipliers"


def draw_polytope(
    axes: Any, rows: list[HalfPlane], c: Array, x: Array, told: PlaneWords | None = None
) -> None:
    """The feasible set, x, the rows with multipliers > 0, and -c as the sum of their normals."""
    told = told or PlaneWords()
    corners = np.vstack([vertices(rows), x])
    low, high = _window(corners.min(axis=0), corners.max(axis=0))
    top = np.array([high[0], 2.0 * high[1] - low[1]])  # with a legend above the set
    _draw_set(axes, rows, low, top)
    pulls = [row.multiplier * float(np.linalg.norm(row.a)) for row in rows]
    least = SLACK * max([float(np.linalg.norm(c)), *pulls])
    held = [row for row, pull in zip(rows, pulls, strict=True) if pull > least]
    for k, row in enumerate(held[:NAMED]):
        ends = _segment(row, low, top)
        axes.plot(
            ends[:, 0],
            ends[:, 1],
            color=ORANGE,
            linewidth=2.0,
            linestyle=("-", "--", ":", "-.", (0, (1, 3)))[k],
            label=f"{row.name}: {row.multiplier:.3g}",
        )
    axes.plot(*x, "o", color="black", markersize=7, zorder=5)
    sides, words = high - low, f"{told.multipliers} times normals add up to -{told.cost}"
    if sides.max() <= LIKE * sides.min() and held:
        words = f"arrow: -{told.cost}, in the cone of the normals (pale)"
        axes.set_aspect("equal")
        _draw_normal_cone(axes, rows, x, CONE * float(sides.min()))
        _draw_cone(axes, c, held, x, ARROW * float(sides.min()))
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set(xlabel=told.axes[0], ylabel=told.axes[1])
    if held:
        _draw_legend(axes, told)
    axes.locator_params(nbins=6)
    titled(axes, words if held else f"no row holds {told.point}: {told.cost} = 0")


def _draw_legend(axes: Any, told: PlaneWords) -> None:
    """The rows and their multipliers: beside the set where a layout makes room, else above it."""
    title = f"rows that hold {told.point},\n{told.multipliers}"
    beside = axes.figure.get_layout_engine() is not None and inches(axes) >= WIDE
    place: dict[str, Any] = {"loc": "upper left", "fontsize": 8, "title_fontsize": 8}
    place |= {"bbox_to_anchor": (1.0, 1.0)} if beside else {"borderaxespad": 0.1}
    legend = axes.legend(title=title, frameon=not beside, **place)
    if not beside:
        axes.apply_aspect()
        taken = legend.get_window_extent().height / axes.get_window_extent().height
        low, high = axes.get_ylim()
        axes.set_ylim(low, low + (high - low) / (1.0 - min(1.1 * taken, MOST_ABOVE)))


def _window(low: Array, high: Array) -> tuple[Array, Array]:
    """What the picture shows: the vertices with some room, in one unit where sides are alike."""
    sides = high - low
    most = float(sides.max()) or 1.0
    sides = np.where(sides * LIKE >= most, most, sides)
    room = ROOM * np.where(sides > 0.0, sides, most)
    return low - room, high + room


def half_planes(data: Any, dual: Any) -> list[HalfPlane]:
    """All rows and bounds as a.x <= b, with the multipliers of a solution."""
    found = []
    for A, b, kind in ((data.A_ub, data.b_ub, "ub"), (data.A_eq, data.b_eq, "eq")):
        matrix = A.toarray() if hasattr(A, "toarray") else np.asarray(A)
        values = dual["lambda_ub" if kind == "ub" else "nu"]
        for i, (a, level) in enumerate(zip(matrix, b, strict=True)):
            price = float(values[i])
            found.append(HalfPlane(a, float(level), f"{kind} {i}", max(price, 0.0)))
            if kind == "eq":
                found.append(HalfPlane(-a, -float(level), f"{kind} {i}", max(-price, 0.0)))
    for j, unit in enumerate(np.eye(2)):
        lower, upper = float(data.lower[j]), float(data.upper[j])
        if np.isfinite(lower):
            price = float(dual["lambda_lower"][j])
            found.append(HalfPlane(-unit, -lower, f"x_{j} >= {lower:g}", price))
        if np.isfinite(upper):
            price = float(dual["lambda_upper"][j])
            found.append(HalfPlane(unit, upper, f"x_{j} <= {upper:g}", price))
    return [row for row in found if np.any(row.a)]


def vertices(rows: list[HalfPlane]) -> Array:
    """The points at which two rows meet and all others hold, shape (k, 2)."""
    if len(rows) < 2:
        return np.empty((0, 2))
    A, b = np.array([row.a for row in rows]), np.array([row.b for row in rows])
    first, second = np.triu_indices(len(rows), 1)
    (p, q), (r, s) = A[first].T, A[second].T
    area = p * s - q * r
    lengths = np.linalg.norm(A, axis=1)
    meet = np.abs(area) > SLACK * lengths[first] * lengths[second]
    first, second, area = first[meet], second[meet], area[meet]
    p, q, r, s = p[meet], q[meet], r[meet], s[meet]
    points = np.column_stack([b[first] * s - q * b[second], p * b[second] - b[first] * r])
    points /= area[:, None]
    size = np.abs(b) + np.abs(points) @ np.abs(A.T) + 1.0
    return points[np.all(points @ A.T <= b + SLACK * size, axis=1)]


def clipped(corners: Array, row: HalfPlane) -> Array:
    """The part of a convex polygon with a.x <= b."""
    inside, found = corners @ row.a - row.b, []
    size = SLACK * (abs(row.b) + float(np.max(np.abs(corners) @ np.abs(row.a), initial=0.0)))
    for k, here in enumerate(inside):
        there = inside[(k + 1) % len(inside)]
        if here <= size:
            found.append(corners[k])
        if (here < -size < size < there) or (there < -size < size < here):
            share = here / (here - there)
            found.append(corners[k] + share * (corners[(k + 1) % len(corners)] - corners[k]))
    return np.array(found).reshape(-1, 2)


def _draw_set(axes: Any, rows: list[HalfPlane], low: Array, high: Array) -> None:
    """The feasible set within the picture: an area, a segment or a point."""
    corners = np.array([low, [high[0], low[1]], high, [low[0], high[1]]])
    for row in rows:
        corners = clipped(corners, row)
    if len(corners):
        axes.fill(*corners.T, facecolor=PALE[0], edgecolor=BLUE, linewidth=1.6)


def _segment(row: HalfPlane, low: Array, high: Array) -> Array:
    """The line a.x = b as far as the picture goes."""
    length = float(np.linalg.norm(row.a))
    foot = 0.5 * (low + high)
    foot = foot - (row.a @ foot - row.b) / length**2 * row.a
    along = np.array([-row.a[1], row.a[0]]) / length * float(np.linalg.norm(high - low))
    return np.array([foot - along, foot + along])


def normal_cone(rows: list[HalfPlane], x: Array) -> Array:
    """The unit normals of the rows with a.x = b, by their angle: {v : v.(y - x) <= 0 of all y}.

    Of a point they are all directions, which are not drawn: none is the first after a gap of more
    than a half turn.
    """
    room = [SLACK * (abs(row.b) + float(np.abs(row.a) @ np.abs(x)) + 1.0) for row in rows]
    held = [row.a for row, most in zip(rows, room, strict=True) if row.a @ x >= row.b - most]
    if not held:
        return np.empty((0, 2))
    angles = np.sort([np.arctan2(a[1], a[0]) for a in held])
    gaps = np.diff(angles, append=angles[0] + 2.0 * np.pi)
    if gaps.max() < np.pi * (1.0 - SLACK):
        return np.empty((0, 2))
    angles = np.roll(angles, -1 - int(np.argmax(gaps)))
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _draw_normal_cone(axes: Any, rows: list[HalfPlane], x: Array, length: float) -> None:
    """Where -c may point for x to be optimal."""
    normals = normal_cone(rows, x)
    if len(normals):
        corners = np.vstack([x, x + length * normals[[0, -1]]])
        axes.fill(*corners.T, facecolor=PALE[1], edgecolor="none", zorder=0.5)


def _draw_cone(axes: Any, c: Array, held: list[HalfPlane], x: Array, length: float) -> None:
    """-c = sum of the multipliers times the normals, all on one scale."""
    sizes = [float(np.linalg.norm(row.multiplier * row.a)) for row in held]
    size = max([float(np.linalg.norm(c)), *sizes])
    if size == 0.0:
        return
    parts = [(row.multiplier * row.a, ORANGE, 1.2) for row in held[:NAMED]]
    for vector, hue, width in (*parts, (-c, "black", 2.0)):
        if np.any(vector):
            arrow = {"arrowstyle": "-|>", "color": hue, "lw": width, "shrinkA": 0, "shrinkB": 0}
            end = x + length * vector / size
            axes.annotate("", end, x, arrowprops=arrow, annotation_clip=False)


# The dual of a linear program in the plane of its two multipliers: x prices its rows.


def dual_panel(owner: str, solution: Any) -> list[Panel]:
    """The panel of the dual polytope.

    Raises
    ------
    InputError
        For what is no linear program with an answer, and for one whose dual is in no plane.
    """
    data: Any = getattr(solution.problem, "data", None)
    asked = f"{owner}: kind='dual' needs a solved linear program"
    if not (hasattr(data, "b_ub") and "lambda_ub" in solution.dual and "x" in solution.primal):
        raise InputError(f"{asked}; got {solution.problem.name}, {solution.status}.")
    many = data.b_ub.size + data.b_eq.size
    if many != 2:
        raise InputError(
            f"{asked} with two multipliers of A_ub and A_eq, which span the plane; this one has "
            f"{many}. Those of bounds follow from them and do not count."
        )
    boxed = np.flatnonzero(np.isfinite(data.lower) & np.isfinite(data.upper))
    if boxed.size:
        raise InputError(
            f"{asked} whose variables have one bound at most: x[{boxed[0]}] has two, and the dual "
            "objective bends in the plane. Pose one of the two as a row of A_ub."
        )
    if data.n > MOST_ROWS:
        raise InputError(f"{asked} of at most {MOST_ROWS} variables, each a row; got {data.n}.")
    return [partial(_draw, solution=solution)]


def _draw(axes: Any, solution: Any) -> None:
    """Minimise (b - sum of bound_j A_j)'y over c_j + A_j'y >= 0, <= 0 or = 0, and y_ub >= 0."""
    data, point = solution.problem.data, solution.primal["x"]
    y = np.concatenate([solution.dual["lambda_ub"], solution.dual["nu"]])
    sizes = {"lambda_ub": data.b_ub.size, "nu": data.b_eq.size}
    names = [f"{plain_name(name)}[{i}]" for name, size in sizes.items() for i in range(size)]
    cost, rows = dual_half_planes(data, point)
    is_b = np.array_equal(cost, np.concatenate([data.b_ub, data.b_eq]))
    told = PlaneWords("y", "b" if is_b else "cost", (names[0], names[1]), "x")
    draw_polytope(axes, rows, cost, y, told)


def dual_half_planes(data: Any, x: Array) -> tuple[Array, list[HalfPlane]]:
    """The cost of the dual as a problem to minimise, and its rows with their multipliers.

    Those of c_j + A_j'y >= 0 are x_j - lower_j, those of y_i >= 0 the slacks b_i - A_i x.
    """
    A, b = data.rows.toarray(), data.sides
    below, above = np.isfinite(data.lower), np.isfinite(data.upper)
    bound = np.where(below, data.lower, np.where(above, data.upper, 0.0))
    found = []
    for j, (column, price) in enumerate(zip(A.T, x - bound, strict=True)):
        cost, over = float(data.c[j]), float(price)
        if not above[j]:
            name = f"x_{j}" if bound[j] == 0.0 else f"x_{j} - ({bound[j]:g})"
            found.append(HalfPlane(-column, cost, name, max(over, 0.0)))
        if not below[j]:
            name = f"{bound[j]:g} - x_{j}" if above[j] else f"-x_{j}"
            found.append(HalfPlane(column, -cost, name, max(-over, 0.0)))
    slack = b - A @ x
    for i in range(data.b_ub.size):
        unit = np.eye(2)[i]
        found.append(HalfPlane(-unit, 0.0, f"slack {i}", max(float(slack[i]), 0.0)))
    return b - A @ bound, [row for row in found if np.any(row.a)]
