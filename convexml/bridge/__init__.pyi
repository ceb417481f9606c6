"""What the package gives: names are loaded from here when first used, and types are read here."""

from .audit import assert_optimal as assert_optimal
from .audit import certify as certify
from .diagnosis import Diagnosis as Diagnosis
from .diagnosis import Slater as Slater
from .diagnosis import diagnose as diagnose
from .diagnosis import slater as slater
from .solution import minimize as minimize
from .solution import register as register
from .solution import solve as solve
