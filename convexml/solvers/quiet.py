"""Keep compiled solvers from printing: standard output belongs to results."""

from __future__ import annotations

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
        os.dup2(saved, 1)
        os.close(saved)
        os.close(nowhere)
