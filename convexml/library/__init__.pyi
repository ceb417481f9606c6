"""What the package gives: names are loaded from here when first used, and types are read here."""

from .loader import FactCheck as FactCheck
from .loader import ProblemFile as ProblemFile
from .loader import check_fact as check_fact
from .loader import load as load
from .loader import load_file as load_file
from .registry import discover as discover
from .registry import read_table_of as read_table_of
