"""Arrays over n rows that lie in blocks, and who computes on these."""

from . import functions  # noqa: F401 - fills the table that the array asks
from .array import BlockArray
from .executor import Executor, Here
from .joining import in_memory, joined, parted, together
from .rowwise import dear, rowwise
from .searching import between, count_between, thinned

__all__ = [
    "BlockArray",
    "Executor",
    "Here",
    "between",
    "count_between",
    "dear",
    "in_memory",
    "joined",
    "parted",
    "rowwise",
    "thinned",
    "together",
]
