"""AdaBoost: the exponential loss over decision stumps, by coordinate descent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...certificates import Certificate
from ...certificates.boosting.exponential import Exponentials
from ...errors import InputError
from ...losses import Exponential
from ...numerics import Array
from ...objective import Statement
from ...solvers.coordinate.boosting import boosting
from ...tex import listed
from ...validation import positive_integer
from ..arrays.problem import Arrays, Shapes
from ..base import Hyperparameter
from ..kernel.nu_samples import samples_from_dict, samples_to_dict
from ..latex import WEIGHTS, Latex, such_that
from ..problem import LearningProblem
from ..reading.inputs import expand
from ..reading.matrix import read_matrix
from ..reading.names import match_columns
from ..solution import Solution
from .base import Boosted
from .program import exponential_loss, exponentials
from .stumps import dense_of, names_of, read_stumps


class AdaBoost(Boosted):
    r"""Minimise sum_i s_i e^{-y_i (H w)_i} / sum_i s_i over the stumps of X, by rounds.

    Column j of H is a decision stump, as ``stumps(X)`` lists them; no intercept. A round takes the
    stump of the least weighted error and the best weight for it, log((1 - error) / error) / 2:
    coordinate descent with an exact line search. scikit-learn's AdaBoostClassifier has twice these
    weights.

    Parameters
    ----------
    X : array, sparse matrix or data frame, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    rounds : int
        How many, 1 or more.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For rounds that are no whole number above 0, other than two classes, NaN or infinite
        entries, wrong shapes, bad weights, an X all of whose columns are constant.

    Notes
    -----
    The dual maximises sum_i c_i (p_i - p_i log p_i), c_i = s_i / sum s, p_i = -y_i u_i / c_i >= 0,
    subject to H'u = 0. After the rounds the status is "inaccurate" with a verified gap, unless the
    optimum is reached. Where the stumps separate the classes, as those of a feature without ties
    do, the infimum is 0 and no w attains it: then the gap is P itself; ``find_evidence`` proves it.
    A bound that can meet P is looked for where there are at most 1000 thresholds, and n times their
    number is at most 2^24, samples of one class that no stump tells apart taken for one; beyond, P
    is at least what samples of both classes cost that no stump tells apart.

    References
    ----------
    Freund and Schapire, *A decision-theoretic generalization of on-line learning*, Journal of
    Computer and System Sciences 55 (1997), https://doi.org/10.1006/jcss.1997.1504.
    """

    methods: ClassVar[tuple[str, ...]] = ("boosting",)
    why: ClassVar[str] = "it is what the rounds are"
    _asks = False
    rounds = Hyperparameter()

    def __init__(self, X: Any, y: Any, rounds: int, *, sample_weight: Any = None) -> None:
        self._read_samples(X, y, sample_weight)
        self._stumps = read_stumps(self.name, self._samples.X)
        self._hyper = self._check(rounds=rounds)

    def _check(self, **hyper: Any) -> dict[str, Any]:
        return {"rounds": positive_integer(hyper["rounds"], self.name, "rounds")}

    @property
    def stumps(self) -> list[str]:
        """The stumps in words, in the order of w."""
        return self._stumps.names(names_of(self.features, self._stumps))

    @cached_property
    def program(self) -> Exponentials:
        """The problem as its certificate sees it."""
        return exponentials(self.name, self._stumps, self._samples.y, self._samples.weights)

    def margins(self, w: Any) -> Array:
        """y_i (H w)_i of the samples that have a weight, in their order.

        Parameters
        ----------
        w : array, shape (m,)
            Weights of the stumps.
        """
        return self.program.margins(self._arrays("margins", (w,), {}, self.shapes()[0])["w"])

    def find_evidence(self, w: Any = None, *, tol: float = 1e-6) -> Certificate | None:
        """Verified evidence that the stumps separate the classes: the infimum 0 is not attained.

        Parameters
        ----------
        w : array, shape (m,), optional
            Weights whose sum may separate them; those after the rounds by default.
        tol : float
            As of ``certify``.

        Returns
        -------
        Certificate or None
            Of the claim "unattained"; None where w does not separate them.
        """
        if w is None:
            *_, (last, _) = boosting(self._stumps, self.program.y, self.program.c, self.rounds)
        else:
            last = self._arrays("find_evidence", (w,), {}, self.shapes()[0])["w"]
        return self.program.separation(last, tol)

    # -- as the base asks ------------------------------------------------------------------------

    def shapes(self) -> tuple[Shapes, Shapes]:
        return {"w": (self._stumps.count,)}, {"u": (self._samples.total,)}

    def _value(self, point: Arrays) -> float:
        return self.program.cost(point["w"])[0]

    def _dual_value(self, dual: Arrays) -> float:
        return self.program.dual_value(dual["u"][self._samples.kept])

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate:
        u = dual["u"][self._samples.kept] if "u" in dual else None
        found = self.program.certify(point["w"], u, tol, search=search)
        return found.but(dual={"u": expand(found.dual["u"], self._samples)})

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]:
        program = self.program
        for w, is_last in boosting(self._stumps, program.y, program.c, self.rounds):
            self._promise = 0.0 if is_last else np.inf
            yield {"w": w}, {}

    def _absence(self, tol: float) -> Certificate | None:
        """A single stump that separates the classes: the best weight for it is infinite."""
        edges = self._stumps.rmatvec(self._samples.y)
        w = np.zeros(edges.size)
        w[np.argmax(edges)] = 1.0
        return self.program.separation(w, tol)

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Run the rounds, then certify, as every problem; CVXPY's solvers solve to the end."""
        self._samples.refuse_changed(self.name)
        if options.get("max_iter") is None and solver in ("auto", *self.methods):
            options["max_iter"] = self.rounds + 1
        return super().solve(solver, **options)

    def decision_function(self, X: Any, primal: Arrays) -> Array:
        """H w for new samples, with the same thresholds, shape (k,).

        Raises
        ------
        InputError
            For another number of columns.
        """
        new = read_matrix(self.name, match_columns(self.name, X, self.features))
        values = np.asarray(new.toarray() if hasattr(new, "indptr") else new)
        width = self._samples.X.shape[1]
        if values.shape[1] != width:
            raise InputError(
                f"{self.name}: X has {values.shape[1]} columns, the model was posed with {width}."
            )
        return self._stumps.of(values).matvec(primal["w"])

    # -- posed with CVXPY, stored, told in LaTeX -------------------------------------------------

    @cached_property
    def _whole(self) -> LearningProblem:
        H = dense_of(self.name, self._stumps)
        whole = exponential_loss(H, self._samples.y, self._samples.weights)
        whole._design_name = "H"
        return whole

    def _pose(self) -> Statement:
        return self._whole.statement

    def _pose_dual(self) -> Statement:
        return self._whole.dual_statement

    def _read_duals(self) -> Arrays:
        u = self.constraints["prediction"].dual_value
        return {} if u is None else {"u": expand(np.asarray(u), self._samples)}

    def _posed_values(self, point: Arrays, dual: Arrays) -> tuple[Arrays, Arrays]:
        values = {"w": point["w"], "z": self._stumps.matvec(point["w"])}
        known = {name: value for name, value in values.items() if name in self.variables}
        return known, {"prediction": dual["u"][self._samples.kept]}

    def to_dict(self) -> dict[str, Any]:
        """The rows kept, their labels and weights, and the rounds."""
        return {"kind": self.name, "rounds": self.rounds, **samples_to_dict(self._samples, None)}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> AdaBoost:
        """Pose the problem again that ``to_dict`` described; dropped rows have weight 0."""
        (X, y), _, weights = samples_from_dict(stored)
        return cls(X, y, stored["rounds"], sample_weight=weights)

    def _formulas(self) -> Latex:
        c, push = r"\tfrac{s_i}{\sum_l s_l}", r"y_i (H w)_i"
        cost = rf"\sum_i {c} e^{{-y_i z_i}}"
        return Latex(
            rf"\min_{{w, z}}\ {cost}" + such_that("H w = z"),
            rf"{cost} + u^\top (H w - z)",
            rf"\max_u\ \sum_i {c} (p_i - p_i \log p_i)"
            + such_that(rf"u_i = -{c} y_i p_i", r"p \ge 0", r"H^\top u = 0"),
            (rf"p_i = e^{{-{push}}}", r"H^\top u = 0", "H w = z", r"p \ge 0"),
            listed(f"c_i = {c}", r"H_{ij} = \text{what stump } j \text{ says of } x_i", WEIGHTS),
            eliminated=Exponential().tex().helpers,
            over=("z", "w"),
        )

    def __repr__(self) -> str:
        n, d = self._samples.X.shape
        return f"{self.name}({n} samples, {d} features, {self.rounds} rounds)"
