"""What `import convexml` costs, against `import numpy, scipy.sparse`.

Run with ``python benchmarks/import_time.py``. Whole processes, in pairs, the order alternating; the
figure is the median of the pairs' ratios, and the limit 1.15.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

LIMIT = 1.15
BASE = "import numpy, scipy.sparse"
OURS = "import convexml"


def seconds(statement: str) -> float:
    """The wall time of an interpreter that runs one statement and ends."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start


def pairs(repeats: int) -> list[tuple[float, float]]:
    """Times of (base, ours), measured one after the other so that both see the same machine."""
    runs = []
    for turn in range(repeats):
        first, second = (BASE, OURS) if turn % 2 == 0 else (OURS, BASE)
        times = {first: seconds(first), second: seconds(second)}
        runs.append((times[BASE], times[OURS]))
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats
    pairs(1)  # the files are in the cache, the byte code is written
    runs = pairs(repeats)
    ratio = statistics.median(ours / base for base, ours in runs)
    base, ours = (1e3 * statistics.median(column) for column in zip(*runs, strict=True))
    print(f"{BASE}: {base:.0f} ms; {OURS}: {ours:.0f} ms")
    print(f"ratio {ratio:.3f}   (limit {LIMIT})")


if __name__ == "__main__":
    main()
