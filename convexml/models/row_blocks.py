"""Row blocks as their user brings them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from ..data import (
    BlockArray,
    BlockedDesign,
    Design,
    Executor,
    SingleDesign,
    as_design,
    is_single,
    together,
)
from ..data.array import RowForm
from ..data.columns import NamedColumns, column_names
from ..data.executor import Chunk, Here
from ..data.row_blocks import ColumnFacts, DesignBlock, InMemory, column_facts
from ..data.sources import (
    FromNpy,
    Lent,
    Loader,
    Passed,
    Retried,
    Source,
    as_block,
    checksum,
    loaded,
    mapped,
    parquet_blocks,
)
from ..data.steps import Visits
from ..errors import InputError
from ..numerics import Array
from ..validation import (
    finite_sparse,
    float_array,
    nonnegative_integer,
    positive_integer,
    refuse_masked,
)
from .inputs import (
    Layout,
    Samples,
    distinct_labels,
    read_design,
    read_samples,
    read_targets,
    read_weights,
    some_of,
)

# Blocks elsewhere: with the workers of a cluster.


def active_executor() -> Executor:
    """The cluster of the dask.distributed client that is active, or else this process."""
    distributed = sys.modules.get("distributed")  # who has a client has imported it
    if distributed is None:
        return Here()
    try:
        client = distributed.default_client()
    except ValueError:
        return Here()
    from ..data.cluster import OnDask

    return Here() if client.asynchronous else OnDask(client)


FORMS = "(X, y) or (X, y, sample_weight), or a function that returns that"
BROUGHT = object()
"""In place of y, where blocks bring it."""


class RowBlocks:
    """The samples of a learning problem in blocks of rows, in place of X and y.

    A block is in memory while something is computed from it, as many at a time as there are
    processors. Vectors of n numbers lie in the same blocks, those beyond 512 MB in files of the
    temporary directory. Sums over the samples are added up in a fixed order, so that the same
    blocks give the same result to the last digit.

    Parameters
    ----------
    blocks : iterable
        For each block (X, y) or (X, y, sample_weight), X of shape (n_k, d), or a function without
        arguments that returns that; it is called whenever the block is read, and must return the
        same numbers. Blocks are numbered from 0, rows within their block. All of y and of the
        weights, and some entries of X (one of each column and a thousand at least), are compared
        with those of the first time; a block that differs in these is an InputError.
    retries : int
        How often a function that raises is called again, each time it is called. A warning tells
        of it; the last failure is an InputError that names the block.

    Raises
    ------
    InputError
        If there is no block, or one is neither.

    Examples
    --------
    >>> import numpy as np
    >>> import convexml as cml
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.standard_normal((1000, 3)), rng.standard_normal(1000)
    >>> blocks = cml.RowBlocks([(X[:300], y[:300]), (X[300:], y[300:])])
    >>> cml.Ridge(blocks, lam=0.1).solve().status
    'optimal'
    """

    def __init__(self, blocks: Iterable[Any], retries: int = 1) -> None:
        if not isinstance(blocks, Iterable):
            raise InputError(
                f"RowBlocks: blocks must be a list of (X, y), got {type(blocks).__name__}."
            )
        found = list(blocks)
        if not found:
            raise InputError("RowBlocks: there is no block; pass (X, y) of one at least.")
        sources = [
            block
            if isinstance(block, Chunk)
            else Loader(block)
            if callable(block)
            else Passed(as_block(block, f"RowBlocks: block {k} must be {FORMS}"))
            for k, block in enumerate(found)
        ]
        self._hold(sources, retries)

    def _hold(self, sources: Sequence[Source], retries: int) -> Self:
        again = nonnegative_integer(retries, "RowBlocks", "retries")
        self.sources: list[Source] = [
            each if isinstance(each, Passed | Chunk) else Retried(each, again) for each in sources
        ]
        self.executor: Executor = active_executor()
        self.visits = Visits()
        return self

    @property
    def passes(self) -> int:
        """How often all blocks were read so far."""
        return self.visits.count

    @classmethod
    def from_npy(
        cls,
        X_path: Any,
        y_path: Any,
        rows: int = 100_000,
        retries: int = 1,
        weights_path: Any = None,
    ) -> RowBlocks:
        """The rows of .npy files, memory-mapped, ``rows`` of them a block.

        Parameters
        ----------
        X_path, y_path : path
            Arrays of shape (n, d) and (n,). Numbers of float32 are taken as the numbers they are.
        rows : int
            Of a block, >= 1.
        retries : int
            As of ``RowBlocks``.
        weights_path : path, optional
            Sample weights, of shape (n,).

        Raises
        ------
        InputError
            For files that do not exist or hold no array of numbers, or whose arrays do not belong
            together.
        """
        rows = positive_integer(rows, "RowBlocks.from_npy", "rows")
        paths = [Path(path) for path in (X_path, y_path, weights_path) if path is not None]
        for path in paths:
            if not path.is_file():
                raise InputError(f"RowBlocks.from_npy: there is no file {path}.")
        X, y, *weights = (mapped(path) for path in paths)
        if X.ndim != 2 or y.shape != X.shape[:1] or not len(y):
            raise InputError(
                "RowBlocks.from_npy: X must have shape (n, d) and y (n,) with n >= 1, got "
                f"{X.shape} and {y.shape}."
            )
        if weights and weights[0].shape != y.shape:
            raise InputError(
                f"RowBlocks.from_npy: the weights must have shape {y.shape} as y, got "
                f"{weights[0].shape}."
            )
        starts = range(0, len(y), rows)
        found = [FromNpy(paths[0], paths[1], k, min(k + rows, len(y)), *paths[2:]) for k in starts]
        return cls.__new__(cls)._hold(found, retries)

    @classmethod
    def from_parquet(
        cls,
        path: Any,
        target: str = "y",
        rows: int = 100_000,
        features: Sequence[str] | None = None,
        weights: str | None = None,
        retries: int = 1,
    ) -> RowBlocks:
        """The rows of a parquet file, or of all files ``*.parquet`` of a folder by their names.

        A block is made of whole row groups of at most ``rows`` rows together, or is a part of a
        row group that has more. Such a group is read whole, and kept until another is read.

        Parameters
        ----------
        path : path
            Of a file or a folder. Columns that a data frame's index was written to are no features.
        target : str
            The column that is y: numbers or labels.
        rows : int
            Of a block at most, >= 1.
        features : sequence of str, optional
            The columns that are X, in this order; None: all others. They hold numbers, or true and
            false; their names go with the problem. What is null is nan, and refused.
        weights : str, optional
            The column that holds the sample weights.
        retries : int
            As of ``RowBlocks``.

        Raises
        ------
        InputError
            For files that do not exist or are no parquet, for columns that are missing or hold no
            numbers, and where pyarrow is not installed (``pip install 'convexml[scale]'``).
        """
        owner = "RowBlocks.from_parquet"
        rows = positive_integer(rows, owner, "rows")
        found = parquet_blocks(owner, path, target, rows, features, weights)
        return cls.__new__(cls)._hold(found, retries)

    def __len__(self) -> int:
        return len(self.sources)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise InputError(
            "RowBlocks are no array. Models of a loss and a penalty take them in place of X and y, "
            "as Ridge(blocks, lam=0.1); predict and score take the X and y of a block at a time."
        )

    def __repr__(self) -> str:
        return f"RowBlocks({len(self)} blocks)"


# Read row blocks: every block is looked at once; its targets and weights are kept.


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


# X and y as dask arrays or data frames: their chunks of rows are blocks.


def is_collection(X: Any) -> bool:
    """Whether X is a collection of dask's."""
    dask = sys.modules.get("dask")  # who has one has imported it
    return dask is not None and bool(dask.is_dask_collection(X))


