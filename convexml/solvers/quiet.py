"""Keep compiled solvers from printing: standard output belongs to results."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_stdout() -> Iterator[None]:
    """Send what is written to file descriptor 1 nowhere, C libraries included.

    OSQP announces "Polishing not needed ..." even when it is told not to be verbose.
    """
    sys.stdout.flush()
    _flush_c_streams()
    try:
        saved = os.dup(1)
    except OSError:  # there is no standard output to protect
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 1)
        yield
    finally:
        _flush_c_streams()
        os.dup2(saved, 1)
        os.close(saved)
        os.close(nowhere)


def _flush_c_streams() -> None:
    """What C has buffered must go where it was meant to while it still does."""
    if os.name == "posix":
        ctypes.CDLL(None).fflush(None)
