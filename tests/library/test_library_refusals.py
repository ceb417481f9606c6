"""Problem files: what is refused, and in which words."""

from __future__ import annotations

from functools import partial

import pytest
from support.library.stand_ins import LASSO, data_file, install, write_file

from convexml.errors import DataError, ProblemFileError
from convexml.library import discover, load


@pytest.fixture(autouse=True)
def _stand_in_models(monkeypatch):
    install(monkeypatch)


@pytest.fixture
def write(tmp_path):
    return partial(write_file, tmp_path)


REFUSED = [  # (what is replaced in LASSO, by what, the message)
    ("lam = 0.5", "lamb = 0.5", r"parameters.lamb: lasso has no 'lamb'. Did you mean 'lam'\?"),
    ("lam = 0.5", "", r"parameters.lam is required by lasso"),
    ("lam = 0.5", 'lam = "0.5"', r"parameters.lam: must be a number, got the string '0.5'"),
    ("lam = 0.5", "lam = [1, 2]", r"parameters.lam: must be one number, got a list of 2"),
    ("lam = 0.5", "lam = true", r"parameters.lam: must be a number, got true"),
    ("lam = 0.5", "lam = -1", r"lasso: Lasso: lam must be >= 0, got -1"),
    ("lam = 0.5", "lam = 1\nfit_intercept = 1", r"fit_intercept: must be true or false, got 1"),
    ('"lasso"', '"laso"', r"model: there is no model 'laso'. Did you mean 'lasso'\?"),
    ('"lasso"', '"learning_problem"', r"posed by \[objective\]"),
    ('"lasso"', "3", r"model: must be a string, got 3"),
    ('model = "lasso"', "", r"exactly one of model, statement, \[objective\]; got none"),
    ('model = "lasso"', 'model = "lasso"\nform = "dual"', r"belongs to a statement"),
    ("schema = 1", "schema = 2", r"schema: must be 1, got 2"),
    ("schema = 1", "", r"schema: this key is required"),
    ("title", "titel", r"unknown key 'titel'. Did you mean 'title'\?"),
    ("dataset", "datset", r"data.datset: unknown key 'datset'. Did you mean 'dataset'\?"),
    ('"diabetes"', '"diabets"', r"unknown data set 'diabets'. Did you mean 'diabetes'\?"),
    ('"diabetes"', '"diabetes"\ntarget = "bmj"', r"no column 'bmj' to predict. Did you mean 'bmi'"),
    ('"diabetes"', '"diabetes"\nstandardize = "yes"', r"data.standardize: .*'yes'"),
    ('"diabetes"', '"diabetes"\nrows = 0', r"leaves no row"),
    ('"diabetes"', '"diabetes"\nrows = "all"', r"data.rows: .*'all'"),
    ('"diabetes"', '"diabetes"\nfeatures = ["bmj"]', r"no column 'bmj'. Did you mean 'bmi'"),
    ('"diabetes"', '"iris"\nclasses = ["setosa", "virginia"]', r"Did you mean 'virginica'"),
    ('"diabetes"', '"iris"\nclasses = ["setosa", 0]', r"0 is in both classes"),
    ('"diabetes"', '"diabetes"\nX = [[1]]', r"data: give exactly one source.* got dataset and X"),
    ('dataset = "diabetes"', "X = [[1], [2, 3]]\ny = [1, 2]", r"different lengths: \[1, 2\]"),
    (
        'dataset = "diabetes"',
        'X = [["1"]]\ny = [1]',
        r"data.X\[0\]\[0\]: must be a number, got '1'",
    ),
    (
        'dataset = "diabetes"',
        "X = [[1], [2]]\ny = [1]",
        r"X has 2 rows, but y has the shape \(1,\)",
    ),
    ('dataset = "diabetes"', "X = [[1], [nan]]\ny = [1, 2]", r"X holds nan at row 1, column 'x0'"),
    ('dataset = "diabetes"', "X = [[1]]", r"data: X needs y beside it"),
    ('dataset = "diabetes"', 'file = "no.csv"\ntarget = "t"', r"there is no data file .*no.csv"),
    ('dataset = "diabetes"', "c = [1.0]", r"data.c: lasso has no use for 'c'"),
]


