"""Logistic regression and an SVM on a memory-mapped float32 file: passes, seconds, memory by n.

Run with ``python benchmarks/scale/growth.py --n 1e5 1e6``; all of it, with a file of 4 GB, with
``--n 1e5 5e5 2e6 2e7``. Every solve has a process of its own and is certified to 1e-6. "Floors" is
its processor time, posing and certificate included, as a multiple of reading the file once and one
Gram matrix of it in plain NumPy, measured twice after it in the same process. Files are
written to a folder that is removed at the end, and read from the cache of the system where that
has room for them.

``--workers 1 2`` measures strong scaling: the blocks lie with so many worker processes of a
LocalCluster, of one thread each, whose processor time is counted (0, the default: no cluster,
threads over blocks). A "speed-up" is the wall time of the least number of workers over that of
more, on a machine that has a processor for each and one for the client.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import tempfile
from pathlib import Path
from typing import Any

from data import written
from processes import said

LIMITS = {"logistic": 12, "svm": 45}
"""Passes at most."""
PER_PASS, PEAK = 1.5, 1500.0
"""Floors that a pass may take, and MB."""
SLOPES = ("cpu", "floor cpu", "peak", "passes")
HEAD = (
    f"{'model':<10}{'n':>10}{'workers':>8}{'status':>10}{'gap':>9}{'iter.':>6}{'passes':>8}{'limit':>6}"
    f"{'cpu, s':>8}{'wall, s':>9}{'floors':>8}{'a pass':>8}{'peak, MB':>10}"
)


def line(found: dict[str, Any]) -> str:
    if "failed" in found:
        return f"{found['model']:<10}{found['n']:>10}{found['workers']:>8}  {found['failed']}"
    floors = found["cpu"] / found["floor cpu"]
    each = floors / found["passes"]
    return (
        f"{found['model']:<10}{found['n']:>10}{found['workers']:>8}{found['status']:>10}"
        f"{found['gap']:>9.1e}{found['iterations']:>6}{found['passes']:>8}{LIMITS[found['model']]:>6}"
        f"{found['cpu']:>8.1f}{found['wall']:>9.1f}{floors:>8.1f}{each:>8.2f}"
        f"{max(found['peak'], found['peak of a worker']):>10.0f}"
    )


def slope(records: list[dict[str, Any]], name: str) -> float:
    """The least-squares slope of log(value) in log(n)."""
    x = [math.log(each["n"]) for each in records]
    v = [math.log(each[name]) for each in records]
    middle, mean = sum(x) / len(x), sum(v) / len(v)
    top = sum((a - middle) * (b - mean) for a, b in zip(x, v, strict=True))
    return top / sum((a - middle) ** 2 for a in x)


def told(records: list[dict[str, Any]]) -> None:
    """Slopes in n of each model and number of workers, and speed-ups by workers at each n."""
    known = [each for each in records if "failed" not in each]
    for model, workers in dict.fromkeys((each["model"], each["workers"]) for each in known):
        own = [each for each in known if (each["model"], each["workers"]) == (model, workers)]
        if len(own) > 1:
            slopes = (f"slope of {name} in n: {slope(own, name):.2f};" for name in SLOPES)
            print(model, f"on {workers} workers:" if workers else "here:", *slopes)
    for model, n in dict.fromkeys((each["model"], each["n"]) for each in known):
        own = [each for each in known if (each["model"], each["n"]) == (model, n)]
        first, *others = sorted(
            (each for each in own if each["workers"]), key=lambda each: each["workers"]
        ) or [None]
        for each in others:
            pair = f"{first['workers']} to {each['workers']} workers"
            wall, cpu = (each[name] / first[name] for name in ("wall", "cpu"))
            print(f"{model}, n = {n}, {pair}: speed-up {1 / wall:.2f}, processor time x {cpu:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=float, nargs="+", default=[1e5, 1e6])
    parser.add_argument("--models", nargs="+", choices=tuple(LIMITS), default=tuple(LIMITS))
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rows", type=int, default=100_000, help="of a block")
    parser.add_argument("--workers", type=int, nargs="+", default=[0], help="0: no cluster")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    records: list[dict[str, Any]] = []
    print(HEAD)
    for n in (int(each) for each in arguments.n):
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), n, arguments.columns)
            for model, workers in itertools.product(arguments.models, arguments.workers):
                task = {"folder": folder, "model": model, "tol": arguments.tol}
                task |= {"rows": min(arguments.rows, n), "workers": workers}
                own = {"model": model, "n": n, "workers": workers}
                found = own | said("one.py", task, arguments.threads)
                records.append(found)
                print(line(found), flush=True)
    told(records)
    if arguments.json:
        arguments.json.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
