"""What stands above and below the line, in the characters that Unicode has for it."""

from __future__ import annotations

BELOW = dict(
    zip(
        "0123456789aehijklmnoprstuvx+-−=()",
        "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ₊₋₋₌₍₎",
        strict=True,
    )
)
ABOVE = dict(zip("0123456789n+-−⊤∗*′", "⁰¹²³⁴⁵⁶⁷⁸⁹ⁿ⁺⁻⁻ᵀ**′", strict=True))
LONGEST = 5
"""Characters that can still be read so small."""


def below(text: str) -> str:
    """A subscript: xᵢⱼ; where there are no such characters w_g, Z_upper, ∑_(i < j).

    Parameters
    ----------
    text : str
        What stands there, in ordinary characters.
    """
    return _small(text, BELOW) or beside(text)


def beside(text: str) -> str:
    """What stands below min and max, in its own size: max_u, min_(w, b).

    Parameters
    ----------
    text : str
        As of ``below``.
    """
    return f"_{_one(text)}"


def above(text: str) -> str:
    """A superscript: Xᵀ, r², e^(−z).

    Parameters
    ----------
    text : str
        As of ``below``.
    """
    return _small(text, ABOVE) or f"^{_one(text)}"


def _small(text: str, table: dict[str, str]) -> str:
    """In small characters, if it has them all; no whole words."""
    tight = text.replace(" ", "")
    is_word = len(tight) > 2 and tight.isalpha()
    if is_word or len(tight) > LONGEST or not all(character in table for character in tight):
        return ""
    return "".join(table[character] for character in tight)


def _one(text: str) -> str:
    """In brackets, unless it is one letter or one word."""
    return text if len(text) == 1 or text.replace("_", "").isalpha() else f"({text})"
