"""All that a printed problem says, evaluated at numbers: a line that is false, or cannot be read.

Names have values from the data, the point and the multipliers alone. All others are what the text
itself defines: by an equation with one name that has no value yet, solved for that name.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from convexml.typesetting.documents import rows
from support.latex.reader import Beyond, Reader, Unknown, statements
from support.latex.rows import rows_of_text

GIVEN = r"\quad\text{s.t.}\quad"
KEPT = re.compile(r"\(i : [sc]_i > 0\)")
RELATION = re.compile(r"\\le(?![a-z])|\\ge(?![a-z])|=|\\in(?![a-z])|\\succeq|\\preceq")
SIDES = re.compile(r"(\\le(?![a-z])|\\ge(?![a-z])|=)")
WORDS = {
    r"0 \cdot \infty = 0": "how a product is read, and read so here",
    r"E[S] = \text{those within a set of points}\ S": "no line names E[S]",
    r"\delta(\pi) = \text{those between parts of the partition } \pi": "of the sum of y, in words",
    r"x(F) = \sum_{e \in F} x_e": "of a set of edges, in words; x(E) and x(pi) are evaluated",
    r"x(\pi) = x(\delta(\pi))": "as the one before",
    r"\text{one problem a query, whose values are added}": "the case has one query",
    "p_0 = 1 - p": "the case has p_0 and p_1 of a number p so",
    "p_1 = p": "as the one before",
    r"E = \text{all edges}": "of a set of edges, in words",
}
"""Statements in words, each with the reason why it has no value."""


@dataclass
class Page:
    """The text of a problem, the values of its names and the ranges of its indices.

    Attributes
    ----------
    words : dict
        What a definition in words is worth: s_i = sample weight.
    rows : tuple of str
        The names with an entry a row of X, of which only those of positive weight are kept where
        the text says so.
    """

    text: str
    names: dict[str, Any]
    ranges: dict[str, Any]
    words: dict[str, Any] = field(default_factory=dict)
    rows: tuple[str, ...] = ()
    weights: Any = None
    tol: float = 1e-5

    def __post_init__(self) -> None:
        self.lines = rows_of_text(self.text)
        self.names = self.names | {"0 times infinity": r"0 \cdot \infty = 0" in self.text}
        if any(KEPT.match(line) for line in self.lines.get("where", [])):
            kept = np.asarray(self.weights) > 0.0
            of_rows = {
                name: self.names[name][kept]
                for name in self.rows
                if name in self.names and np.ndim(self.names[name])
            }
            self.words = {
                key: value[kept] if np.shape(value) == kept.shape else value
                for key, value in self.words.items()
            }
            self.names = self.names | of_rows | {"n": float(kept.sum())}
            before = self.ranges["i"]
            self.ranges = {
                key: range(int(kept.sum())) if value == before and key in self.moved else value
                for key, value in self.ranges.items()
            }
        self.statements = [statement for _, statement in self.told()]
        self.known = self.defined(self.names)

    @property
    def moved(self) -> str:
        """The indices of rows: j too in a kernel matrix."""
        return "ilj" if "q" in self.names else "il"

    # -- statements ------------------------------------------------------------------------------

    def told(self) -> Iterator[tuple[str, str]]:
        """Label and statement: what is defined first comes first."""
        parts = [("where", line) for line in self.lines.get("where", [])]
        parts += [(key, self.lines[key][0].partition(GIVEN)[2]) for key in ("primal", "dual")]
        parts += [("eliminated", line) for line in self.lines.get("eliminated", [])]
        parts += [
            ("canonical", line.partition(GIVEN)[2]) for line in self.lines.get("canonical", [])
        ]
        parts += [("Lagrangian", self.lines["Lagrangian"][0].partition(r",\quad ")[2])]
        parts += [("KKT", line) for line in self.lines["KKT"]]
        for label, line in parts:
            for statement in statements(line.replace(r",\quad", r",\ ")):
                text = re.sub(r"^(\\ |\s)+", "", statement).strip()
                if text and not KEPT.fullmatch(text) and text not in WORDS:
                    function = re.match(r"(l\(|\\Omega\().*?(?=\\ \\text\{where)", text)
                    if function:  # on its domain, where the point is
                        yield label, function[0]
                        text = text[function.end() :].removeprefix(r"\ \text{where}\ ")
                    yield from ((label, each) for each in shared(text))

    def goals(self) -> dict[str, str]:
        """The three functions, without min and max."""
        first = {key: self.lines[key][0].partition(GIVEN)[0] for key in ("primal", "dual")}
        first["Lagrangian"] = self.lines["Lagrangian"][0].partition(r",\quad")[0]
        return {key: re.sub(VARIABLES, "", text) for key, text in first.items()}

    def variables(self, label: str) -> list[str]:
        """What the line minimises or maximises over."""
        found = re.match(VARIABLES, self.lines[label][0])
        assert found, self.lines[label][0]
        text = (found[2] or found[3]).replace("{", "").replace("}", "").replace(r"\text", "")
        return [re.sub(r"_(upper|lower|ub|k)$|_jk$", short, name) for name in text.split(", ")]

    # -- what the text defines -------------------------------------------------------------------

    def defined(self, names: dict[str, Any]) -> dict[str, Any]:
        """With every name that some equation defines, as far as one does."""
        names, defining = dict(names), list[str]()
        for affine in (False, True):
            before = -1
            while len(names) > before:
                before = len(names)
                for statement in self.statements:
                    try:
                        if r"\partial" not in statement:
                            self.reader(statement, names).holds(np.inf, first=True)
                    except Unknown as missing:
                        self.define(statement, names, affine, *missing.args)
                        if missing.args[0] in names:
                            defining.append(statement)
                    except FAILURES:
                        pass  # told where it is checked
        self.statements = defining
        return names

    def define(
        self, text: str, names: dict[str, Any], affine: bool, token: str, index: tuple[str, ...]
    ) -> None:
        """Solve one equation for one name; nothing where it has another one as well."""
        word = re.search(r"= (\d*\\text\{.*)$", text)
        if word:
            if (phrase := phrase_of(word[1])) in self.words:
                names[token] = self.words[phrase]
            return
        sides = SIDES.split(re.split(r"\\ \\text\{where|\\forall|\\ \(", text)[0])
        for k in range(1, len(sides), 2):
            if sides[k] == "=":
                for one, other in ((sides[k - 1], sides[k + 1]), (sides[k + 1], sides[k - 1])):
                    if self.solved(one, other, names, affine, token, index):
                        return

    def solved(
        self,
        one: str,
        other: str,
        names: dict[str, Any],
        affine: bool,
        token: str,
        index: tuple[str, ...],
    ) -> bool:
        sizes = [len(self.ranges[i]) for i in index if i in self.ranges]
        alone = Reader(one, names, self.ranges).tokens
        alone = "".join(alone).removeprefix(token).strip("_{}")
        try:
            if (
                alone == "".join(index)
                and "".join(Reader(one, names, {}).tokens)[: len(token)] == token
            ):
                places = itertools.product(*map(range, sizes))
                found = [self.value(other, names, index, at) for at in places]
                names[token] = (
                    np.reshape(found, (*sizes, *np.shape(found[0]))) if index else found[0]
                )
                return True
            if not affine or len(sizes) < len(index) or token not in f"{one} {other}":
                return False
            shape, difference = tuple(sizes), f"{one} - ({other})"
            names[token] = solution = np.zeros(shape)
            for at in itertools.product(*map(range, sizes)):
                solution[at] = 0.0
                first = self.value(difference, names, index, at)
                solution[at] = 1.0
                slope = self.value(difference, names, index, at) - first
                if not np.all(slope != 0.0) or (index and np.ndim(slope)):
                    names.pop(token)
                    return False
                if not index:
                    names[token] = solution = -first / slope
                else:
                    solution[at] = -first / slope
                left = np.abs(self.value(difference, names, index, at))
                if not np.all(left <= 1e-9 * (1.0 + np.abs(first))):
                    names.pop(token)  # not affine
                    return False
            names[token] = solution[()]
            return True
        except (Unknown, Beyond, AssertionError, KeyError, TypeError, ValueError, IndexError):
            names.pop(token, None)
            return False

    def value(self, text: str, names: dict[str, Any], index: Any, at: Any) -> Any:
        return self.reader(text, names).value(**dict(zip(index, at, strict=True)))

    def reader(self, text: str, names: dict[str, Any]) -> Reader:
        return Reader(text, names, self.ranges)

    # -- what is checked -------------------------------------------------------------------------

    def faults(self, primal: float, dual: float, perturbed: bool = True) -> list[str]:
        """Every line that is false at the numbers, or that cannot be read, with why."""
        found = []
        pair = zip(("primal", "dual"), self.lines.get("canonical", []), strict=False)
        canonical = [(key, re.sub(VARIABLES, "", line.partition(GIVEN)[0])) for key, line in pair]
        for label, text in (*self.goals().items(), *canonical):
            wanted = dual if label == "dual" else primal
            try:
                value = self.reader(text, self.known).value()
                if not abs(value - wanted) <= self.tol * (1.0 + abs(wanted)):
                    found.append(f"{label}: {text} is {value}, not {wanted}")
            except FAILURES as failed:
                found.append(f"{label}: {text}: {failed!r}")
        for label, text in self.told():
            try:
                if not self.holds(text):
                    found.append(f"{label}: {text} does not hold")
            except FAILURES as failed:
                found.append(f"{label}: {text}: {failed!r}")
        if {"c", r"\loss", "z"} <= {*self.known}:
            cost = np.sum(self.known["c"] * self.known[r"\loss"])
            cost = cost + self.known.get(r"\Omega", 0.0)
            if not abs(cost - primal) <= self.tol * (1.0 + abs(primal)):
                found.append(f"where: sum_i c_i l(y_i, z_i) + Omega is {cost}, not {primal}")
        if perturbed and not found:
            found += self.least(primal) + self.below(primal)
        return found

    def holds(self, text: str) -> bool:
        word = re.search(r"= (\d*\\text\{.*)$", text)
        if word and phrase_of(word[1]) in self.words:
            return True  # it gave the name its value
        if r"\partial" in text:
            return self.includes(text)
        return self.reader(text, self.known).holds(self.tol)

    def includes(self, text: str) -> bool:
        r"""v \in a \partial f + g: f(x + d) - f(x) >= <v - g, d> for many d, short and long."""
        left, right = text.split(r" \in ")
        functions, smooth, variable = [], "0", ""
        for term in plus_terms(right):
            factor, kink, f = term.partition(r"\partial")
            if not kink:
                smooth += f" + {term}"
                continue
            below = re.match(r"\s*_(\{[^}]*\}|\w)", f)
            f = f[below.end() :] if below else f
            functions.append(f"{factor} {f}")
            told = below[1].strip("{}") if below else re.sub(r"\\[a-zA-Z]+|[^WwvqK]", "", f)[0]
            variable = told.partition("_")[0]
        name, of_rows = variable, r"\partial_{z_i}" in text
        x, whole = np.asarray(self.known[name], dtype=float), " + ".join(functions)
        for i in self.ranges["i"] if of_rows else [None]:
            at = {} if i is None else {"i": i}
            place = i if of_rows else ...

            def value(part: Any, place: Any = place, at: Any = at) -> Any:
                moved = x.copy()
                moved[place] = part
                return self.reader(whole, self.known | {name: moved}).value(**at)

            v = np.asarray(self.reader(f"{left} - ({smooth})", self.known).value(**at))
            if not self.supports(value, x[place], v):
                return False
        return True

    def supports(self, f: Any, x: Any, v: Any) -> bool:
        """f(x + d) - f(x) >= v'd for many d, short and long."""
        base = f(x)
        return all(
            f(x + size * d) >= base + np.sum(v * size * d) - self.tol * abs(size)
            for d in directions(np.shape(x))
            for size in (1e-3, -1e-3, 1.0, -1.0)
        )

    def least(self, value: float) -> list[str]:
        """Where the Lagrangian is below P* at the multipliers: they do not hold it."""
        rng, variables, found = np.random.default_rng(1), self.variables("primal"), []
        for name, size in itertools.product(variables, (0.01, -0.01)):
            x = np.asarray(self.known[name], dtype=float)
            step = rng.normal(size=x.shape)
            if name.startswith((r"\Theta", "Z", "P")) and x.ndim > 1 and x.shape[-1] == x.shape[-2]:
                step = step + np.swapaxes(step, -1, -2)
            moved = self.reader(
                self.goals()["Lagrangian"], self.moved_names({name: x + size * step})
            )
            with np.errstate(invalid="ignore"):
                low = moved.value()
            if low < value - SLACK * (1.0 + abs(value)):
                found.append(f"Lagrangian: {low} < P* = {value} where {name} is moved by {size}")
        return found

    def moved_names(self, changed: dict[str, Any]) -> dict[str, Any]:
        names = [*self.variables("primal"), *self.variables("dual")]
        fixed = {name: self.known[name] for name in names if name in self.known}
        multipliers = {name: v for name, v in self.known.items() if name in MULTIPLIERS}
        return self.defined(self.names | multipliers | fixed | changed)

    def below(self, value: float) -> list[str]:
        """Where the dual's function is above P* at a point of the dual."""
        found = []
        for size in (0.5, 0.9, 1.02, 1.1):
            names = [name for name in self.variables("dual") if name in self.known]
            changed = {name: size * np.asarray(self.known[name]) for name in names}
            with np.errstate(invalid="ignore"):  # what is outside of a domain is nan
                known = self.defined(self.names | changed)
            limits = [text for label, text in self.told() if label == "dual"]
            try:
                if all(self.reader(text, known).holds(1e-7) for text in limits):
                    high = self.reader(self.goals()["dual"], known).value()
                    if high > value + SLACK * (1.0 + abs(value)):
                        found.append(f"dual: {high} > P* = {value} at {size} times the multipliers")
            except Unknown:
                continue
        return found


