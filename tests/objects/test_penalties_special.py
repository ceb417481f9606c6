"""Special cases, lam_max and violations of penalties, against known values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from support.catalogue import INF, D, name, vectors
from test_laws_penalties import STEPS, few, into_domain

from convexml.numerics import Array
from convexml.penalties import (
    L1,
    L2,
    Box,
    ElasticNet,
    GroupL2,
    L1Ball,
    L2Ball,
    Nonnegative,
    Penalty,
)

NORMS: list[Callable[[float], Penalty]] = [
    L1,
    lambda lam: L1(lam, weights=np.array([1.0, 0.0, 2.0, 0.5, 1.0])),
    lambda lam: ElasticNet(lam, 0.3),
    lambda lam: ElasticNet(lam, 1.0),
    lambda lam: GroupL2(lam, ["a", "b", "a", "c", "b"]),
    lambda lam: GroupL2(lam, [3, 3, 1, 1, 1], weights=np.array([2.0, 0.0])),
]


@pytest.mark.parametrize("norm", NORMS, ids=lambda make: repr(make(1.0)))
def test_lam_max_is_where_zero_becomes_the_prox(norm: Callable[[float], Penalty]) -> None:
    v = np.array([1.0, -2.0, 0.7, 0.3, -0.1])
    lam = norm(1.0).lam_max(v)
    bound = ~norm(1.0).free(D)
    assert np.all(norm(lam * (1.0 + 1e-12)).prox(v, 1.0)[bound] == 0.0)
    assert np.any(norm(lam * (1.0 - 1e-9)).prox(v, 1.0)[bound] != 0.0)
    assert norm(1.0).lam_max(np.zeros(D)) == 0.0


@pytest.mark.parametrize("penalty", [L2(1.0), ElasticNet(1.0, 0.0), L1Ball(1.0)], ids=name)
def test_lam_max_is_refused_where_there_is_none(penalty: Penalty) -> None:
    with pytest.raises(TypeError, match="no lam_max"):
        penalty.lam_max(np.ones(D))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ElasticNet(0.9, 1.0), L1(0.9)),
        (ElasticNet(0.9, 0.0), L2(0.9)),
        (ElasticNet(0.0, 0.5), L1(0.0)),
        (GroupL2(0.9, np.arange(D)), L1(0.9)),
        (Box(0.0, INF), Nonnegative()),
        (Box(-INF, INF), L2(0.0)),
    ],
    ids=lambda item: name(item),
)
@given(w=vectors(), v=vectors(), step=STEPS)
@few
def test_special_cases_agree(one: Penalty, other: Penalty, w: Array, v: Array, step: float) -> None:
    assert one.conjugate(v) == pytest.approx(other.conjugate(v), rel=1e-14)
    assert np.allclose(one.prox(w, step), other.prox(w, step), rtol=1e-13, atol=1e-13)
    assert np.array_equal(one.free(D), other.free(D))
    assert one.domain_scale(v) == pytest.approx(other.domain_scale(v), rel=1e-14)
    w, v = one.project(w), into_domain(one, v)
    assert one.value(w) == pytest.approx(other.value(w), rel=1e-14)
    assert np.allclose(one.terms(w, v), other.terms(w, v), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("penalty", "w", "expected"),
    [
        (L1Ball(2.0), [1.0, -3.0], 1.0),
        (L2Ball(2.5), [3.0, -4.0], 1.0),
        (L2Ball(5.0), [3.0, -4.0], 0.0),
        (Box(-2.0, 4.0), [5.0, -2.0], 0.25),
        (Box(-INF, 0.5), [0.75, -9.0], 0.5),
        (Nonnegative(), [-0.25, 7.0], 0.25),
        (L1(1.0), [-0.25, 7.0], 0.0),
    ],
)
def test_violation_is_relative_to_the_size(
    penalty: Penalty, w: list[float], expected: float
) -> None:
    assert penalty.violation(np.array(w)) == expected
