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


def record(who, least, outcome="", n=3, memory=5.0):
    facts = {"who": who, "threads": 1, "n": n, "min": least, "median": 2.0 * (least or 1.0)}
    return facts | {"memory": memory, "outcome": outcome}


def row(*records, conic=None):
    facts = {"name": "row", "target": 2.0, "conic": conic, "floor": "pair"}
    return facts | {"records": list(records)}


def test_every_row_has_data_and_contestants_of_its_names():
    rows, data, contestants = module("rows"), module("data"), module("contestants")
    finding = module("finding")
    for each in rows.ROWS:
        assert callable(getattr(data, each.data))
        for name in (*each.peers, "floor", "convexml"):
            assert callable(contestants.contestant(each, name))
    for each in finding.grown():
        base, _, size = each.name.rpartition(" ")
        letter, _, number = size.partition("=")
        assert getattr(each, letter) == int(number)
        assert each.kind == finding.find(base).kind
        assert set(each.peers) <= set(finding.find(base).peers)
    for each in module("awkward").rows():
        assert finding.find(each.name) == each


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


def test_what_misses_is_in_bold_letters_and_named():
    table = module("table")
    slow = row(record("convexml", 1.0, memory=7.0), record("a", 1.0, memory=0.1))
    assert table.over_memory(slow) == 7.0
    text = table.table([slow])
    assert "| **1** (1) |" in text
    assert "| **7** |" in text
    assert text.endswith("Missed, by what factor: row (2).")
    fast = row(record("convexml", 1.0, memory=0.5), record("a", 2.0, memory=0.1))
    assert table.over_memory(fast) == 1.0
    assert "**" not in table.table([fast])
    assert "row (inf)" in table.table([row(record("convexml", None, "slow", n=0))])


def test_clarabel_has_a_column_of_its_own():
    table = module("table")
    records = [record("convexml", 1.0), record("CVXPY + CLARABEL", 30.0), record("a", 4.0)]
    assert table.over_conic(row(*records)) == 30.0
    assert "| 30 | 5 |" in table.table([row(*records, conic=5.0)])
    assert "| **30** | 50 |" in table.table([row(*records, conic=50.0)])


@pytest.mark.parametrize(("peer", "text"), [(3.0, "| 0.75 |"), (2.0, "| **0.5** |")])
def test_a_third_of_an_earlier_ratio_may_be_lost(peer, text):
    table = module("table")
    earlier = [row(record("convexml", 1.0), record("a", 4.0))]
    now = [row(record("convexml", 1.0), record("a", peer))]
    assert text in table.table(now, earlier)


def test_the_tol_of_a_peer_is_the_loosest_that_verifies(monkeypatch, capsys):
    task, rows = module("task"), module("rows")
    tried = []

    def fit(data, tol):
        tried.append(tol)
        return tol

    monkeypatch.setattr(task, "contestant", lambda row, name: fit)
    monkeypatch.setattr(task, "judged", lambda row, name, data, tol, target: tol / 10.0)
    found = module("processes").collected
    task.tune(rows.ROWS[0], "celer", None, 4e-4, 60.0)
    assert found(capsys.readouterr().out)["tol"][-1] == pytest.approx(3e-3)
    tried.clear()
    task.tune(rows.ROWS[0], rows.CLARABEL, None, 2e-6, 60.0)
    assert tried[0] == pytest.approx(1e-5)
    assert found(capsys.readouterr().out)["tol"] == [pytest.approx(1e-5)]


def test_peers_that_are_far_behind_when_tuned_are_not_measured(monkeypatch):
    measuring, rows = module("measuring"), module("rows")
    took = {"celer": 1.0, "skglm": 2.0, "scikit-learn": 9.0, rows.CLARABEL: 99.0}

    def tuned(row, who, *rest):
        return measuring.Tuned(1e-3, took[who])

    monkeypatch.setattr(measuring, "tuned", tuned)
    found = measuring.search(list(took), rows.ROWS[0], measuring.Limits(), None)
    assert {name for name, each in found.items() if each.tol is None} == {"scikit-learn"}
    assert "9 times" in found["scikit-learn"].outcome


def test_memory_is_what_a_call_takes_at_its_largest():
    def call(megabytes):
        return np.ones(megabytes * 2**17)[:3].copy()

    memory = module("memory")
    found, first = memory.taken(call, 60)
    if first is None:
        pytest.skip("this system does not tell")
    assert found.tolist() == [1.0, 1.0, 1.0]
    assert first == pytest.approx(60.0, abs=3.0)
    assert memory.taken(call, 20)[1] == pytest.approx(20.0, abs=3.0)


def test_awkward_data_are_what_their_case_says():
    awkward, data, finding = module("awkward"), module("data"), module("finding")
    made = {
        case: data.make(finding.find(f"svm 2000x30 ~ {case}"))
        for case in (*awkward.ANY_X, awkward.STRONG)
    }
    neighbours = np.corrcoef(made[awkward.CORRELATED].X[:, :2].T)[0, 1]
    assert neighbours == pytest.approx(0.99, abs=0.005)
    units, repeated, unseen = awkward.ANYBODY
    sizes = made[units].X.std(axis=0)
    assert 1e3 < sizes.max() / sizes.min() < 1e7
    assert len(np.unique(made[repeated].X, axis=0)) == pytest.approx(200, abs=1)
    assert np.count_nonzero(made[unseen].weights) == 200
    assert made[awkward.STRONG].level == 1e4


