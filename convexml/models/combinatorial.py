"""Nearest neighbours, optimal transport and least spanning trees as linear programs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate
from ..certificates.transport import NAMES, Neighbours, Transport
from ..certificates.trees import Packing, SpanningTrees
from ..data.columns import NamedColumns, column_names, match_columns
from ..errors import InputError
from ..formulas import constant, listed
from ..modelling import cp
from ..numerics import ROUNDING, Array
from ..problem import Statement
from ..problem.geometry import Distances, Merging, distances_of, merge
from ..solvers.exact import kruskal, sorting
from ..validation import (
    finite_array,
    nonnegative_array,
    positive_integer,
    read_labels,
    refuse_masked,
)
from .arrays import ArrayProblem, Arrays, Shapes
from .base import Hyperparameter
from .inputs import read_matrix
from .latex import Latex, such_that
from .pictures.trees import draw_tree

# The k nearest neighbours as a linear program.


class NearestNeighbors(ArrayProblem):
    r"""Minimise for each query q: sum_i p_i |x_i - q| s.t. sum_i p_i = 1, 0 <= p <= 1/k.

    The objective is the sum over the queries, the mean distance to the k nearest samples of each;
    p is 1/k on these.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows.
    Q : array, shape (m, d)
        Queries in rows.
    k : int
        Neighbours, 1 to n.

    Raises
    ------
    InputError
        For NaN or infinite entries, shapes that do not agree, distances beyond float64, and k that
        is no whole number from 1 to n.

    Notes
    -----
    L = sum_i p_i d_i + nu (sum_i p_i - 1) - lambda_lower.p + lambda_upper.(p - 1/k) for each query.
    -nu is any number between the k-th and the next distance (in the middle here), and p is unique
    where these differ: ``is_unique``. Of samples at one distance the first are taken, and which
    distances are equal is decided exactly.

    References
    ----------
    Peyre, *Mathematical Foundations of Data Sciences*, section 16.4.1.
    """

    methods: ClassVar[tuple[str, ...]] = ("sorting",)
    why: ClassVar[str] = "the k smallest of all distances are the optimum"
    _asks = False
    k = Hyperparameter(structural=True)
    distances: Distances
    """Of every sample to every query, (m, n) in ``distances.values``."""

    def __init__(self, X: Any, Q: Any, k: int) -> None:
        self._names = column_names(X)
        samples = _dense(read_matrix(self.name, X))
        queries = _dense(read_matrix(self.name, match_columns(self.name, Q, self._names), "Q"))
        if queries.shape[1] != samples.shape[1]:
            raise InputError(
                f"{self.name}: Q has {queries.shape[1]} features, X has {samples.shape[1]}. Pass "
                "queries with the columns of X."
            )
        self.distances = distances_of(samples, queries)
        if not np.all(np.isfinite(self.distances.values)):
            q, i = np.argwhere(~np.isfinite(self.distances.values))[0]
            raise InputError(
                f"{self.name}: the distance of row {i} of X to row {q} of Q is beyond float64; "
                "change the unit of the columns."
            )
        self._hyper = self._check(k=k)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        k, n = positive_integer(hyper["k"], self.name, "k"), len(self.distances.X)
        if k > n:
            raise InputError(f"{self.name}: k must be at most the number of samples, {n}; got {k}.")
        return {"k": k}

    @property
    def features(self) -> list[str] | None:
        return self._names

    @property
    def program(self) -> Neighbours:
        """The problem as its certificate sees it."""
        return Neighbours(self.distances, self.k)

    @property
    def is_unique(self) -> Array:
        """Whether the k-th and the next distance differ, decided exactly, for each query (m,)."""
        m, n = self.distances.values.shape
        found = [self.k == n or self.distances.nearest(q, self.k)[1] for q in range(m)]
        return np.array(found)

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        whole = self.distances.values.shape
        return {"p": whole}, {"nu": whole[:1], **dict.fromkeys(NAMES[1:], whole)}

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual)

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        return self.program.certify(point["p"], dual, tol, search=search)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for p, nu in sorting(self.distances, self.k):
            yield {"p": p}, {"nu": nu}

    def votes(self, Q: Any, labels: Any) -> Array:
        """What other queries are predicted to be, where the samples have these labels.

        Parameters
        ----------
        Q : array, shape (m, d)
            Queries in rows.
        labels : array, shape (n,)
            Of the samples.

        Returns
        -------
        array, shape (m,)

        Raises
        ------
        InputError
            As for the class and for ``predict``.
        """
        asked = type(self)(self.distances.X, Q, self.k)
        *_, (point, _) = asked._iterates("sorting")
        return asked.predict(labels, point)

    # -- predictions -----------------------------------------------------------------------------

    def predict(self, y: Any, primal: Arrays) -> Array:
        """The vote of the neighbours, or for floating-point y their mean sum_i p_i y_i, (m,).

        Of classes with as many votes the first in increasing order is taken.

        Raises
        ------
        InputError
            Unless y has one entry for each row of X.
        """
        refuse_masked(y, self.name, "y")
        values, p = read_labels(y, self.name, "y"), primal["p"]
        if values.shape != (p.shape[1],):
            raise InputError(
                f"{self.name}.predict: y must be a vector with one entry per row of X "
                f"({p.shape[1]}), got shape {values.shape}."
            )
        if values.dtype.kind == "f":
            return np.asarray(p @ finite_array(values, f"{self.name}.predict", "y"))
        classes, index = np.unique(values, return_inverse=True)
        votes = [[math.fsum(row[index == c]) for c in range(len(classes))] for row in p]
        return np.asarray(classes[np.argmax(votes, axis=1)])

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    @cached_property
    def _costs(self) -> Any:

        return constant(self.distances.values, "D")

    def _pose(self) -> Statement:
        p = cp.Variable(self.distances.values.shape, name="p")
        constraints = {"sum": cp.sum(p, axis=1) == 1.0, "lower": p >= 0.0, "upper": p <= 1 / self.k}
        value = cp.sum(cp.multiply(self._costs, p))
        return Statement.of(cp.Minimize(value), {"p": p}, constraints)

    def _pose_dual(self) -> Statement:
        m, n = self.distances.values.shape
        nu = cp.Variable(m, name="nu")
        lower, upper = (cp.Variable((m, n), name=name) for name in NAMES[1:])
        costs = self._costs + nu[:, None] @ constant(np.ones((n, 1)), "1").T
        constraints = {
            "stationarity": costs - lower + upper == 0.0,
            "lambda_lower": lower >= 0.0,
            "lambda_upper": upper >= 0.0,
        }
        value = -cp.sum(nu) - cp.sum(upper) / self.k
        return Statement.of(
            cp.Maximize(value), dict(zip(NAMES, (nu, lower, upper), strict=True)), constraints
        )

    def _read_duals(self) -> Arrays:
        labels = dict(zip(NAMES, ("sum", "lower", "upper"), strict=True))
        found = {name: self.constraints[label].dual_value for name, label in labels.items()}
        return {name: np.array(value) for name, value in found.items() if value is not None}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        labels = ("sum", "lower", "upper")
        return point, {label: dual[name] for label, name in zip(labels, NAMES, strict=True)}

    def to_dict(self) -> dict[str, Any]:
        X, Q = self.distances.X.tolist(), self.distances.Q.tolist()
        return {"kind": self.name, "X": X, "Q": Q, "k": self.k, "features": self._names}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> NearestNeighbors:
        """Pose the problem again that ``to_dict`` described."""
        names = stored["features"]
        X, Q = (np.array(stored[name], dtype=float) for name in "XQ")
        if names:
            return cls(NamedColumns(X, names), NamedColumns(Q, names), stored["k"])
        return cls(X, Q, stored["k"])

    def _formulas(self) -> Latex:
        box = listed(r"0 \le p_i \le \tfrac1k")
        total = r"\sum_i p_i = 1"
        lower, upper = r"\lambda_{\text{lower}}", r"\lambda_{\text{upper}}"
        signs = rf"{lower}, {upper} \ge 0"
        slope = rf"d_i + \nu - {{{lower}}}_i + {{{upper}}}_i = 0"
        return Latex(
            r"\min_p\ \sum_i p_i d_i" + such_that(total, box),
            rf"\sum_i p_i d_i + \nu (\sum_i p_i - 1) - \sum_i {{{lower}}}_i p_i"
            rf" + \sum_i {{{upper}}}_i (p_i - \tfrac1k)",
            rf"\max_{{\nu, {lower}, {upper}}}\ -\nu - \tfrac1k \sum_i {{{upper}}}_i"
            + such_that(slope, signs),
            (
                slope,
                listed(total, box),
                signs,
                rf"{{{lower}}}_i p_i = 0",
                rf"{{{upper}}}_i (\tfrac1k - p_i) = 0",
            ),
            r"d_i = \text{distance of sample } i \text{ from the query},\ "
            r"\text{one problem a query, whose values are added}",
        )

    def __repr__(self) -> str:
        (m, n), d = self.distances.values.shape, self.distances.X.shape[1]
        return f"{self.name}({n} samples, {m} queries, {d} features, k={self.k})"


def _dense(matrix: Any) -> Array:
    return np.array(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


# Optimal transport between two sets of masses, with its potentials.


LEAST, MOST = -1000.0, 1000.0
"""Binary orders of all mass at the largest cost, between which sums of products lose nothing."""


class OptimalTransport(ArrayProblem):
    r"""Minimise sum_ij C_ij plan_ij s.t. plan 1 = a, plan' 1 = b, plan >= 0.

    Parameters
    ----------
    a : array, shape (m,)
        Masses that are sent, >= 0.
    b : array, shape (n,)
        Masses that arrive, >= 0; their sum is that of a.
    costs : array, shape (m, n)
        C_ij, of a unit of mass sent from i to j.

    Raises
    ------
    InputError
        For NaN or infinite entries, negative masses, none at all, sums that differ by more than
        64 eps, a total cost beyond float64, and shapes that do not agree.

    Notes
    -----
    The dual maximises a.f + b.g s.t. f_i + g_j <= C_ij, the potentials "f" (m,) and "g" (n,). A g
    that is too large is repaired exactly: g_j = min_i C_ij - f_i. As sums in floating point differ
    in their last digits, the largest b is defined by the others, and D is evaluated so.

    References
    ----------
    Peyre and Cuturi, *Computational Optimal Transport* (2019, https://doi.org/10.1561/2200000073).
    """

    methods: ClassVar[tuple[str, ...]] = ("highs",)
    why: ClassVar[str] = "a transport problem is a linear program, and its vertices are sparse"

    def __init__(self, a: Any, b: Any, costs: Any) -> None:
        a, b = nonnegative_array(a, self.name, "a"), nonnegative_array(b, self.name, "b")
        C = finite_array(costs, self.name, "costs")
        if C.shape != (a.size, b.size) or not C.size:
            raise InputError(
                f"{self.name}: costs must have a row for each of a and a column for each of b, "
                f"shape {(a.size, b.size)}, at least one of each; got {C.shape}."
            )
        sums = [math.fsum(each.tolist()) for each in (a, b)]
        if not 0.0 < sums[0] < np.inf:
            raise InputError(f"{self.name}: a must hold some mass, its sum is {sums[0]:g}.")
        if not abs(sums[0] - sums[1]) <= ROUNDING * max(sums):
            raise InputError(
                f"{self.name}: the sums of a and b must be equal, they are {sums[0]!r} and "
                f"{sums[1]!r}. Divide each by its sum, or add a point that takes the difference."
            )
        largest = float(np.max(np.abs(C)))
        value = math.log2(sums[0]) + math.log2(largest) if largest > 0.0 else 0.0
        if not LEAST < value < MOST:
            raise InputError(
                f"{self.name}: masses that sum to {sums[0]:g} at costs of up to {largest:g} have a "
                "total cost beyond float64; change the unit of one of them."
            )
        self._a, self._b, self._costs, self._hyper = a, b, C, {}

    @cached_property
    def program(self) -> Transport:
        """The problem as its certificate sees it."""
        return Transport(self._a, self._b, self._costs)

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        m, n = self._costs.shape
        return {"plan": (m, n)}, {"f": (m,), "g": (n,)}

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        return self.program.certify(point["plan"], dual, tol, search=search)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        plan, f = self.program.optimum
        if plan is not None and f is not None:
            yield {"plan": plan}, {"f": f}

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        plan = cp.Variable(self._costs.shape, name="plan")
        constraints = {
            "sent": cp.sum(plan, axis=1) == constant(self._a, "a"),
            "received": cp.sum(plan, axis=0) == constant(self._b, "b"),
            "nonnegative": plan >= 0.0,
        }
        value = cp.sum(cp.multiply(constant(self._costs, "C"), plan))
        return Statement.of(cp.Minimize(value), {"plan": plan}, constraints)

    def _pose_dual(self) -> Statement:
        m, n = self._costs.shape
        f, g = cp.Variable(m, name="f"), cp.Variable(n, name="g")
        total = (
            f[:, None] @ constant(np.ones((n, 1)), "1").T
            + constant(np.ones((m, 1)), "1") @ g[None, :]
        )
        constraints = {"potentials": total <= constant(self._costs, "C")}
        return Statement.of(
            cp.Maximize(constant(self._a, "a") @ f + constant(self._b, "b") @ g),
            {"f": f, "g": g},
            constraints,
        )

    def _read_duals(self) -> Arrays:
        found = {name: self.constraints[of].dual_value for name, of in LABELS.items()}
        return {name: -np.array(value) for name, value in found.items() if value is not None}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        slack = self._costs - dual["f"][:, None] - dual["g"]
        values = {label: -dual[name] for name, label in LABELS.items()}
        return point, values | {"nonnegative": np.maximum(slack, 0.0)}

    def to_dict(self) -> dict[str, Any]:
        arrays = {"a": self._a, "b": self._b, "costs": self._costs}
        return {"kind": self.name, **{name: each.tolist() for name, each in arrays.items()}}

    def _formulas(self) -> Latex:
        sums = (r"P \mathbf{1} = a", r"P^\top \mathbf{1} = b", r"P \ge 0")
        return Latex(
            r"\min_P\ \langle C, P \rangle" + such_that(*sums),
            r"\langle C, P \rangle - f^\top (P \mathbf{1} - a) - g^\top (P^\top \mathbf{1} - b)"
            r" - \langle \Lambda, P \rangle",
            r"\max_{f, g}\ a^\top f + b^\top g" + such_that(r"f_i + g_j \le C_{ij}"),
            (
                *sums,
                r"f_i + g_j + \Lambda_{ij} = C_{ij}",
                r"\Lambda \ge 0",
                r"\Lambda_{ij} P_{ij} = 0",
            ),
            r"P = \text{plan}",
        )

    def __repr__(self) -> str:
        m, n = self._costs.shape
        return f"{self.name}({m} to {n})"


LABELS = {"f": "sent", "g": "received"}
"""The constraint of each potential; CVXPY's dual value is minus it."""


# The least spanning tree and the packing of partitions as CVXPY problems, and in LaTeX.


def pose_trees(distances: Array, merging: Merging) -> Statement:
    """Minimise d.x s.t. x >= 0, x(E) = n - 1, x(pi) >= |pi| - 1 for single linkage's partitions.

    Where merges are tied, for those of the ``ties`` as well.
    """
    n = len(distances)
    cells = {"partitions": merging.partitions[1:], "ties": merging.ties}
    x = cp.Variable((n, n), name="x")
    constraints: dict[str, Any] = {
        "edges": x >= 0.0,
        "triangle": cp.multiply(constant(np.tri(n), "L"), x) == 0.0,
        "sum": cp.sum(x) == n - 1.0,
    }
    for label, partitions in cells.items():
        if len(partitions):
            parted = np.array([(row[:, None] != row).ravel() for row in partitions], dtype=float)
            enough = constant(parted, f"B_{label}") @ cp.vec(x, order="C")
            constraints[label] = enough >= constant(_blocks(partitions) - 1.0, f"m_{label}")
    value = cp.sum(cp.multiply(constant(np.triu(distances), "d"), x))
    return Statement.of(cp.Minimize(value), {"x": x}, constraints)


def pose_packing(distances: Array, partitions: Array) -> Statement:
    """Maximise sum y_pi (|pi| - 1) s.t. the y that part an edge are at most its distance."""
    n = len(distances)
    y = cp.Variable(n - 1, name="y")
    u, v = np.triu_indices(n, 1)
    parted = (partitions[:, u] != partitions[:, v]).T.astype(float)
    constraints: dict[str, Any] = {
        "packing": constant(parted, "B") @ y <= constant(distances[u, v], "d_edges")
    }
    if n > 2:
        constraints["signs"] = y[1:] >= 0.0
    value = constant(_blocks(partitions) - 1.0, "m") @ y
    return Statement.of(cp.Maximize(value), {"y": y}, constraints)


def _blocks(partitions: Array) -> Array:
    return np.array([float(np.unique(row).size) for row in partitions])


def spanning_tree_latex() -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    sizes = (r"x_e \ge 0", r"x(E) = n - 1", r"x(\pi) \ge |\pi| - 1")
    load = r"\sum_{\pi : e \in \delta(\pi)} y_\pi"
    signs = r"y_\pi \ge 0\ \text{but for single points}"
    return Latex(
        r"\min_x\ \sum_e d_e x_e" + such_that(*sizes),
        r"\sum_e d_e x_e - \sum_\pi y_\pi (x(\pi) - |\pi| + 1) - \sum_e \lambda_e x_e",
        r"\max_y\ \sum_\pi y_\pi (|\pi| - 1)" + such_that(rf"{load} \le d_e", signs),
        (
            *sizes,
            rf"{load} + \lambda_e = d_e",
            rf"{signs},\ \lambda_e \ge 0",
            r"y_\pi (x(\pi) - |\pi| + 1) = 0",
            r"\lambda_e x_e = 0",
        ),
        r"E = \text{all edges},\ E[S] = \text{those within a set of points}\ S,\ "
        r"\delta(\pi) = \text{those between parts of the partition } \pi,\ "
        r"x(F) = \sum_{e \in F} x_e,\ x(\pi) = x(\delta(\pi))",
    )


# The least spanning tree as a linear program: single linkage, with its proof.


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

    def _formulas(self) -> Latex:
        return spanning_tree_latex()

    def __repr__(self) -> str:
        return f"{self.name}({len(self.distances)} points)"
