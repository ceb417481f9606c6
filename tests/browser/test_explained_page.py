"""The page of `convexml explain --html` in Chromium: nothing is fetched, cut or out of reach."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.browser.measure import OUTSIDE, OVERPRINTED, WIDTHS, opened, violations

import convexml as cml
from convexml.models.formats.explanation import of_answer

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


@pytest.mark.slow
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_of_formulas_and_residuals(browser: Any, tmp_path: Path, width: int) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 2)), columns=[HOSTILE, "other"])
    problem = cml.SVR(X, rng.normal(size=30), 1.0, 0.1)
    shown = of_answer(repr(problem), problem.latex(), problem.solve())
    path = tmp_path / "page.html"
    path.write_text(shown.page(HOSTILE, HOSTILE), encoding="utf-8")
    for scheme in ("light", "dark") if width == WIDTHS[0] else ("light",):
        with opened(browser, path.as_uri(), width, scheme) as (page, wrong):
            assert page.evaluate(OUTSIDE) == []
            assert page.evaluate(OVERPRINTED) == []
            assert violations(page) == []
            assert wrong == []
            assert page.inner_text("h1") == HOSTILE
