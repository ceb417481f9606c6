"""Cross-validation of a posed problem over its strength, every fold certified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ...blocks import in_memory
from ...errors import InputError, SolverError, warn
from ...losses import Squared
from ...numerics import Array
from ...progress import Wish, counted, operation
from ...validation import finite_array, nonnegative_integer, positive_number
from ..learning.posed import PosedLearning
from ..learning.prediction import predictions
from .grid import Grid, solve_grid
from .result import CrossValidation
from .splits import Split, held_out, posed_on, shuffled, splits_of

Score = Callable[..., float]


class CrossValidated:
    """What learning problems with lam, C or a radius offer: ``cross_validate``."""

    def cross_validate(
        self: Any,
        lams: Any,
        *,
        folds: Any = 5,
        seed: int = 0,
        score: Score | None = None,
        tol: float = 1e-6,
        progress: Wish = False,
    ) -> CrossValidation:
        """Solve on every fold for each value, certify each fit, and score it on the other samples.

        Parameters
        ----------
        lams : sequence of float
            Values of ``lam``, or of ``C`` or the radius.
        folds : int, splitter or list of splits
            A number of folds of shuffled samples, alike in their classes; or, of all samples, what
            scikit-learn takes.
        seed : int
            Of the shuffle.
        score : callable, optional
            ``score(y, predicted)``, lower is better; with ``sample_weight=`` where the problem has
            weights. By default the mean squared error, or the mean loss of other losses than the
            squared.
        tol : float
            Relative gap that every fit is to reach.
        progress : bool or callable
            True: a line on standard error, where that is a terminal, after a second. A function is
            called with a ``Progress``.

        Returns
        -------
        CrossValidation
            ``mean``, ``std``, ``best_lam``, and ``solution`` on all samples at that value.

        Raises
        ------
        InputError
            For a value that is none, folds that cannot be made, or a model without a strength.

        Warns
        -----
        ConvergenceWarning
            If a fit on a fold is not verified at ``tol``.
        """
        with operation(f"{self.name}.cross_validate", progress):
            return cross_validated(self, self._path_parameter(), lams, folds, seed, score, tol)


def cross_validated(
    problem: Any, name: str, lams: Any, folds: Any, seed: int, score: Score | None, tol: float
) -> CrossValidation:
    """``CrossValidated.cross_validate`` with the name of the parameter."""
    owner = f"{problem.name}.cross_validate"
    values, tol = finite_array(lams, owner, "lams"), positive_number(tol, owner, "tol")
    if values.ndim != 1 or not values.size:
        raise InputError(f"{owner}: needs a list of values of {name}, got {lams!r}.")
    if score is not None and not callable(score):
        raise InputError(
            f"{owner}: score must be a function of (y, predicted), lower is better, got {score!r}. "
            "Pass one, as sklearn.metrics.mean_absolute_error."
        )
    problem._samples.refuse_changed(problem.name)
    problem = problem.snapshot()
    splits = read_folds(problem, owner, folds, nonnegative_integer(seed, owner, "seed"))
    grids = on_folds(problem, name, splits, tol, lambda part: values, owner)
    pairs = zip(grids, splits, strict=True)
    scores = np.array([scores_of(problem, grid, *split, score) for grid, split in pairs])
    gaps = np.array([grid.gaps for grid in grids])
    if np.isnan(scores).any(axis=0).all():
        raise SolverError(f"{owner}: at no value of {name} was a point reached on every fold.")
    tell_doubt(owner, gaps, tol, "gaps")
    points = [grid.points for grid in grids]
    return CrossValidation(problem, name, values, splits, scores, gaps, points, tol)


def read_folds(problem: PosedLearning, owner: str, folds: Any, seed: int) -> list[Split]:
    """The splits that a caller asks for, among the samples of positive weight."""
    samples = problem._samples
    by_class = samples.classes is not None
    if isinstance(folds, Integral) and not isinstance(folds, bool):
        folds = shuffled(owner, int(folds), len(samples.kept), by_class, seed)
        return splits_of(owner, "folds", folds, in_memory(samples.y), None)
    targets, layout = in_memory(samples.y), samples.layout
    kept = samples.kept if layout is None else layout.counting
    total = samples.total if layout is None else sum(layout.totals)
    y, weights = np.repeat(targets[:1], total, axis=0), np.zeros(total)
    y[kept], weights[kept] = targets, in_memory(samples.weights)
    try:
        return splits_of(owner, "folds", folds, y, weights, by_class)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"{owner}: folds cannot be made of {folds!r}: {error}") from None


def on_folds(
    problem: PosedLearning,
    name: str,
    splits: Sequence[Split],
    tol: float,
    values: Callable[[Any], Array],
    owner: str = "",
) -> list[Grid]:
    """A grid of ``values`` of the problem on the rows to fit of each fold, every point certified.

    The values may depend on that problem: of scikit-learn's strengths they do.
    """
    found: list[Grid] = []
    for train, _ in counted(splits, lambda split: "folds"):
        part = posed_on(problem, train, owner)
        found.append(solve_grid(part, name, values(part), tol, found[-1] if found else None))
    return found


def scores_of(
    problem: Any, grid: Grid, train: Array, test: Array, score: Score | None = None
) -> list[float]:
    """The score of each point on the rows to test; nan where there is no point."""
    samples = problem._samples
    X, y, s = held_out(problem, train, test)
    predicted = grid.predictions(X)
    if score is None:
        loss, share = problem.sample_parts.loss, s / s.sum()
        times = 2.0 if isinstance(loss, Squared) else 1.0
        losses = [
            None if z is None else np.reshape(loss.value(y, z), (len(y), -1)) for z in predicted
        ]
        return [
            np.nan if each is None else times * float(share @ each.sum(axis=1)) for each in losses
        ]
    if samples.classes is not None:
        codes = y if problem.sample_parts.loss.labels == "classes" else y > 0.0
        y = samples.classes[codes.astype(int)]
    weighted = {"sample_weight": s} if samples.weighted else {}
    labels = [None if z is None else predictions(problem, z) for z in predicted]
    return [np.nan if each is None else float(score(y, each, **weighted)) for each in labels]


def tell_doubt(owner: str, gaps: Array, tol: float, where: str) -> None:
    """Warn where fits on folds are not verified."""
    if (gaps <= tol).all():
        return
    from sklearn.exceptions import ConvergenceWarning

    warn(
        f"{owner}: {np.sum(~(gaps <= tol))} of {gaps.size} fits on folds are not verified at "
        f"tol={tol:g}; {where} has their relative gaps.",
        ConvergenceWarning,
    )
