"""Where lines are broken, and the names of conditions in the letters of the formulas."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convexml.typesetting.lines import broken, fitting
from convexml.typesetting.names import plain_name

TEXTS = st.lists(st.text("ab(|)‖,+−= ", min_size=1, max_size=9), min_size=1, max_size=30)
NAMES = {
    "X'u + lam w = 0": "Xᵀu + λ w = 0",
    "-X'u in dOmega(w)": "−Xᵀu ∈ ∂Ω(w)",
    "u_i/c_i in dl(y_i, z_i)": "uᵢ/cᵢ ∈ ∂l(yᵢ, zᵢ)",
    "X'l'(y, z)/n + lam w = 0": "Xᵀl′(y, z)/n + λ w = 0",
    "w in dom Omega": "w ∈ dom Ω",
    "z_i of the sign in which the loss falls": "zᵢ of the sign in which the loss falls",
    "alpha*_i (z_i - y_i - epsilon - xi*_i) = 0": "αᵢ* (zᵢ − yᵢ − ε − ξᵢ*) = 0",
    "alpha_i - alpha_{i-1} = c_i (y_i - w_i)": "αᵢ − αᵢ₋₁ = cᵢ (yᵢ − wᵢ)",
    "lam w_ij |U_i - U_j| = <V_ij, U_i - U_j>": "λ wᵢⱼ |Uᵢ − Uⱼ| = ⟨Vᵢⱼ, Uᵢ − Uⱼ⟩",
    "u_i = -c_i y_i e^{-y_i (H w)_i}": "uᵢ = −cᵢ yᵢ e^(−yᵢ (H w)ᵢ)",
    "r_plus_i (u_i + tau c_i) = 0": "rᵢ⁺ (uᵢ + τ cᵢ) = 0",
    "sum_j lams_j |w|_(j) + w'X'u = 0": "∑ⱼ λⱼ |w|₍ⱼ₎ + wᵀXᵀu = 0",
    "sum of y_pi that part e <= d_e": "sum of y_π that part e ≤ dₑ",
    "c + A_ub' lambda_ub - lambda_lower = 0": "c + A_ubᵀ λ_ub − λ_lower = 0",
    "alpha_star": "α*",
    "class 0: Theta = Theta'": "class 0: Θ = Θᵀ",
    "user-defined x >= -1": "user-defined x ≥ −1",
    "Z_upper >> 0": "Z_upper ≽ 0",
    "P << I": "P ≼ I",
    "Theta_ij (S_ij - W_ij) + lam |Theta_ij| = 0, i != j": "Θᵢⱼ (Sᵢⱼ − Wᵢⱼ) + λ |Θᵢⱼ| = 0, i ≠ j",
    "1'u = 0": "\N{MATHEMATICAL BOLD DIGIT ONE}ᵀu = 0",
    "sqrt(sum_i u_i^2/c_i) <= 1": "√(∑ᵢ uᵢ²/cᵢ) ≤ 1",
    "u_i/c_i = softmax(z_i) - e_y_i": "uᵢ/cᵢ = softmax(zᵢ) − e_yᵢ",
}


@pytest.mark.parametrize(("name", "shown"), NAMES.items())
def test_names_of_conditions(name: str, shown: str) -> None:
    assert plain_name(name) == shown


def test_a_line_is_broken_outside_brackets_first() -> None:
    text = "min_w ‖y − Xw − b‖₂² + λ ‖w‖₁ + (a + b + c + d)"
    assert broken(text, 34, "", "  ") == ["min_w ‖y − Xw − b‖₂² + λ ‖w‖₁", "  + (a + b + c + d)"]
    assert broken("s = (a + b + c, d + e)", 16) == ["s = (a + b + c,", "d + e)"]
    assert broken("x = 0, y + z = 0", 12) == ["x = 0,", "y + z = 0"]


@given(TEXTS, st.integers(20, 90))
@settings(max_examples=60, deadline=None)
def test_nothing_is_cut_and_no_line_is_wider(words: list[str], columns: int) -> None:
    text = " ".join(" ".join(words).split())
    lines = broken(text, columns, "  ", "    ")
    assert " ".join(lines).split() == text.split()
    assert all(len(line) <= columns for line in lines)


def test_a_word_that_is_too_long_stands_alone() -> None:
    lines = broken(f"a + {'b' * 40} + c", 20)
    assert [line for line in lines if len(line) > 20] == ["b" * 40]
    assert " ".join(lines).split() == ["a", "+", "b" * 40, "+", "c"]


def test_what_fits_one_line_is_kept_in_order_of_importance() -> None:
    assert fitting("Solution", ["Lasso: optimal", "gap=1"]) == "Solution(Lasso: optimal, gap=1)"
    assert fitting("Solution", ["a", "b" * 80, "c"]) == "Solution(a)"
