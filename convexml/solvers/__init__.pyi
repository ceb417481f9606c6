"""What the room gives: names are loaded from here when first used, and types are read here."""

from . import steps as steps
from .composite import Composite as Composite
from .driver import Iterate as Iterate
from .driver import Record as Record
from .registry import available as available
from .registry import names as names
from .registry import printed as printed
from .registry import register as register
from .registry import supports as supports
from .registry import unregister as unregister
