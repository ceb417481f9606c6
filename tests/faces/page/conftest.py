"""Chromium of the system, and a small page that has everything."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report.records import ENVIRONMENT, RECORDS, record

from convexml.show.comparison.entries import Card
from convexml.show.views import Comparison
from convexml.solvers.registry import names

NAMES = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script></script>"
CARD = Card(
    "lasso",
    HOSTILE,
    "lasso",
    "Lasso(n=442, d=10, lam=2.0)",
    HOSTILE,
    (("primal", r"\min_w\ \tfrac12 \|Xw - y\|_2^2 + \lambda \|w\|_1"), ("KKT", "u = Xw - y")),
    "problems/lasso.toml",
    f'title = "{HOSTILE}"\n' + "value = [" + "1.0, " * 60 + "]\n",
)
CONDITIONS = tuple(
    {"name": name, "kind": "stationarity", "residual": 1e-9, "relative": 1e-12, "where": "3"}
    for name in ("X'u + lam w = 0", "c + A_ub' lambda_ub + A_eq' nu - lambda_lower + upper = 0")
)


@pytest.fixture(scope="session")
def browser(pytestconfig: pytest.Config) -> Iterator[Any]:
    """The system's Chromium; skipped where there is none, unless ``--browser`` asks for it."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    absent = "chromium" if path is None else "" if find_spec("playwright") else "playwright"
    if absent:
        stop = pytest.fail if pytestconfig.getoption("browser") else pytest.skip
        stop(f"{absent} is not installed, and the page cannot be looked at")
    api = import_module("playwright.sync_api")
    with api.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with a lie, a crash, ties, markup in a title, pictures of gaps and multipliers."""
    rows = [
        replace(
            row,
            title=HOSTILE,
            conditions=CONDITIONS,
            worst_condition=CONDITIONS[1]["name"],
            course=tuple((10.0**k, 1e-4 * 10.0**k, 10.0**-k) for k in range(5)),
            point={"u": np.linspace(-1.0, 2.0, 60)},
            duals=("u",),
        )
        if row.problem == "lasso" and row.ran
        else row
        for row in RECORDS
    ]
    ties = sorted(names(), key=len)[-6:]  # the longest names, whose labels share one place
    rows += [record("ties", name) for name in ties]
    path: Path = tmp_path_factory.mktemp("page") / "page.html"
    Comparison(tuple(rows), ENVIRONMENT, problems=(CARD,)).to_html(path)
    return path.as_uri()
