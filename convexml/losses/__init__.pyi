"""What the room gives: names are loaded from here when first used, and types are read here."""

from .absolute import Absolute as Absolute
from .base import Loss as Loss
from .epsilon_insensitive import EpsilonInsensitive as EpsilonInsensitive
from .exponential import Exponential as Exponential
from .hard_margin import HardMargin as HardMargin
from .hinge import Hinge as Hinge
from .huber import Huber as Huber
from .interpolation import Interpolation as Interpolation
from .logistic import Logistic as Logistic
from .pinball import Pinball as Pinball
from .poisson import Linex as Linex
from .poisson import Poisson as Poisson
from .softmax import Softmax as Softmax
from .squared import Squared as Squared
from .squared_epsilon_insensitive import SquaredEpsilonInsensitive as SquaredEpsilonInsensitive
from .squared_hinge import SquaredHinge as SquaredHinge

ALL: dict[str, type[Loss]]
