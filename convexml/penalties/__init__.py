"""The penalties: one mathematical object, one small file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..validation import no_such_name
from .ball import L1Ball, L2Ball
from .base import Manifold, Penalty
from .box import Box, Nonnegative
from .group_l2 import GroupL2
from .l1 import L1, ElasticNet
from .l2 import L2
from .nonnegative_elastic_net import NonnegativeElasticNet
from .sorted_l1 import SortedL1
from .zero import Zero

__all__ = [
    "L1",
    "L2",
    "Box",
    "ElasticNet",
    "GroupL2",
    "L1Ball",
    "L2Ball",
    "Manifold",
    "Nonnegative",
    "NonnegativeElasticNet",
    "Penalty",
    "SortedL1",
    "Zero",
]

_exports = {name: globals()[name] for name in __all__}

ALL: dict[str, type[Penalty]] = {
    cls.name: cls for cls in _exports.values() if issubclass(cls, Penalty) and cls is not Penalty
}
"""Every penalty of the library by its name."""

if not TYPE_CHECKING:  # else every name would do

    def __getattr__(name: str) -> Any:
        raise no_such_name(__name__, name, __all__)
