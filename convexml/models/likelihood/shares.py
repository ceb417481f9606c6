"""The base of likelihoods of labels alone: what their shares say, and the probabilities p."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.likelihood.shares import Shares
from ...errors import InputError
from ...numerics import Array
from ...objective import Statement, label_all
from ...terms import constant, entries
from ...tex import listed
from ...validation import read_labels
from ..arrays.problem import ArrayProblem, Arrays, Shapes
from ..latex import Latex, such_that
from ..learning.prediction import score
from ..reading.inputs import read_weights


class LabelLikelihood(ArrayProblem):
    """Minimise -sum_k q_k log p_k over the simplex, q_k the share of class k among the labels."""

    methods: ClassVar[tuple[str, ...]] = ("newton",)
    why: ClassVar[str] = "one Newton step on p nu = q, sum(p) = 1 from nu = 1, which is p = q"
    _entries: ClassVar[str] = ""
    """The entries of p, in LaTeX, where a point has another p."""
    classes: Array
    """The labels that p speaks of, (K,)."""

    def _count(self, index: Array, weights: Array, K: int) -> None:
        """Find the shares of classes 0 ... K - 1; sums are rounded once."""
        sums = [math.fsum(weights[index == k].tolist()) for k in range(K)]
        q = np.array(sums) / math.fsum(weights.tolist())
        lost = (np.array(sums) > 0.0) & (q < np.finfo(float).tiny)
        if np.any(lost):
            raise InputError(
                f"{self.name}: the share of class {self.classes[lost][0]!r} is beyond float64 "
                f"({q[lost][0]:g}); leave it out, or give its samples a larger sample_weight."
            )
        self._hyper, self._shares = {}, Shares(q)

    @property
    def shares(self) -> Array:
        """The empirical distribution q, (K,): the minimiser."""
        return self._shares.q

    @property
    def entropy(self) -> float:
        """H(q) = -sum_k q_k log q_k in nats: the least value."""
        return self._shares.entropy

    def divergence(self, *point: Any, **arrays: Any) -> float:
        """KL(q || p) = sum_k q_k log(q_k / p_k) in nats, the gap of p; inf where p has no bound."""
        return self._shares.divergence(self._whole(self._read("divergence", point, arrays)[0]))

    @abstractmethod
    def _whole(self, point: Arrays) -> Array:
        """The probability of every class."""

    @abstractmethod
    def _point(self, p: Array) -> Arrays:
        """The arrays of the point whose probabilities these are."""

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        K = len(self.shares)
        return {"p": (K,)}, {"nu": (), "lambda": (K,)}

    def _value(self, point: Arrays) -> float:
        return self._shares.value(self._whole(point))

    def dual_objective(self, *dual: Any, **arrays: Any) -> float:
        """D at ``nu``, with the best ``lambda`` where none is passed; -inf where infeasible."""
        shapes = self.shapes()[1]
        given = self._arrays("dual_objective", dual, arrays, shapes, ("nu",))
        return self._dual_value({**self._shares.best_dual(given["nu"]), **given})

    def _dual_value(self, dual: Arrays) -> float:
        return self._shares.dual_value(dual)

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        found = self._shares.certify(self._whole(point), dual, tol)
        if found.witness is None:
            return found
        return found.but(witness={**found.witness, **self._point(found.witness["p"])})

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        yield self._point(self.shares), {}

    # -- of samples: whatever x is ---------------------------------------------------------------

    def predict_proba(self, X: Any, primal: Arrays) -> Array:
        """p for each row of X, (n, K) in the order of ``classes``: nothing depends on x."""
        return np.tile(self._whole(primal), (len(X), 1))

    def predict(self, X: Any, primal: Arrays) -> Array:
        """The most probable class for each row of X."""
        return np.repeat(self.classes[[int(np.argmax(self._whole(primal)))]], len(X))

    def score(self, X: Any, y: Any, primal: Arrays, sample_weight: Any = None) -> float:
        """Accuracy; the mean of -log p(x) on other samples is ``objective`` posed on these."""
        problem: Any = self
        return score(problem, X, y, primal, sample_weight)

    # -- posed with CVXPY, told in LaTeX ---------------------------------------------------------

    def _posed(self, variables: dict[str, Any], whole: Any) -> Statement:
        """The primal in these variables, ``whole`` the probability of every class."""
        import cvxpy as cp

        seen = np.flatnonzero(self._shares.seen)
        constraints = {"total": cp.sum(whole) == 1.0, "nonnegative": whole >= 0.0}
        value = -(constant(self.shares[seen], "q") @ cp.log(entries(whole, seen, "I_seen")))
        problem = cp.Problem(cp.Minimize(value), label_all(constraints))
        return Statement(problem, variables, constraints)

    def _pose_dual(self) -> Statement:
        import cvxpy as cp

        seen, none = np.flatnonzero(self._shares.seen), np.flatnonzero(~self._shares.seen)
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
        problem = cp.Problem(cp.Maximize(value), label_all(constraints))
        return Statement(problem, {"nu": nu, "lambda": lam}, constraints)

    def _read_duals(self) -> Arrays:
        rows = self.constraints
        found = {"nu": rows["total"].dual_value, "lambda": rows["nonnegative"].dual_value}
        return {name: np.array(value) for name, value in found.items() if value is not None}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        labels = {"nu": "total", "lambda": "nonnegative"}
        return point, {labels[name]: value for name, value in dual.items()}

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
