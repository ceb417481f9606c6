"""A pytest plugin: which lines of the package each test executes, and the seconds that it takes.

PYTHONPATH=benchmarks python -m pytest -q -n 2 -p recording --record FOLDER [--record-only FILES]

Each worker (gw0, gw1, ...; "main" without workers) writes two files into the folder. ``cov.WORKER``
is coverage's database, with a context for each test function: tests/path/test_x.py::test_name.
``times.WORKER`` has a line of JSON for each test: its id, processor seconds, wall seconds.
``random_mutants.py`` reads both. Needs ``pip install coverage``. Tests take about twice their time,
less where only some files are looked at: convexml/formulas.py,convexml/losses/*.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", help="the folder to write lines and seconds into")
    parser.addoption("--record-only", default="convexml/*", help="files, with commas between them")


def pytest_configure(config: pytest.Config) -> None:
    folder = config.getoption("--record")
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    alone = not getattr(config.option, "numprocesses", None)
    files = [str(config.rootpath / each) for each in config.getoption("--record-only").split(",")]
    if folder and (worker or alone):
        config.pluginmanager.register(Recorder(Path(folder), worker or "main", files))


class Recorder:
    """What is recorded in one process."""

    def __init__(self, folder: Path, worker: str, files: list[str]) -> None:
        import coverage

        folder.mkdir(parents=True, exist_ok=True)
        self.times = folder / f"times.{worker}"
        self.times.write_text("")
        self.coverage: Any = coverage.Coverage(
            data_file=str(folder / f"cov.{worker}"), include=files, config_file=False
        )
        self.coverage.erase()
        self.coverage.start()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Lines and seconds of set-up, test and clearing away."""
        self.coverage.switch_context(item.nodeid.split("[")[0])
        processor, wall = time.process_time(), time.perf_counter()
        yield
        spent = time.process_time() - processor, time.perf_counter() - wall
        with self.times.open("a") as file:
            file.write(json.dumps([item.nodeid, *spent]) + "\n")

    def pytest_unconfigure(self) -> None:
        self.coverage.stop()
        self.coverage.save()
