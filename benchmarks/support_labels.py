"""How many labels are left undecided as the gap falls, and whether a decided one is ever wrong.

Run with ``python benchmarks/support_labels.py``. Random problems of seven kinds, each brought to
relative gaps from 1e-2 to 1e-10; the labels are compared with those of an independent solver.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.support_cases import KINDS, point_at, random_case

from convexml.certificates.support import certify_support

GAPS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=29, help="of each kind")
    problems = parser.parse_args().problems
    print(f"{'undecided, % at relative gap':<30}" + "".join(f"{gap:>9g}" for gap in GAPS))
    wrong = decided = 0
    seconds = []
    for kind in KINDS:
        left = np.zeros((len(GAPS), 2))
        for seed in range(problems):
            case = random_case(kind, seed)
            for k, gap in enumerate(GAPS):
                w, b, u, _ = point_at(case, gap, seed + k)
                start = time.perf_counter()
                found = certify_support(case.problem.objective_parts, w, b, u)
                seconds.append(time.perf_counter() - start)
                pairs = (found.samples, case.samples), (found.coordinates, case.coordinates)
                for labels, truth in pairs:
                    sure = (labels != "undecidable") & (truth != "?")
                    wrong += int(np.sum(sure & (labels != truth)))
                    decided += int(np.sum(sure))
                labels = pairs["margin" not in kind][0]
                left[k] += np.sum(labels == "undecidable"), len(labels)
        print(f"{kind:<30}" + "".join(f"{100.0 * a / b:>9.1f}" for a, b in left))
    print(f"{wrong} of {decided} decided labels are wrong   (limit 0)")
    print(f"{1e3 * np.median(seconds):.0f} ms each (median)")


if __name__ == "__main__":
    main()
