"""The rows of a certificate, read as formulas and evaluated: a condition that is false."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

import numpy as np

from support.latex.page import FAILURES, Page, directions
from support.latex.reader import Reader, statements

LETTERS = "alpha beta gamma lambda mu nu xi rho sigma tau theta omega delta pi Theta Omega".split()
ABSENT = np.inf
"""What a function is worth outside its domain."""
FAR = 300.0
"""Where e^(2z) is a number yet."""
IN_WORDS: dict[str, Callable[[Page, Any], bool]] = {
    "means are those of the classes": lambda page, found: np.allclose(
        found.primal["means"], page.words["means of the classes"]
    ),
    "priors are their shares": lambda page, found: np.allclose(
        found.primal["priors"], page.words["its share"]
    ),
    "x is 0 on and below the diagonal": lambda page, found: not np.tril(found.primal["x"]).any(),
    "x(E[S]) <= |S| - 1 for every S": lambda page, found: has_no_cycle(found.primal["x"]),
}
"""Conditions in words, of the point that was found."""
RULES: tuple[tuple[str, Any], ...] = (
    (
        r"\|X'u\|_\(1\) \+ \.\.\. \+ \|X'u\|_\(k\) <= lams_1 \+ \.\.\. \+ lams_k",
        r"\\sum_{j \\le m} |X'u|_(j) <= \\sum_{j \\le m} lambda_j\\ \\forall m",
    ),
    (r"\blams?(?![A-Za-z])", "lambda"),
    (r"lambda = nu where q = 0", r"lambda_k = nu\\ (k : q_k = 0)"),
    (r"sum of y_pi that part e", r"\\load_e"),
    (r"l'\(y, z\)", r"\\slope "),
    (r"P\(other class\)", r"P(\\text{other class})"),
    (r"sign (w_j)", r"\\operatorname{sign}(\1)"),
    (r"e_y_i", "e_{y_i}"),
    (r"lambda_min\(", r"\\lambda_{\\min}("),
    (r"\b1(?=' |'u|'nu|'C| alpha')|(?<=[ZPa'] )1\b", r"\\mathbf{1}"),
    (r"\b(softmax|diag|tr)\b", r"\\operatorname{\1}"),
    (r"sqrt(\|g\|)", r"\\sqrt{\1}"),
    (r"sqrt\((.*?)\)(?= <=)", r"\\sqrt{\1}"),
    (r"<([^<>=]+), ([^<>=]+)>", r"\\langle \1 , \2 \\rangle"),
    (r"\|([^|]+)\|(?!_\()", lambda bars: bars[0] if bars[1] in ("g", "pi") else rf"\|{bars[1]}\|"),
    (r"\|_\(j\)", "|_{(j)}"),
    (r"(?<!\\)\bsum s\)", r"\\sum_l s_l)"),
    (r"(?<!\\)\bsum(?=_)", r"\\sum"),
    (r"(?<!\\)\bsum ", r"\\sum_i "),
    (r"r_(plus|minus)_i", lambda found: f"r^{'+' if found[1] == 'plus' else '-'}_i"),
    (r"(lambda_(?:ub|lower|upper)) \(", r"\1 \\circ ("),
    (r"_(ub|eq|lower|upper)", r"_{\1}"),
    (r"(?<!_\{)\b(lower|upper)\b", r"\\text{\1}"),
    (r"_(?!pi)([a-z]{2})(?![a-z])", r"_{\1}"),
    (r"(\w)\*_i", r"\1^*_i"),
    (r"'", r"^\\top "),
    (r"\bepsilon\b", r"\\varepsilon"),
    (rf"(?<![\\A-Za-z])({'|'.join(LETTERS)})(?![A-Za-z])", r"\\\1 "),
    (r"<=", r"\\le "),
    (r">=", r"\\ge "),
    (r"<<", r"\\preceq "),
    (r">>", r"\\succeq "),
    (r", i != j$", r"\\ (i \\ne j)"),
    (r" but for single points", r"\\ \\text{but for single points}"),
    (r"(?<! ), ", r",\\ "),
    (r" +(?=[ ^_)}|])", ""),
)
"""From what a certificate writes to what the reader of LaTeX reads."""


def formula(name: str) -> str:
    """The name of a condition in LaTeX."""
    for pattern, new in RULES:
        name = re.sub(pattern, new, name)
    return name


def condition_faults(page: Page, solution: Any, names: Iterable[str]) -> list[str]:
    """Every condition that does not hold at the numbers of the page, or cannot be read."""
    found = []
    for name in names:
        try:
            if not holds(page, solution, name):
                found.append(f"{name} does not hold")
        except FAILURES as failed:
            found.append(f"{name}: {failed!r}")
    return found


def holds(page: Page, solution: Any, name: str) -> bool:
    """Whether one condition does."""
    if name in IN_WORDS:
        return bool(IN_WORDS[name](page, solution))
    of_class = re.match(r"class (\d): ", name)
    if of_class:
        k = int(of_class[1])
        one = {each: page.known[each][k] for each in (r"\Theta", "W", "S")}
        return holds(with_names(page, one), solution, name[of_class.end() :])
    if name == "u/c in dom l*":
        return all(in_domain(*of_loss(page, i)) for i in page.ranges["i"])
    if name == "u_i/c_i in dl(y_i, z_i)":
        return all(page.supports(*of_loss(page, i)) for i in page.ranges["i"])
    if name == "w in dom Omega":
        return of_penalty(page, "0")[0](of_penalty(page, "0")[1]) < ABSENT
    given = re.fullmatch(r"(.*) in (dom Omega\*|dOmega\((\w)\))", name)
    if given:
        function = of_penalty(page, formula(given[1]))
        return in_domain(*function) if given[3] is None else page.supports(*function)
    if "l'(" in name:
        page = with_names(page, {r"\slope": slopes(page)})
    text = formula(name)
    if "w = W" in page.text:  # of entries, which one index counts
        text = text.replace(r"\|", "|")
    return all(page.holds(each.removeprefix("\\ ")) for each in statements(text))


def with_names(page: Page, names: dict[str, Any]) -> Page:
    """With other values of some names."""
    other = copy(page)
    other.known = page.known | names
    return other


Function = tuple[Callable[[Any], float], Any, Any]
"""f, its point x, and what is to be a slope there."""


def printed(page: Page, start: str) -> tuple[str, list[str]]:
    """The text of a function among the definitions, and the statements of its domain."""
    line = next(line for line in page.lines["where"] if start in line)
    text = line.partition(start)[2].partition(" = ")[2]
    whole = re.split(r",\\ (?=[^,]*? = )", text)[0]
    value, _, domain = whole.partition(r"\ \text{where}\ ")
    return value, [each for each in domain.split(r",\ ") if each]


def worth(page: Page, start: str, name: str, x: Any, **at: int) -> float:
    """What a printed function is at a point; outside its domain ``ABSENT``."""
    value, domain = printed(page, start)
    names = page.known | {name: x}
    ranges = page.ranges | {i: [k] for i, k in at.items()}
    if not all(Reader(each, names, ranges).holds(1e-7) for each in domain):
        return ABSENT
    with np.errstate(over="ignore"):
        return float(Reader(value, names, page.ranges).value(**at))


def of_loss(page: Page, i: int) -> Function:
    """l(y_i, .), z_i and u_i/c_i."""
    name, dual = ("z", "u") if "z" in page.known else ("Z", "U")
    z = np.asarray(page.known[name], dtype=float)

    def value(z_i: Any) -> float:
        moved = z.copy()
        moved[i] = z_i
        return worth(page, "l(y_i, z_i)", name, moved, i=i)

    return value, z[i], page.known[dual][i] / page.known["c"][i]


def of_penalty(page: Page, slope: str) -> Function:
    """Omega, w (or W, or q of a kernel), and the value of a formula."""
    name = next(each for each in "Wwq" if rf"\Omega({each})" in page.text)
    x = np.asarray(page.known[name], dtype=float)
    return (
        lambda at: worth(page, rf"\Omega({name})", name, at),
        x,
        page.reader(slope, page.known).value(),
    )


def in_domain(f: Callable[[Any], float], x: Any, slope: Any) -> bool:
    """Whether slope'd is at most how f rises along d far away, for many d."""
    for each in directions(np.shape(x)):
        for d in (each / np.max(np.abs(each)), -each / np.max(np.abs(each))):
            near, far = f(x + FAR * d), f(x + 2.0 * FAR * d)
            if far < ABSENT and not np.sum(slope * d) <= (far - near) / FAR + 1e-5:
                return False
    return True


def slopes(page: Page) -> Any:
    """l'(y_i, z_i) of the printed loss, by differences."""
    h, found = 1e-5, []
    for i in page.ranges["i"]:
        f, z, _ = of_loss(page, i)
        found.append((f(z + h) - f(z - h)) / (2.0 * h))
    return np.array(found)


def has_no_cycle(x: Any) -> bool:
    """x(E[S]) <= |S| - 1 for every set S of points."""
    sets = itertools.chain(*(itertools.combinations(range(5), k) for k in range(1, 6)))
    return all(np.sum(x[np.ix_(S, S)]) <= len(S) - 1 + 1e-7 for S in map(list, sets))
