"""Convex clustering, and a bound of what any clustering by k means costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..certificates.clustering import Fusion, Partition
from ..errors import InputError
from ..formulas import constant
from ..numerics import Array, gamma
from ..problem import Statement
from ..problem.geometry import numbered
from ..progress import watched
from ..validation import finite_array, nonnegative_number, positive_integer, read_labels
from .arrays import ArrayProblem, Arrays, Shapes, SumProblem
from .base import Hyperparameter
from .inputs import SYMMETRIC, Samples, distinct_labels, read_rows, refuse_pairs, refuse_squares
from .latex import Latex, such_that
from .pictures.answers import draw_blocks, draw_points
from .solution import Solution, SolutionPath

# The solutions of convex clustering along lam: what merged, and what came apart again.


class ClusterPath(SolutionPath):
    """Solutions in the order of ``lams``, a list, and the clusters of each.

    Attributes
    ----------
    lams : array, shape (m,)
    labels : array of int, shape (m, n)
        The cluster of each sample, numbered in the order of their first samples.
    counts : array of int, shape (m,)
        The number of clusters.
    splits : list of tuple
        (lam, i, j): samples that share a cluster at a smaller lam and not at this one. With equal
        weights the clusters are nested, and what is found here is within the tolerance.
    """

    def __init__(self, solutions: Sequence[Any], lams: Any) -> None:
        super().__init__("lam", lams, solutions)
        self.labels = np.array([numbered(each.primal["U"]) for each in solutions])
        self.counts = self.labels.max(axis=1) + 1
        self.splits: list[tuple[float, int, int]] = []
        for before, after in pairwise(np.argsort(self.lams, kind="stable")):
            one, other, lam = self.labels[before], self.labels[after], float(self.lams[after])
            parts = np.sort(np.unique([one, other], axis=1, return_index=True)[1])
            pairs = [(int(np.argmax(one == one[i])), int(i)) for i in parts]
            self.splits += [(lam, *pair) for pair in pairs if pair[0] != pair[1]]

    @property
    def is_tree(self) -> bool:
        """Whether no cluster comes apart as lam grows."""
        return not self.splits


class ConvexClustering(SumProblem):
    r"""Minimise (1/2) sum_i |x_i - U_i|^2 + lam sum_{i<j} w_ij |U_i - U_j|.

    The norm is the Euclidean one. Samples with one U are a cluster; for lam = 0 each is its own,
    for large lam all are one, at the mean.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows; some hundreds, as there are n (n - 1) / 2 pairs.
    lam : float
        Strength >= 0.
    weights : array, shape (n, n), optional
        Symmetric, w_ij >= 0; ones by default. The diagonal does not count.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, weights that are negative or not symmetric, a
        negative lam.

    Notes
    -----
    The dual maximises <V, A X> - |A'V|^2 / 2 over V_ij with |V_ij| <= lam w_ij, A the differences
    of pairs; U = X - A'V. With equal weights the clusters merge along lam as a tree (Chiquet,
    Gutierrez and Rigaill, 2017, https://doi.org/10.1080/10618600.2016.1200469); with others
    they may come apart, which ``path`` reports. Hocking et al., *Clusterpath* (2011).
    """

    lam = Hyperparameter()
    methods: ClassVar[tuple[str, ...]] = ("fista",)
    why: ClassVar[str] = "the dual is a projection on balls, with a step of 1/n"
    _asks = False
    _closer = 0.25
    _samples: Samples
    weights: Array
    """Of the pairs i < j, (n (n - 1) / 2,), in the order of ``numpy.triu_indices``."""

    def __init__(self, X: Any, lam: float, weights: Any = None) -> None:
        self._samples = rows = read_rows(self.name, X, None)
        n = len(rows.X)
        spread = n * float(np.sum(np.square(rows.X - rows.X.mean(axis=0))))
        refuse_squares(self.name, "squared distances of X", rows.X, spread)
        self._weights = self._read_weights(weights, n)
        self.weights = self._weights[np.triu_indices(n, 1)]
        self._hyper = self._check(lam=lam)

    def _read_weights(self, weights: Any, n: int) -> Array:
        if weights is None:
            return np.ones((n, n))
        read = finite_array(weights, self.name, "weights")
        if read.shape != (n, n):
            raise InputError(
                f"{self.name}: weights must have shape ({n}, {n}), one for each pair of samples, "
                f"got {read.shape}."
            )
        refuse_pairs(self.name, "weights", read, read < 0.0, ">= 0")
        refuse_pairs(self.name, "weights", read, read != read.T, SYMMETRIC)
        return read

    def _check(self, **hyper: Any) -> dict[str, Any]:
        lam = nonnegative_number(hyper["lam"], self.name, "lam")
        with np.errstate(over="ignore"):
            if not np.isfinite(lam * self.weights.sum() * len(self._samples.X)):
                raise InputError(f"{self.name}: lam times the weights is beyond float64.")
        return {"lam": lam}

    @cached_property
    def program(self) -> Fusion:
        """The problem as its certificate sees it."""
        return Fusion(self._samples.X, self.lam, self.weights)

    def labels(self, U: Any) -> Array:
        """The clusters of U (n, d), (n,): rows that are equal have the same number, from 0."""
        return numbered(self._read("labels", (U,), {})[0]["U"])

    def path(self, lams: Any = None, *, everywhere: float | None = None, **kwargs: Any) -> Any:
        """Solve for each lam in turn, warm started.

        Parameters
        ----------
        lams : sequence of float
        everywhere : float, optional
            No bound between two values of lam is known: it is refused.
        **kwargs
            Passed to ``solve``.

        Returns
        -------
        ClusterPath
            The solutions, a list, with ``.labels``, ``.counts``, ``.splits`` and ``.is_tree``.
        """
        return ClusterPath(super().path(lams, everywhere=everywhere, **kwargs), lams)

    # -- as the base asks ------------------------------------------------------------------------

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        program = self.program
        start = {"V": program.A @ self._samples.X / len(self._samples.X)}
        for U, V, share in program.rounds((self._warm or start)["V"]):
            self._promise, self._warm = share, {"V": V}
            yield {"U": U}, {"V": V}

    def draw(self, axes: Any, solution: Solution) -> None:
        """Samples and the centers that they were drawn to, in the plane."""
        centers = np.unique(solution.primal["U"], axis=0)
        words = f"{len(self._samples.X)} samples, {len(centers)} centers"
        draw_points(axes, self._samples.X, centers, words, self.features)

    # -- told in LaTeX -----------------------------------------------------------------------------

    def _formulas(self) -> Latex:
        fit = r"\tfrac12 \sum_i \|x_i - U_i\|_2^2"
        cost = rf"{fit} + \lambda \sum_{{i < j}} w_{{ij}} \|Z_{{ij}}\|_2"
        pull = r"\sum_{j > i} V_{ij} - \sum_{j < i} V_{ji}"
        ball = r"\|V_{ij}\|_2 \le \lambda w_{ij}"
        slack = r"V_{ij}^\top (U_i - U_j) = \lambda w_{ij} \|U_i - U_j\|_2"
        dual = r"\sum_{i < j} V_{ij}^\top (x_i - x_j)"
        return Latex(
            rf"\min_{{U, Z}}\ {cost}" + such_that("Z_{ij} = U_i - U_j"),
            rf"{cost} + \sum_{{i < j}} V_{{ij}}^\top (U_i - U_j - Z_{{ij}})",
            rf"\max_V\ {dual} - \tfrac12 \sum_i \Big\|{pull}\Big\|_2^2" + such_that(ball),
            (rf"U_i = x_i - \left({pull}\right)", ball, slack, "Z_{ij} = U_i - U_j"),
            r"w_{ij} = \text{weight of a pair}",
            over=("U", "Z"),
        )

    def __repr__(self) -> str:
        n, d = self._samples.X.shape
        return f"{self.name}(n={n}, d={d}, lam={self.lam:g})"


# How far a clustering can be from the best: the semidefinite relaxation of k-means.


class JudgedClustering(NamedTuple):
    """What labels cost, a number that no labels are below, and (cost - bound) / cost."""

    cost: float
    bound: float
    relative_gap: float


class KMeansBound(ArrayProblem):
    r"""Minimise (1/2) <D, Z> s.t. Z 1 = 1, tr Z = k, Z >= 0 entry by entry, Z semidefinite.

    D_ij = |x_i - x_j|^2. Labels of k clusters are a feasible Z, Z_ij = 1 / (size of the cluster)
    where i and j share one, whose objective is sum_i |x_i - center|^2: the optimal value P* is a
    lower bound on what any clustering costs. ``solution.objective`` is the value of a Z, at P* or
    above it; ``solution.bound`` is proved to be below P*, so that no clustering costs less.
    ``judge`` says how far labels can be from the best.

    Parameters
    ----------
    X : array, shape (n, d)
        Samples in rows; some hundreds, as each step takes n^3.
    k : int
        Number of clusters, 1 <= k <= n.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, distances beyond float64, a k that is no whole
        number from 1 to n.

    Notes
    -----
    The dual maximises 1'alpha + k lambda_min(D/2 - N - (alpha 1' + 1 alpha')/2) over N >= 0; any
    alpha and N give a bound, proved with its rounding. -alpha is the multiplier of Z 1 = 1. Where
    the relaxation is tight Z is a clustering. Peng and Wei, *Approximating k-means-type clustering
    via semidefinite programming* (2007), https://doi.org/10.1137/050641983.
    """

    k = Hyperparameter()
    methods: ClassVar[tuple[str, ...]] = ("admm",)
    why: ClassVar[str] = (
        "it splits averaging matrices from nonnegative ones, by eigenvectors; an iteration is 20 "
        "of its steps"
    )
    bounds: ClassVar[str] = "every clustering's cost"
    slater = (
        r"Z = \tfrac{k - 1}{n - 1} I + \tfrac{n - k}{n (n - 1)} \mathbf{1} \mathbf{1}^\top"
        r"\ \text{for } 1 < k < n"
    )
    _asks = False
    _closer = 0.25
    _samples: Samples
    half_distances: Array
    """D / 2, (n, n)."""

    def __init__(self, X: Any, k: int) -> None:
        from scipy.spatial.distance import cdist

        self._samples = rows = read_rows(self.name, X, None)
        self.half_distances = 0.5 * cdist(rows.X, rows.X, "sqeuclidean")
        total = len(rows.X) * float(self.half_distances.sum())
        refuse_squares(self.name, "squared distances of X", rows.X, total)
        self._hyper = self._check(k=k)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        k, n = positive_integer(hyper["k"], self.name, "k"), len(self.half_distances)
        if k > n:
            raise InputError(f"{self.name}: k = {k}; there are {n} samples, take 1 <= k <= {n}.")
        return {"k": k}

    @property
    def program(self) -> Partition:
        """The problem as its certificate sees it."""
        return Partition(self.half_distances, gamma(self._samples.X.shape[1] + 8), self.k)

    @watched
    def judge(self, labels: Any, *, tol: float = 1e-6, **limits: Any) -> JudgedClustering:
        """Say how far labels can be from the best clustering into at most k.

        Parameters
        ----------
        labels : array, shape (n,)
            The cluster of each sample, whoever found them; at most k different ones.
        tol : float
            How close the bound is to come to the relaxation, where the problem is not solved yet.
        **limits
            ``max_seconds`` or ``max_iter`` of that, and ``progress``.

        Returns
        -------
        JudgedClustering
            cost = sum_i |x_i - center|^2, bound, and relative_gap = (cost - bound) / cost >= 0.
        """
        cost = self.cost(labels)
        last = self._last if self._last is not None else self.solve(tol=tol, **limits)
        bound = min(max(last.bound, 0.0), cost)
        return JudgedClustering(cost, bound, (cost - bound) / cost if cost > 0.0 else 0.0)

    def cost(self, labels: Any) -> float:
        """The sum of squared distances of the samples from the mean of their cluster."""
        return float(sum(_inertia(self._samples.X[group]) for group in self._groups(labels)))

    def matrix(self, labels: Any) -> Array:
        """The Z of labels, (n, n): a feasible point with their cost."""
        Z = np.zeros_like(self.half_distances)
        for group in self._groups(labels):
            Z[np.ix_(group, group)] = 1.0 / len(group)
        return Z

    def _groups(self, labels: Any) -> list[Array]:
        owner, n = f"{self.name}.judge", len(self.half_distances)
        read = read_labels(labels, owner, "labels")
        if read.shape != (n,):
            raise InputError(
                f"{owner}: labels must have one entry per row of X ({n}), got shape {read.shape}."
            )
        found = distinct_labels(owner, read, np.arange(n), "labels")
        if len(found) > self.k:
            raise InputError(
                f"{owner}: there are {len(found)} clusters, and the bound is for at most k = "
                f"{self.k}; pose KMeansBound(X, {len(found)})."
            )
        return [np.flatnonzero(read == label) for label in found]

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        n = len(self.half_distances)
        return {"Z": (n, n)}, {"alpha": (n,), "N": (n, n)}

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        for Z, N, share in self.program.rounds():
            self._promise = share
            yield {"Z": Z}, {"N": N}

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    def _pose(self) -> Statement:
        import cvxpy as cp

        n = len(self.half_distances)
        Z = cp.Variable((n, n), name="Z", symmetric=True)
        k = cp.Parameter(name="k", nonneg=True, value=self.k)
        constraints = {
            "rows": cp.sum(Z, axis=1) == 1,
            "trace": cp.trace(Z) == k,
            "nonnegative": Z >= 0,
            "semidefinite": Z >> 0,
        }
        value = cp.sum(cp.multiply(constant(self.half_distances, "(D / 2)"), Z))
        return Statement.of(cp.Minimize(value), {"Z": Z}, constraints, {"k": k})

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        n = len(self.half_distances)
        k = cp.Parameter(name="k", nonneg=True, value=self.k)
        alpha = cp.Variable(n, name="alpha")
        N = cp.Variable((n, n), name="N", symmetric=True)
        across = cp.reshape(alpha, (n, 1), order="F") @ constant(np.ones((n, 1)), "1").T
        M = constant(self.half_distances, "(D / 2)") - N - (across + across.T) / 2
        constraints = {"nonnegative": N >= 0}
        value = cp.sum(alpha) + k * cp.lambda_min(M)
        return Statement.of(cp.Maximize(value), {"alpha": alpha, "N": N}, constraints, {"k": k})

    def _read_duals(self) -> Arrays:
        rows, signs = (self.constraints[label].dual_value for label in ("rows", "nonnegative"))
        return {} if rows is None or signs is None else {"alpha": -rows, "N": np.array(signs)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        M, least = self.program.reduced(dual["alpha"], dual["N"])
        return point, {
            "rows": -dual["alpha"],
            "trace": np.array(-least),
            "nonnegative": dual["N"],
            "semidefinite": M - least * np.eye(len(M)),
        }

    def _formulas(self) -> Latex:
        value, M = r"\tfrac12 \langle D, Z\rangle", r"M(\alpha, N)"
        whole = r"\tfrac12 D - N - \tfrac12(\alpha \mathbf{1}^\top + \mathbf{1} \alpha^\top)"
        sets = r"Z\mathbf{1} = \mathbf{1}", r"\operatorname{tr} Z = k", r"Z \ge 0", r"Z \succeq 0"
        least = rf"\lambda_{{\min}}({M})"
        terms = r"\alpha^\top (\mathbf{1} - Z\mathbf{1}) - \langle N, Z\rangle"
        return Latex(
            rf"\min_Z\ {value}" + such_that(*sets, r"D_{ij} = \|x_i - x_j\|_2^2"),
            rf"{value} + {terms},\quad Z \succeq 0,\ \operatorname{{tr}} Z = k",
            rf"\max_{{\alpha, N}}\ \mathbf{{1}}^\top \alpha + k {least}"
            + such_that(r"N \ge 0", rf"{M} = {whole}"),
            (*sets, r"N \ge 0", r"N_{ij} Z_{ij} = 0", rf"\langle {M}, Z\rangle = k {least}"),
        )

    def draw(self, axes: Any, solution: Any) -> None:
        draw_blocks(axes, solution.primal["Z"], solution.objective - solution.gap)

    def __repr__(self) -> str:
        return "{}(n={}, d={}, k={})".format(self.name, *self._samples.X.shape, self.k)


def _inertia(X: Array) -> float:
    """Sum_i |x_i - m|^2, m the mean of the rows."""
    R = X - X.mean(axis=0)
    R = R - R.mean(axis=0)
    return float(np.sum(R * R))
