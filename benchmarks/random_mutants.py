r"""Mutants drawn at random over the package, and which of the tests that execute them notice.

python benchmarks/random_mutants.py --seed 29 --count 100 --write mutants.json
python benchmarks/random_mutants.py --mutants mutants.json --coverage FOLDER/cov.* \
    --times FOLDER/times.* [--tree DIRECTORY] [--results FILE]

``drawn_mutants.py`` says what is drawn. A mutant is held by the name of its function, its text and
the lines around it, so that it is found again where modules have moved.

With ``--coverage`` (``recording.py`` writes it, from the same tree) each is planted in a copy, and
tests that execute its lines run, until one fails: the cheapest of every test file, then the second
of every file, as many as ``--most`` and a third of ``--seconds`` hold. What decides at import, or
runs compiled, is looked for by tests of the same file. A test that fails without the mutant as well
is not asked again. A mutant that runs out of ``--seconds`` of the processor hangs: it is noticed.
Needs ``pip install coverage``.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import cache_from_source
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from drawn_mutants import Drawn, draw, found_again, named, planted, scopes

FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+\.py.*?)(?: - |$)", re.MULTILINE)
SHARE = 3
"""Tests are chosen for this part of the seconds: those of a sound package are no limit."""
UNKNOWN = 1.0
"""Seconds of a test whose time is not known."""


class Recorded:
    """What ``recording.py`` wrote: tests by line, and seconds by test."""

    def __init__(self, coverage: Sequence[Path], times: Sequence[Path]) -> None:
        from coverage import CoverageData

        self.lines: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for path in coverage:
            data = CoverageData(basename=str(path))
            data.read()
            for measured in data.measured_files():
                file = "convexml/" + measured.rsplit("/convexml/", 1)[-1]
                for line, tests in data.contexts_by_lineno(measured).items():
                    self.lines[file][line].update(test for test in tests if test)
        self.seconds: dict[str, float] = defaultdict(float)
        for path in times:
            for row in path.read_text().splitlines():
                test, processor, _ = json.loads(row)
                self.seconds[test.split("[")[0]] += processor

    def tests(self, path: Path, root: Path, first: int, last: int) -> tuple[list[str], bool]:
        """Tests that execute the statement of these lines, and whether its file stands for it."""
        known = self.lines[str(path.relative_to(root))]
        tree = ast.parse(path.read_text())
        spans = [(s.lineno, s.end_lineno) for s in ast.walk(tree) if isinstance(s, ast.stmt)]
        around = [each for each in spans if each[0] <= first and last <= each[1]]
        start, stop = min(around, key=lambda each: each[1] - each[0], default=(first, last))
        functions = list(scopes(tree))
        name, function = named(functions, first)
        decorated = [ast.unparse(each) for each in function.decorator_list] if name else []
        inside = name and first >= function.body[0].lineno
        if inside and not any(each.startswith("compiled") for each in decorated):
            return self._chosen(known, range(start, stop + 1)), False
        own = [f for n, f in functions if not inside and n == name] or [f for _, f in functions]
        rows = chain.from_iterable(range(f.body[0].lineno, f.end_lineno + 1) for f in own)
        return self._chosen(known, rows) or self._chosen(known, known), True

    def _chosen(self, known: dict[int, set[str]], lines: Any) -> list[str]:
        """The tests of these lines, by turns of their files, each file's cheapest first."""
        found: dict[str, list[str]] = defaultdict(list)
        for test in sorted(set().union(*(known.get(line, set()) for line in lines))):
            found[test.split("::")[0]].append(test)
        queues = [sorted(tests, key=self.cost) for tests in found.values()]
        queues.sort(key=lambda tests: self.cost(tests[0]))
        return [test for turn in zip_longest(*queues) for test in turn if test]

    def cost(self, test: str) -> float:
        return self.seconds.get(test, UNKNOWN)


def start_once() -> None:
    """Load what every test loads, but nothing of ours: the processes of tests are forks of this."""
    import cvxpy  # noqa: F401
    import pytest  # noqa: F401
    import scipy.optimize  # noqa: F401
    import sklearn.svm  # noqa: F401


def run_tests(root: Path, tests: Sequence[str], seconds: float, told: Path) -> None:
    """Run tests in this process, which is a fork and ends with them."""
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    signal.alarm(int(20 * seconds))  # for what waits, and takes nothing of the processor
    with told.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    os.chdir(root)
    os.environ["PYTHONPATH"] = str(root)
    sys.path[0] = str(root)
    options = ["-n", "0", "-q", "-x", "-p", "no:cacheprovider"]
    code = int(pytest.main([*options, *tests]))
    sys.stdout.flush()
    os._exit(code)


