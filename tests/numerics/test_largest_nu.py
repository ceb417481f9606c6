"""The largest nu of the machine for two classes, decided in fractions of the float64 numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from sklearn.svm import NuSVC as Peer
from sklearn.utils.class_weight import compute_sample_weight

import convexml as cml
from convexml import Verdict
from convexml.certificates.learning.nu import short_class
from convexml.certificates.rounding import summing_to


def classes(few: int, many: int) -> tuple[Any, Any]:
    n = few + many
    return np.arange(float(n))[:, None], np.where(np.arange(n) < few, 1, -1)


def is_too_large(nu: float, y: Any, s: Any) -> bool:
    """nu S / 2 > the weights of a class, in fractions."""
    both = [sum(map(Fraction, s[y == label].tolist()), Fraction(0)) for label in (-1, 1)]
    return Fraction(float(nu)) * sum(both) > 2 * min(both)


def just_below(nu: float) -> float:
    return float(np.nextafter(nu, 0.0))


@pytest.mark.parametrize(("few", "many", "nu"), [
    (7, 18, 14 / 25),
    (7, 18, just_below(14 / 25)),
    (2, 3, 0.8),
    (2, 3, 0.8 * (1.0 + 2e-9)),
    (3, 13, 0.375),  # 3 of 16: exactly the largest
    (4, 4, 1.0),
])  # fmt: skip
def test_the_largest_nu_is_told_exactly(few: int, many: int, nu: float) -> None:
    X, y = classes(few, many)
    problem = cml.NuSVC(X, y, nu)
    found = problem.solve()
    judged = problem.certify(w=[-1.0], b=0.5, rho=1.0)
    if is_too_large(nu, y, np.ones(few + many)):
        assert (found.status, found.certificate.verdict) == ("unbounded", Verdict.CERTIFIED)
        assert "float64" in found.certificate.reason
        assert float(found.evidence["slope"]) < 0.0
        assert judged.gap == np.inf
        assert "P has no bound below" in judged.reason
        return
    assert found.status == "optimal"
    # alpha = 1 on the smaller class; the nearest of the others balance it.
    apart = few * (few - 1) / 2 - sum(range(few, 2 * few))
    assert found.objective == pytest.approx(-0.5 * apart**2, rel=1e-9)
    assert judged.dual_objective == pytest.approx(found.objective, rel=1e-9)


def test_what_was_solved_for_a_smaller_nu_is_not_certified_for_one_too_large() -> None:
    X, y = classes(2, 3)
    found = cml.NuSVC(X, y, just_below(0.8)).solve()
    assert found.status == "optimal"
    for nu in (0.8, 0.8 * (1.0 + 5e-13)):
        for duals in ({}, found.dual):
            judged = cml.NuSVC(X, y, nu).certify(**found.primal, **duals)
            assert judged.verdict is not Verdict.CERTIFIED
            assert judged.gap == np.inf
    fitted = Peer(nu=0.75, kernel="linear").fit(X, y)
    assert cml.certify(fitted, X, y).gap < np.inf
    judged = cml.certify(fitted.set_params(nu=0.8), X, y)  # libsvm has no end at a nu so large
    assert judged.verdict is Verdict.UNDECIDED
    assert "P has no bound below" in judged.reason


def test_weights_are_added_exactly() -> None:
    seen = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(30, 2)), np.where(rng.random(30) < 0.35, 1, -1)
        s = compute_sample_weight("balanced", y)
        status = cml.NuSVC(X, y, 1.0, sample_weight=s).solve().status
        assert status == ("unbounded" if is_too_large(1.0, y, s) else "optimal")
        seen.add(status)
    assert seen == {"unbounded", "optimal"}
    rng = np.random.default_rng(3)
    y = np.where(np.arange(9) < 4, 1.0, -1.0)
    for _ in range(50):
        s = rng.random(9) * 2.0 ** rng.integers(-300, 300, size=9)
        both = [sum(map(Fraction, s[y == sign].tolist())) for sign in (-1.0, 1.0)]
        most = float(2 * min(both) / sum(both))
        for nu in (just_below(most), most, np.nextafter(most, 2.0)):
            assert (short_class(nu, s, y) is not None) == is_too_large(nu, y, s)


def test_what_is_0_stays_and_where_there_is_no_room_left_the_limits_are_all() -> None:
    assert summing_to(0.3, np.array([0.0, 0.2]), np.ones(2))[0] == 0.0
    limits = np.array([0.1, 0.2, 0.0])
    for alpha in (limits.copy(), np.array([0.1, np.nextafter(0.2, 0.0), 0.0])):
        assert np.array_equal(summing_to(0.3 * (1.0 + 1e-9), alpha, limits), limits)
