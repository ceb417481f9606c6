"""Any loss with any penalty: the general learning problem, and the base of the textbook models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..design import as_design
from ..errors import InputError
from ..losses import Loss
from ..numerics import Array
from ..penalties import Penalty
from ..validation import positive_number
from .judged import JudgedProblem
from .latex import latex_of
from .learning.outcomes import judge
from .learning.solving import solve_learning
from .learning.stored import learning_to_dict
from .reading.inputs import read_matrix
from .solution import Solution


class LearningProblem(JudgedProblem):
    """Minimise P(w, b) = sum_i c_i l(y_i, x_i.w + b) + Omega(w).

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Targets: real numbers, two labels of any kind (the larger is +1), or counts >= 0, as the
        loss requires.
    loss : Loss
        For example ``losses.Huber(1.0)``.
    penalty : Penalty
        For example ``penalties.L1(0.1)``. The intercept b is never penalised.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.
    loss_scale : "mean", "sum" or float
        c_i = s_i / sum(s), s_i, or the number times s_i.

    Raises
    ------
    InputError
        For NaN or infinite entries, wrong shapes, labels that do not fit the loss, bad weights.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        penalty: Penalty,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        loss_scale: str | float = "mean",
    ) -> None:
        if not isinstance(loss, Loss):
            raise InputError(f"LearningProblem: loss must be a Loss, got {loss!r}.")
        if not isinstance(penalty, Penalty):
            raise InputError(f"LearningProblem: penalty must be a Penalty, got {penalty!r}.")
        if isinstance(loss_scale, str) and loss_scale not in ("mean", "sum"):
            raise InputError(
                f"LearningProblem: loss_scale must be 'mean', 'sum' or a number > 0, "
                f"got {loss_scale!r}."
            )
        if not isinstance(loss_scale, str):
            loss_scale = positive_number(loss_scale, "LearningProblem", "loss_scale")
        self._loss, self._penalty, self._loss_scale = loss, penalty, loss_scale
        self._start(X, y, fit_intercept, sample_weight)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str | float]:
        return self._loss, self._penalty, self._loss_scale

    def solve(self, solver: str = "auto", **options: Any) -> Solution:
        """Solve, polish, certify.

        Parameters
        ----------
        solver : str
            A registered name, or "auto".
        **options
            tol=1e-6, max_seconds=None, max_iter=None, seed=0, w0=None, progress=False,
            polish=True, and what the solver itself takes.

        Returns
        -------
        Solution

        Raises
        ------
        UnknownSolverError, UnsuitableSolverError
            If there is no such solver, or it cannot solve this problem.
        """
        solution = solve_learning(self, solver, **options)
        self._last = solution
        if self._statement is not None:
            self._fill()
        return solution

    def latex(self) -> str:
        """Return primal, Lagrangian, dual and KKT conditions as one LaTeX ``aligned`` block."""
        samples, scale = self._samples, self._made(self._hyper)[2]
        weighted = len(samples.kept) < samples.total or bool(np.any(samples.weights != 1.0))
        textbook, kernel = bool(self.multiplier_names), getattr(self, "kernel", None)
        return str(
            latex_of(
                self.objective_parts, scale, weighted=weighted, textbook=textbook, kernel=kernel
            )
        )

    def __repr__(self) -> str:
        parts = self.objective_parts
        hyper = self._hyper
        if type(self) is LearningProblem:
            hyper = {"loss": parts.loss, "penalty": parts.penalty}
        shown = {name: value for name, value in hyper.items() if np.ndim(value) == 0}
        settings = "".join(f", {name}={value!r}" for name, value in shown.items())
        return f"{self.name}(n={parts.n}, d={self._samples.X.shape[1]}{settings})"

    # -- predictions, storage ----------------------------------------------------------------

    def decision_function(self, X: Any, primal: Mapping[str, Array]) -> Array:
        """X w + b for new samples, shape (n,), or (n, K) for K classes."""
        matrix = read_matrix(self.name, X)
        features = self._samples.X.shape[1]
        if matrix.shape[1] != features:
            raise InputError(
                f"{self.name}: X has {matrix.shape[1]} features, the model was posed with "
                f"{features}."
            )
        return as_design(matrix).matvec(primal["w"]) + primal["b"]

    def predict(self, X: Any, primal: Mapping[str, Array]) -> Array:
        """Predictions for new samples, in the caller's labels for classification."""
        scores = self.decision_function(X, primal)
        if self.classes is not None and scores.ndim == 2:
            return self.classes[scores.argmax(axis=1)]
        if self.classes is not None:
            return self.classes[(scores > 0.0).astype(int)]
        return np.exp(scores) if self.objective_parts.loss.labels == "count" else scores

    def to_dict(self) -> dict[str, Any]:
        """The data and hyperparameters, enough to pose the problem again."""
        return learning_to_dict(self)

    def recertify(
        self, primal: Mapping[str, Array], dual: Mapping[str, Array], document: Mapping[str, Any]
    ) -> Solution:
        """Judge a stored point again; nothing that the document claims is used."""
        return judge(self, primal, dual, document)
