"""What the package gives: names are loaded from here when first used, and types are read here."""

from .assertions import assert_optimal as assert_optimal
from .certifying import certify as certify
from .cvxpy.solving import solve as solve
from .registering import register as register
from .slater import Slater as Slater
from .slater import slater as slater
