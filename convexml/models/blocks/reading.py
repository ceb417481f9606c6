"""Read row blocks: every block is looked at once; its targets and weights are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
from scipy import sparse

from ...blocks import BlockArray
from ...design import BlockedDesign, Design, as_design
from ...design.blocked import DesignBlock, InMemory
from ...errors import InputError
from ...numerics import Array
from ...validation import finite_sparse, float_array, refuse_masked
from ..reading.inputs import Samples, read_samples, read_targets, read_weights
from ..reading.labels import distinct_labels
from ..reading.layout import Layout
from ..reading.matrix import read_design, some_of
from ..reading.names import column_names
from .row_blocks import Loaded, Passed, RowBlocks


@dataclass(frozen=True, eq=False)
class Reloaded:
    """A block that is read again whenever it is needed."""

    source: Callable[[], Loaded]
    name: str
    shape: tuple[int, int]
    seen: Array
    """Some of the numbers of X as they were read first."""
    kept: Array | None = None

    def design(self) -> Design:
        X = loaded(self.source, self.name)[0]
        if sparse.issparse(X):
            design = as_design(finite_sparse(X, self.name, "X", share=True))
        else:
            design = as_design(float_array(X, self.name, "X", share=True))
        if design.shape != self.shape or not np.array_equal(self.seen, some_of(design.constant)):
            raise InputError(
                f"{self.name}: its loader returns other numbers than before; it must return the "
                "same ones whenever it is called."
            )
        return design if self.kept is None else design.rows(self.kept)


def loaded(source: Callable[[], Loaded], name: str) -> Loaded:
    """A block; what goes wrong on the way names it."""
    try:
        return source()
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"{name}: its loader failed with {type(error).__name__}: {error}"
        ) from error


@dataclass(frozen=True)
class ReadBlock:
    """What is kept of a block: where its rows are, its targets and its weights."""

    number: int
    design: DesignBlock
    shape: tuple[int, int]
    is_sparse: bool
    y: Array
    weights: Array
    total: int
    kept: Array
    names: list[str] | None = None

    @classmethod
    def empty(cls, number: int) -> ReadBlock:
        """A block without rows."""
        none = np.zeros(0)
        rows = InMemory(as_design(none[:, None]))
        return cls(number, rows, (0, 0), False, none, none, 0, np.zeros(0, dtype=int))


UNKNOWN = object()
"""The names of columns before the first block."""
BROUGHT = object()
"""In place of y, where blocks bring it."""


def brings_targets(start: Callable[..., None]) -> Callable[..., None]:
    """Let the constructor of a model take row blocks in place of X and y."""

    @wraps(start)
    def started(self: Any, *args: Any, **named: Any) -> None:
        given = args[0] if args else named.get("X")
        if isinstance(given, RowBlocks) and "y" not in named:
            if len(args) > 1 and (args[1] is None or np.ndim(args[1]) > 0):
                raise InputError(f"{self.name}: row blocks carry y; leave it out.")
            if len(args) < 2 or args[1] is not BROUGHT:
                named |= {"y": BROUGHT} if not args[1:] else {}
                args = args if not args[1:] else (given, BROUGHT, *args[1:])
        start(self, *args, **named)

    return started


class TakesBlocks:
    """Models whose constructors take row blocks."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if "__init__" in vars(cls):
            cls.__init__ = brings_targets(cls.__init__)  # type: ignore[method-assign]


def read_any(owner: str, X: Any, y: Any, sample_weight: Any, labels: str) -> Samples:
    """Samples in memory or in blocks, validated."""
    read = read_row_blocks if isinstance(X, RowBlocks) else read_samples
    return read(owner, X, y, sample_weight, labels)


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
    if labels not in ("real", "binary", "count"):
        raise InputError(
            f"{owner}: row blocks are for one prediction a sample so far; pass X and y in memory."
        )
    every = list(_each(owner, blocks, labels))
    read = [block for block in every if block.shape[0]]
    if not read:
        raise InputError(f"{owner}: no sample of the blocks has a weight; one at least must.")
    classes = _classes(owner, read) if labels == "binary" else None
    executor = blocks.executor
    if classes is not None:
        targets = [np.where(block.y == classes[1], 1.0, -1.0) for block in read]
    else:
        targets = [block.y for block in read]
    design = BlockedDesign(
        BlockArray(executor.placed([block.design for block in read]), executor),
        tuple(block.shape[0] for block in read),
        read[0].shape[1],
        any(block.is_sparse for block in read),
    )
    found = BlockArray(executor.placed(targets), executor)
    weights = BlockArray(executor.placed([block.weights for block in read]), executor)
    n = sum(design.lengths)
    layout = Layout(tuple(b.total for b in every), tuple(b.kept for b in every))
    return Samples(design, found, weights, range(n), n, classes, read[0].names, layout=layout)  # type: ignore[arg-type]


def _each(owner: str, blocks: RowBlocks, labels: str) -> Iterator[ReadBlock]:
    first: int | None = None
    names: Any = UNKNOWN
    for k, source in enumerate(blocks.sources):
        name = f"{owner}: block {k}"
        X, y, s = loaded(source, name)
        if np.shape(X)[:1] == (0,):
            yield ReadBlock.empty(k)
            continue
        refuse_masked(y, name, "y")
        own = column_names(X)
        if names is not UNKNOWN and own != names:
            raise InputError(
                f"{name}: its columns are named {own}, those of the blocks before it {names}. Pass "
                "the same columns in the same order."
            )
        names = own
        mine = isinstance(source, Passed) and hasattr(X, "copy")
        design = read_design(name, X.copy() if mine else X)
        n, d = design.shape
        if first is not None and d != first:
            raise InputError(f"{name}: X has {d} columns; the blocks before it have {first}.")
        first = d
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
        whole = len(kept) == n
        if not whole:
            target, weights = target[kept], weights[kept]
        if labels != "binary":
            target = read_targets(name, target, kept, labels == "count")
        rows: DesignBlock
        if isinstance(source, Passed):
            rows = InMemory(design if whole else design.rows(kept))
        else:
            seen = some_of(design.constant).copy()
            rows = Reloaded(source, name, (n, d), seen, None if whole else kept)
        shape = len(kept), d
        yield ReadBlock(k, rows, shape, design.is_sparse, target, weights, n, kept, own)


def _classes(owner: str, read: list[ReadBlock]) -> Array:
    """The two labels of all blocks together."""
    found = [distinct_labels(f"{owner}: block {each.number}", each.y, each.kept) for each in read]
    kinds = {"number" if labels.dtype.kind in "biuf" else labels.dtype.kind for labels in found}
    if len(kinds) > 1 or ("O" in kinds and len({type(x) for f in found for x in f.tolist()}) > 1):
        raise InputError(
            f"{owner}: y has labels of different types in different blocks; use one type in all."
        )
    classes = np.unique(np.concatenate(found))
    if len(classes) != 2:
        listed = ", ".join(repr(value) for value in classes[:5].tolist())
        raise InputError(
            f"{owner}: y must hold exactly two classes in all blocks together, got {len(classes)} "
            f"({listed}{', ...' if len(classes) > 5 else ''}). Pass samples of two."
        )
    return classes
