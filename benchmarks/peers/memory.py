"""The largest memory that a call takes beyond what is there before: one measure for everybody."""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path
from typing import Any

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak() -> float:
    """The largest resident memory since ``settled``, MB."""
    lines = STATUS.read_text().splitlines()
    return next(float(line.split()[1]) / 1024.0 for line in lines if line.startswith("VmHWM"))


def settled() -> float:
    """Give freed memory back, start the peak anew, and return where it starts, MB.

    Memory that was freed but stays resident would hide as much of what the next call takes.
    """
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    RESET.write_text("5")
    return peak()


def taken(call: Any, *arguments: Any) -> tuple[Any, float | None]:
    """The value of a call and the memory that it took, MB; None where no such Linux tells."""
    try:
        before = settled()
    except (OSError, AttributeError):
        return call(*arguments), None
    return call(*arguments), peak() - before
