"""Newton's quadratic phase: every step doubles the number of correct digits.

Near a minimiser w* with f''(w*) > 0, of an error e a Newton step leaves only

    e' = (1/2) (f'''(w*) / f''(w*)) e² + O(e³).

In double precision there are 16 digits to get right, and the show is over after three or four
steps. So the first act is played in one dimension with 200 digits, where e'/e² has room to reach
its limit: logistic regression on one feature, f(w) = (1/n) Σ log(1 + exp(-y_i x_i w)) + (λ/2) w².

The second act is the solver itself, in 30 dimensions and b. With m the least eigenvalue of the
Hessian at x* = (w*, b*), M its Lipschitz constant and r = ‖x - x*‖ < 2m/(3M), the next distance is
at most M r² / (2(m - M r)) (Nesterov 1.2.5). The theorem is careful; the steps are far better.
Run `python examples/solvers/newton_quadratic_phase.py phase.png` for the picture of its run.
"""

from __future__ import annotations

import sys
from decimal import Decimal, localcontext
from itertools import pairwise

import numpy as np
from sklearn.datasets import load_breast_cancer

import convexml as cml
from convexml import theory

LAM, DIGITS, STEPS = 0.1, 200, 4


def derivatives(margins: list[Decimal], w: Decimal) -> tuple[Decimal, Decimal, Decimal]:
    """f', f'' and f''' at w, from p_i = 1/(1 + exp(y_i x_i w))."""
    n, lam = len(margins), Decimal(str(LAM))
    pairs = [(v, 1 / (1 + (v * w).exp())) for v in margins]
    first = sum(-v * p for v, p in pairs) / n + lam * w
    second = sum(v**2 * p * (1 - p) for v, p in pairs) / n + lam
    third = sum(-(v**3) * p * (1 - p) * (1 - 2 * p) for v, p in pairs) / n
    return first, second, third


def in_many_digits(margins: np.ndarray) -> tuple[list[float], float, float]:
    """The correct digits after each step, the last e'/e², and f'''/(2f'') at w*."""
    with localcontext() as context:
        context.prec = 2 * DIGITS
        exact, path = [Decimal(float(v)) for v in margins], [Decimal(0)]
        while len(path) < 2 or abs(path[-1] - path[-2]) > Decimal(10) ** -DIGITS:
            first, second, third = derivatives(exact, path[-1])
            path.append(path[-1] - first / second)
        errors = [w - path[-1] for w in path[:-1]]
        digits = [-float(abs(e / path[-1]).log10()) for e in errors]
        return digits, float(errors[-2] / errors[-3] ** 2), float(third / (2 * second))


def point(problem: cml.LogisticRegression, steps: int) -> np.ndarray:
    solution = problem.solve("newton", max_iter=steps, tol=1e-15, polish=False)
    return np.append(solution.primal["w"], solution.primal["b"])


def main(picture: str | None = None) -> tuple[list[object], list[object]]:
    X, y = load_breast_cancer(return_X_y=True)
    X, y = (X - X.mean(axis=0)) / X.std(axis=0), 1.0 - 2.0 * y

    digits, ratio, limit = in_many_digits((y * X[:, 0])[:60])
    print("correct digits, one feature: " + ", ".join(f"{d:.1f}" for d in digits))
    print(f"last e'/e² = {ratio:.8f}; f'''/(2f'') = {limit:.8f}\n")
    kept, doubled = True, all(1.9 < after / here < 2.2 for here, after in pairwise(digits[3:]))

    problem = cml.LogisticRegression(X, y, lam=LAM)
    best, wide = point(problem, 100), np.insert(X, X.shape[1], 1.0, axis=1)
    p = 1.0 / (1.0 + np.exp(y * (wide @ best)))
    hessian = wide.T @ ((p * (1.0 - p) / len(y))[:, None] * wide)
    hessian += LAM * np.diag(np.append(np.ones(X.shape[1]), 0.0))
    m, M = np.linalg.eigvalsh(hessian)[0], theory.hessian_lipschitz(problem.objective_parts)

    print(f"{'step':>5}{'r':>12}{'next r':>12}{'(next r)/r²':>15}{'theorem, at most':>19}")
    for step in range(STEPS):
        r, after = (np.linalg.norm(point(problem, k) - best) for k in (step, step + 1))
        bound = float(theory.newton_distance(r, m=m, M=M))
        said, kept = f"{bound / r**2:.1f}", kept and after <= bound
        print(f"{step:>5}{r:>12.2e}{after:>12.2e}{after / r**2:>15.3f}{said:>19}")
    if picture is not None:
        problem.solve("newton", tol=1e-12, polish=False).plot(picture, kind="convergence")
    seen = "doubled" if doubled else "not doubled", "kept" if kept else "broken"
    return [ratio, *seen], [limit, "doubled", "kept"]


if __name__ == "__main__":
    main(*sys.argv[1:])
