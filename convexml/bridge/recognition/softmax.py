"""Softmax regression: rows log sum_k e^(z_k) - z_y of Z = X W + 1 b'."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ...losses import Softmax
from ...models.problem import LearningProblem
from ...numerics import Array
from .answers import ReadProblem
from .columns import learning, require_coercive, shares_of_classes
from .losses import NEAR
from .maps import Declined, concatenated, named, transposed
from .penalties import collect, is_penalty, joined, penalty_of
from .terms import LinearTerm, Reading, Term
from .verification import ROUNDING, Crosscheck, at_each, require_same


@dataclass(frozen=True)
class Block:
    """The scores of some samples, (n, K): X @ W + b, entries of W and b by feature and class."""

    term: Term
    X: Any
    weight: Array
    scores: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and classes."""
        return self.weight.size, self.scores.shape[1]


class CrosscheckOfScores(Crosscheck):
    """What is read and what is written: scores have a column for each class."""

    def parts(self) -> tuple[Any, Any]:
        """See ``Crosscheck``."""
        posed, start = self.posed, 0
        objective, (key, places) = posed.problem.objective_parts, posed.weights
        w = self.values[key][..., places]
        z = at_each(lambda each: posed.X @ each, w, 2)
        if posed.shifts is not None:
            z = z + self.values[posed.shifts[0]][..., None, posed.shifts[1]]
        own = at_each(lambda each: objective.loss.value(objective.y, each), z, 2)
        own = np.where(objective.c > 0.0, objective.c * own, 0.0)
        for block in posed.blocks:
            kept = block.weight > 0.0
            here = slice(start, start + int(kept.sum()))
            start, term, weight = here.stop, block.term, block.weight[kept]
            scores = self.argument(term)[..., block.scores][..., kept, :]
            slack = self.slack(term)[..., block.scores][..., kept, :]
            require_same(z[..., here, :], scores, slack, term.source)
            whole = logsumexp(scores, axis=-1)
            label = objective.y[here].astype(int)
            mine = scores[..., np.arange(label.size), label]
            off = ROUNDING * (np.abs(whole) + np.abs(mine)) + slack.max(axis=-1)
            require_same(own[..., here], weight * (whole - mine), weight * off, term.said)
            self.rounding = self.rounding + (weight * off).sum(axis=-1)
        penalty = at_each(lambda each: objective.penalty.value(each.ravel()), w, 2)
        size = own.sum(axis=-1) + np.abs(penalty) + abs(posed.constant)
        return own.sum(axis=-1) + penalty + posed.constant, size


@dataclass
class PosedScores(ReadProblem):
    """A softmax regression that says what was read, up to ``constant``.

    ``weights`` (d, K) and ``shifts`` (K,) are the entries of the variables by feature and class.
    """

    crosscheck = CrosscheckOfScores

    reading: Reading
    problem: LearningProblem
    blocks: list[Block]
    constant: float
    X: Any
    weights: tuple[int, Array]
    shifts: tuple[int, Array] | None

    @property
    def entries(self) -> int:
        """See ``ReadProblem``."""
        return int(np.prod(self.X.shape))

    def values(self, point: Mapping[str, Any]) -> dict[int, Array]:
        """See ``ReadProblem``."""
        found = {key: np.zeros(each.size) for key, each in self.reading.variables.items()}
        for part, name in ((self.weights, "w"), (self.shifts, "b")):
            if part is not None:
                found[part[0]][part[1]] = np.reshape(point[name], part[1].shape)
        return found

    def ends(self) -> dict[int, Any]:
        """See ``ReadProblem``."""
        key, places = self.weights
        low, high = np.empty((2, places.size))
        for ends, end in ((low, -np.inf), (high, np.inf)):
            penalty = self.problem.objective_parts.penalty
            ends[places.ravel()] = penalty.project(np.full(places.size, end))
        free = {} if self.shifts is None else {self.shifts[0]: (-np.inf, np.inf)}
        return free | {key: (low, high)}


def pose_scores(reading: Reading) -> PosedScores:
    """The softmax regression that says what was read.

    Raises
    ------
    Declined
        If there is none, or not surely.
    """
    if reading.rows or reading.constraints:
        raise Declined("constraints on the scores of several classes")
    terms = [each for each in reading.terms if each.kind == "log_sum_exp"]
    penalties = [each for each in reading.terms if each.kind != "log_sum_exp"]
    for each in penalties:
        if not is_penalty(each):
            raise Declined(f"{named(each.said)} beside {named(terms[0].said)}")
    found = [_block(each) for each in terms]
    blocks = [block for block, _, _ in found]
    _, (key, weights), shifts = found[0]
    for block, *others in found[1:]:
        if not all(map(_same, others, (found[0][1], shifts))):
            raise Declined(f"{named(block.term.said)} is of other scores than the first")
    if set(reading.variables) != {key, *(() if shifts is None else (shifts[0],))}:
        raise Declined(f"{named(terms[0].said)} beside other variables")
    targets = [np.zeros(block.shape) for block in blocks]
    try:
        for line in reading.linear:
            _count(line, blocks, targets, key, weights, shifts)
    except Declined:
        blocks, targets = _traded(reading.linear, blocks, key, weights, shifts)
    constant = reading.constant
    constant += sum(float(line.weight @ line.affine.offset) for line in reading.linear)
    weight = np.concatenate([block.weight for block in blocks])
    target = np.concatenate(targets)
    labels = np.argmax(target, axis=1)
    hot = np.zeros_like(target)
    hot[np.arange(labels.size), labels] = weight
    if not (np.abs(target - hot) <= NEAR * weight[:, None]).all():
        raise Declined(f"{named(terms[0].said)}: a sample is not of one class")
    if np.unique(labels[weight > 0.0]).size < target.shape[1]:
        raise Declined(f"{named(terms[0].said)}: a class has no samples")
    kept = weight > 0.0
    X = concatenated([block.X for block in blocks], axis=0)
    X = X if kept.all() else X[kept]
    entries = collect(reading, penalties, [])
    if shifts is not None and entries[shifts[0]].touched.any():
        raise Declined(f"{reading.variables[shifts[0]].name()} is an intercept and penalised")
    places = np.empty(weights.size, dtype=int)
    places[weights.ravel()] = np.arange(weights.size)
    penalty = penalty_of(joined([(entries[key], places)], weights.size))
    if len(blocks) > len(terms):
        require_coercive(penalty, weights.size, reading.linear[0])
    intercept = shifts is not None
    posed = learning(X, labels[kept], weight[kept], Softmax(), penalty, intercept)
    return PosedScores(reading, posed, blocks, constant, X, (key, weights), shifts)


