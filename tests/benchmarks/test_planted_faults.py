"""Every fault of benchmarks/faults can be planted, and names tests that are there."""

import importlib
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_fault_finds_its_text_and_its_tests(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    module = importlib.import_module("mutants")
    rows = [row for table in module.tables([]).values() for row in table]
    assert len(rows) > 150
    assert {row.name: why for row in rows if (why := module.stale(row, ROOT))} == {}
    for row in rows:
        for test in row.tests:
            file, _, name = test.partition("::")
            assert (ROOT / file).exists(), (row.name, test)
            found = re.search(rf"def {name.partition('[')[0]}\b", (ROOT / file).read_text())
            assert found or not name, (row.name, test)
