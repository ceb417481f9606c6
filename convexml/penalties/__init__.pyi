"""What the room gives: names are loaded from here when first used, and types are read here."""

from .ball import L1Ball as L1Ball
from .ball import L2Ball as L2Ball
from .base import Manifold as Manifold
from .base import Penalty as Penalty
from .box import Box as Box
from .box import Nonnegative as Nonnegative
from .group_l2 import GroupL2 as GroupL2
from .l1 import L1 as L1
from .l1 import ElasticNet as ElasticNet
from .l2 import L2 as L2
from .nonnegative_elastic_net import NonnegativeElasticNet as NonnegativeElasticNet
from .sorted_l1 import SortedL1 as SortedL1
from .zero import Zero as Zero

ALL: dict[str, type[Penalty]]
