"""Quadratic programs of Maros and Meszaros have a bound over all points."""

from __future__ import annotations

import pytest
from support.programs.maros import maros, solved

import convexml as cml
from convexml import Verdict

QUADRATIC = (
    "HS268",
    "DUALC1",
    "QBRANDY",
    "QPCBOEI2",
    "QISRAEL",
    "QFORPLAN",
    "QSC205",
    "STADAT1",
)


@pytest.mark.parametrize("name", QUADRATIC)
def test_quadratic_programs_have_a_bound_over_all_points(name: str) -> None:
    certificate = cml.certify(solved(maros(name)))
    assert (certificate.verdict, certificate.within) == (Verdict.CERTIFIED, None)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "optimum"), [("YAO", 197.704256), ("QSHELL", 1572636843516.9)])
def test_large_quadratic_programs_are_solved_with_a_bound_over_all_points(
    name: str, optimum: float
) -> None:
    """Optima: Maros and Meszaros 1999, 1.97704256e+02 and 1.57263684e+12."""
    problem = maros(name)
    certificate = cml.solve(problem)
    assert (certificate.verdict, certificate.within) == (Verdict.CERTIFIED, None)
    assert problem.value == pytest.approx(optimum, rel=1e-8)


def test_a_least_eigenvalue_of_minus_1e_5_is_said() -> None:
    certificate = cml.certify(solved(maros("VALUES")))
    assert certificate.verdict is Verdict.UNDECIDED
    assert "its least eigenvalue is -1.27e-05" in certificate.reason
