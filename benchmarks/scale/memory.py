"""How much memory this process has held."""

from __future__ import annotations

from pathlib import Path


def peak() -> float:
    """The largest resident memory of this process so far, mapped pages among it, MB.

    Not ``ru_maxrss``: a process inherits that of who started it, here of who mapped the file.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024.0 for line in lines if line.startswith("VmHWM"))
