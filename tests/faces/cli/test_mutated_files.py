"""Damaged problem files and data end in a verified answer or a clear error, never a traceback."""

from __future__ import annotations

import io
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.report.commands import FILED, RIDGE, STATEMENT, Command, write

Files = dict[str, bytes]
"""A problem file, first, and the files that it names."""

HEAD = 'schema = 1\ntitle = "A small problem"\n'
LABELS = ("yes", "no", "no")
TABLE = "a,b,kind,y,label\n" + "\n".join(
    f"{(7 * k) % 11 - 5},{(k * k) % 7 / 2},{'uvw'[k % 3]},{(3 * k) % 8 - 2.5},{LABELS[k % 3]}"
    for k in range(24)
)
MPS = """NAME          SMALL
ROWS
 N  cost
 L  c1
 G  c2
 E  c3
COLUMNS
    x         cost      1.0   c1        1.0
    x         c2        1.0
    y         cost      2.0   c1        1.0
    y         c3        1.0
RHS
    RHS       c1        4.0   c2        1.0
    RHS       c3        1.5
RANGES
    RNG       c1        2.5
BOUNDS
 UP BND       x         4.0
ENDATA
"""
QUADRATIC = MPS.replace("ENDATA", "QUADOBJ\n    x  x  8.0\n    x  y  2.0\n    y  y  10.0\nENDATA")
FACT = '[[expected.facts]]\nname = "nonzeros"\nvalue = 2\nsource = "counted"\n'


def _csv(model: str, parameters: str, data: str) -> Files:
    text = f'{HEAD}model = "{model}"\n[parameters]\n{parameters}\n[data]\nfile = "t.csv"\n{data}\n'
    return {"p.toml": f"{text}[expected]\nstatus = 'optimal'\n".encode(), "t.csv": TABLE.encode()}


def _archive() -> bytes:
    rng = np.random.default_rng(0)
    stream = io.BytesIO()
    np.savez(stream, X=rng.normal(size=(12, 3)), y=rng.normal(size=12))
    return stream.getvalue()


def _toml(text: str, **others: bytes) -> Files:
    return {"p.toml": (HEAD + text).encode()} | {k.replace("_", "."): v for k, v in others.items()}


INLINE = "X = [[1.0, 0.0], [0.5, 1.0], [-1.0, 0.25], [0.0, -1.0]]\n"
BASES: tuple[Files, ...] = (
    _csv("lasso", "lam = 0.1", 'target = "y"\nfeatures = ["a", "b"]\nstandardize = true'),
    _csv(
        "logistic_regression",
        'lam = 0.1\npenalty = "l2"',
        'target = "label"\npositive = "yes"\nfeatures = ["a", "b", "kind"]\none_hot = ["kind"]',
    ),
    _toml(
        'model = "kernel_ridge"\n[parameters]\nlam = 0.5\n'
        'kernel = { name = "gaussian", sigma = 2.0 }\n'
        f"[data]\n{INLINE}y = [3.0, 1.0, -1.0, 1.0]\n"
    ),
    _toml(
        '[objective]\nloss = { name = "huber", delta = 1.0 }\n'
        'penalty = { name = "l1", lam = 0.1 }\n'
        f"[data]\n{INLINE}y = [3, 1, -1, 1]\nsample_weight = [1.0, 2.0, 0.5, 1.0]\n{FACT}"
    ),
    _toml(
        'model = "linear_program"\n[data]\nc = [-1, -2.0]\nA_ub = [[1, 1], [1, 3]]\nb_ub = [4, 6]\n'
        "bounds = [[0, 3], [0, inf]]\n[expected]\nstatus = 'optimal'\n"
    ),
    _toml('model = "ridge"\n[parameters]\nlam = 0.1\n[data]\nfile = "t.npz"\n', t_npz=_archive()),
    _toml(
        'statement = "mine.py"\n[parameters]\nlam = 0.5\n'
        f"[data]\n{INLINE}y = [3.0, 1.0, -1.0, 1.0]\n",
        mine_py=STATEMENT.encode(),
    ),
    {"p.qps": QUADRATIC.encode()},
)

NUMBERS = "0 -1 1 2 -0.0 0.5 1e308 1e-308 5e-324 1e999 nan inf -inf 1e-12 1e12 1e20 -7 3".split()
NUMBERS += ["9223372036854775808", "1" + "0" * 400, "1000000", '"x"', '""', "true", "[]", "[1, 2]"]
NUMBERS += ["{}", "{ a = 1 }", "1979-05-27", "[[]]", '"none"']
WORDS = (
    "lasso ridge hinge l1 l2 none x nan ../t.csv /dev/zero . linear_program least_squares".split()
)
WORDS += "learning_problem hard_margin_svm kernel_svm softmax_regression poisson_regression".split()
WORDS += ["infeasible", "primal", "dual", "\\u0000", "a" * 300, ""]
NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w.])")
STRING = re.compile(rb'"[^"\n]*"|\'[^\'\n]*\'')


def _flip(text: bytes, rng: random.Random) -> bytes:
    content = bytearray(text)
    for _ in range(rng.choice((1, 1, 2, 8))):
        content[rng.randrange(len(content))] = rng.randrange(256)
    return bytes(content)


def _replaced(text: bytes, rng: random.Random, what: re.Pattern[bytes], new: str) -> bytes:
    found = list(what.finditer(text))
    if not found:
        return _flip(text, rng)
    place = rng.choice(found)
    return text[: place.start()] + new.encode() + text[place.end() :]


