"""A page for every model: its docstring, its formulas, and what is certified on real data.

Nothing here is written by hand: the text is the docstring, the formulas are ``problem.latex()``,
numbers and pictures are those of ``problem.solve()`` and ``problem.path(...)`` on a problem file.
"""

from __future__ import annotations

import inspect
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from convexml import models
from convexml.errors import InputError
from convexml.library import discover, load_file, read_table_of
from convexml.library.names import snake_case

if TYPE_CHECKING:
    from sphinx.application import Sphinx

HERE = Path(__file__).resolve().parent
PROBLEMS = HERE.parents[1] / "problems"
FOLDER = HERE.parent / "model"
LITERAL = re.compile(r"(``.*?``)")
MARKUP = re.compile(r"[\\*_<|]")
"""What Markdown would take for its own."""
OWN = "learning_problem"
"""The model of files with an ``[objective]``."""
SHOWN = {"linear_program": "lp_wyndor", "quantile_regression": "quantile_wine"}
"""Where another file than the first shows more: a polytope, coefficients that are not 0."""
POINTS = 16
"""Values of a path."""

MEMBERS = (
    "solve",
    "certify",
    "certified_support",
    "path",
    "cross_validate",
    "leave_one_out",
    "approximate",
    "judge",
    "margins",
    "find_evidence",
    "certify_infeasible",
    "certify_unbounded",
    "primal",
    "dual",
    "variables",
    "constraints",
    "multipliers",
    "lam_max",
    "objective",
    "dual_objective",
    "components",
    "eigengap",
    "predict",
    "predict_proba",
    "decision_function",
    "score",
    "latex",
    "explain",
    "features",
    "classes",
    "objective_parts",
    "shadow_prices",
    "clusters",
    "labels",
    "entropy",
    "divergence",
    "is_unique",
    "of_covariance",
    "of_moments",
)
"""What a posed problem promises, where the model has it; the rest is for those who extend it."""


def plain(text: str) -> str:
    """A line of a docstring as Markdown: its stars and bars are products and norms."""
    parts = LITERAL.split(text)
    parts[::2] = [MARKUP.sub(r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)


def files_of_models() -> dict[str, list[Path]]:
    """The problem files of each model, by its name in snake_case."""
    found: dict[str, list[Path]] = {}
    for path in discover(PROBLEMS):
        table = read_table_of(path)
        name = table.model or (OWN if table.objective else "")
        found.setdefault(name, []).append(path)
    for name, paths in found.items():
        paths.sort(key=lambda path: path.stem != SHOWN.get(name))
    return found


def sections(name: str, files: list[Path]) -> dict[str, Any]:
    """What the page of a model says."""
    model = getattr(models, name)
    first = load_file(files[0])
    solution = first.problem.solve()
    picture = FOLDER / f"{name}.svg"
    solution.plot(picture)
    followed = values_of_path(first.problem)
    if followed is not None:
        first.problem.path(followed[1]).plot(FOLDER / f"{name}_path.svg")
    return {
        "name": name,
        "summary": plain((inspect.getdoc(model) or "").split("\n")[0]),
        "formulas": first.problem.latex(),
        "title": first.title,
        "file": files[0].name,
        "text": files[0].read_text(encoding="utf-8").rstrip(),
        "solution": str(solution).rstrip(),
        "picture": picture.name,
        "followed": "" if followed is None else followed[0],
        "others": [(path.name, read_table_of(path).title) for path in files[1:]],
    }


def lam_max(problem: Any) -> float:
    """The least lam with w = 0, infinite where there is none."""
    try:
        return float(problem.lam_max)
    except (AttributeError, InputError):
        return math.inf


def values_of_path(problem: Any) -> tuple[str, Any] | None:
    """The hyperparameter that a path of this model follows, and values around that of the file."""
    for name in ("lam", "C", "radius", "nu"):
        value = getattr(problem, name, None)
        if value is None:
            continue
        most = lam_max(problem) if name == "lam" else math.inf
        if 0.0 < most < math.inf:
            return name, np.geomspace(1.1 * most, 0.02 * most, POINTS)
        if name == "nu":
            return name, np.geomspace(min(2.0 * value, 0.9), value / 5.0, POINTS)
        return name, (value or 0.1) * np.geomspace(10.0, 0.1, POINTS)
    return None


def write_pages(app: Sphinx) -> None:
    """Write the page of every model, and leave alone what is as it was."""
    FOLDER.mkdir(exist_ok=True)
    loader = Environment(loader=FileSystemLoader(HERE), undefined=StrictUndefined)
    page, index = loader.get_template("model.md.j2"), loader.get_template("models.md.j2")
    files, rows = files_of_models(), []
    for name in models.__all__:
        parts = sections(name, files[snake_case(name)])
        rows.append((name, parts["summary"]))
        _write(FOLDER / f"{name}.md", page.render(parts))
    _write(FOLDER / "index.md", index.render(rows=rows))


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def escape_bars(app: Any, kind: str, name: str, it: Any, options: Any, lines: list[str]) -> None:
    """Norms are written with bars, which reStructuredText takes for substitutions."""
    for k, line in enumerate(lines):
        parts = LITERAL.split(line)
        parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
        lines[k] = "".join(parts)


def only_promised(app: Any, kind: str, name: str, it: Any, skip: bool, options: Any) -> bool | None:
    """The page of a model has its promises, and nothing of how it is built."""
    return True if app.env.docname.startswith("model/") and name not in MEMBERS else None


def own_signature(
    app: Any, kind: str, name: str, it: Any, options: Any, signature: str, returned: str
) -> tuple[str, str] | None:
    """A class is called as its ``__init__`` is; what refuses unknown names is not shown."""
    if kind != "class" or "__init__" not in vars(it):
        return None
    own = inspect.signature(it.__init__)
    rest = [p.replace(annotation=p.empty) for p in list(own.parameters.values())[1:]]
    return str(own.replace(parameters=rest, return_annotation=own.empty)), returned


def setup(app: Sphinx) -> dict[str, bool]:
    """Pages are written before Sphinx looks for them, docstrings when it reads them."""
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-skip-member", only_promised)
    app.connect("autodoc-process-signature", own_signature)
    app.connect("autodoc-process-docstring", escape_bars, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
