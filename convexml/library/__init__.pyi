"""What the package gives: names are loaded from here when first used, and types are read here."""

from .discovery import discover as discover
from .discovery import read_table_of as read_table_of
from .facts import FactCheck as FactCheck
from .facts import check_fact as check_fact
from .loader import ProblemFile as ProblemFile
from .loader import load as load
from .loader import load_file as load_file
