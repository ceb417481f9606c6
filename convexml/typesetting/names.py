"""Names of conditions and multipliers, which are ASCII, in the letters of the formulas."""

from __future__ import annotations

import re

from .scripts import above, below

NAMES = "alpha beta gamma delta epsilon theta lambda mu nu xi pi rho sigma tau omega"
GREEK = dict(zip(NAMES.split(), "αβγδεθλμνξπρστω", strict=True))
GREEK |= {"Theta": "Θ", "Lambda": "Λ", "Omega": "Ω", "Sigma": "Σ"}
GREEK |= {"lam": "λ", "lams": "λ", "sqrt": "√"}
WORD = "|".join(sorted(GREEK, key=len, reverse=True))
RULES: tuple[tuple[str, object], ...] = (
    (r"\bd(?=Omega|l\()", "∂"),
    (r" in (?=dom |∂)", " ∈ "),
    (rf"(?<![A-Za-z])({WORD})(?![A-Za-z])", lambda found: GREEK[found[1]]),
    (r"_star\b", "*"),
    (r"\br_plus(_i)?(?![A-Za-z])", lambda found: "rᵢ⁺" if found[1] else "r⁺"),
    (r"\br_minus(_i)?(?![A-Za-z])", lambda found: "rᵢ⁻" if found[1] else "r⁻"),
    (r"\bsum(?=[_( ])(?! of)", "∑"),
    (r"\bl'(?=\()", "l′"),
    (r"\b1(?='| alpha')", "\N{MATHEMATICAL BOLD DIGIT ONE}"),
    (r"(?<=[\w)*])'", "ᵀ"),
    (r"_\{([^}]*)\}", lambda found: below(found[1])),
    (r"\*_([a-z])(?![A-Za-z])", lambda found: below(found[1]) + "*"),
    (r"(?<=[\w*|)∑])_(\([\w]\)|[A-Za-z]{1,2}(?![A-Za-z])|\d|\+)", lambda found: below(found[1])),
    (r"\^\{([^}]*)\}", lambda found: above(plain_name(found[1]))),
    (r"\^(\d)", lambda found: above(found[1])),
    (r"<([^<>=]+)>", r"⟨\1⟩"),
    (r"<<", "≼"),
    (r">>", "≽"),
    (r"<=", "≤"),
    (r">=", "≥"),
    (r"!=", "≠"),
    (r"(?<![A-Za-z])-|-(?![A-Za-z])", "−"),
)
"""From the letters to the signs; a hyphen within a word stays one."""


def plain_name(name: str) -> str:
    """The name of a condition or a multiplier in Unicode.

    Parameters
    ----------
    name : str
        As certificates write it: "lam |w_j| + w_j x_j'u = 0".
    """
    for pattern, replacement in RULES:
        name = re.sub(pattern, replacement, name)  # type: ignore[call-overload]
    return name