def _same(one: Any, other: Any) -> bool:
    """Whether both are entries of one variable in the same places, or nothing."""
    if one is None or other is None:
        return one is other
    return one[0] == other[0] and np.array_equal(one[1], other[1])


def _block(term: Term) -> Any:
    """X, the entries of W by feature and class, and those of b, of one term."""
    affine, said, groups = term.affine, named(term.said), term.groups
    assert groups is not None
    n, K = term.weight.size, term.affine.size // term.weight.size
    if not np.array_equal(groups, np.tile(np.arange(n), K)) or K < 2:
        raise Declined(f"{said}: its groups are not the rows of scores")
    wide = [key for key, each in affine.maps.items() if each.copies == K]
    if len(wide) != 1 or affine.offset.any():
        raise Declined(f"{said}: the scores are not X @ W + b")
    one = affine.maps[wide[0]]
    if np.ndim(one.scale) or one.scale != 1.0 or np.unique(one.index).size != one.width:
        raise Declined(f"{said}: the scores are not X @ W + b")
    weights = one.index.reshape((-1, K), order="F")
    shifts = None
    for key in (key for key in affine.maps if key != wide[0]):
        other = affine.maps[key]
        index = other.index.reshape((n, K), order="F") if other.is_selection else None
        plain = index is not None and (index == index[0]).all() and (other.scales == 1.0).all()
        if not plain or index is None or shifts is not None or np.unique(index[0]).size != K:
            raise Declined(f"{said}: the intercepts are not one for each class")
        if other.width != K:
            raise Declined(f"{said}: the intercepts are not one for each class")
        shifts = key, index[0]
    scores = np.arange(n * K).reshape((n, K), order="F")
    return Block(term, one.matrix, term.weight, scores), (wide[0], weights), shifts


def _traded(
    lines: list[LinearTerm],
    blocks: list[Block],
    key: int,
    weights: Array,
    shifts: tuple[int, Array] | None,
) -> tuple[list[Block], list[Array]]:
    """Each sample of all classes, by weights T with X'T what the lines count: Y'X, taken out."""
    (block, *more), said = blocks, named(lines[0].source)
    wanted = {key: np.zeros(weights.size)}
    if shifts is not None:
        wanted[shifts[0]] = np.zeros(shifts[1].size)
    if more or any(not line.affine.maps.keys() <= wanted.keys() for line in lines):
        raise Declined(f"{said} is linear and belongs to no loss")
    for line in lines:
        for other, each in line.affine.maps.items():
            wanted[other] -= transposed(each, line.weight)
    sums = None if shifts is None else wanted[shifts[0]][shifts[1]]
    T = shares_of_classes(block.X, block.weight, wanted[key][weights], sums)
    if T is None:
        raise Declined(f"{said} is linear, and no labels of {named(block.term.said)} give it")
    targets = [np.where(np.arange(T.shape[1]) == k, T, 0.0) for k in range(T.shape[1])]
    return [replace(block, weight=share) for share in T.T], targets


def _count(
    line: LinearTerm,
    blocks: list[Block],
    targets: list[Array],
    key: int,
    weights: Array,
    shifts: tuple[int, Array] | None,
) -> None:
    """Count -``line`` among the scores that it names."""
    one = line.affine.maps.get(key)
    for block, target in zip(blocks, targets, strict=True):
        n, K = block.shape
        theirs = block.term.affine.maps
        if line.affine.maps.keys() == theirs.keys() and line.affine.size == n * K:
            scales = [line.affine.maps[k].scales for k in theirs]
            alike = all(line.affine.maps[k].has_base_of(theirs[k]) for k in theirs)
            if alike and all(np.array_equal(each, scales[0]) for each in scales):
                target -= (line.weight * scales[0]).reshape((n, K), order="F")
                return
        if one is None or one.matrix is None or one.copies > 1 or len(line.affine.maps) > 1:
            continue
        if shifts is not None or one.matrix.shape != block.X.shape:
            continue
        which = np.flatnonzero((weights == one.index[:, None]).all(axis=0))
        if which.size and not (one.matrix != block.X).sum():
            target[:, which[0]] -= line.weight * one.scales
            return
    raise Declined(f"{named(line.source)} is linear and belongs to no loss")
