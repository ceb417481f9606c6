"""Models beside those of the notes: nearest neighbours, spanning trees, shares of labels.

They are computed in closed form, and posed to show what they solve.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ..certificates import Certificate
from ..certificates.likelihood import Shares
from ..certificates.neighbours import NAMES, Neighbours
from ..certificates.trees import SpanningTrees
from ..data.columns import NamedColumns, column_names, match_columns
from ..errors import InputError
from ..formulas import constant, entries, listed
from ..modelling import cp
from ..numerics import Array
from ..problem import Statement
from ..problem.geometry import Distances, Merging, distances_of, merge, numbered
from ..solvers.exact import kruskal, sorting
from ..validation import (
    finite_array,
    positive_integer,
    read_labels,
    refuse_masked,
)
from .arrays import ArrayProblem, Arrays, Shapes
from .base import Hyperparameter
from .inputs import SYMMETRIC, dense, distinct_labels, read_matrix, read_weights, refuse_pairs
from .latex import Latex, such_that
from .pictures.trees import draw_tree
from .prediction import score

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
    This class lies in ``convexml.models.extras``.

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
    _is_closed = True
    _constraint_of: ClassVar = dict(zip(NAMES, ("sum", "lower", "upper"), strict=True))
    k = Hyperparameter(structural=True)
    distances: Distances
    """Of every sample to every query, (m, n) in ``distances.values``."""

    def __init__(self, X: Any, Q: Any, k: int) -> None:
        self._names = column_names(X)
        samples = np.array(dense(read_matrix(self.name, X)))
        named = match_columns(self.name, Q, self._names)
        queries = np.array(dense(read_matrix(self.name, named, "Q")))
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
        given, names = (samples, queries), self._names
        self._X, self._Q = (NamedColumns(each, names) if names else each for each in given)
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


def _blocks(partitions: Array) -> Array:
    return np.array([float(np.unique(row).size) for row in partitions])


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
    This class lies in ``convexml.models.extras``.

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
    _is_closed = True
    distances: Array
    """As they were passed, (n, n)."""

    def __init__(self, distances: Any) -> None:
        d = finite_array(distances, self.name, "distances")
        if d.ndim != 2 or d.shape[0] != d.shape[1] or len(d) < 2:
            raise InputError(
                f"{self.name}: distances must be a square matrix of 2 points or more, got shape "
                f"{d.shape}. scipy.spatial.distance.squareform makes one of a list of pairs."
            )
        refuse_pairs(self.name, "distances", d, d != d.T, SYMMETRIC)
        zero = "0 on the diagonal. np.fill_diagonal(D, 0) makes it so"
        refuse_pairs(self.name, "distances", d, np.diag(np.diag(d)) != 0.0, zero)
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
        return numbered(self.merging.partitions[n - count])

    def draw(self, axes: Any, solution: Any) -> None:
        """The tree of single linkage."""
        draw_tree(axes, self.merging.edges, self.merging.heights)

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        n = len(self.distances)
        return {"x": (n, n)}, {"y": (n - 1,), "partitions": (n - 1, n)}

    def _judge_by(self, point: Arrays, dual: Arrays, tol: float, *, passed: bool) -> Certificate:
        if "partitions" in dual and "y" not in dual:
            raise InputError(
                f"{self.name}.certify: partitions need their y; pass both, or y alone."
            )
        return super()._judge_by(point, dual, tol, passed=passed)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for x, y in kruskal(self.merging):
            yield {"x": x}, {"y": y}

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        """x(pi) >= |pi| - 1 for single linkage's partitions.

        Where merges are tied, for those of the ``ties`` as well.
        """
        distances, merging = self.distances, self.merging
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
                parted = np.array(
                    [(row[:, None] != row).ravel() for row in partitions], dtype=float
                )
                enough = constant(parted, f"B_{label}") @ cp.vec(x, order="C")
                constraints[label] = enough >= constant(_blocks(partitions) - 1.0, f"m_{label}")
        value = cp.sum(cp.multiply(constant(np.triu(distances), "d"), x))
        return Statement.of(cp.Minimize(value), {"x": x}, constraints)

    def _pose_dual(self) -> Statement:
        """Maximise sum y_pi (|pi| - 1) s.t. the y that part an edge are at most its distance."""
        distances, partitions = self.distances, self.merging.partitions
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

    def _formulas(self) -> Latex:
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

    def __repr__(self) -> str:
        return f"{self.name}({len(self.distances)} points)"


# Likelihoods of labels alone: the shares of classes.


def read_label_samples(
    owner: str, values: Any, name: str, sample_weight: Any
) -> tuple[Array, Array]:
    """The labels of samples of positive weight, a vector, and their weights."""
    labels = read_labels(values, owner, name)
    labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.ndim != 1 or not labels.size:
        instead = "Pass one column of it." if labels.ndim == 2 else "Pass one label a sample."
        raise InputError(
            f"{owner}: {name} must be a vector of labels, got shape {labels.shape}. {instead}"
        )
    weights = read_weights(owner, sample_weight, len(labels))
    kept = np.flatnonzero(weights)
    return labels[kept], weights[kept]


# Maximum likelihood of the probabilities of several classes.


class CategoricalLikelihood(ArrayProblem):
    r"""Minimise the mean of -log p(x) over the simplex: -sum_k q_k log p_k.

    p_k is the probability of class k, q_k its share of the samples. The minimiser is q, the least
    value the entropy of q, and the gap of any p the Kullback-Leibler divergence KL(q || p), in
    nats.

    Parameters
    ----------
    labels : array, shape (n,)
        Labels of one kind that can be ordered, numbers or text.
    classes : array, shape (K,), optional
        All labels there can be; by default those that occur. p is in their order, as in
        ``problem.classes``.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0 in place of ones; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For NaN, wrong shapes, bad weights, a label that is not among the classes.

    Notes
    -----
    This class lies in ``convexml.models.extras``.

    A solution holds "p", (K,); a dual point "nu" of sum(p) = 1 and "lambda" (K,) >= 0 of p >= 0.
    The dual maximises H(q) + 1 - nu + sum_k q_k log(nu - lambda_k), with lambda_k = nu for a class
    without samples. Gaps are measured on 1 nat. ``CategoricalLikelihood(others, classes=...)
    .objective(p)`` is the mean of -log p(x) on other samples.

    References
    ----------
    Cover and Thomas, *Elements of Information Theory* (2006), section 11.1.
    """

    methods: ClassVar[tuple[str, ...]] = ("newton",)
    _is_closed = True
    why: ClassVar[str] = "one Newton step on p nu = q, sum(p) = 1 from nu = 1, which is p = q"
    _constraint_of: ClassVar = {"nu": "total", "lambda": "nonnegative"}
    _entries: ClassVar[str] = ""
    """The entries of p, in LaTeX, where a point has another p."""
    classes: Array
    """The labels that p speaks of, (K,)."""
    program: Shares
    """The problem as its certificate sees it."""

    def __init__(self, labels: Any, classes: Any = None, *, sample_weight: Any = None) -> None:
        given, weights = read_label_samples(self.name, labels, "labels", sample_weight)
        own = distinct_labels(self.name, given, np.arange(len(given)), "labels")
        self.classes = own if classes is None else self._read_classes(classes, own)
        order = np.argsort(self.classes)
        index = order[np.searchsorted(self.classes, given, sorter=order)]
        self._labels, self._sample_weight, self._hyper = given, weights, {}
        sums = [math.fsum(weights[index == k].tolist()) for k in range(len(self.classes))]
        q = np.array(sums) / math.fsum(weights.tolist())
        lost = (np.array(sums) > 0.0) & (q < np.finfo(float).tiny)
        if np.any(lost):
            raise InputError(
                f"{self.name}: the share of class {self.classes[lost][0]!r} is beyond float64 "
                f"({q[lost][0]:g}); leave it out, or give its samples a larger sample_weight."
            )
        self.program = Shares(q)

    def _read_classes(self, classes: Any, own: Array) -> Array:
        """All classes, each once, in the order that they are passed."""
        known = read_labels(classes, self.name, "classes")
        if known.ndim != 1 or len(set(known.tolist())) != known.size or not known.size:
            raise InputError(
                f"{self.name}: classes must be a list of distinct labels, got {classes!r}. "
                "Pass each once."
            )
        lost = [label for label in own.tolist() if label not in known.tolist()]
        if lost:
            raise InputError(
                f"{self.name}: labels holds {lost[0]!r}, which is not among the classes "
                f"{known.tolist()!r}. Pass all classes, or none."
            )
        return known

    @property
    def shares(self) -> Array:
        """The empirical distribution q, (K,): the minimiser."""
        return self.program.q

    @property
    def entropy(self) -> float:
        """H(q) = -sum_k q_k log q_k in nats: the least value."""
        return self.program.entropy

    def divergence(self, *point: Any, **arrays: Any) -> float:
        """KL(q || p) = sum_k q_k log(q_k / p_k) in nats, the gap of p; inf where p has no bound."""
        return self.program.divergence(self._whole(self._read("divergence", point, arrays)[0]))

    def _whole(self, point: Arrays) -> Array:
        """The probability of every class."""
        return point["p"]

    def _point(self, p: Array) -> Arrays:
        """The arrays of the point whose probabilities these are."""
        return {"p": p}

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        K = len(self.shares)
        return {"p": (K,)}, {"nu": (), "lambda": (K,)}

    def _taken(self, point: Arrays) -> tuple[Any, ...]:
        return (self._whole(point),)

    def dual_objective(self, *dual: Any, **arrays: Any) -> float:
        """D at ``nu``, with the best ``lambda`` where none is passed; -inf where infeasible."""
        shapes = self.shapes()[1]
        given = self._arrays("dual_objective", dual, arrays, shapes, ("nu",))
        best = self.program.completed(None, given["nu"], given.get("lambda"))
        return self.program.dual_value(*best)

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        yield self._point(self.shares), {}

    # -- of samples: whatever x is ---------------------------------------------------------------

    def predict_proba(self, X: Any, primal: Arrays) -> Array:
        """p for each row of X, (n, K) in the order of ``classes``: nothing depends on x."""
        return np.tile(self._whole(primal), (len(X), 1))

    def predict(self, X: Any, primal: Arrays) -> Array:
        """The most probable class for each row of X."""
        return np.repeat(self.classes[[int(np.argmax(self._whole(primal)))]], len(X))

    def score(self: Any, X: Any, y: Any, primal: Arrays, sample_weight: Any = None) -> float:
        """Accuracy; the mean of -log p(x) on other samples is ``objective`` posed on these."""
        return score(self, X, y, primal, sample_weight)

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        p = cp.Variable(len(self.classes), name="p")
        return self._posed({"p": p}, p)

    def _posed(self, variables: dict[str, Any], whole: Any) -> Statement:
        """The primal in these variables, ``whole`` the probability of every class."""
        seen = np.flatnonzero(self.program.seen)
        constraints = {"total": cp.sum(whole) == 1.0, "nonnegative": whole >= 0.0}
        value = -(constant(self.shares[seen], "q") @ cp.log(entries(whole, seen, "I_seen")))
        return Statement.of(cp.Minimize(value), variables, constraints)

    def _pose_dual(self) -> Statement:
        seen, none = np.flatnonzero(self.program.seen), np.flatnonzero(~self.program.seen)
        nu, lam = cp.Variable(name="nu"), cp.Variable(len(self.shares), name="lambda")
        constraints = {"nonnegative": lam >= 0.0}
        if none.size:
            constraints["unseen"] = entries(lam, none, "I_unseen") == nu
        value = (
            self.entropy
            + 1.0
            - nu
            + constant(self.shares[seen], "q") @ cp.log(nu - entries(lam, seen, "I_seen"))
        )
        return Statement.of(cp.Maximize(value), {"nu": nu, "lambda": lam}, constraints)

    def _formulas(self) -> Latex:
        value, rows = r"-\sum_k q_k \log p_k", (r"\sum_k p_k = 1", r"p_k \ge 0")
        signs = r"\lambda_k \ge 0", r"\lambda_k = \nu \ (k : q_k = 0)"
        gain = r"H(q) + 1 - \nu + \sum_k q_k \log(\nu - \lambda_k)"
        return Latex(
            rf"\min_p\ {value}" + such_that(*rows),
            rf"{value} + \nu \Big(\sum_k p_k - 1\Big) - \sum_k \lambda_k p_k",
            rf"\max_{{\nu, \lambda}}\ {gain}" + such_that(*signs),
            (r"p_k (\nu - \lambda_k) = q_k", *rows, *signs, r"\lambda_k p_k = 0"),
            listed(
                r"H(q) = -\sum_k q_k \log q_k",
                r"q_k = \text{share of label } k",
                self._entries,
            ),
        )

    def __repr__(self) -> str:
        return f"{self.name}({len(self.shares)} classes)"


# Maximum likelihood of one probability.


class BernoulliLikelihood(CategoricalLikelihood):
    r"""Minimise the mean of -log p(x) over 0 <= p <= 1: -m log p - (1 - m) log(1 - p).

    x is 1 with probability p, else 0; m is the share of ones. The minimiser is m, the least value
    the entropy of m, and the gap of any p the Kullback-Leibler divergence KL(m || p), in nats.

    Parameters
    ----------
    x : array, shape (n,)
        Samples, 0 or 1 (or booleans).
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0 in place of ones; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For other values than 0 and 1, wrong shapes, bad weights.

    Notes
    -----
    This class lies in ``convexml.models.extras``.

    A solution holds "p", a number; a dual point "nu" of p + (1 - p) = 1 and "lambda" (2,) >= 0 of
    1 - p >= 0 and p >= 0. The dual maximises H(m) + 1 - nu + m log(nu - lambda_1) + (1 - m)
    log(nu - lambda_0). Gaps are measured on 1 nat.

    References
    ----------
    Cesari, *Machine Learning* (2025), chapter 3; Cover and Thomas, *Elements of Information Theory*
    (2006), section 11.1.
    """

    _entries: ClassVar[str] = r"p_0 = 1 - p,\ p_1 = p"

    def __init__(self, x: Any, *, sample_weight: Any = None) -> None:
        labels, weights = read_label_samples(self.name, x, "x", sample_weight)
        labels = labels.astype(float) if labels.dtype == bool else labels
        ones = finite_array(labels, self.name, "x")
        other = np.flatnonzero((ones != 0.0) & (ones != 1.0))
        if other.size:
            raise InputError(
                f"{self.name}: x must hold 0 and 1 only, got {ones[other[0]]:g}. Pass x == value, "
                "or take CategoricalLikelihood, which has labels of any kind."
            )
        super().__init__(ones.astype(int), [0, 1], sample_weight=weights)
        self._x = self._labels

    def shapes(self) -> tuple[Shapes, Shapes]:
        return {"p": ()}, {"nu": (), "lambda": (2,)}

    def _whole(self, point: Arrays) -> Array:
        p = float(point["p"])
        return np.array([1.0 - p, p])

    def _point(self, p: Array) -> Arrays:
        return {"p": np.array(p[1])}

    def _pose(self) -> Statement:
        p, rest = cp.Variable(name="p"), cp.Variable(name="rest")
        return self._posed({"p": p, "rest": rest}, cp.hstack([rest, p]))

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        values, duals = super()._posed_values(point, dual)
        return {**values, "rest": np.array(1.0 - float(point["p"]))}, duals
