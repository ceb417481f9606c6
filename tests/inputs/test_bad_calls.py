"""Bad calls, one row each: the refusal tells the object, the value, the requirement, the remedy."""

from __future__ import annotations

import warnings
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest
from support import bad_calls
from support.bad_calls.things import Row

from convexml.errors import ConvexmlError, ProblemFileError

TABLES = {
    module.name: import_module(f"support.bad_calls.{module.name}").ROWS
    for module in iter_modules(bad_calls.__path__)
    if module.name != "things"
}
CALLS: dict[str, Row] = {name: row for table in TABLES.values() for name, row in table.items()}
THEIRS = TABLES["estimators"]
"""Where scikit-learn's own checks speak first: its users, and its tests, expect its classes."""
TOLD = ("object", "value", "requirement", "remedy")


def test_there_are_more_than_200_of_them() -> None:
    assert len(CALLS) == sum(len(table) for table in TABLES.values()) > 200


@pytest.mark.parametrize("name", CALLS)
def test_a_bad_call_is_told_what_is_wrong_and_what_to_do(name: str) -> None:
    call, words = CALLS[name]
    expected = (ValueError, AttributeError) if name in THEIRS else ConvexmlError
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(expected) as caught:
            call()
    text = str(caught.value)
    told = dict(zip(TOLD, words.split(" | "), strict=True))
    assert {kind: each for kind, each in told.items() if each not in text} == {}, text
    # As Python's own: a bad value, or a name that is not there; of files one of ours.
    assert isinstance(caught.value, ValueError | AttributeError | ProblemFileError)
    if name not in THEIRS:  # raised by us, not by what we call
        assert "convexml" in Path(caught.traceback[-1].path).parts
        assert len(text) < 2000
