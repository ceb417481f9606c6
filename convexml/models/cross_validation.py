"""Cross-validation of a posed problem over its strength, every fold certified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from ..certificates import Certificate
from ..data import SomeRows, in_memory
from ..errors import InputError, SolverError, warn
from ..losses import Squared
from ..numerics import Array
from ..progress import Wish, counted, operation
from ..validation import finite_array, nonnegative_integer, positive_number
from .grid import Grid, solve_grid
from .inputs import Layout, Samples
from .posing import PosedLearning, Values
from .prediction import predictions
from .solution import Solution

# Folds of the samples that count, those of positive weight, and the problems posed on them.


Split = tuple[Array, Array]
"""Rows to fit and rows to test."""
Posed = TypeVar("Posed", bound=PosedLearning)


def shuffled(owner: str, count: int, n: int, by_class: bool, seed: int) -> Any:
    """A splitter into so many folds of shuffled samples; alike in their classes."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if not 2 <= count <= n:
        raise InputError(
            f"{owner}: folds must be from 2 to the {n} samples that count, got {count}."
        )
    kind = StratifiedKFold if by_class else KFold
    return kind(int(count), shuffle=True, random_state=seed)


def splits_of(
    owner: str, name: str, cv: Any, y: Array, weights: Array | None, by_class: bool = False
) -> list[Split]:
    """Rows to fit and to test of each fold, numbered among the samples of positive weight.

    A number of folds is made of these samples alone. A splitter, or a list of splits, is of all
    samples; those of weight 0 are then left out of its folds.

    Parameters
    ----------
    owner, name : str
        Who asks, and what it calls ``cv``.
    cv : int, splitter, list of splits or None
        As of scikit-learn.
    y : array
        Targets of all samples.
    weights : array, shape (n,), optional
    by_class : bool
        Whether a number of folds is to hold the classes of y alike.

    Raises
    ------
    InputError
        If no sample of positive weight is in one of the two parts of a fold.
    """
    from sklearn.model_selection import check_cv

    n = len(y)
    counted = np.arange(n) if weights is None else np.flatnonzero(weights)
    if counted.size == n or cv is None or isinstance(cv, Integral):
        target = y[counted]
        splitter = check_cv(cv, target, classifier=by_class)
        return _numbered(splitter.split(np.zeros((counted.size, 1)), target), counted.size)
    place = np.full(n, -1)
    place[counted] = np.arange(counted.size)
    found = []
    for k, parts in enumerate(check_cv(cv, y, classifier=by_class).split(np.zeros((n, 1)), y)):
        train, test = (place[np.arange(n)[part]] for part in parts)  # of masks too
        train, test = train[train >= 0], test[test >= 0]
        if not (train.size and test.size):
            part = "test" if train.size else "training"
            raise InputError(
                f"{owner}: the {part} samples of fold {k} of {name} have no weight; give each fold "
                "some of positive sample_weight, or a number of folds."
            )
        found.append((train, test))
    return found


def _numbered(splits: Iterable[Sequence[Any]], n: int) -> list[Split]:
    """Index arrays, of masks too."""
    rows = np.arange(n)
    return [(rows[train], rows[test]) for train, test in splits]


def posed_on(problem: Posed, rows: Array, owner: str = "") -> Posed:
    """The problem on some of its samples, with its hyperparameters and all of its classes.

    Raises
    ------
    InputError
        If a class is not among them.
    """
    part = _chosen(problem._samples, rows)
    if part.classes is not None and len(np.unique(in_memory(part.y))) < len(part.classes):
        raise InputError(
            f"{owner or problem.name}: a fold is to be fitted without a sample of one of the "
            f"classes {part.classes.tolist()}; take fewer folds, or a splitter that holds the "
            "classes alike."
        )
    kernel = problem._kernel
    if kernel is not None and not kernel.takes_samples:
        part = replace(part, design=part.design.columns(rows))
    twin: Any = problem.snapshot()
    twin._samples = part
    twin._compose(part, problem.sample_parts.fit_intercept)
    return twin


def _chosen(samples: Samples, rows: Array) -> Samples:
    """Some of the samples; those in blocks stay where they lie, in the order of the blocks."""
    of_all: dict[str, Any] = {"kept": np.arange(len(rows)), "total": len(rows), "seen": None}
    if samples.layout is None:
        y, weights = samples.y[rows], samples.weights[rows]
        return replace(samples, design=samples.design.rows(rows), y=y, weights=weights, **of_all)
    lying: Any = samples  # arrays in blocks
    some = SomeRows(np.sort(rows), lying.design.lengths)
    return replace(
        lying,
        design=some.of_design(lying.design),
        y=some.of_vector(lying.y),
        weights=some.of_vector(lying.weights),
        layout=Layout(some.lengths, (None,) * len(some.lengths)),
        **of_all,
    )


def held_out(problem: PosedLearning, train: Array, test: Array) -> tuple[Any, Array, Array]:
    """X, y and weights of the samples that a problem on ``train`` predicts; X a design in blocks.

    Of blocks y and weights are brought to memory: a number for each sample of the fold.
    """
    kernel, part = problem._kernel, _chosen(problem._samples, test)
    y, weights = in_memory(part.y), in_memory(part.weights)
    if part.layout is not None:
        return part.design, y, weights
    design = part.design
    if kernel is not None and not kernel.takes_samples:
        design = design.columns(train)
    return design.constant, y, weights


# What cross-validation found: scores of every fold at every value, each with its gap.


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
        return self.scores.mean(axis=0)

    @property
    def std(self) -> Array:
        """Its standard deviation over the folds, shape (m,)."""
        return self.scores.std(axis=0)

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
        return problem.solve(tol=self.tol)

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
        return part.certify(point.get("q", point.get("w")), point["b"], tol=self.tol)

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
    y, weighted = samples.labelled(y), {"sample_weight": s} if samples.weighted else {}
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