def _number(text: bytes, rng: random.Random) -> bytes:
    return _replaced(text, rng, NUMBER, rng.choice(NUMBERS))


def _word(text: bytes, rng: random.Random) -> bytes:
    return _replaced(text, rng, STRING, f'"{rng.choice(WORDS)}"')


def _lines(text: bytes, rng: random.Random) -> bytes:
    """A line goes elsewhere, goes away or comes twice: a key moves into another table."""
    lines = text.split(b"\n")
    taken = lines.pop(rng.randrange(len(lines)))
    if rng.random() < 0.8:
        lines.insert(rng.randrange(len(lines) + 1), taken)
    if rng.random() < 0.3:
        lines.append(taken)
    return b"\n".join(lines)


def _key(text: bytes, rng: random.Random) -> bytes:
    """A key of this file under another name, or with a letter changed."""
    keys = sorted(set(re.findall(rb"\b([A-Za-z_]+) = ", text)))
    if not keys:
        return _lines(text, rng)
    old, new = rng.choice(keys), rng.choice([*keys, b"classes", b"lamb", b"tau", b"c", b"A_ub"])
    return text.replace(old + b" = ", new + b" = ", 1)


def _cut(text: bytes, rng: random.Random) -> bytes:
    return text[: rng.randrange(len(text))]


def _insert(text: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(text))
    marks = (b"\x00", "\u202e\ufeff".encode(), b"\r", b"\t", b"#", b'"""', b"[", b"=", b",")
    added = rng.choice(marks)
    return text[:place] + added + text[place:]


MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    *(_flip, _number, _number, _number, _word, _lines, _key, _cut, _insert),
)


def mutated(seed: int) -> Files:
    """A problem file and its data, one of them damaged once or twice."""
    rng = random.Random(seed)
    files = dict(BASES[seed % len(BASES)])
    name = rng.choice([each for each in files if not each.endswith(".py")])
    for _ in range(rng.choice((1, 1, 2))):
        mutation = rng.choice(MUTATIONS)
        if files[name]:
            files[name] = mutation(files[name], rng)
    return files


def written(files: Files, folder: Path) -> Path:
    """Write the files; the path of the problem file."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder / next(iter(files))


KEYS = (
    *("data", "parameters", "expected", "objective", "model", "schema", "title", "statement"),
    *("form", "description", r"mine\.py"),
)
PLACE = re.compile(rf"\b({'|'.join(KEYS)})\b|line \d+|unknown key|UTF-8|TOML|nested|digits")
"""What says where in the file it is wrong: a dotted path, a line, or all of it."""
LONGEST = 1500


def judged(run: Command, path: Path) -> int:
    """The exit code of solving a file, once what was printed has been read."""
    result = run("solve", path, "--max-seconds", "5")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    if result.exit_code == 3:
        assert result.stdout == ""
        assert result.stderr.startswith(f"convexml: {path}")
        told = result.stderr.removeprefix(f"convexml: {path}")
        assert PLACE.search(told), told
        assert len(told) <= LONGEST
        return 3
    assert result.stderr == ""
    words = {
        0: ("CERTIFIED at", "certified, gap"),
        4: ("CERTIFIED at", "certified, gap"),
        5: ("UNDECIDED", "undecided", "REFUTED", "DOES NOT HOLD", "NOT as expected", "error"),
    }
    assert any(word in result.stdout for word in words[result.exit_code]), result.stdout
    return int(result.exit_code)


def outcomes(run: Command, folder: Path, seeds: range) -> Counter[int]:
    found: Counter[int] = Counter()
    for seed in seeds:
        (folder / str(seed)).mkdir()
        found[judged(run, written(mutated(seed), folder / str(seed)))] += 1
    return found


@pytest.mark.parametrize("k", range(len(BASES)))
def test_the_files_are_solved_before_they_are_damaged(run: Command, tmp_path: Path, k: int) -> None:
    assert judged(run, written(BASES[k], tmp_path)) == 0


def test_damaged_files_are_answered_or_refused(run: Command, tmp_path: Path) -> None:
    found = outcomes(run, tmp_path, range(5000, 5030))
    assert found[0] >= 3
    assert found[5] <= 3


@pytest.mark.parametrize("depth", [100, 100_000])
def test_deep_files(run: Command, tmp_path: Path, depth: int) -> None:
    path = write(tmp_path / "deep.toml", RIDGE.replace("0.5", "[" * depth + "]" * depth))
    assert judged(run, path) == 3


@pytest.mark.parametrize("size", [10**5, pytest.param(10**7, marks=pytest.mark.slow)])
def test_long_lines(run: Command, tmp_path: Path, size: int) -> None:
    for text in (f'"{"x" * size}"', "9" * size):
        path = write(tmp_path / "long.toml", RIDGE.replace("0.5", text))
        assert judged(run, path) == 3
    path = write(tmp_path / "p.toml", FILED)
    for text in ("1," * (size // 2), "1" * size, '"' + "1,2\n" * (size // 4)):
        write(tmp_path / "t.csv", f"a,y\n1,2\n{text}\n")
        assert judged(run, path) == 3


def test_a_file_that_is_no_text_and_one_that_is_nothing(run: Command, tmp_path: Path) -> None:
    for content in (b"\x00\xff" * 100, b"", b"\xef\xbb\xbf", b"\n" * 1000):
        (tmp_path / "p.toml").write_bytes(content)
        assert run("solve", tmp_path / "p.toml").exit_code == 3
