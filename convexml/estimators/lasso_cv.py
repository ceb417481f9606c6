"""The lasso that chooses its penalty, as scikit-learn has it."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn import linear_model

from .base import OURS
from .path_cv import PathFit


class LassoCV(PathFit, linear_model.LassoCV):
    """Lasso with the alpha of least cross-validated squared error, certified.

    The last fit is that of ``Lasso`` on all samples. Every fit on a fold is certified as well:
    ``gap_path_`` has their verified relative gaps, in the shape of ``mse_path_``.

    Parameters
    ----------
    eps : float
        Of a grid of its own: the least alpha divided by the largest.
    alphas : int or array
        How many, from where w vanishes down to eps times that; or the grid.
    fit_intercept : bool
        The intercept is not penalised.
    precompute : str, bool or array
        Has no effect: Gram matrices are made where they pay.
    max_iter : int, optional
        Steps of the solver in the last fit; None is its own limit.
    tol : float
        Verified relative gap that every fit is to reach.
    copy_X : bool
        Has no effect: X is never changed.
    cv : int, splitter or list of splits, optional
        The folds; five by default.
    verbose : bool
        Has no effect.
    n_jobs : int, optional
        Has no effect.
    positive : bool
        Whether w >= 0.
    random_state : int, optional
        Has no effect: nothing is random.
    selection : str
        Has no effect.
    engine : str
        A solver of convexml for the last fit; "auto" chooses.
    """

    _parameter_constraints: ClassVar = linear_model.LassoCV._parameter_constraints | OURS

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: Any = 100,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int | None = None,
        tol: float = 1e-6,
        copy_X: bool = True,
        cv: Any = None,
        verbose: Any = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        engine: str = "auto",
    ) -> None:
        super().__init__(
            eps=eps,
            alphas=alphas,
            fit_intercept=fit_intercept,
            precompute=precompute,
            max_iter=max_iter,
            tol=tol,
            cv=cv,
            copy_X=copy_X,
            verbose=verbose,
            n_jobs=n_jobs,
            positive=positive,
            random_state=random_state,
            selection=selection,
        )
        self.engine = engine
