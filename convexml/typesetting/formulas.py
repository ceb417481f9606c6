"""A formula in Unicode: LaTeX is read as MathML, whose tree is written on one line."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


# Where a line of mathematics has spaces, and which minus sign and which bar is which.


RELATIONS = frozenset("=≤≥≠<>∈⪯⪰≼≽≺≻≡≈→:")
BINARY = frozenset("+−-·⋅∘×±")
OPENING = frozenset("([{⟨")
CLOSING = frozenset(")]}⟩")
BARS = frozenset("|‖")
TIGHT = frozenset("/∂∀√∇")
"""No space after these, nor around a stroke."""
NOTHING_BEFORE = ("open", "relation", "comma", "binary", "space", "name", "tight")
"""After these a minus is a sign."""
SPACING_WRITTEN = {
    "-": "−",
    "∗": "*",
    "⋅": "·",
    "\N{DIVIDES}": "|",
    "∥": "‖",
    "⪯": "≼",
    "⪰": "≽",
    "ϵ": "ε",
}
"""One character for what looks alike, and for what few fonts have."""


class Atom(NamedTuple):
    """A piece of a formula.

    ``kind`` is "letter", "number", "term" (with scripts, so that a space must follow), "quotient",
    "name" (log, max), "sum", "relation", "binary", "open", "close", "bar", "closing bar", "comma",
    "tight", "word" or "space".
    """

    text: str
    kind: str


def atom(text: str) -> Atom:
    """A letter, number or operator of MathML.

    Parameters
    ----------
    text : str
        Its characters.
    """
    text = SPACING_WRITTEN.get(text, text)
    for kind, members in (
        ("relation", RELATIONS),
        ("binary", BINARY),
        ("open", OPENING),
        ("close", CLOSING),
        ("bar", BARS),
        ("tight", TIGHT),
        ("comma", frozenset(",;")),
        ("sum", frozenset("∑∏∫")),
    ):
        if text in members:
            return Atom(text, kind)
    if text[:1].isdigit():
        return Atom(text, "number")
    return Atom(text, "letter" if len(text) <= 1 else "name")


def joined(atoms: Sequence[Atom]) -> str:
    """The pieces on one line.

    Parameters
    ----------
    atoms : sequence of Atom
        In their order.
    """
    line, before = "", Atom("", "open")
    for k, current in enumerate(resolved := _resolved(atoms)):
        if current.kind == "quotient" and _is_factor(resolved, k):
            current = Atom(f"({current.text})", "term")
        line += (" " if k and _spacing_apart(before, current) else "") + current.text
        before = current
    return " ".join(line.split()).replace(" )", ")")


def units(atoms: Sequence[Atom]) -> int:
    """How many factors and terms stand side by side; what is in brackets is one.

    Parameters
    ----------
    atoms : sequence of Atom
        In their order.
    """
    depth = count = 0
    for current in _resolved(atoms):
        count += depth == 0
        depth += (current.kind == "open") - (current.kind == "close")
    return count


def _resolved(atoms: Sequence[Atom]) -> list[Atom]:
    """With signs told from differences, and opening bars from closing ones."""
    found: list[Atom] = []
    standing: list[str] = []
    for current in atoms:
        last = found[-1].kind if found else "open"
        if current.kind == "binary" and last in NOTHING_BEFORE:
            current = Atom(current.text, "tight")
        elif current.kind in ("bar", "closing bar"):
            closes = current.text[:1] in standing
            if closes:
                standing.remove(current.text[:1])
            elif current.kind == "bar":
                standing.append(current.text)
            current = Atom(current.text, "close" if closes else "open")
        found.append(current)
    return found


def _is_factor(atoms: Sequence[Atom], k: int) -> bool:
    """Whether something is multiplied with the piece."""
    before = atoms[k - 1].kind if k else "open"
    after = atoms[k + 1].kind if k + 1 < len(atoms) else "close"
    ends = ("relation", "binary", "comma", "space")
    return before not in (*ends, "open", "tight") or after not in (*ends, "close")


def _spacing_apart(before: Atom, after: Atom) -> bool:
    """Whether there is a space between two neighbours."""
    if after.kind == "comma" or "/" in (before.text, after.text):
        return False
    if after.kind == "word" and after.text.startswith(":"):
        return False
    if before.kind in ("open", "tight") or after.kind == "close":
        return False
    if before.kind in ("letter", "number", "name") and after.text == "(":
        return False
    if before.kind in ("letter", "number") and after.kind == "letter":
        return False
    return not (before.text.endswith("ᵀ") and after.kind in ("letter", "term"))


# What stands above and below the line, in the characters that Unicode has for it.


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


# Names of conditions and multipliers, which are ASCII, in the letters of the formulas.


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


# Words within a formula of a document: what LaTeX takes for its own, or has no letter for.
#
# Documents set in Latin letters have neither Greek letters nor signs nor small letters: these are
# written by their commands. Other scripts stay as they are, for engines that know Unicode.


SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: "\\" + character for character in "_&%#${}"},
}
SIGNS = {
    **{character: character for character in "<>|"},
    **{"−": "-", "≤": r"\le", "≥": r"\ge", "≠": r"\ne", "≼": r"\preceq", "≽": r"\succeq"},
    **{"∈": r"\in", "∂": r"\partial", "∑": r"\sum", "√": r"\surd", "∞": r"\infty"},
    "½": r"\tfrac12",
    **{"‖": r"\|", "⟨": r"\langle", "⟩": r"\rangle", "′": "'", "·": r"\cdot", "×": r"\times"},
    **{"→": r"\to", "≈": r"\approx", "∀": r"\forall", "±": r"\pm"},
    "\N{MATHEMATICAL BOLD DIGIT ONE}": r"\mathbf{1}",
}
LETTERS = {letter: f"\\{name}" for name, letter in GREEK.items() if letter.isalpha()}
LETTERS |= {"λ": r"\lambda", "ε": r"\varepsilon", "φ": r"\varphi"}
OTHERS = "zeta eta iota kappa upsilon chi psi Gamma Delta Xi Pi Phi Psi".split()
LETTERS |= dict(zip("ζηικυχψΓΔΞΠΦΨ", (f"\\{name}" for name in OTHERS), strict=True))
SMALL = {small: f"_{{{ordinary}}}" for ordinary, small in BELOW.items() if ordinary != "−"}
SMALL |= {s: f"^{{{a}}}" for a, s in ABOVE.items() if a not in "∗*′−⊤"} | {"ᵀ": r"^\top"}
WRITTEN = SPECIAL | {c: rf"\ensuremath{{{tex}}}" for c, tex in (SIGNS | LETTERS | SMALL).items()}
"""What each of these characters is written as."""
READ = {written: character for character, written in WRITTEN.items()}
"""The characters again."""
FORMULA = re.compile(r"(?<![A-Za-z_])(?P<letter>[B-Zb-z])(?![A-Za-z])|(?<=\w)_(?P<below>[A-Za-z]+)")
"""What is set as in a formula: a letter by itself, and what stands below one."""


def text(label: str) -> str:
    r"""A label as \text{...}, of characters that LaTeX has.

    Parameters
    ----------
    label : str
        Any text.
    """
    return rf"\text{{{_written(label)}}}"


def statement(label: str) -> str:
    r"""As ``text``, with letters and what stands below them as in a formula.

    Parameters
    ----------
    label : str
        The name of a condition in Unicode.
    """
    found, end = "", 0
    for each in FORMULA.finditer(label):
        shown = each["letter"] or rf"_{{{_below(each['below'])}}}"
        found += rf"{_written(label[end : each.start()])}\ensuremath{{{shown}}}"
        end = each.end()
    return rf"\text{{{found}{_written(label[end:])}}}"


def _below(word: str) -> str:
    return word if len(word) == 1 else rf"\text{{{word}}}"


def _written(label: str) -> str:
    return "".join(WRITTEN.get(character, character) for character in label)


# LaTeX as MathML, which browsers draw without a script or a font of ours.


VERBOSE = re.compile(
    r' xmlns="[^"]*"| stretchy="true"| (?:fence|displaystyle)="[^"]*"| scriptlevel="\d"'
    r"|</?mstyle[^>]*>"
)
"""Attributes that change nothing here, or name an address; what does not stretch says so."""
PLAIN = re.compile(r"\\[bB]ig+(?=\\|[(\[|])")
"""Sizes of brackets, which MathML chooses itself."""
LONE = re.compile(r"<mrow>(<m[ino]>[^<]*</m[ino]>)</mrow>")
OWN = "|".join(re.escape(written) for written in READ)
"""A character of a text as it is written in LaTeX."""
TEXT = re.compile(rf"\\text\{{((?:{OWN}|[^{{}}\\])*)\}}")
FUNCTION = re.compile(r"(</m(?:[in]|sub|sup)>)?(<mi>(?:log|exp|det)</mi>)(?!<mo)")
"""A function of something without brackets, with what it is multiplied by."""
THIN = '<mspace width="0.17em"></mspace>'
ONES = "\N{MATHEMATICAL BOLD DIGIT ONE}"
BRACES = str.maketrans("{}", "\ue000\ue001")
"""Braces of a text while it is read: of no use to anybody else."""
BACK = str.maketrans("\ue000\ue001", "{}")


@lru_cache(maxsize=4096)
def mathml(latex: str) -> str:
    """A formula as one ``math`` element.

    Parameters
    ----------
    latex : str
        A formula as the models write them.
    """
    from xml.etree.ElementTree import tostring

    text = tostring(tree(latex), encoding="unicode", short_empty_elements=False)
    text = LONE.sub(r"\1", VERBOSE.sub("", text))
    return FUNCTION.sub(_apart, text)


def tree(latex: str) -> Element:
    """The same as a tree of elements, whose texts are the characters themselves.

    Parameters
    ----------
    latex : str
        A formula as the models write them.
    """
    from latex2mathml.converter import convert_to_element

    plain = TEXT.sub(_read, PLAIN.sub("", latex))
    found: Element = convert_to_element(plain, display="block")
    for element in found.iter():
        element.text = html.unescape(element.text or "").translate(BACK)
        if element.text == "1" and element.attrib.pop("mathvariant", "") == "bold":
            element.text = ONES  # browsers know no other bold
    return found


def _apart(found: re.Match[str]) -> str:
    """A thin space on both sides of a function, where there is something."""
    before, name = found.groups()
    return f"{before}{THIN}{name}{THIN}" if before else f"{name}{THIN}"


def _read(text: re.Match[str]) -> str:
    """A text whose characters are themselves."""
    return rf"\text{{{re.sub(OWN, lambda own: READ[own[0]].translate(BRACES), text[1])}}}"


TRANSPARENT = ("math", "mrow", "mstyle", "mpadded")
SCRIPTS = ("msub", "msup", "msubsup", "munder", "mover", "munderover")
SPACE = Atom("", "space")
WIDE = ("1em", "2em")
HALF = {("1", "2"): "½"}


@lru_cache(maxsize=4096)
def plain(latex: str) -> str:
    """A formula on one line of text.

    Parameters
    ----------
    latex : str
        A formula as the models write them.

    Returns
    -------
    str
        With ½ and x/y for fractions, (x/y) z where they are factors; e^(x) and w_g where Unicode
        has no small characters.
    """
    return joined(_atoms(tree(latex)))


def _atoms(element: Element) -> list[Atom]:
    """The pieces of an element in their order."""
    if element.tag in TRANSPARENT:
        return _inside(element)
    if element.tag == "mspace":
        return [SPACE] if element.get("width") in WIDE else []
    if element.tag == "mfrac":
        return [_fraction(element[0], element[1])]
    if element.tag == "msqrt":
        return [Atom(f"√{_grouped(_inside(element))}", "term")]
    if element.tag in SCRIPTS:
        # The base with what stands below and above it; of a row its last piece carries them.
        *before, last = _atoms(element[0]) or [Atom("", "term")]
        small = [_text(child) for child in element[1:]]
        text = last.text
        if element.tag not in ("msup", "mover"):
            text += beside(small.pop(0)) if last.kind == "name" else below(small.pop(0))
        text += "".join(map(above, small))
        kind = {"letter": "term", "number": "term", "bar": "closing bar"}.get(last.kind, last.kind)
        return [*before, Atom(text, kind)]
    if element.tag == "mtext":
        return _words(element.text or "")
    return [Atom(ONES, "letter") if element.text == ONES else atom(element.text or "")]


def _words(text: str) -> list[Atom]:
    """A text, and the spaces around it."""
    word = [Atom(text.strip(), "word")] if text.strip() else []
    before, after = ([SPACE] if end.isspace() else [] for end in (text[:1], text[-1:]))
    return [*before, *word, *after]


def _inside(element: Element) -> list[Atom]:
    """The pieces of all children."""
    return [each for child in element for each in _atoms(child)]


def _text(element: Element) -> str:
    return joined(_atoms(element))


def _fraction(top: Element, bottom: Element) -> Atom:
    """½, or a quotient on the line, whose parts are in brackets where they have parts."""
    parts = _text(top), _text(bottom)
    if parts in HALF:
        return Atom(HALF[parts], "term")
    return Atom("/".join(map(_grouped, (_atoms(top), _atoms(bottom)))), "quotient")


def _grouped(atoms: list[Atom]) -> str:
    """In brackets, unless it is one letter, number or bracket with its scripts."""
    return joined(atoms) if units(atoms) == 1 else f"({joined(atoms)})"
