"""The k nearest neighbours as a linear program."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.combinatorial.neighbours import NAMES, Neighbours
from ...errors import InputError
from ...numerics import Array
from ...objective import Statement, label_all
from ...objective.linear.distances import Distances, distances_of
from ...solvers.exact.sorting import sorting
from ...terms import constant
from ...tex import listed
from ...validation import finite_array, positive_integer, read_labels, refuse_masked
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..base import Hyperparameter
from ..latex import Latex, such_that
from ..reading.matrix import read_matrix
from ..reading.names import NamedColumns, column_names, match_columns


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

    def _value(self, point: Arrays) -> float:
        return self.program.value(point["p"])

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
        import cvxpy as cp

        p = cp.Variable(self.distances.values.shape, name="p")
        constraints = {"sum": cp.sum(p, axis=1) == 1.0, "lower": p >= 0.0, "upper": p <= 1 / self.k}
        value = cp.sum(cp.multiply(self._costs, p))
        problem = cp.Problem(cp.Minimize(value), label_all(constraints))
        return Statement(problem, {"p": p}, constraints)

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

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
        problem = cp.Problem(cp.Maximize(value), label_all(constraints))
        return Statement(problem, dict(zip(NAMES, (nu, lower, upper), strict=True)), constraints)

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
