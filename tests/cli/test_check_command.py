"""``convexml check``: coefficients from a file are judged, and bad files are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.report.commands import Command, document, write

from convexml.cli.weights import read_weights
from convexml.errors import DataError
from convexml.library import load_file

# -- check -------------------------------------------------------------------------------------


def test_check_the_right_coefficients(run: Command, ridge: Path) -> None:
    for text in ("1.0\n0.0\n", "w\n1\n0\n", "name,value\nx1,0\nx0,1\nb,1\n", "w0,1\nw1,0\n"):
        write(ridge.parent / "W.csv", text)
        result = run("check", ridge, "--weights", "W.csv")
        assert result.exit_code == 0, text
        assert "CERTIFIED" in result.stdout
    result = run("check", ridge, "--weights", "W.csv", "--intercept", "1.0", "--json")
    assert result.exit_code == 0
    (record,) = document(result)["records"]
    assert record["verdict"] == "certified"
    # P = mean (y - Xw - b)^2 / 2 + lam/2 |w|^2 with residuals (1, 0, -1, 0)
    assert record["objective"] == pytest.approx(0.25 + 0.25)


@pytest.mark.parametrize("text", ["1.1\n0.0\n", "0\n1\n", "w0,1\nw1,0\nb,0.9\n"])
def test_check_wrong_coefficients_is_5(run: Command, ridge: Path, text: str) -> None:
    write(ridge.parent / "W.csv", text)
    result = run("check", ridge, "--weights", "W.csv")
    assert result.exit_code == 5
    assert "CERTIFIED at" not in result.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "there is no file W.csv"),
        ("", "W.csv is empty"),
        ("w\n", "holds a header and no coefficient"),
        (
            "1\n2\n3\n",
            "the problem has 2 coefficients (x0, x1), got 3; give the intercept by --intercept",
        ),
        ("1\n", "the problem has 2 coefficients (x0, x1), got 1"),
        ("1\nx\n", "line 2: 'x' is not a number"),
        ("1\ninf\n", "line 2: 'inf' is not a finite number"),
        ("x0,1\nx9,1\n", "line 2: unknown name 'x9'. Did you mean"),
        ("x0,1\nx0,1\n", "line 2: 'x0' is there twice"),
        ("x0,1\n", "no value for 'x1' (1 of 2 are missing)"),
        ("1,2,3\n", "needs one column (value) or two (name, value)"),
    ],
)
def test_check_bad_weights_is_3(run: Command, ridge: Path, text: str | None, words: str) -> None:
    if text is not None:
        write(ridge.parent / "W.csv", text)
    result = run("check", ridge, "--weights", "W.csv")
    assert result.exit_code == 3
    assert words in result.stderr


def test_check_two_intercepts_is_2(run: Command, ridge: Path) -> None:
    write(ridge.parent / "W.csv", "x0,1\nx1,0\nintercept,1\n")
    result = run("check", ridge, "--weights", "W.csv", "--intercept", "1")
    assert result.exit_code == 2


def test_a_feature_named_like_a_position_wins(tmp_path: Path) -> None:
    path = write(tmp_path / "W.csv", "x1,5\nx0,7\n")
    w, b = read_weights(path, 2, ("x1", "x0"))
    assert (w.tolist(), b) == ([5.0, 7.0], None)
    with pytest.raises(DataError, match="no value for 'age'"):
        read_weights(write(path, "bmi,5\n"), 2, ("age", "bmi"))


# -- explain, init, list -----------------------------------------------------------------------


def test_check_coefficients_of_classes(run: Command, tmp_path: Path) -> None:
    table = tmp_path / "softmax.toml"
    table.write_text(
        'schema = 1\ntitle = "t"\nmodel = "softmax_regression"\n[parameters]\nlam = 0.1\n'
        '[data]\nX = [[0.0], [1.0], [2.0], [3.0]]\ny = ["a", "b", "c", "b"]\n'
    )
    w = load_file(table).problem.solve(tol=1e-10).primal["w"]
    values = ",".join(map(repr, w[0].tolist()))
    for text, code, words in (
        (f"a,b,c\n{values}\n", 0, "CERTIFIED"),
        ("0,0,0\n", 5, "REFUTED"),
        ("0,0\n", 3, "line 1: needs 3 columns, one per class, got 2"),
        ("0,0,0\n1,2,3\n", 3, "needs 1 lines, one per feature, got 2"),
    ):
        weights = tmp_path / "w.csv"
        weights.write_text(text)
        result = run("check", table, "--weights", weights)
        assert result.exit_code == code
        assert words in result.output


def test_check_coefficients_of_a_kernel_problem(run: Command, tmp_path: Path) -> None:
    table = tmp_path / "kernel.toml"
    table.write_text(
        'schema = 1\ntitle = "t"\nmodel = "kernel_ridge"\n[parameters]\nlam = 0.5\n'
        'kernel = { name = "linear" }\n[data]\nX = [[1.0], [2.0]]\ny = [1.0, 3.0]\n'
    )
    weights = tmp_path / "q.csv"
    exact = np.linalg.solve([[2.0, 2.0], [2.0, 5.0]], [1.0, 3.0])  # K + n lam I
    weights.write_text("\n".join(map(repr, exact.tolist())))
    assert run("check", table, "--weights", weights).exit_code == 0
    table.write_text(table.read_text().replace("linear", "linnear"))
    result = run("check", table, "--weights", weights)
    assert result.exit_code == 3
    assert "parameters.kernel.name: there is no kernel 'linnear'" in result.output
