"""Exit codes, and which error has which."""

from __future__ import annotations

from ..errors import ConvexmlError, InputError, ProblemFileError, SolverError, SolverMissingError

VERIFIED = 0
USAGE = 2
BAD_FILE = 3
NO_SOLUTION = 4
NOT_VERIFIED = 5
SOLVER_MISSING = 6
INTERRUPTED = 130


def exit_code(error: ConvexmlError) -> int:
    """The exit code that stands for an error."""
    if isinstance(error, SolverMissingError):
        return SOLVER_MISSING
    if isinstance(error, SolverError):
        return USAGE
    if isinstance(error, InputError | ProblemFileError):
        return BAD_FILE
    return NOT_VERIFIED
