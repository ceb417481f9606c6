"""A loader that fails is called again, which is said; one that goes on failing names its block."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml.errors import InputError

RNG = np.random.default_rng(3)
X = RNG.standard_normal((60, 3))
Y = X @ [1.0, -1.0, 0.5] + RNG.standard_normal(60)


def failing(piece: Any, at: Callable[[int], bool], calls: list[int]) -> Callable[[], Any]:
    """A loader that fails at some of its calls, counted from 1."""

    def load() -> Any:
        calls.append(len(calls) + 1)
        if at(calls[-1]):
            raise OSError("the disk is away")
        return piece

    return load


def blocks(at: Callable[[int], bool], **named: Any) -> tuple[cml.RowBlocks, list[int]]:
    calls: list[int] = []
    first = X[:30], Y[:30]
    return cml.RowBlocks([first, failing((X[30:], Y[30:]), at, calls)], **named), calls


@pytest.mark.parametrize("call", [1, 2, 3])
def test_a_failure_is_made_good_and_said(call: int) -> None:
    given, calls = blocks(lambda k: k == call)
    with pytest.warns(RuntimeWarning) as told:
        solution = cml.Ridge(given, lam=0.1).solve(tol=1e-10)
    assert [str(each.message) for each in told] == [
        "Ridge: block 1: its loader failed with OSError: the disk is away. It is called again."
    ]
    assert {each.filename for each in told} == {__file__}
    assert len(calls) > call
    assert solution.objective == pytest.approx(cml.Ridge(X, Y, lam=0.1).solve(tol=1e-10).objective)


@pytest.mark.parametrize(
    ("retries", "times"), [(0, ""), (1, r" \(2 times\)"), (3, r" \(4 times\)")]
)
@pytest.mark.filterwarnings("ignore:.*It is called again:RuntimeWarning")
def test_a_failure_that_stays_names_its_block(retries: int, times: str) -> None:
    given, calls = blocks(lambda k: k > 1, retries=retries)
    problem = cml.Ridge(given, lam=0.1)
    words = f"Ridge: block 1: its loader failed with OSError: the disk is away{times}$"
    with pytest.raises(InputError, match=words) as error:
        problem.solve()
    assert isinstance(error.value.__cause__, OSError)
    assert len(calls) == 2 + retries


def test_files_that_are_gone_name_their_block(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    given = cml.RowBlocks.from_npy(tmp_path / "X.npy", tmp_path / "y.npy", rows=40, retries=0)
    problem = cml.Ridge(given, lam=0.1)
    (tmp_path / "X.npy").unlink()
    with pytest.raises(InputError, match="block 0: its loader failed with FileNotFoundError"):
        problem.certify(np.zeros(3) + 1.0)


@pytest.mark.parametrize("what", [None, 3, (X,), [X, Y, Y, Y]])
def test_what_a_loader_returns_is_read_with_its_block(what: Any) -> None:
    given = cml.RowBlocks([(X, Y), lambda: what])
    with pytest.raises(InputError, match="Ridge: block 1: its loader must return"):
        cml.Ridge(given, lam=0.1)


@pytest.mark.parametrize("retries", [-1, 0.5, "one", None])
def test_retries_are_a_whole_number(retries: Any) -> None:
    with pytest.raises(InputError, match="RowBlocks: retries must be"):
        cml.RowBlocks([(X, Y)], retries=retries)


def test_entries_that_are_no_numbers_are_named_by_block_row_and_column() -> None:
    worse, y = X.copy(), Y.copy()
    worse[41, 2], y[33] = np.inf, np.nan
    named = cml.RowBlocks([(X[:30], Y[:30]), lambda: (worse[30:], Y[30:])])
    with pytest.raises(InputError, match="block 1: X contains inf at row 11, column 2"):
        cml.Ridge(named, lam=0.1)
    named = cml.RowBlocks([(X[:30], Y[:30]), (X[30:], y[30:])])
    with pytest.raises(InputError, match="block 1: y contains nan at entry 3"):
        cml.Ridge(named, lam=0.1)


@pytest.mark.parametrize("content", [b"hello", b"", b"cut off", b"objects"])
def test_a_file_that_holds_no_array_of_numbers_is_named(content: bytes, tmp_path: Path) -> None:
    np.save(tmp_path / "y.npy", np.zeros(9))
    if content == b"objects":
        np.save(tmp_path / "X.npy", np.array([[None]] * 9))
    elif content == b"cut off":
        np.save(tmp_path / "X.npy", np.zeros((9, 3)))
        content = (tmp_path / "X.npy").read_bytes()[:-20]
        (tmp_path / "X.npy").write_bytes(content)
    else:
        (tmp_path / "X.npy").write_bytes(content)
    with pytest.raises(InputError, match=r"X.npy holds no array of numbers that can be mapped"):
        cml.RowBlocks.from_npy(tmp_path / "X.npy", tmp_path / "y.npy")
