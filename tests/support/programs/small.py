"""Small linear programs: a diet, and programs of integers of any status with SciPy's answer."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

DIET = {
    "c": [3.0, 24.0, 13.0, 9.0, 20.0, 19.0],
    "A_ub": [[-110.0, -205.0, -160.0, -160.0, -420.0, -260.0],
        [-4.0, -32.0, -13.0, -8.0, -4.0, -14.0], [-2.0, -12.0, -54.0, -285.0, -22.0, -80.0]],
    "b_ub": [-2000.0, -55.0, -800.0],
    "bounds": [(0, 4), (0, 3), (0, 2), (0, 8), (0, 2), (0, 2)],
}  # fmt: skip
BOUNDS = [(0.0, None), (None, 2.0), (-1.0, 3.0), (None, None), (0.5, 0.5)]


def entries(low: int, high: int) -> st.SearchStrategy[float]:
    return st.integers(low, high).map(float)


@st.composite
def programs(draw: st.DrawFn) -> dict[str, object]:
    """Programs with small integers, of any status; columns of a size of their own."""
    n, m, p = draw(st.integers(1, 5)), draw(st.integers(0, 5)), draw(st.integers(0, 2))
    vector = lambda k, low=-4, high=4: np.array(  # noqa: E731
        draw(st.lists(entries(low, high), min_size=k, max_size=k))
    )
    units = np.array(draw(st.lists(st.sampled_from([1.0, 1.0, 0.3]), min_size=n, max_size=n)))
    bounds = draw(st.lists(st.sampled_from(BOUNDS), min_size=n, max_size=n))
    return {
        "c": vector(n) * units,
        "A_ub": (vector(m * n).reshape(m, n) * units) if m else None,
        "b_ub": vector(m, -3, 6) if m else None,
        "A_eq": (vector(p * n).reshape(p, n) * units) if p else None,
        "b_eq": vector(p, -2, 2) if p else None,
        "bounds": bounds,
    }


def oracle(data: dict[str, object]) -> tuple[str, object]:
    result = linprog(**data, method="highs")
    return {0: "optimal", 2: "infeasible", 3: "unbounded"}.get(result.status, "unknown"), result


def certificates_multipliers(result: object) -> dict[str, np.ndarray]:
    """SciPy's marginals with our signs."""
    return {
        "lambda_ub": -result.ineqlin.marginals,
        "nu": -result.eqlin.marginals,
        "lambda_lower": result.lower.marginals,
        "lambda_upper": -result.upper.marginals,
    }
