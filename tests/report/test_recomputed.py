"""Every number of page and JSON, recomputed from the stored (w, b, u) by forty lines of NumPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from support.report.reader import document_of, read

from convexml.report import Comparison, compare, render_html

PROBLEMS = Path(__file__).resolve().parents[2] / "problems"
NAMES = ("ridge_diabetes", "lasso_diabetes", "soft_margin_iris")


# -- the script: nothing of convexml below this line and above the next ----------------------------
def regression() -> tuple[Any, Any]:
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def irises() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    kept = y > 0
    return X[kept], np.where(y[kept] == 2, 1.0, -1.0)


def quadratic(w: Any, b: float, u: Any) -> tuple[float, float]:
    """mean r²/2, and its conjugate of v = n u."""
    X, y = regression()
    v = len(y) * u
    return np.mean((X @ w + b - y) ** 2) / 2, -np.mean(v**2 / 2 + y * v)


def ridge_diabetes(w: Any, b: float, u: Any, lam: float = 0.1) -> tuple[float, float]:
    P, D = quadratic(w, b, u)
    return P + lam / 2 * w @ w, D - np.sum((regression()[0].T @ u) ** 2) / (2 * lam)


def lasso_diabetes(w: Any, b: float, u: Any, lam: float = 2.0) -> tuple[float, float]:
    P, D = quadratic(w, b, u)
    feasible = np.abs(regression()[0].T @ u).max() <= lam * (1 + 1e-12)
    return P + lam * np.abs(w).sum(), D if feasible else -np.inf


def soft_margin_iris(w: Any, b: float, u: Any, C: float = 1.0) -> tuple[float, float]:
    X, y = irises()
    alpha = -y * u
    feasible = (alpha >= 0).all() and (alpha <= C).all()
    P = w @ w / 2 + C * np.maximum(0, 1 - y * (X @ w + b)).sum()
    return P, alpha.sum() - np.sum((X.T @ u) ** 2) / 2 if feasible else -np.inf


def judged(row: dict[str, Any]) -> tuple[float, float, float]:
    """P, D and the relative gap of a stored point; 1'u = 0 to rounding."""
    w, b, u = (np.array(row["point"][name]) for name in "wbu")
    assert abs(u.sum()) <= 1e-13 * np.abs(u).sum()
    P, D = globals()[row["problem"]](w, float(b), u)
    return P, D, (P - D) / max(abs(P), abs(D))


# -- and what page and JSON say ----------------------------------------------------------------
@pytest.fixture(scope="module")
def comparison() -> Comparison:
    files = [PROBLEMS / f"{name}.toml" for name in NAMES]
    return compare(files, ["clarabel", "fista", "subgradient"], max_seconds=0.2)


def test_the_numbers_are_those_of_the_stored_points(comparison: Comparison) -> None:
    rows = [row for row in json.loads(comparison.to_json(points=True))["records"] if row["point"]]
    assert {row["problem"] for row in rows} == set(NAMES)
    assert {row["verdict"] for row in rows} == {"certified", "undecided"}
    for row in rows:
        P, D, gap = judged(row)
        assert row["objective"] == pytest.approx(P, rel=1e-12)
        assert row["dual_objective"] == pytest.approx(D, rel=1e-12)
        assert row["relative_gap"] == pytest.approx(gap, rel=1e-3, abs=1e-11)
        assert (row["verdict"] == "certified") == (gap <= row["tol"])


def test_a_point_that_was_tampered_with_is_noticed(comparison: Comparison) -> None:
    rows = json.loads(comparison.to_json(points=True))["records"]
    row = next(row for row in rows if row["solver"] == "clarabel")
    row["point"]["w"][0] += 0.1
    assert row["objective"] != pytest.approx(judged(row)[0], rel=1e-9)


def test_the_page_says_what_the_document_says(comparison: Comparison) -> None:
    text = render_html(comparison)
    document = json.loads(comparison.to_json())
    assert document_of(text) == document
    page = read(text)
    page.equals(document["records"])
    kinds = [row["kind"] for row in document["records"]]
    assert page.counts == {kind: kinds.count(kind) for kind in set(kinds)}
    runs = next(iter(page.runs.values()))
    runs[0]["P"] = runs[0]["P"].replace("1", "2", 1)  # a page with another number is noticed
    with pytest.raises(AssertionError):
        page.equals(document["records"])