def collection_blocks(owner: str, X: Any, y: Any, sample_weight: Any) -> RowBlocks:
    """The chunks of rows of X, or its partitions, with those of y and of the weights.

    An array is brought to one chunk of columns, and y to the chunks of X.
    """
    import dask

    if y is None:
        raise InputError(f"{owner}: y is missing; pass the targets as well.")
    if np.ndim(X) != 2:
        raise InputError(f"{owner}: X must be a matrix of shape (n, d), got {X.ndim} dimensions.")
    X = X.rechunk({1: -1}) if _is_array(X) and X.numblocks[1] > 1 else X
    columns = [_delayed(X), _like(owner, "y", y, X)]
    columns.append(
        [None] * len(columns[0])
        if sample_weight is None
        else _like(owner, "sample_weight", sample_weight, X)
    )
    lent = dask.delayed(_lent)
    return RowBlocks([Chunk(lent(*parts)) for parts in zip(*columns, strict=True)])


def _lent(X: Any, y: Any, sample_weight: Any) -> Lent:
    return Lent((X, y, sample_weight))


def _is_array(x: Any) -> bool:
    return hasattr(x, "chunks")


def _delayed(x: Any) -> list[Any]:
    """Its chunks, or partitions."""
    return list(np.ravel(x.to_delayed()))


