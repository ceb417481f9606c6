"""MPS and QPS files: the numbers are those that HiGHS reads, and what it forgives is refused."""

from __future__ import annotations

import shutil
from itertools import combinations
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml.errors import ProblemFileError
from convexml.library import load_file
from convexml.library.programs import Program, read_mps

TEXT = """* every kind of row, range and bound
NAME          SMALL
ROWS
 N  cost
 L  c1
 G  c2
 E  c3
 E  c4
 N  free
COLUMNS
    x         cost      1.0   c1        1.0
    x         c2        1.0   free      3.0
    y         cost      2.0   c1        1.0
    y         c3        1.0   c4        1.0
    z         cost     -1.0   c2       -1.0
    v         c4        1.0
    v         c1        0.5
RHS
    RHS       cost     -7.0   c1        4.0
    RHS       c2       -9.0   c3        3.5
    RHS       c4        2.0
RANGES
    RNG       c1        2.5   c2        5.0
    RNG       c3       -0.5   c4        0.25
BOUNDS
 UP BND       x         4.0
 MI BND       y
 LO BND       z        -2.0
 UP BND       z         6.0
 UP BND       v        -1.0
 MI BND       v
ENDATA
"""
QUADRATIC = TEXT.replace(
    "ENDATA\n",
    "QUADOBJ\n    x  x  8.0\n    x  y  2.0\n    y  y  10.0\n    z  z  1.0\n    v  v  1.0\nENDATA\n",
)


def write(folder: Path, text: str, name: str = "p.mps") -> Path:
    (folder / name).write_text(text)
    return folder / name


def as_highs(path: Path, folder: Path) -> tuple[np.ndarray, ...]:
    """What HiGHS reads: costs, bounds, limits of the rows, A, Q."""
    highspy = pytest.importorskip("highspy")
    copy = shutil.copy(path, folder / "copy.mps")  # it knows no .qps
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(copy))
    model = solver.getModel()
    lp, n = model.lp_, model.lp_.num_col_
    A, Q = np.zeros((lp.num_row_, n)), np.zeros((n, n))
    for target, matrix in ((A, lp.a_matrix_), (Q, model.hessian_)):
        for j in range(len(matrix.start_) - 1):
            for k in range(matrix.start_[j], matrix.start_[j + 1]):
                target[matrix.index_[k], j] = matrix.value_[k]
    Q = Q + Q.T - np.diag(np.diag(Q))
    assert lp.row_names_ == list(read_mps(path).rows)
    assert lp.col_names_ == list(read_mps(path).columns)
    bounds = np.column_stack([lp.col_lower_, lp.col_upper_])
    limits = np.column_stack([lp.row_lower_, lp.row_upper_])
    return np.append(lp.col_cost_, lp.offset_), bounds, limits, A, Q


def as_ours(found: Program) -> tuple[np.ndarray, ...]:
    n, m = len(found.columns), len(found.rows)
    costs = np.array([found.c.get(j, 0.0) for j in range(n)] + [found.offset])
    bounds = np.array([found.bounds(j) for j in range(n)])
    limits = np.array([found.limits(i) for i in range(m)])
    A, Q = np.zeros((m, n)), np.zeros((n, n))
    for matrix, entries in ((A, found.A), (Q, found.Q)):
        for place, value in entries.items():
            matrix[place] = value
    return costs, bounds, limits, A, Q


