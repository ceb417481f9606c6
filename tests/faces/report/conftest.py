"""What is compared and reported: a small ridge, a comparison with everything."""

from __future__ import annotations

import pytest
from support.report.records import ENVIRONMENT, LAM, RECORDS, data

import convexml as cml
from convexml.show.views import Comparison


@pytest.fixture(scope="session")
def small() -> cml.Ridge:
    return cml.Ridge(*data(), LAM)


@pytest.fixture
def comparison() -> Comparison:
    return Comparison(RECORDS, ENVIRONMENT)
