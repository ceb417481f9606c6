"""Mutate certified points many times; count the verdicts, and what the oracle calls a lie.

python benchmarks/mutations.py [tries] [loss x penalty combinations] [seed]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))


def main(tries: int = 20_000, combinations: int = 150, seed: int = 1) -> int:
    """Return the number of lies."""
    from support.mutations import run

    start = time.perf_counter()
    tally = run(tries, combinations, seed)
    print(f"{tally.tries} tries, of which {tally.mattered} matter; {dict(tally.verdicts)}")
    print(f"{len(tally.lies)} lies, {time.perf_counter() - start:.0f} s")
    for lie in tally.lies:
        print("  ", lie)
    return len(tally.lies)


if __name__ == "__main__":
    raise SystemExit(min(main(*(int(argument) for argument in sys.argv[1:])), 1))
