"""Lists that the code keeps, put into the pages where they ask for them.

A line ``<!-- theorems -->`` becomes a section for every theorem that a solver is held to, and
``<!-- keys -->`` a table for every table of a problem file. Nothing of them is written by hand:
statement and source are the theorem's, its assumptions are what its preconditions say of
themselves and what the solver needs, types of keys are those that files are read with. Models at
the start of a row of a table are linked with their pages.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from model_pages import HERE, plain
from sphinx.pycode import ModuleAnalyzer

from convexml import models
from convexml.library import schema
from convexml.solvers.registry import TABLE
from convexml.theory import Theorem

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROW = re.compile(rf"^\| `({'|'.join(models.__all__)})`", re.MULTILINE)
HEADERS = {
    "ProblemTable": "The file itself",
    "DataTable": "`[data]`",
    "TargetTable": "`target = { ... }` of `[data]`",
    "ObjectiveTable": "`[objective]`",
    "ExpectedTable": "`[expected]`",
    "FactTable": "`[[expected.facts]]`",
}
WORDS = {
    "StrictStr": "text",
    "StrictInt": "integer",
    "StrictBool": "true or false",
    "str": "text",
    "int": "integer",
    "float": "number",
    "bool": "true or false",
    "Any": "anything",
}


def said(method: Any) -> str:
    """What a method that a theorem overrides says of itself, without the "That"."""
    text = " ".join((inspect.getdoc(method) or "").split()).removesuffix(".")
    return plain(text.removeprefix("That "))


def theorems() -> Iterator[dict[str, Any]]:
    """Each theorem once, with the solvers that it is held to, in the order of the table."""
    held: dict[type[Theorem], list[Any]] = {}
    for algorithm in TABLE:
        if algorithm.theorem is not None:
            held.setdefault(type(algorithm.theorem), []).append(algorithm)
    for kind, algorithms in held.items():
        text = inspect.cleandoc(kind.__doc__ or "").split("\nParameters\n")[0].strip()
        own = {
            name: said(getattr(kind, name))
            for name in ("preconditions", "silences")
            if getattr(kind, name) is not getattr(Theorem, name)
        }
        yield {
            "name": kind.__name__,
            "solvers": algorithms,
            "text": "\n\n".join(plain(" ".join(part.split())) for part in text.split("\n\n")),
            "statement": "\n".join(textwrap.wrap(kind.statement, 76)),
            "source": plain(kind.source),
            "seeds": kind.seeds,
            "assumes": own.get("preconditions", ""),
            "silent": own.get("silences", ""),
        }


def words(kind: Any) -> str:
    """A type of a key, in the words of somebody who writes the file."""
    origin, given = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return words(given[0])
    if origin is Literal:
        return " or ".join(f"`{json.dumps(each)}`" for each in given)
    if origin is list:
        return f"list of {words(given[0])}"
    if origin is dict:
        return "table"
    if given:
        return ", ".join(dict.fromkeys(words(each) for each in given if each is not NoneType))
    if inspect.isclass(kind) and issubclass(kind, schema.Table):
        return "table"
    return WORDS[kind.__name__]


def keys() -> Iterator[dict[str, Any]]:
    """Each table of a problem file, with its keys."""
    meanings = ModuleAnalyzer.for_module(schema.__name__).find_attr_docs()
    for name, header in HEADERS.items():
        table = getattr(schema, name)
        kinds = get_type_hints(table, include_extras=True)
        rows = [
            {
                "key": info.alias or field,
                "type": words(kinds[field]),
                "needed": info.is_required(),
                "meaning": plain(" ".join(meanings[name, field]).strip()),
            }
            for field, info in table.model_fields.items()
        ]
        yield {"header": header, "rows": rows}


def fill(app: Sphinx, name: str, source: list[str]) -> None:
    """Put the lists into a page that asks for them, and links into the tables of models."""
    if name == "models":
        source[0] = ROW.sub(r"| [`\1`](model/\1.md)", source[0])
    for mark, content in (("theorems", theorems), ("keys", keys)):
        line = re.compile(rf"^<!-- {mark} -->$", re.MULTILINE)
        if line.search(source[0]):
            loader = Environment(loader=FileSystemLoader(HERE), undefined=StrictUndefined)
            text = loader.get_template(f"{mark}.md.j2").render(found=list(content()))
            source[0] = line.sub(lambda _, text=text: text, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Pages are filled before they are parsed."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