def _like(owner: str, name: str, values: Any, X: Any) -> Sequence[Any]:
    """The parts of y or of the weights that belong to those of X."""
    known = X.chunks[0] if _is_array(X) and not np.isnan(X.chunks[0]).any() else None
    if not is_collection(values):
        return _split(owner, name, values, known)
    if _is_array(values) and values.ndim > 1:
        values = values.rechunk({1: -1})
    if known is not None and _is_array(values) and not np.isnan(values.chunks[0]).any():
        if sum(values.chunks[0]) != sum(known):
            raise InputError(
                f"{owner}: {name} must have one entry per row of X ({sum(known)}), got "
                f"{sum(values.chunks[0])}."
            )
        return _delayed(values.rechunk({0: known}))
    parts, count = _delayed(values), len(_delayed(X))
    if len(parts) != count or _divided_otherwise(values, X):
        raise InputError(
            f"{owner}: {name} comes in {len(parts)} parts and X in {count}, whose rows cannot be "
            "matched. Take both from the same data frame, or, of arrays, call "
            "compute_chunk_sizes() of each first."
        )
    return parts


def _divided_otherwise(values: Any, X: Any) -> bool:
    """Whether two data frames are known to have their rows in different partitions."""
    known = [getattr(each, "divisions", (None,)) for each in (values, X)]
    return None not in known[0] + known[1] and known[0] != known[1]


def _split(owner: str, name: str, values: Any, lengths: Sequence[int] | None) -> Sequence[Any]:
    """Values in memory, cut where X is."""
    if lengths is None:
        raise InputError(
            f"{owner}: {name} must be a collection of dask's as X is, whose parts have unknown "
            f"sizes; got {type(values).__name__}."
        )
    if len(values) != sum(lengths):
        raise InputError(
            f"{owner}: {name} must have one entry per row of X ({sum(lengths)}), got {len(values)}."
        )
    return np.split(np.asarray(values), np.cumsum(lengths)[:-1])


# Constructors of models, which take row blocks in place of X and y.


def brings_targets(start: Callable[..., None]) -> Callable[..., None]:
    """Let the constructor of a model take row blocks in place of X and y."""

    @wraps(start)
    def started(self: Any, *args: Any, **named: Any) -> None:
        given = args[0] if args else named.get("X")
        if is_collection(given):
            y = args[1] if args[1:] else named.pop("y", None)
            weights = named.pop("sample_weight", None)
            given = collection_blocks(self.name, given, y, weights)
            args, named = (given, BROUGHT, *args[2:]), {k: v for k, v in named.items() if k != "X"}
        if isinstance(given, RowBlocks) and "y" not in named:
            if len(args) > 1 and (args[1] is None or np.ndim(args[1]) > 0):
                raise InputError(f"{self.name}: row blocks carry y; leave it out.")
            if len(args) < 2 or args[1] is not BROUGHT:
                named |= {"y": BROUGHT} if not args[1:] else {}
                args = args if not args[1:] else (given, BROUGHT, *args[1:])
        start(self, *args, **named)

    return started


def refuse_blocks(kind: type[Any], *given: Any) -> None:
    """Raise InputError where a model that needs its samples in memory is given row blocks."""
    if getattr(kind, "takes_blocks", False):
        return
    if any(isinstance(each, RowBlocks) for each in given):
        named = signature(kind.fit if hasattr(kind, "fit") else kind).parameters
        if "X" in named:
            what, instead = "its samples are", " and ".join(n for n in ("X", "y") if n in named)
        else:
            what, instead = "its arrays are", "arrays"
        raise InputError(
            f"{kind.__name__}: {what} needed in memory, got row blocks. These are for models of "
            "a loss of each sample and a penalty on w, as Ridge(blocks, lam=0.1); pass "
            f"{instead} here."
        )


class TakesBlocks:
    """Models whose constructors take row blocks."""

    takes_blocks: ClassVar[bool] = True

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        if "__init__" in vars(cls):
            cls.__init__ = brings_targets(cls.__init__)  # type: ignore[method-assign]


def read_any(owner: str, X: Any, y: Any, sample_weight: Any, labels: str) -> Samples:
    """Samples in memory or in blocks, validated."""
    read = read_row_blocks if isinstance(X, RowBlocks) else read_samples
    return read(owner, X, y, sample_weight, labels)
