"""Read row blocks: every block is looked at once; its targets and weights are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ...blocks import BlockArray, together
from ...blocks.form import RowForm
from ...design import BlockedDesign, Design, SingleDesign, as_design, is_single
from ...design.brought import ColumnFacts, DesignBlock, InMemory, column_facts
from ...errors import InputError
from ...numerics import Array
from ...validation import finite_sparse, float_array, refuse_masked
from ..reading.inputs import Samples, read_targets, read_weights
from ..reading.labels import distinct_labels
from ..reading.layout import Layout
from ..reading.matrix import read_design, some_of
from ..reading.names import NamedColumns, column_names
from .row_blocks import BROUGHT, RowBlocks
from .sources import Passed, Source, checksum, loaded


@dataclass(frozen=True, eq=False)
class Reloaded:
    """A block that is read again whenever it is needed."""

    source: Source
    name: str
    shape: tuple[int, int]
    seen: Array
    """Some of the numbers of X as they were read first."""
    sums: int
    """The checksum of y and of the weights."""
    kept: Array | None = None

    def design(self) -> Design:
        X, *others = loaded(self.source, self.name)
        X = X.values if isinstance(X, NamedColumns) else X
        design: Design
        if is_single(X):
            design = SingleDesign(X)
        elif sparse.issparse(X):
            design = as_design(finite_sparse(X, self.name, "X", share=True))
        else:
            design = as_design(float_array(X, self.name, "X", share=True))
        same = design.shape == self.shape and self.sums == checksum(*others)
        if not same or not np.array_equal(self.seen, seen_of(design)):
            raise InputError(
                f"{self.name}: its loader returns other numbers than before; it must return the "
                "same ones whenever it is called."
            )
        return design if self.kept is None else design.rows(self.kept)


@dataclass(frozen=True)
class Told:
    """What is told of a block; its numbers stay where they were read."""

    name: str
    total: int = 0
    rows: int = 0
    """Those of positive weight, which count."""
    d: int = 0
    kept: Array | None = None
    """The numbers of these; None where all rows count."""
    is_sparse: bool = False
    names: list[str] | None = None
    labels: Array | None = None
    """The distinct ones, of a loss for classes."""
    lost: Array | None = None
    """Those of rows without weight."""


def read_row_blocks(
    owner: str, blocks: RowBlocks, y: Any, sample_weight: Any, labels: str
) -> Samples:
    """Validate all blocks: X (n_k, d), y (n_k,) and weights, for a loss with these labels."""
    if y is not BROUGHT:
        raise InputError(f"{owner}: row blocks carry y; leave it out.")
    if sample_weight is not None:
        raise InputError(
            f"{owner}: row blocks carry their sample weights; pass (X, y, sample_weight) for each."
        )
    executor, count = blocks.executor, len(blocks)
    names = [f"{owner}: block {k}" for k in range(count)]
    columns = [names, executor.placed(blocks.sources), [labels] * count]
    blocks.visits.count += 1
    told, sizes, *handles = executor.map(read_block, columns, 5)
    every: list[Told] = executor.values(told)
    counting = [k for k, block in enumerate(every) if block.rows]
    if not counting:
        raise InputError(f"{owner}: no sample of the blocks has a weight; one at least must.")
    _refuse_different([block for block in every if block.total])
    read = [every[k] for k in counting]
    lengths = tuple(block.rows for block in read)
    n = sum(lengths)
    rows, *vectors = ([column[k] for k in counting] for column in handles)
    form = RowForm(lengths, (n,))
    targets, weights = (BlockArray(each, executor, form=form) for each in vectors)
    classes: Array | None = None
    outputs: tuple[int, ...] = ()
    if labels in ("binary", "classes"):
        classes = _classes(owner, read, several=labels == "classes")
        _refuse_weightless(every, classes)
        outputs = (len(classes),) if labels == "classes" else ()
        numbers = _codes if labels == "classes" else _signs
        targets = BlockArray.like(targets.mapped(numbers, classes), form)
        together(targets)
    is_sparse = any(block.is_sparse for block in read)
    total = executor.total([sizes[k] for k in counting])
    design = BlockedDesign.reading(
        rows, executor, blocks.visits, lengths, read[0].d, is_sparse, total
    )
    layout = Layout(tuple(block.total for block in every), tuple(block.kept for block in every))
    told_of = classes, read[0].names, outputs
    return Samples(design, targets, weights, range(n), n, *told_of, layout=layout)  # type: ignore[arg-type]


def read_block(
    name: str, source: Source, labels: str
) -> tuple[Told, ColumnFacts | None, DesignBlock, Array, Array]:
    """Validate a block: what is told of it, and of the rows that count facts, X, y and weights."""
    X, y, s = loaded(source, name)
    if np.shape(X)[:1] == (0,):
        empty = np.zeros(0)
        return Told(name), None, InMemory(as_design(empty[:, None])), empty, empty
    refuse_masked(y, name, "y")
    mine = type(source) is Passed and hasattr(X, "copy")
    design, facts = design_of(name, X.copy() if mine else X)
    n, d = design.shape
    target = np.array(y)
    if target.shape == (n, 1):
        target = target[:, 0]
    if target.shape != (n,):
        raise InputError(
            f"{name}: y must be a vector with one entry per row of X ({n}), got shape "
            f"{target.shape}."
        )
    none = np.shape(s) == (n,) and not np.any(s)
    weights = np.zeros(n) if none else np.array(read_weights(name, s, n))
    kept = np.flatnonzero(weights)
    some, all_of_them = (kept if len(kept) < n else None), target
    if some is not None:
        target, weights = target[kept], weights[kept]
    distinct = lost = None
    if labels in ("binary", "classes"):
        distinct = distinct_labels(name, target, kept)
        lost = np.delete(all_of_them, kept) if some is not None else None
    else:
        target = read_targets(name, target, kept, labels == "count")
    counting = design if some is None else design.rows(kept)
    rows: DesignBlock
    if isinstance(source, Passed):
        rows = InMemory(counting)
    else:
        seen = seen_of(design).copy()
        rows = Reloaded(source, name, (n, d), seen, checksum(y, s), some)
    told = Told(name, n, len(kept), d, some, design.is_sparse, column_names(X), distinct, lost)
    facts = column_facts(counting) if facts is None or some is not None else facts
    return told, facts, rows, target, weights


def design_of(name: str, X: Any) -> tuple[Design, ColumnFacts | None]:
    """The rows of a block, all of them finite; in single precision where they are, with facts."""
    if is_single(X) and 0 not in X.shape:
        design = SingleDesign(X)
        with np.errstate(invalid="ignore"):
            facts = column_facts(design)
            finite = np.isfinite(facts.squares.sum())
        if finite:
            return design, facts
    return read_design(name, X), None


def seen_of(design: Design) -> Array:
    """Some numbers of a block."""
    return some_of(design.array if isinstance(design, SingleDesign) else design.constant)


def _refuse_different(blocks: list[Told]) -> None:
    """Raise InputError for a block with other columns than the first one."""
    first = blocks[0]
    for block in blocks:
        if block.names != first.names:
            raise InputError(
                f"{block.name}: its columns are named {block.names}, those of the blocks before "
                f"it {first.names}. Pass the same columns in the same order."
            )
        if block.d != first.d:
            raise InputError(
                f"{block.name}: X has {block.d} columns; the blocks before it have {first.d}."
            )


def _signs(y: Array, classes: Array) -> Array:
    return np.where(y == classes[1], 1.0, -1.0)


def _codes(y: Array, classes: Array) -> Array:
    return np.searchsorted(classes, y).astype(float)


def _refuse_weightless(every: list[Told], classes: Array) -> None:
    """Raise InputError for a class of which no sample has a weight."""
    for block in every:
        gone = [] if block.lost is None else block.lost[~np.isin(block.lost, classes)].tolist()
        if gone:
            raise InputError(
                f"{block.name}: no sample of class {gone[0]!r} has a weight in any block; leave "
                "them out, or give them a positive sample_weight."
            )


def _classes(owner: str, read: list[Told], several: bool) -> Array:
    """The labels of all blocks together: two, or two at least."""
    found = [block.labels for block in read if block.labels is not None]
    kinds = {"number" if labels.dtype.kind in "biuf" else labels.dtype.kind for labels in found}
    if len(kinds) > 1 or ("O" in kinds and len({type(x) for f in found for x in f.tolist()}) > 1):
        raise InputError(
            f"{owner}: y has labels of different types in different blocks; use one type in all."
        )
    classes = np.unique(np.concatenate(found))
    if len(classes) < 2 or (len(classes) > 2 and not several):
        wanted = "at least" if several else "exactly"
        listed = ", ".join(repr(value) for value in classes[:5].tolist())
        raise InputError(
            f"{owner}: y must hold {wanted} two classes in all blocks together, got {len(classes)} "
            f"({listed}{', ...' if len(classes) > 5 else ''}). Pass samples of two."
        )
    return classes