def first_failure(root: Path, tests: Sequence[str], seconds: float) -> str:
    """The test that fails first; "" where none does, "out of time" at the limit."""
    told = root.parent / "told"
    child = os.fork()
    if child == 0:
        try:
            run_tests(root, tests, seconds, told)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(3)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if -code in (signal.SIGXCPU, signal.SIGKILL, signal.SIGALRM):
        return "out of time"
    if code in (0, 5):  # 5: all were left out, by a marker
        return ""
    text = told.read_text(errors="replace")
    found = FAILED.search(text)
    return found[1] if found else f"ended with {code}: {text[-300:]!r}"


def rewrite(path: Path, text: str) -> None:
    """Write a module; what Python compiled of it before is not to be believed."""
    path.write_text(text)
    Path(cache_from_source(str(path))).unlink(missing_ok=True)


class Bench:
    """A copy of a tree in which mutants are planted, one at a time."""

    def __init__(self, tree: Path, folder: Path, recorded: Recorded, most: int, seconds: float):
        self.root, self.recorded = folder / tree.name, recorded
        self.most, self.seconds = most, seconds
        skip = shutil.ignore_patterns("__pycache__", "*.nb?", ".git", ".venv", ".numba")
        shutil.copytree(tree, self.root, ignore=skip)
        if (tree.parent / "shared").exists():
            (folder / "shared").symlink_to((tree.parent / "shared").resolve())
        self.sound: dict[str, bool] = {}
        os.environ |= {"NUMBA_CACHE_DIR": str(self.root / ".numba"), "OMP_NUM_THREADS": "1"}
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        start_once()

    def fate(self, drawn: Drawn) -> tuple[str, str]:
        """What becomes of a mutant, and by which test."""
        place = found_again(drawn, self.root)
        if place is None:
            return "not found", ""
        path, start, stop = place
        tests, by_file = self.recorded.tests(path, self.root, start + 1, stop)
        chosen, expected = [], 0.0
        for test in tests:
            expected += self.recorded.cost(test)
            if self.sound.get(test, True) and (not chosen or expected < self.seconds / SHARE):
                chosen.append(test)
        chosen = chosen[: self.most]
        if not chosen:
            return "not covered", ""
        told = f"{len(chosen)} of {len(tests)} tests" + (" of its file" if by_file else "")
        text = path.read_text()
        while chosen:
            try:
                rewrite(path, planted(drawn, path, start, stop))
                failed = first_failure(self.root, chosen, self.seconds)
            finally:
                rewrite(path, text)
            if not failed:
                return "survived", told
            if not FAILED.match(f"FAILED {failed}"):
                return ("out of time" if failed == "out of time" else "error"), failed
            if self.is_sound(failed):
                return "killed", failed
            chosen = [test for test in chosen if test != failed.split("[")[0]]
        return "not covered", "by tests that pass"

    def is_sound(self, test: str) -> bool:
        """Whether a test passes without a mutant."""
        name = test.split("[")[0]
        if name not in self.sound:
            self.sound[name] = not first_failure(self.root, [name], 10 * self.seconds)
        return self.sound[name]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--write", type=Path, help="a file for the mutants themselves, JSON")
    parser.add_argument("--mutants", type=Path, help="such a file, in place of drawing some")
    parser.add_argument("--numbers", type=int, nargs="+", help="of the mutants, in place of all")
    parser.add_argument("--coverage", type=Path, nargs="+", default=[])
    parser.add_argument("--times", type=Path, nargs="+", default=[])
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--most", type=int, default=60, help="tests of a mutant")
    parser.add_argument("--seconds", type=float, default=90.0, help="of the processor, a mutant")
    parser.add_argument("--results", type=Path, help="also write the lines into this file")
    given = parser.parse_args(arguments)
    tree = given.tree.resolve()
    if given.mutants:
        rows = json.loads(given.mutants.read_text())
        around = ("before", "after")
        mutants = [Drawn(**row | {name: tuple(row[name]) for name in around}) for row in rows]
    else:
        mutants = draw(tree, given.seed, given.count)
    if given.write:
        given.write.write_text(json.dumps([asdict(each) for each in mutants], indent=1))

    def tell(line: str) -> None:
        print(line, flush=True)
        if given.results:
            with given.results.open("a") as file:
                file.write(line + "\n")

    if not given.coverage:
        for k, mutant in enumerate(mutants):
            print(f"{k:>3} {'' if found_again(mutant, tree) else 'NOT FOUND '}{mutant}")
        return 0
    numbers = range(len(mutants)) if given.numbers is None else given.numbers
    counts: Counter[str] = Counter()
    recorded, began = Recorded(given.coverage, given.times), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(tree, Path(folder), recorded, given.most, given.seconds)
        for k in numbers:
            fate, by = bench.fate(mutants[k])
            counts[fate] += 1
            tell(f"{k:>3} {fate:<12} {mutants[k]} | {by}")
        broken = sorted(test for test, sound in bench.sound.items() if not sound)
    noticed, asked = counts["killed"] + counts["out of time"], len(numbers) - counts["not found"]
    tell(f"{noticed} of {asked} noticed: {dict(counts)}, {time.perf_counter() - began:.0f} s"
         f"{'; red without a mutant: ' if broken else ''}{', '.join(broken)}")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
