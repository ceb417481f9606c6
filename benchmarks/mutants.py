"""Plant faults in a copy of the package, one at a time, and see whether the tests notice.

python benchmarks/mutants.py [table ...] [--only WORD]

Tables are the files faults/mutants_TABLE.py, each with a list MUTANTS of ``Mutant``; all
of them by default. A fault is killed where one of its tests fails; a survivor is a hole in the
tests. A row whose text is no longer in the package is stale, and counts as an error.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "faults"))

from mutant import Mutant

HERE = Path(__file__).resolve().parent
FAULTS = HERE / "faults"
COPIED = ("convexml", "tests", "problems", "docs", "examples", "pyproject.toml", "README.md")
ALLOWED = 0.05
"""Share of survivors that is accepted."""


def tables(names: Sequence[str]) -> dict[str, list[Mutant]]:
    """The tables asked for, all of them by default."""
    known = sorted(path.stem.removeprefix("mutants_") for path in FAULTS.glob("mutants_*.py"))
    return {name: importlib.import_module(f"mutants_{name}").MUTANTS for name in names or known}


def stale(mutant: Mutant, root: Path) -> str:
    """Why a row cannot be planted; empty where it can."""
    path = root / mutant.file
    count = path.read_text().count(mutant.old) if path.exists() else -1
    if count == 1 and mutant.old != mutant.new and mutant.tests:
        return ""
    return "no such file" if count < 0 else f"its text occurs {count} times in {mutant.file}"


def notice(root: Path, tests: Sequence[str], *, told: bool = False) -> bool:
    """Whether a test fails, and ``told`` which; one that cannot be collected is an error."""
    environment = os.environ | {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"NUMBA_CACHE_DIR": str(root / ".numba"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    run = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        raise RuntimeError(f"{tests}: {run.stdout[-800:]}{run.stderr[-800:]}")
    if told and run.returncode:
        print(run.stdout[-4000:])
    return run.returncode == 1


def plant(mutant: Mutant, root: Path) -> bool:
    """Whether the fault is noticed; the copy is as it was afterwards."""
    path = root / mutant.file
    sound = path.read_text()
    path.write_text(sound.replace(mutant.old, mutant.new))
    try:
        return notice(root, mutant.tests)
    finally:
        path.write_text(sound)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each fault; 1 where too many survive, a row is stale or a test is red."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--only", default="")
    given = parser.parse_args(arguments)
    chosen = [
        mutant
        for table in tables(given.tables).values()
        for mutant in table
        if given.only in mutant.name
    ]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for name in COPIED:
            source = HERE.parent / name
            skip = shutil.ignore_patterns("__pycache__", "*.nb?", "*.so")
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, root / name, **({"ignore": skip} if source.is_dir() else {}))
        tests = sorted({test for mutant in chosen for test in mutant.tests})
        if tests and notice(root, tests, told=True):
            print("the tests fail without any fault planted")
            return 1
        survivors, errors = [], []
        for mutant in chosen:
            why = stale(mutant, root)
            if why:
                errors.append(mutant)
                print(f"stale     {mutant.name}: {why}", flush=True)
            elif plant(mutant, root):
                print(f"killed    {mutant.name}", flush=True)
            else:
                survivors.append(mutant)
                print(f"survived  {mutant.name}  {mutant.explained}", flush=True)
    left = [mutant for mutant in survivors if not mutant.explained]
    seconds = time.perf_counter() - began
    print(
        f"{len(chosen)} faults, {len(survivors)} survivors ({len(left)} without an explanation), "
        f"{len(errors)} stale rows, {seconds:.0f} s"
    )
    return int(bool(errors) or len(survivors) > ALLOWED * max(len(chosen), 1))


if __name__ == "__main__":
    raise SystemExit(main())
