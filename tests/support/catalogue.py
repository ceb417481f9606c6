"""The one table of all losses and penalties, with hyperparameters, that the law tests go through.

`tests/house/test_catalogue.py` fails when a class of the packages is missing here.
"""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from convexml import losses, penalties
from convexml.losses import Loss
from convexml.numerics import Array
from convexml.penalties import Penalty

LOSSES: tuple[Loss, ...] = (
    losses.Squared(), losses.Absolute(), losses.Pinball(0.5), losses.Pinball(0.1),
    losses.Pinball(0.97), losses.Huber(1.0), losses.Huber(0.05), losses.Huber(30.0),
    losses.EpsilonInsensitive(0.0), losses.EpsilonInsensitive(0.5), losses.EpsilonInsensitive(3.0),
    losses.SquaredEpsilonInsensitive(0.0), losses.SquaredEpsilonInsensitive(0.5), losses.Logistic(),
    losses.Hinge(), losses.SquaredHinge(), losses.Exponential(), losses.Poisson(), losses.Linex(),
    losses.HardMargin(), losses.Interpolation(),
)  # fmt: skip

MULTICLASS: tuple[Loss, ...] = (losses.Softmax(),)
"""Losses of K predictions a sample; their laws are in tests/laws/test_softmax_loss.py."""

INF = np.inf
D = 5
"""The number of features of the penalties below."""

PENALTIES: tuple[Penalty, ...] = (
    penalties.Zero(), penalties.L2(0.7), penalties.L2(0.0),
    penalties.L2(2.0, weights=np.array([1.0, 0.0, 3.0, 0.5, 0.0])), penalties.L1(0.8),
    penalties.L1(0.0), penalties.L1(1.5, weights=np.array([1.0, 0.0, 2.0, 0.5, 1.0])),
    penalties.ElasticNet(0.9, 0.3), penalties.ElasticNet(0.9, 1.0), penalties.ElasticNet(0.9, 0.0),
    penalties.ElasticNet(0.0, 0.5), penalties.GroupL2(0.6, ["a", "b", "a", "c", "b"]),
    penalties.GroupL2(0.6, [3, 3, 1, 1, 1], weights=np.array([2.0, 0.0])),
    penalties.GroupL2(0.0, [0, 0, 1, 1, 2]), penalties.GroupL2(1.1, [4, 3, 2, 1, 0]),
    penalties.L1Ball(1.3), penalties.L1Ball(1e-3), penalties.L2Ball(1.3), penalties.L2Ball(50.0),
    penalties.Box(-1.0, 2.0),
    penalties.Box(np.array([-1.0, 0.0, -INF, -INF, 2.0]), np.array([1.0, INF, 0.5, INF, 2.0])),
    penalties.Box(-INF, INF), penalties.Nonnegative(), penalties.NonnegativeElasticNet(0.8),
    penalties.NonnegativeElasticNet(0.9, 0.3), penalties.NonnegativeElasticNet(0.9, 0.0),
    penalties.SortedL1([1.5, 1.1, 1.1, 0.4, 0.0], 0.7),
)  # fmt: skip

LABELS: dict[str, st.SearchStrategy[float]] = {
    "real": st.sampled_from([0.0, 1.0, -1.0]) | st.floats(-5.0, 5.0),
    "binary": st.sampled_from([-1.0, 1.0]),
    "count": st.sampled_from([0.0, 1.0, 2.0, 7.0, 100.0, 0.25]),
}
"""What y may be, by the kind of label that a loss takes."""

NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 0.5, -2.0]) | st.floats(-25.0, 25.0, width=32)


def name(item: Loss | Penalty) -> str:
    """The name of a case in the output of pytest."""
    return repr(item)


def parameters(item: Loss | Penalty) -> dict[str, cp.Parameter]:
    """The hyperparameters as CVXPY's expressions take them."""
    return {
        key: cp.Parameter(np.shape(value), nonneg=True, value=value)
        for key, value in item.hyperparameters().items()
    }


def corners(loss: Loss, y: Array) -> tuple[Array, ...]:
    """Predictions at which a loss may change its formula: kinks, labels, thresholds."""
    ends = [np.where(np.isfinite(end), end, 0.0) for end in loss.domain(y)]
    return (*loss.kinks(y), y, y + ends[0], y + ends[1])


@st.composite
def samples(
    draw: Callable, loss: Loss, n: int = 8, numbers: st.SearchStrategy[float] = NUMBERS
) -> tuple[Array, Array]:
    """Labels and predictions of one loss; some predictions sit exactly on a corner."""
    y = draw(arrays(float, n, elements=LABELS[loss.labels]))
    z = draw(arrays(float, n, elements=numbers))
    choices = np.array([z, z, z, *corners(loss, y)])
    z = choices[draw(arrays(int, n, elements=st.integers(0, len(choices) - 1))), np.arange(n)]
    return frozen(y), frozen(z)


def vectors(d: int = D, numbers: st.SearchStrategy[float] = NUMBERS) -> st.SearchStrategy[Array]:
    """Coefficient vectors: zeros, ties and signs included."""
    drawn = arrays(float, d, elements=numbers)
    return st.one_of(drawn, st.just(np.zeros(d)), numbers.map(lambda t: np.full(d, t))).map(frozen)


def frozen(x: Array) -> Array:
    """The array, read-only: a method that wrote to its input would raise."""
    x = np.array(x, dtype=float)
    x.flags.writeable = False
    return x


def judge(law: Callable[..., None], item: Loss | Penalty, drawn: list[tuple]) -> None:
    """Judge a law on all samples that were drawn; an error says on which one."""
    for sample in drawn:
        try:
            law(item, *sample)
        except Exception as error:
            error.add_note(f"{item!r}, drawn: {sample}")
            raise


def minimise(f: Callable[[Array], Array], lo: Array, hi: Array) -> Array:
    """Minimisers of convex functions of one variable each, by golden section."""
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    for _ in range(80):
        left, right = hi - ratio * (hi - lo), lo + ratio * (hi - lo)
        keep_left = f(left) < f(right)
        lo, hi = np.where(keep_left, lo, left), np.where(keep_left, right, hi)
    return 0.5 * (lo + hi)
