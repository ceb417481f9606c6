"""Three ways to play a stream, and what each has to regret.

In round t a player names w, is told (x_t, y_t) and suffers |w·x_t - y_t|. The regret is what was
suffered beyond the best fixed w, known only when all is over: a convex problem, solved and
certified here, so that the regret is an interval as short as its gap.

- Online gradient descent steps along the last slope, from where it is, and returns to the ball.
- The regularised leader is the best against all slopes so far, plus ‖w‖²/(2η): it steps from where
  it would be, had it never been cut off at the ball. Both regret at most B G √T, ‖w‖₂ ≤ B.
- Exponentiated gradient multiplies weights of the corners of ‖w‖₁ ≤ t. The dimension enters its
  bound, t max|v_j| √(2 T log 2d), as a logarithm: with many features, few of which matter, it wins.

The stream: 60 features, the answer is the difference of two of them. ``python online_regret.py
regret.png`` draws how the regrets of both geometries grow.
"""

from __future__ import annotations

import sys

import numpy as np

import convexml as cml
from convexml import losses, penalties, theory

T, D, RADIUS = 100, 60, 2.0
PLAYERS = {
    "textbook.online_gradient_descent": penalties.L2Ball(np.sqrt(2.0)),
    "textbook.follow_the_regularized_leader": penalties.L2Ball(np.sqrt(2.0)),
    "textbook.exponentiated_gradient": penalties.L1Ball(RADIUS),
}


def main(picture: str | None = None) -> tuple[list[object], list[object]]:
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(T, D))
    y = X[:, 0] - X[:, 1]

    promised, suffered = {}, {}
    print(f"{'player':40}{'regret':>10}{'promised':>10}")
    for name, ball in PLAYERS.items():
        problem = cml.LearningProblem(X, y, losses.Absolute(), ball, fit_intercept=False)
        known = {} if name == "textbook.exponentiated_gradient" else {"ball": ball.t}
        run = problem.solve(name, tol=1e-12, max_iter=1, horizon=T, **known).rate_audit()
        (claim,) = (each for each in run.claims if each.is_rate)
        suffered[name], promised[name] = float(claim.measured[-1]), float(claim.bound[-1])
        print(f"{name:40}{suffered[name]:10.1f}{promised[name]:10.1f}  {run.holds}")

    if picture is not None:
        draw(picture, suffered, promised)
    euclid = np.sqrt(2.0) * np.sqrt(D) * np.sqrt(T)
    corners = RADIUS * np.sqrt(2.0 * T * np.log(2 * D))
    at_the_end = theory.leader_regret(
        T, step=np.sqrt(2.0 * np.log(2 * D) / T) / RADIUS, slope=RADIUS, spread=np.log(2 * D)
    )
    print(f"\nB G √T = {euclid:.1f}, t max|v_j| √(2 T log 2d) = {corners:.1f}")
    best = min(suffered, key=lambda name: suffered[name])
    within = all(suffered[name] <= promised[name] for name in PLAYERS)
    computed = [*promised.values(), float(at_the_end), best, "within" if within else "beyond"]
    return computed, [euclid, euclid, corners, corners, "textbook.exponentiated_gradient", "within"]


def draw(picture: str, suffered: dict[str, float], promised: dict[str, float]) -> None:
    from matplotlib.figure import Figure

    axes = (figure := Figure(figsize=(7, 3), layout="constrained")).subplots()
    rows = np.arange(len(suffered))
    axes.barh(rows, list(promised.values()), color="lightgray", label="promised")
    axes.barh(rows, list(suffered.values()), height=0.4, label="regret")
    axes.set_yticks(rows, [name.replace("_", " ") for name in suffered])
    axes.set(xlabel=f"regret after {T} rounds")
    axes.legend()
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