SLACK = 1e-6
"""Relative: what the solution may lack."""
VARIABLES = re.compile(r"\\(min|max)_(?:\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}|(\\?\w+))\\ ?")
FAILURES = (Unknown, Beyond, AssertionError, LookupError, TypeError, ValueError, AttributeError)
MULTIPLIERS = {r"\beta", r"\gamma", r"\Lambda", r"\lambda", r"\mu", r"\beta^*", r"\nu"}
MULTIPLIERS |= {r"\lambda^+", r"\lambda^-"}


def directions(shape: tuple[int, ...]) -> list[Any]:
    """Some of every kind, and each axis; of a number one more."""
    axes = np.eye(int(np.prod(shape)) or 1).reshape(-1, *shape)
    return [*np.random.default_rng(0).normal(size=(8 if shape else 1, *shape)), *axes]


def phrase_of(words: str) -> str:
    """Words as they are read."""
    return " ".join(re.sub(r"\\text|[{}]", "", words).split())


def short(found: re.Match[str]) -> str:
    return "" if found[1] in (None, "k") else found[1]


def shared(text: str) -> Iterator[str]:
    r"""a, b \ge 0 as two statements."""
    first, comma, rest = text.partition(", ")
    relation = RELATION.search(rest)
    if comma and relation and re.fullmatch(r"[\\\w{}]+", first):
        yield first + " " + rest[relation.start() :]
        yield rest
    else:
        yield text


