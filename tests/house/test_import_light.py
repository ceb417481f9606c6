"""`import convexml` costs little more than NumPy and SciPy's sparse matrices."""

from __future__ import annotations

import sys

from support.processes import python

PROBE = """
import sys
import numpy, scipy.sparse
before = set(sys.modules)
{statement}
print(*sorted(set(sys.modules) - before))
"""

# Parts of SciPy that scipy.sparse does without; scipy.special alone costs a sixth of its time.
SLOW_SCIPY = ("scipy.optimize", "scipy.special", "scipy.stats")


def newly_loaded(statement: str) -> list[str]:
    """The modules that a statement loads in a fresh interpreter, beyond NumPy and scipy.sparse."""
    run = python("-W", "error", "-c", PROBE.format(statement=statement))
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def heavy(modules: list[str]) -> set[str]:
    """What `import convexml` should have left for later."""
    ours = {"convexml", "lazy_loader", "numpy", "scipy"} | sys.stdlib_module_names
    foreign = {name.partition(".")[0] for name in modules} - ours
    slow = {name for name in SLOW_SCIPY if name in modules}
    # An editable install may put its finder, a private module, into sys.modules.
    return {name for name in foreign if not name.startswith("_")} | slow


def test_import_convexml_loads_nothing_heavy() -> None:
    modules = newly_loaded("import convexml")
    assert "convexml" in modules
    assert heavy(modules) == set()


def test_a_certificate_of_a_cvxpy_problem_loads_no_model_and_no_solver() -> None:
    statement = (
        "import cvxpy as cp, convexml as cml; x = cp.Variable(2); "
        "p = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1]); p.solve(); "
        "assert cml.certify(p).holds()"
    )
    parts = ("models", "solvers", "bridge.recognition", "sklearn", "theory")
    apart = tuple(f"convexml.{part}" for part in parts)
    assert [name for name in newly_loaded(statement) if name.startswith(apart)] == []


def test_the_probe_sees_a_heavy_import() -> None:
    assert {"rich", "scipy.optimize"} <= heavy(newly_loaded("import rich, scipy.optimize"))
