"""What cross-validation found: scores of every fold at every value, each with its gap."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...certificates import Certificate
from ...numerics import Array
from ..learning.posed import Values
from ..solution import Solution
from .splits import Split, posed_on

SHOWN = 40
"""Rows of the table, at most."""


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Scores over the folds, and the problem solved again at the best value.

    Attributes
    ----------
    problem : posed problem
        What was cross-validated, with the hyperparameters of that moment.
    name : str
        "lam", "C" or "radius".
    lams : array, shape (m,)
        Its values, in the order given.
    splits : list of pairs of index arrays
        Rows to fit and rows to test of each fold, among the samples of positive weight.
    scores, gaps : array, shape (folds, m)
        The score of each fit on a fold, lower is better, and its verified relative gap.
    points : list of lists of dicts
        The points themselves, by fold and value.
    tol : float
        The relative gap that was asked for.
    """

    problem: Any
    name: str
    lams: Array
    splits: list[Split]
    scores: Array
    gaps: Array
    points: list[list[Values]] = field(repr=False)
    tol: float

    @property
    def mean(self) -> Array:
        """The mean score over the folds, shape (m,)."""
        found: Array = self.scores.mean(axis=0)
        return found

    @property
    def std(self) -> Array:
        """Its standard deviation over the folds, shape (m,)."""
        found: Array = self.scores.std(axis=0)
        return found

    @property
    def best_lam(self) -> float:
        """The value of least mean score; the first of several."""
        mean = self.mean
        return float(self.lams[np.argmin(np.where(np.isnan(mean), np.inf, mean))])

    @property
    def is_certified(self) -> bool:
        """Whether every fit on a fold is verified at ``tol``."""
        return bool((self.gaps <= self.tol).all())

    @cached_property
    def solution(self) -> Solution:
        """The problem on all samples, solved at ``best_lam``."""
        problem = self.problem.snapshot()
        setattr(problem, self.name, self.best_lam)
        found: Solution = problem.solve(tol=self.tol)
        return found

    def certificate(self, fold: int, k: int) -> Certificate:
        """The certificate of one fit, judged anew from the rows of its fold.

        Parameters
        ----------
        fold, k : int
            Which fold, and which of ``lams``.

        Returns
        -------
        Certificate
        """
        part = posed_on(self.problem, self.splits[fold][0])
        setattr(part, self.name, self.lams[k])
        point = self.points[fold][k]
        found: Certificate = part.certify(point.get("q", point.get("w")), point["b"], tol=self.tol)
        return found

    def __str__(self) -> str:
        least, most = np.min(self.gaps, initial=np.inf), np.max(self.gaps, initial=0.0)
        lines = [
            f"{self.problem.name}: {len(self.splits)} folds, {self.lams.size} values of {self.name}"
            f", best {self.best_lam:.6g}; verified relative gaps {least:.1e} to {most:.1e}",
            f"  {self.name:>12}  {'mean':>12}  {'std':>12}  worst gap",
        ]
        every = max(1, -(-self.lams.size // SHOWN))
        for k, lam in enumerate(self.lams):
            best = lam == self.best_lam
            if k % every and not best:
                continue
            row = f"  {lam:>12.6g}  {self.mean[k]:>12.6g}  {self.std[k]:>12.6g}"
            lines.append(f"{row}  {np.max(self.gaps[:, k]):.1e}{'  best' if best else ''}")
        return "\n".join(lines)
