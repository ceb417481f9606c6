"""What type checkers say of right and wrong uses: the names of the package have types."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from support.processes import python

RIGHT = """
import numpy as np
import convexml as cml
from convexml import estimators

X = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]])
y = np.array([1.0, 0.0, 2.0])
problem = cml.Lasso(X, y, lam=0.1)
solution = problem.solve(tol=1e-8)
gap: float = solution.gap
certificate: cml.Certificate = problem.certify(solution.primal["w"])
held: bool = certificate.holds(1e-6)
same: bool = certificate.verdict == "certified" or certificate.verdict is cml.Verdict.REFUTED
words: str = certificate.verdict
svm = cml.SoftMarginSVM(X, np.array([1, -1, 1]), C=2.0).solve()
loss: cml.losses.Loss = cml.losses.Huber(1.0)
kernel = cml.kernels.Gaussian(1.0) + 2.0 * cml.kernels.Linear()
cml.KernelRidge(X, y, 0.1, kernel).solve()
cml.LearningProblem(X, y, loss, cml.penalties.L1(0.1)).solve()
program = cml.LinearProgram([1.0, 1.0], A_ub=[[-1.0, -1.0]], b_ub=[-1.0]).solve()
fitted = estimators.Ridge(alpha=0.1).fit(X, y)
samples: int = cml.theory.finite_class(10, eps=0.1, delta=0.1)
try:
    cml.Ridge(X, y, lam=-1.0)
except cml.errors.InputError as error:
    print(error)
comparison: cml.Comparison = cml.compare([problem], max_seconds=1)
"""

BEFORE = RIGHT.partition("try:")[0]
WRONG = {
    "an argument with a typo": "cml.Lasso(X, y, lamda=0.1)",
    "an argument that is missing": "cml.Lasso(X, y)",
    "a method with a typo": "solution.solv()",
    "an attribute with a typo": "certificate.gapp",
    "a model that does not exist": "cml.Laso(X, y, lam=0.1)",
    "a loss that does not exist": "cml.losses.Hubber(1.0)",
    "a penalty that does not exist": "cml.penalties.L3(0.1)",
    "a kernel that does not exist": "cml.kernels.Gausian(1.0)",
    "an estimator that does not exist": "estimators.Rigde()",
    "a bound that does not exist": "cml.theory.finite_clas(10, eps=0.1, delta=0.1)",
    "a solver's registry with a typo": "cml.solvers.availabel()",
    "a text for a tolerance": "problem.solve(tol='tight')",
    "a text for a strength": "cml.Ridge(X, y, lam='0.1')",
    "a gap that is no text": "text: str = solution.gap",
}

Checker = Callable[[Path], list[int]]


def mypy(file: Path) -> list[int]:
    """The lines that mypy --strict objects to."""
    options = ["--strict", "--output=json", "--no-error-summary", "--cache-dir=cache"]
    options.append("--config-file=")  # none of a folder above
    run = python("-m", "mypy", *options, file.name, cwd=file.parent)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = [json.loads(line) for line in run.stdout.splitlines()]
    return [each["line"] for each in found if each["file"] == file.name]


def pyright(file: Path) -> list[int]:
    """The lines that basedpyright objects to, in its standard mode."""
    (file.parent / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    program = Path(sysconfig.get_path("scripts")) / "basedpyright"
    run = subprocess.run(
        [program, "--outputjson", "--pythonpath", sys.executable, file.name],
        cwd=file.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode in (0, 1), run.stdout + run.stderr
    found = json.loads(run.stdout)["generalDiagnostics"]
    return [each["range"]["start"]["line"] + 1 for each in found if each["severity"] == "error"]


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_right_uses_pass_and_each_wrong_one_is_told(checker: Checker, tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(RIGHT)
    wrong.write_text(BEFORE + "\n".join(WRONG.values()) + "\n")
    assert checker(right) == []
    first = BEFORE.count("\n") + 1
    told = set(checker(wrong))
    assert [name for k, name in enumerate(WRONG, first) if k not in told] == []
    assert min(told) >= first


def test_a_verdict_is_its_word_and_a_certificate_is_no_truth_value() -> None:
    import convexml as cml

    good = cml.LeastSquares([[1.0], [2.0]], [0.0, 1.0]).certify([1.0], -1.0)
    bad = cml.LeastSquares([[1.0], [2.0]], [0.0, 1.0]).certify([5.0], -1.0)
    assert (good.verdict == "certified", bad.verdict == "refuted") == (True, True)
    assert f"{good.verdict}" == str(good.verdict) == "certified"
    for certificate in (good, bad):
        with pytest.raises(cml.errors.InputError, match=r"neither true nor false.*\.holds\(\)"):
            bool(certificate)
