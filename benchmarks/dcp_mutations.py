"""Corrupted answers of random DCP problems: how many matter, and how many are certified.

python benchmarks/dcp_mutations.py [count]

CVXPY's own expressions, and its minimum of the Lagrangian over a box, decide which of them matter.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import convexml as cml

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from support.draws.dcp_problems import is_wrong, mutations, random_problem

TOL = 1e-5


def main(count: int = 100) -> None:
    warnings.simplefilter("ignore")
    reasons: Counter[str] = Counter()
    tries = certified = 0
    for seed in range(count):
        rng = np.random.default_rng(1000 + seed)
        problem = random_problem(rng)
        optimum = problem.solve(solver="CLARABEL")
        duals = [dual for c in problem.constraints for dual in c.dual_variables]
        kept = [(leaf, leaf.value) for leaf in (*problem.variables(), *duals)]
        for name, change in mutations(problem, rng):
            for leaf, value in kept:
                leaf.save_value(value)
            change()
            tries += 1
            why = is_wrong(problem, optimum, TOL)
            if why:
                reasons[why] += 1
                certificate = cml.certify(problem, tol=TOL)
                if certificate.verdict is cml.Verdict.CERTIFIED:
                    certified += 1
                    print(f"  seed {seed}, {name}: {why}, but certified")
    print(f"{tries} mutations of {count} problems, of which {sum(reasons.values())} matter:")
    for why, number in reasons.most_common():
        print(f"  {number} {why}")
    print(f"false certificates: {certified}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
