"""The losses: one mathematical object, one small file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..validation import no_such_name
from .absolute import Absolute
from .base import Loss
from .epsilon_insensitive import EpsilonInsensitive
from .exponential import Exponential
from .hard_margin import HardMargin
from .hinge import Hinge
from .huber import Huber
from .interpolation import Interpolation
from .logistic import Logistic
from .pinball import Pinball
from .poisson import Linex, Poisson
from .softmax import Softmax
from .squared import Squared
from .squared_epsilon_insensitive import SquaredEpsilonInsensitive
from .squared_hinge import SquaredHinge

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "Exponential",
    "HardMargin",
    "Hinge",
    "Huber",
    "Interpolation",
    "Linex",
    "Logistic",
    "Loss",
    "Pinball",
    "Poisson",
    "Softmax",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
]

_exports = {name: globals()[name] for name in __all__}

ALL: dict[str, type[Loss]] = {
    cls.name: cls for cls in _exports.values() if issubclass(cls, Loss) and cls is not Loss
}
"""Every loss of the library by its name."""

if not TYPE_CHECKING:  # else every name would do

    def __getattr__(name: str) -> Any:
        raise no_such_name(__name__, name, __all__)
