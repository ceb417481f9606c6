"""Logistic regression."""

from __future__ import annotations

from typing import Any, ClassVar

from ...errors import InputError, nearest
from ...losses import Logistic, Loss
from ...penalties import L1, L2, Penalty, Zero
from ..base import Hyperparameter
from ..problem import LearningProblem

PENALTIES = {"l2": L2, "l1": L1}


def named_penalty(name: str | None, lam: float, others: tuple[str, ...] = ()) -> Penalty:
    """The penalty "l2", "l1" or None of strength lam; None refuses a negative lam all the same.

    ``others`` are names that the caller knows.
    """
    if name is not None and name not in PENALTIES:
        known = ", ".join(map(repr, (*PENALTIES, *others)))
        raise InputError(
            f"LogisticRegression: penalty must be {known} or None, got {name!r}.{_instead(name)}"
        )
    penalty = L2(lam) if name is None else PENALTIES[name](lam)
    return Zero() if name is None else penalty


def _instead(name: Any) -> str:
    if isinstance(name, str) and name.lower() == "none":
        return " Pass None, not text."
    near = nearest(name, PENALTIES) if isinstance(name, str) else ""
    return near or " Others: LearningProblem(X, y, losses.Logistic(), penalties.ElasticNet(...))."


class LogisticRegression(LearningProblem):
    r"""Minimise mean log(1 + exp(-y z)) + lam Omega(w), z = X w + b, y in {-1, +1}.

    Omega is (1/2)|w|^2 ("l2"), |w|_1 ("l1") or 0 (None). The dual variable u_i = -c_i y_i p_i,
    where
    p_i is the probability of the other class. On separable data with lam = 0 there is no minimiser:
    the status is "unattained" and the separating direction is in ``evidence``. scikit-learn's C is
    1 / (n lam). Sources: [G] 3.1, [P] 16.4, [H] 3, [E] 1.7.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    lam : float
        Strength, >= 0.
    penalty : "l2", "l1" or None
        Omega.
    fit_intercept : bool
        The intercept is not penalised.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, an unknown penalty, other than two classes, NaN or infinite entries,
        wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"LogisticRegression": {"C": "lam = 1 / (C S)"}}

    lam = Hyperparameter()

    def __init__(
        self,
        X: Any,
        y: Any,
        lam: float = 0.0,
        penalty: str | None = "l2",
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._start(X, y, fit_intercept, sample_weight, lam=lam, penalty=penalty)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Logistic(), named_penalty(hyper["penalty"], hyper["lam"]), "mean"