def agree(path: Path, folder: Path) -> None:
    for ours, theirs in zip(as_ours(read_mps(path)), as_highs(path, folder), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("text", [TEXT, QUADRATIC], ids=["linear", "quadratic"])
def test_every_section_is_read_as_highs_reads_it(tmp_path: Path, text: str) -> None:
    agree(write(tmp_path, text), tmp_path)


def test_a_whole_q_is_read_as_a_triangle(tmp_path: Path) -> None:
    whole = QUADRATIC.replace("QUADOBJ", "QMATRIX").replace(
        "  x  y  2.0", "  x  y  2.0\n    y  x  2.0"
    )
    for text in (QUADRATIC, whole):
        np.testing.assert_array_equal(
            as_ours(read_mps(write(tmp_path, text)))[-1],
            [[8, 2, 0, 0], [2, 10, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
        )


@pytest.mark.parametrize("name", ["israel", "itest2", "klein1", "brandy"])
def test_netlib_is_read_as_highs_reads_it(tmp_path: Path, data_dir: Path, name: str) -> None:
    agree(data_dir / "netlib" / f"{name}.mps", tmp_path)


def least_value(text: str, folder: Path, sign: float = 1.0) -> float:
    """The least of the points that some rows determine: one of them is the optimum."""
    costs, bounds, limits, A, Q = as_ours(read_mps(write(folder, text)))
    n = len(Q)
    G = np.vstack([-np.eye(n), np.eye(n), -A, A])
    h = np.concatenate([-bounds[:, 0], bounds[:, 1], -limits[:, 0], limits[:, 1]])
    G, h, least = G[np.isfinite(h)], h[np.isfinite(h)], np.inf
    for count in range(n + 1):
        for held in map(list, combinations(range(len(h)), count)):
            system = np.block([[sign * Q, G[held].T], [G[held], np.zeros((count, count))]])
            right = np.concatenate([-sign * costs[:-1], h[held]])
            x = np.linalg.lstsq(system, right)[0][:n]
            if np.all(G @ x <= h + 1e-9):
                least = min(least, sign * (0.5 * x @ Q @ x + costs[:-1] @ x + costs[-1]))
    return least


def test_programs_are_solved_and_certified(tmp_path: Path) -> None:
    file = load_file(write(tmp_path, TEXT))
    solution = file.problem.solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(least_value(TEXT, tmp_path), rel=1e-8)
    assert file.features == ("x", "y", "z", "v", "constant")
    largest = TEXT.replace("ROWS\n", "OBJSENSE\n    MAX\nROWS\n", 1)
    file = load_file(write(tmp_path, largest))
    value = least_value(largest, tmp_path, sign=-1.0)
    assert file.problem.solve(tol=1e-9).objective == pytest.approx(value, rel=1e-8)
    assert "minimum of the negative" in file.description


def test_quadratic_programs_are_solved_and_certified(tmp_path: Path) -> None:
    problem = cml.load(write(tmp_path, QUADRATIC, "p.qps"))
    assert isinstance(problem, cp.Problem)
    certificate = cml.solve(problem, tol=1e-8)
    assert str(certificate.verdict) == "certified"
    value = least_value(QUADRATIC, tmp_path)
    assert certificate.primal_objective == pytest.approx(value, rel=1e-7)
    bent = QUADRATIC.replace("x  x  8.0", "x  x -8.0")
    with pytest.raises(ProblemFileError, match=r"the objective is not convex: the least eigenva"):
        cml.load(write(tmp_path, bent))
    with pytest.raises(ProblemFileError, match="not convex"):  # it is maximised
        cml.load(write(tmp_path, QUADRATIC.replace("ROWS\n", "OBJSENSE\n MAX\nROWS\n", 1)))


@pytest.mark.parametrize(("old", "new", "words"), [
    ("c1        4.0", "c1        fox", r"line 19: 'fox' is not a number"),
    ("c1        4.0", "c1        inf", r"line 19: 'inf' is not a finite number"),
    ("c1        4.0", "c9        4.0", r"line 19: there is no row 'c9'. Did you mean 'c\d'"),
    ("RHS       c4        2.0", "RHS       c1        2.0", r"line 21: 'c1' is there twice"),
    (" L  c1", " X  c1", r"line 5: the kind of a row must be N, L, G or E, got 'X'"),
    (" G  c2", " G  c1", r"line 6: there are two rows 'c1'"),
    ("    y         c3        1.0", "    x c1 1.0", r"line 14: 'c1' of 'x' is there twice"),
    (" MI BND       y", " BV BND       y", r"the bound BV makes an integer variable"),
    (" MI BND       y", " MI BND       q", r"there is no column 'q'"),
    (" LO BND       z        -2.0", " LO BND       z", r"line 28: "),
    ("    v         c1        0.5", "    M 'MARKER' 'INTORG'", r"there are integer variables"),
    ("RANGES", "RANGE", r"line 22: expected a section, got 'RANGE'. Did you mean 'RANGES'"),
    (" MI BND       v", "", r"the upper bound of 'v' is negative and there is no lower one"),
    ("ENDATA", "", r"the section ENDATA is missing"),
    ("x  y  2.0", "x  q  2.0", r"there is no column 'q'"),
    ("x  y  2.0", "x  x  2.0", r"an entry of Q is there twice"),
    ("x  y  2.0", "x  y  1e999", r"'1e999' is not a finite number"),
])  # fmt: skip
def test_a_fault_is_refused_with_its_line(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in QUADRATIC
    with pytest.raises(ProblemFileError, match=words) as caught:
        cml.load(write(tmp_path, QUADRATIC.replace(old, new)))
    assert str(tmp_path) in str(caught.value)
