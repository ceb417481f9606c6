"""Who else reaches a verified gap on the same file, and in which time: ours and the peers'.

Run with ``python benchmarks/scale/beside.py --n 1e6``; ``pip install convexml[peers]`` brings
dask-ml. Everybody runs in a process of their own, on one thread, on the same float32 file. Their
(w, b) are judged by our certificate, off the clock, after epochs of a geometric grid
(``partial_fit``) or at tolerances of 1e-2, 1e-3, ... in turn, of which the loosest one that
verifies counts. A peer has a budget of processor time, a multiple of ours, and is killed where one
call takes far more than that. Ours contains posing and certificate.
Modules are loaded off the clock.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

from data import written
from processes import said

GAPS = (1e-2, 1e-3, 1e-4, 1e-6)
PEERS = (
    ("SGD", "logistic svm"),
    ("averaged SGD", "logistic svm"),
    ("lbfgs in memory", "logistic"),
    ("newton-cholesky in memory", "logistic"),
    ("saga in memory", "logistic"),
    ("liblinear in memory", "svm"),
    ("dask-ml lbfgs", "logistic"),
    ("dask-ml newton", "logistic"),
    ("dask-ml admm", "logistic"),
    ("dask-ml gradient_descent", "logistic"),
    ("dask-ml proximal_grad", "logistic"),
)
"""And what they take."""


def reached(rounds: list[tuple[int, float, float]], gap: float) -> float | None:
    """The least seconds to a gap, None where it was not reached."""
    return min((seconds for _, seconds, found in rounds if found <= gap), default=None)


def line(name: str, rounds: list[tuple[int, float, float]], ours: float, peak: float) -> str:
    """Seconds to each gap, and the last one as a multiple of ours."""
    times = [reached(rounds, gap) for gap in GAPS]
    cells = "".join(f"{'-' if t is None else f'{t:.2f}':>9}" for t in times)
    best = min(gap for _, _, gap in rounds)
    last = "-" if times[-1] is None else f"{times[-1] / ours:.1f}"
    return f"{name:<28}{cells}{best:>11.1e}{last:>8}{peak:>10.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=float, default=1e6)
    parser.add_argument("--models", nargs="+", default=("logistic", "svm"))
    parser.add_argument("--peers", nargs="+", help="names that contain one of these")
    parser.add_argument("--rows", type=int, default=100_000, help="of a block")
    parser.add_argument("--budget", type=float, default=20.0, help="as a multiple of ours")
    arguments = parser.parse_args()
    n = int(arguments.n)
    with tempfile.TemporaryDirectory() as folder:
        written(Path(folder), n)
        for model in arguments.models:
            task: dict[str, Any] = {"folder": folder, "model": model, "rows": arguments.rows}
            ours = said("one.py", task | {"tol": GAPS[-1]})
            seconds = ours["cpu"]
            heads = "".join(f"{gap:>9.0e}" for gap in GAPS)
            print(f"{model}, n = {n}: processor seconds to a verified relative gap")
            print(f"{'':<28}{heads}{'best gap':>11}{'ratio':>8}{'peak, MB':>10}")
            print(line("convexml", [(1, seconds, ours["gap"])], seconds, ours["peak"]), flush=True)
            task |= {"n": n, "target": GAPS[-1], "budget": arguments.budget * seconds}
            for name, kinds in PEERS:
                asked = arguments.peers is None or any(part in name for part in arguments.peers)
                if model not in kinds or not asked:
                    continue
                limit = 2.0 * task["budget"] + 60.0
                found = said("rival.py", task | {"peer": name}, limit=limit)
                if "failed" in found:
                    print(f"{name:<28}  {found['failed']}", flush=True)
                else:
                    print(line(name, found["rounds"], seconds, found["peak"]), flush=True)


if __name__ == "__main__":
    main()