def test_the_time_of_awkward_data_is_beside_the_easy_time():
    awkward = module("awkward")
    easy = row(record("convexml", 1.0)) | {"name": "svm 9x2"}
    near = row(record("convexml", 5.0)) | {"name": "svm 9x2 ~ near"}
    far = row(record("convexml", 6.0)) | {"name": "svm 9x2 ~ far"}
    lost = row(record("convexml", None, "inaccurate", n=0)) | {"name": "svm 9x2 ~ lost"}
    lines = awkward.table([easy, near, far, lost]).splitlines()[2:]
    assert [each.split(" | ")[2].strip(" |") for each in lines] == ["", "5", "**6**", "-"]
    assert "**inaccurate**" in lines[-1]


def test_real_data_are_read_with_their_labels(data_dir, monkeypatch):
    real = module("real")
    monkeypatch.setattr(real, "FOLDER", data_dir)
    sizes = {name: real.load(name)[0].shape for name in real.FILES}
    assert sizes["leukemia"] == (72, 7129)
    assert sizes["spambase"] == (4601, 57)
    for name, positive in (("leukemia", 47), ("a9a", 7841), ("colon", 22)):
        assert np.count_nonzero(real.load(name)[1] == 1.0) == positive


def test_a_slope_is_the_exponent():
    growth = module("growth")
    assert growth.slope([(n, 3.0 * n**1.5) for n in (10.0, 100.0, 400.0)]) == pytest.approx(1.5)
    assert growth.slope([(10.0, 1.0)]) is None


def test_what_a_process_says_is_collected_and_chatter_is_not():
    said = "\n".join([json.dumps({"seconds": 1.0}), "[warning]", json.dumps({"seconds": 2.0})])
    assert module("processes").collected(said) == {"seconds": [1.0, 2.0]}


def test_data_are_the_same_each_time_and_keep_their_layout_when_made_small():
    finding, data = module("finding"), module("data")
    each = finding.find("lasso 1000x5000 .1 d=40")
    first, second = data.make(each), data.make(each)
    assert np.array_equal(first.X, second.X)
    assert np.array_equal(first.y, second.y)
    assert first.X.flags.f_contiguous
    assert first.small().X.flags.f_contiguous
    assert first.lams[0] == pytest.approx(10.0 * first.lams[-1])


def test_a_few_rows_hold_both_classes():
    data = module("data")
    X, y = np.ones((500, 3)), np.repeat([1.0, -1.0], 250)
    assert set(data.Data(X, y, 1.0).small().y) == {1.0, -1.0}
    assert len(data.Data(X[:20], y[240:260], 1.0).small().y) == 20


def test_a_gap_is_that_of_the_point_alone():
    data, ours = module("data"), module("contestants.ours")
    rng = np.random.default_rng(0)
    X, y, lam = rng.normal(size=(20, 3)), rng.normal(size=20), 0.1
    w = np.linalg.solve(X.T @ X / 20 + lam * np.eye(3), X.T @ y / 20)
    exact = 0.5 * np.mean((y - X @ w) ** 2) + 0.5 * lam * w @ w
    far = 0.5 * np.mean((y - X @ (2.0 * w)) ** 2) + 2.0 * lam * w @ w
    samples = data.Data(X, y, lam)
    assert ours.verified_gap("ridge", samples, (w, 7.0), 1e-6, fit_intercept=False) < 1e-12
    gap = ours.verified_gap("ridge", samples, (2.0 * w, 0.0), 1e-6, fit_intercept=False)
    assert gap >= (far - exact) / far > 1e-3
    u = (X @ w - y) / 20
    assert ours.verified_gap("ridge", samples, (w, 0.0, u), 1e-6, fit_intercept=False) < 1e-12
    assert ours.verified_gap("ridge", samples, (w, 0.0, 2.0 * u), 1e-6, fit_intercept=False) > 1e-3


def test_the_gap_of_a_hinge_is_found_from_w_alone():
    """Its u is no function of w: the search for it is to go on until the gap is as asked."""
    data, ours, finding = module("data"), module("contestants.ours"), module("finding")
    samples = data.make(finding.find("SVM digits"))
    w, b = ours.fit("svm")(samples, 1e-6)
    assert ours.verified_gap("svm", samples, (w, b), 1e-6) <= 1e-6
    assert ours.verified_gap("svm", samples, (1.01 * w, b), 1e-6) > 1e-6


@pytest.mark.parametrize("name", ["ridge 5000x200", "svm 2000x30"])
def test_samples_that_weigh_nothing_are_judged_too(name):
    data, contestants, finding = module("data"), module("contestants"), module("finding")
    each = finding.find(f"{name} ~ {module('awkward').ANYBODY[2]}")
    samples = data.make(each)
    found = contestants.contestant(each, "convexml")(samples, 1e-6)
    assert len(found[2]) == len(samples.y)
    assert module("contestants.ours").verified_gap(each.kind, samples, found, 1e-6) <= 1e-6


def test_a_point_that_is_not_certified_is_no_answer():
    import convexml as cml

    ours = module("contestants.ours")
    rng = np.random.default_rng(1)
    problem = cml.Ridge(rng.normal(size=(20, 3)), rng.normal(size=20), 0.1)
    assert ours.point(problem.solve())[0].shape == (3,)
    stopped = problem.solve("gradient_descent", max_iter=1, polish=False)
    with pytest.raises(ArithmeticError, match="inaccurate by gradient_descent"):
        ours.point(stopped)
