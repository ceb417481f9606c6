"""The least spanning tree as a linear program: single linkage, with its proof."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.combinatorial.trees import Packing, SpanningTrees
from ...errors import InputError
from ...numerics import Array
from ...objective import Statement
from ...objective.linear.merging import Merging, merge
from ...solvers.exact.kruskal import kruskal
from ...validation import finite_array, positive_integer
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..latex import Latex
from ..pictures.trees import draw_tree
from .spanning_tree_statement import pose_packing, pose_trees, spanning_tree_latex

NO_WEIGHT = 1e-12
"""Multipliers of ties of no more than this share of the largest distance are 0."""


class SpanningTree(ArrayProblem):
    r"""Minimise d.x s.t. x >= 0, x(E) = n - 1, x(pi) >= \|pi\| - 1 for every partition pi.

    Its vertices are the spanning trees. The edges of the least, in the order of their distances,
    are the merges of single linkage.

    Parameters
    ----------
    distances : array, shape (n, n)
        Symmetric, with zeros on the diagonal; n >= 2.

    Raises
    ------
    InputError
        For NaN or infinite entries, and a matrix that is not square, symmetric, or 0 on its
        diagonal.

    Notes
    -----
    x has each edge once, above the diagonal; x(pi) are the edges between blocks of pi. The dual
    packs partitions: max sum y_pi (\|pi\| - 1) s.t. the y of the partitions that part an edge are
    at most its distance; y >= 0, but for the partition into single points. On single linkage's
    nested partitions, y_0 the first merge height and y_t = h_{t+1} - h_t, it is exact: "y" (n - 1,)
    and "partitions" (n - 1, n), the block of each point before merge t. Any packing of n - 1
    partitions may be passed. A tree is judged by counting edges, fractions by a flow for each point
    (up to 300). ``primal`` has the partitions of single linkage, which the optimum needs, and where
    merges are tied those "ties" that keep its solutions out of cycles (all for up to 6 blocks that
    are tied, pairs for more). A solver's packing that has weight on ties is no y of this form:
    single linkage's own stands in for it.

    References
    ----------
    Edmonds, *Matroids and the greedy algorithm*, Mathematical Programming 1 (1971).
    """

    methods: ClassVar[tuple[str, ...]] = ("kruskal",)
    why: ClassVar[str] = "the greedy tree is the least"
    _asks = False
    distances: Array
    """As they were passed, (n, n)."""

    def __init__(self, distances: Any) -> None:
        d = finite_array(distances, self.name, "distances")
        if d.ndim != 2 or d.shape[0] != d.shape[1] or len(d) < 2:
            raise InputError(
                f"{self.name}: distances must be a square matrix of 2 points or more, got shape "
                f"{d.shape}. scipy.spatial.distance.squareform makes one of a list of pairs."
            )
        for wrong, words in (
            (d != d.T, "symmetric. Pass (D + D.T) / 2 if that is rounding"),
            (np.diag(np.diag(d)) != 0.0, "0 on the diagonal. np.fill_diagonal(D, 0) makes it so"),
        ):
            if np.any(wrong):
                i, j = np.argwhere(wrong)[0].tolist()
                given = f"{d[i, j]:g} at {(i, j)} and {d[j, i]:g} at {(j, i)}"
                raise InputError(f"{self.name}: distances has {given}; it must be {words}.")
        self.distances, self._hyper = d, {}

    @cached_property
    def merging(self) -> Merging:
        """Kruskal's edges, their heights, and the partitions between them."""
        return merge(self.distances)

    @property
    def program(self) -> SpanningTrees:
        """The problem as its certificate sees it."""
        return SpanningTrees(self.distances, self.merging)

    def clusters(self, count: int) -> Array:
        """Single linkage's partition into ``count`` clusters: a number for each point, from 0.

        Parameters
        ----------
        count : int
            1 to n.

        Returns
        -------
        array of int, shape (n,)
            Numbered in the order of their first points.

        Raises
        ------
        InputError
            For a count that is not from 1 to n.
        """
        n, count = len(self.distances), positive_integer(count, f"{self.name}.clusters", "count")
        if count > n:
            raise InputError(f"{self.name}.clusters: count must be at most {n}, got {count}.")
        if count == 1:
            return np.zeros(n, dtype=int)
        blocks = self.merging.partitions[n - count]
        _, first, index = np.unique(blocks, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[index]

    def draw(self, axes: Any, solution: Any) -> None:
        """The tree of single linkage."""
        draw_tree(axes, self.merging.edges, self.merging.heights)

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        n = len(self.distances)
        return {"x": (n, n)}, {"y": (n - 1,), "partitions": (n - 1, n)}

    def _value(self, point: Arrays) -> float:
        return self.program.value(point["x"])

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(Packing(dual["y"], dual["partitions"]))

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        if "partitions" in dual and "y" not in dual:
            raise InputError(
                f"{self.name}.certify: partitions need their y; pass both, or y alone."
            )
        y = dual.get("y", self.merging.steps)
        packing = Packing(y, dual.get("partitions", self.merging.partitions))
        return self.program.certify(point["x"], packing, tol, passed=bool(dual), search=search)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for x, y in kruskal(self.merging):
            yield {"x": x}, {"y": y}

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        return pose_trees(self.distances, self.merging)

    def _pose_dual(self) -> Statement:
        return pose_packing(self.distances, self.merging.partitions)

    def _read_duals(self) -> Arrays:
        there = self.constraints
        found = [there[label].dual_value for label in ("sum", "partitions") if label in there]
        ties = there["ties"].dual_value if "ties" in there else 0.0
        if ties is None or any(value is None for value in found):
            return {}
        if np.any(np.abs(ties) > NO_WEIGHT * np.abs(self.distances).max()):
            return {}
        y = np.concatenate([np.ravel(value) for value in found])
        return {"y": np.where(np.arange(y.size) == 0, -y, y)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        values = {"sum": np.array(-dual["y"][0]), "partitions": dual["y"][1:]}
        values["ties"] = np.zeros(len(self.merging.ties))
        return point, {label: v for label, v in values.items() if label in self.constraints}

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.name, "distances": self.distances.tolist()}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> SpanningTree:
        """Pose the problem again that ``to_dict`` described."""
        return cls(np.array(stored["distances"], dtype=float))

    def _formulas(self) -> Latex:
        return spanning_tree_latex()

    def __repr__(self) -> str:
        return f"{self.name}({len(self.distances)} points)"
