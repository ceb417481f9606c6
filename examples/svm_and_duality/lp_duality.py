"""Linear programming duality three times: prices, opponents, cuts.

1. A diet. The multiplier of a nutrient's requirement is its price: what the day would cost more
   if the requirement rose by one unit. Raise it a little, solve again, and see.
2. A matrix game. The row player's program secures the most; the multipliers of its rows are the
   column player's strategy, and both have the same value (von Neumann 1928).
3. A flow. The multipliers of the capacities are 0 or 1: the edges with 1 are a cut, and its
   capacity is the flow (Ford and Fulkerson 1956).

Run `python examples/svm_and_duality/lp_duality.py price.png` for the picture.
"""

from __future__ import annotations

import sys

import numpy as np

import convexml as cml


def diet(picture: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Polly's diet (Chvátal 1983): shadow prices against finite differences."""
    cost = np.array([3.0, 24, 13, 9, 20, 19])  # oatmeal, chicken, eggs, milk, cherry pie, pork
    content = [[110.0, 205, 160, 160, 420, 260], [4, 32, 13, 8, 4, 14], [2, 12, 54, 285, 22, 80]]
    least = np.array([2000.0, 55, 800])  # kcal, g of protein, mg of calcium
    most = [(0, 4), (0, 3), (0, 2), (0, 8), (0, 2), (0, 2)]  # servings one can face in a day

    def day(required: np.ndarray) -> cml.Solution:
        return cml.LinearProgram(cost, -np.array(content), -required, bounds=most).solve()

    prices = day(least).dual["lambda_ub"]
    step = 1e-3 * np.eye(3)
    slopes = [(day(least + h).objective - day(least - h).objective) / 2e-3 for h in step]
    print(f"diet: {day(least).objective:.2f} cents a day")
    for name, price, slope in zip(("kcal", "protein", "calcium"), prices, slopes, strict=True):
        print(f"  {name:<8} multiplier {price:.6f}   finite difference {slope:.6f}")
    if picture is not None:
        grams = np.linspace(30.0, 120.0, 31)
        costs = [day(np.array([least[0], gram, least[2]])).objective for gram in grams]
        draw(picture, (grams, np.array(costs)), least, prices[1])
    return prices, np.array(slopes)


def game() -> tuple[np.ndarray, np.ndarray]:
    """The 2 x 2 game with payoffs A to the row player: both strategies from one program."""
    A = np.array([[3.0, -1.0], [-2.0, 1.0]])
    free = [(0, None), (0, None), (None, None)]
    rows = cml.LinearProgram(
        [0, 0, -1], np.c_[-A.T, [1, 1]], [0, 0], [[1, 1, 0]], [1], bounds=free
    ).solve()
    p, value, q = rows.primal["x"][:2], rows.primal["x"][2], rows.dual["lambda_ub"]
    print(f"game: value {value:.6f}, row player {p}, column player {q}")
    print(f"  q costs at most {max(A @ q):.6f} against anybody, p earns at least {min(p @ A):.6f}")
    return np.array([value, *p, *q]), np.array([1, 3, 4, 2, 5]) / 7  # by hand


def flow() -> tuple[np.ndarray, np.ndarray]:
    """The network of Cormen et al., chapter 26: the maximum flow and the cut that stops it."""
    edges = "s1 16, s2 13, 13 12, 21 4, 24 14, 32 9, 3t 20, 43 7, 4t 4"
    ends, numbers = zip(*(edge.split() for edge in edges.split(", ")), strict=True)
    capacity = np.array(numbers, dtype=float)
    leaves = np.array([[(end[0] == v) - (end[1] == v) for end in ends] for v in "s1234t"])
    limits = [(0, most) for most in capacity]
    best = cml.LinearProgram(-leaves[0], A_eq=leaves[1:5], b_eq=np.zeros(4), bounds=limits).solve()
    cut = best.dual["lambda_upper"]
    names = ", ".join(f"{end[0]}-{end[1]}" for end, price in zip(ends, cut, strict=True) if price)
    print(f"flow: {-best.objective:g} = {capacity @ cut:g}, the capacity of the cut {names}")
    return np.array([-best.objective, *cut]), np.array([23.0, 0, 0, 1, 0, 0, 0, 0, 1, 1])


def draw(path: str, days: tuple, required: np.ndarray, price: float) -> None:
    """What a day costs over the protein it must have, and the multiplier as its slope."""
    from matplotlib.figure import Figure

    axes = (figure := Figure(layout="constrained")).subplots(subplot_kw={"xlabel": "protein, g"})
    axes.plot(*days, label="cost of a day")
    line = np.interp(required[1], *days) + price * (days[0] - required[1])
    axes.plot(days[0], line, "--", label="slope: the multiplier")
    axes.legend()
    figure.savefig(path, dpi=150)


def main(picture: str | None = None) -> tuple[tuple, tuple]:
    return tuple(zip(diet(picture), game(), flow(), strict=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