def plus_terms(text: str) -> list[str]:
    """The terms of a sum outside brackets."""
    depth, start, found = 0, 0, []
    for k, c in enumerate(text):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and text[k : k + 3] == " + ":
            found.append(text[start:k])
            start = k + 3
    return [*found, text[start:]]


SAME = ("primal", "Lagrangian", "dual", "eliminated", "canonical", "where")
"""Lines of ``latex()``, which the page has evaluated."""
ENDS = ("recovery", "P = D")
KINDS = ("stationarity", "primal feasibility", "dual feasibility", "complementary slackness")
ORDER = "primal Lagrangian minimise substitute dual eliminated".split()
ORDER += [*KINDS, *ENDS, "canonical", "where"]


def derivation_faults(page: Page, text: str) -> list[str]:
    """Every line that does not hold at the numbers of the page, and every condition left out."""
    found, lines = [], rows(text)
    labels = [label for label, _ in lines]
    if sorted(labels, key=ORDER.index) != labels or not {*ORDER[:5], *ENDS} <= {*labels}:
        found.append(f"order: {labels}")
    for label in SAME:
        if [row for name, row in lines if name == label] != [
            row.strip() for row in page.lines.get(label, [])
        ]:
            found.append(f"{label} is not that of latex()")
    kept = [row for label, row in lines if label in KINDS]
    split = [
        each.removeprefix("\\ ").strip()
        for row in page.lines["KKT"]
        for each in statements(row.replace(r",\quad", r",\ "))
    ]
    if sorted(kept) != sorted(split):
        found.append(f"conditions: {sorted({*kept} ^ {*split})}")
    for label, row in lines:
        if label in ("minimise", "substitute", "recovery"):  # the conditions: as in the page
            line = row.partition(r"\text{:}\quad ")[2] if label == "minimise" else row
            found += [f"{label}: {each}" for each in statements(line) if not _holds(page, each)]
        if label == "substitute":  # its first side is the Lagrangian, not what equals it here
            goals = page.goals()
            found += [row] * (
                not row.startswith(f"{goals['Lagrangian']} = {goals['dual'].strip()}")
            )
    return found + _out_of_place(page, lines)


def _holds(page: Page, statement: str) -> bool:
    statement = statement.removeprefix("\\ ").strip()
    if r"\text{:" in statement or statement in WORDS or KEPT.fullmatch(statement):
        return True
    try:
        return all(page.holds(each) for each in shared(statement))
    except FAILURES:
        return False


def _out_of_place(page: Page, lines: tuple[tuple[str, str], ...]) -> list[str]:
    """Feasibility of the primal names no multiplier alone; stationarity is no inequality."""
    given = page.lines["primal"][0].partition(GIVEN)[2]
    return [
        f"{label}: {row} is out of place"
        for label, row in lines
        if (label == "primal feasibility") != (label in KINDS and row in given)
        or (label == "complementary slackness" and "= 0" not in row and r"\partial" not in row)
        or (label == "stationarity" and any(sign in row for sign in (r"\ge ", r"\le ")))
    ]


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