@pytest.mark.parametrize(("old", "new", "message"), REFUSED, ids=[r[2] for r in REFUSED])
def test_refusals_name_the_file_and_the_place(write, old, new, message):
    assert old in LASSO
    path = write(LASSO.replace(old, new))
    with pytest.raises((ProblemFileError, DataError), match=message) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('status = "optimum"', r"expected.status: must be 'optimal', .*got 'optimum'"),
        ("[[expected.facts]]\nname = 'w'\nvalue = 1\nsorce = 'x'", r"expected.facts\[0\].sorce"),
        ("[[expected.facts]]\nname = 'w'\nvalue = 1", r"expected.facts\[0\].source: .*required"),
        ("[[expected.facts]]\nname = 'w'\nvalue = 'a'\nsource = 'x'", r"expected.facts\[0\].value"),
    ],
)
def test_refusals_in_expected(write, table, message):
    with pytest.raises(ProblemFileError, match=message):
        load(write(f"{LASSO}\n[expected]\n{table}"))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("a,t\n1,2\n", r"table.csv has no column 'y'"),
        ("a,y\n1,2\n3\n", r"table.csv, line 3: 1 cells, but the header has 2"),
        ("a,y\n1,2\nx,3\n", r"table.csv, line 3, column 'a': 'x' is not a number"),
        ("a,y\n1,2\nnan,3\n", r"X holds nan at row 1, column 'a'"),
        ("a,y\n1,2\n4,inf\n", r"y holds inf at row 1"),
        ("a,y\n", r"needs a header and at least one row"),
        ("a,a,y\n1,2,3\n", r"the column 'a' is there twice"),
        ("y\n1\n", r"no column besides 'y'"),
    ],
)
def test_refused_tables(write, table, message):
    write(table, "table.csv")
    with pytest.raises(DataError, match=message):
        load(data_file(write, 'file = "table.csv"\ntarget = "y"'))


def test_refused_linear_programs(write):
    with pytest.raises(DataError, match=r"data.bounds needs one pair .* got the shape \(1, 2\)"):
        load(data_file(write, "c = [1, 2]\nbounds = [[0, 1]]", "linear_program", ""))
    with pytest.raises(ProblemFileError, match=r"data.X: linear_program has no use for 'X'"):
        load(data_file(write, 'dataset = "diabetes"', "linear_program", ""))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ('loss = { name = "hubert" }', r"objective.loss.name: .*Did you mean 'huber'"),
        ('loss = { name = "huber", delt = 1 }', r"objective.loss.delt: .*Did you mean 'delta'"),
        ('loss = { name = "huber" }', r"objective.loss.delta is required by huber"),
        ("loss = { delta = 1 }", r"objective.loss.name is required"),
        ('los = { name = "huber" }', r"objective.los: unknown key 'los'. Did you mean 'loss'"),
    ],
)
def test_refused_objectives(write, tables, message):
    text = LASSO.replace('model = "lasso"', "").replace("lam = 0.5", "")
    with pytest.raises(ProblemFileError, match=message):
        load(write(f"{text}\n[objective]\n{tables}"))


def test_bad_syntax_names_the_line(write):
    words = r"problem.toml is not valid TOML: .*line 3, column 7\)$"
    with pytest.raises(ProblemFileError, match=words):
        load(write('schema = 1\ntitle = "x"\nlam = = 3\n'))


def test_a_table_in_place_of_a_problem_file_is_told_what_names_it(tmp_path):
    (tmp_path / "flats.csv").write_text("size,price\n1,2\n")
    words = (
        r"flats.csv is not valid TOML: .*`convexml init` prints one; name .* file = \"flats.csv\""
    )
    with pytest.raises(ProblemFileError, match=words):
        load(tmp_path / "flats.csv")


def test_missing_files_and_folders(write, tmp_path):
    write(LASSO)
    with pytest.raises(ProblemFileError, match=r"no problem file .*Did you mean 'problem.toml'"):
        load(tmp_path / "problm.toml")
    with pytest.raises(ProblemFileError, match="is a folder"):
        load(tmp_path)
    with pytest.raises(ProblemFileError, match=r"no file or folder .*problems_"):
        discover(tmp_path / "problems_")
