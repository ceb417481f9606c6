"""What the package gives: names are loaded from here when first used, and types are read here."""

from .audit import assert_optimal as assert_optimal
from .audit import certify as certify
from .slater import Slater as Slater
from .slater import slater as slater
from .solution import minimize as minimize
from .solution import register as register
from .solution import solve as solve
