import importlib
import json
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def folder_of_the_benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def module(name):
    return importlib.import_module(f"peers.{name}")


def record(who, least, outcome="", n=3):
    facts = {"who": who, "threads": 1, "n": n, "min": least, "median": 2.0 * (least or 1.0)}
    return facts | {"memory": 5.0, "outcome": outcome}


def row(*records):
    return {"name": "row", "target": 2.0, "floor": "pair", "records": list(records)}


def test_every_row_has_data_and_contestants_of_its_names():
    rows, data, contestants = module("rows"), module("data"), module("contestants")
    for each in rows.ROWS:
        assert callable(getattr(data, each.data))
        for name in (*each.peers, "floor", "convexml"):
            assert callable(contestants.contestant(each, name))
    for base, size, values in rows.GROWTH.values():
        grown = rows.find(f"{base} {size}={values[0]}")
        assert getattr(grown, size) == values[0]
        assert grown.kind == rows.find(base).kind


def test_the_ratio_is_of_the_fastest_that_is_verified():
    table = module("table")
    measured = row(
        record("floor", 0.1),
        record("convexml", 1.0),
        record("convexml", 0.5),
        record("a", 0.2, outcome="verified gap 1.0e-03"),
        record("b", 4.0),
        record("c", None, outcome="not within the budget", n=0),
    )
    assert table.ratio(measured) == 8.0
    assert "| 5 |" in table.table([measured])  # ours / floor
    assert "Geometric mean 8 over 1 of 2 rows" in table.table([measured, row(record("b", 1.0))])
    assert "(n = 1)" in table.table([row(record("convexml", 1.0, n=1))])


def test_a_slope_is_the_exponent():
    growth = module("growth")
    assert growth.slope([(n, 3.0 * n**1.5) for n in (10.0, 100.0, 400.0)]) == pytest.approx(1.5)
    assert growth.slope([(10.0, 1.0)]) is None


def test_what_a_process_says_is_collected_and_chatter_is_not():
    said = "\n".join([json.dumps({"seconds": 1.0}), "[warning]", json.dumps({"seconds": 2.0})])
    assert module("processes").collected(said) == {"seconds": [1.0, 2.0]}


def test_data_are_the_same_each_time_and_keep_their_layout_when_made_small():
    rows, data = module("rows"), module("data")
    each = rows.find("lasso 1000x5000 .1 d=40")
    first, second = data.make(each), data.make(each)
    assert np.array_equal(first.X, second.X)
    assert np.array_equal(first.y, second.y)
    assert first.X.flags.f_contiguous
    assert first.small().X.flags.f_contiguous
    assert first.lams[0] == pytest.approx(10.0 * first.lams[-1])


def test_a_gap_is_that_of_the_point_alone():
    data, ours = module("data"), module("ours")
    rng = np.random.default_rng(0)
    X, y, lam = rng.normal(size=(20, 3)), rng.normal(size=20), 0.1
    w = np.linalg.solve(X.T @ X / 20 + lam * np.eye(3), X.T @ y / 20)
    exact = 0.5 * np.mean((y - X @ w) ** 2) + 0.5 * lam * w @ w
    far = 0.5 * np.mean((y - X @ (2.0 * w)) ** 2) + 2.0 * lam * w @ w
    samples = data.Data(X, y, lam)
    assert ours.verified_gap("ridge", samples, (w, 7.0), 1e-6, fit_intercept=False) < 1e-12
    gap = ours.verified_gap("ridge", samples, (2.0 * w, 0.0), 1e-6, fit_intercept=False)
    assert gap >= (far - exact) / far > 1e-3
