"""Every public name has a docstring after the numpydoc standard.

Public are the names in `convexml.__all__`, and those in `__all__` of the modules among them
(`convexml.losses.Hinge`), with their public methods and properties.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

PACKAGE = "convexml"

SUMMARY = {
    "GL08",  # there is a docstring
    "SS01",  # with a summary
    "SS03",  # and ends with a period
}
SECTIONS = {
    "GL06",  # a section of the standard
    "GL07",  # in the standard order
    "PR02",  # no parameter that does not exist
}
PARAMETERS = {
    "PR01",  # every parameter is documented
    "PR03",  # in the order of the signature
    "PR07",  # with a description
    "PR10",  # and a space before the colon
}
RETURNS = {"RT01"}  # what a function returns


def resolve(name: str) -> object:
    """The object behind a dotted name."""
    parts = name.split(".")
    found: object = importlib.import_module(parts[0])
    for part in parts[1:]:
        found = getattr(found, part)
    return found


def exports(module: str) -> Iterator[str]:
    """Dotted names of the documented objects that a module exports, sub-modules included."""
    for name in getattr(resolve(module), "__all__", ()):
        found = resolve(f"{module}.{name}")
        if isinstance(found, ModuleType):
            yield f"{module}.{name}"
            yield from exports(f"{module}.{name}")
        elif inspect.isclass(found) or callable(found):
            yield f"{module}.{name}"


def methods(name: str) -> Iterator[str]:
    """The public methods and properties that a class of ours defines itself."""
    for attribute, value in vars(resolve(name)).items():
        described = isinstance(value, property | classmethod | staticmethod)
        if not attribute.startswith("_") and (described or inspect.isfunction(value)):
            yield f"{name}.{attribute}"


def undocumented_fields(found: type) -> set[str]:
    """Fields of a dataclass that stand neither under Parameters nor under Attributes."""
    doc = get_doc_object(found)
    entries = [*doc["Parameters"], *doc["Attributes"]]
    documented = {name.strip() for entry in entries for name in entry.name.split(",")}
    return {f.name for f in dataclasses.fields(found) if not f.name.startswith("_")} - documented


def required(found: object) -> set[str]:
    """The codes of numpydoc that hold for one exported object."""
    if not inspect.isclass(found):
        return SUMMARY | SECTIONS | PARAMETERS | RETURNS
    if issubclass(found, enum.Enum | BaseException):
        return SUMMARY | SECTIONS - {"PR02"}  # the signature is Python's, not ours
    if hasattr(found, "get_params"):  # an estimator: common parameters come from its base
        return SUMMARY | SECTIONS | PARAMETERS - {"PR03"}
    if dataclasses.is_dataclass(found):
        return SUMMARY | SECTIONS - {"PR02"}  # undocumented_fields looks at the rest
    return SUMMARY | SECTIONS | PARAMETERS


def numpydoc_findings(name: str, codes: set[str]) -> list[str]:
    """What numpydoc says about one name, restricted to some codes."""
    if isinstance(resolve(name), ModuleType):  # numpydoc looks for a def or class in them
        return [line for line in [module_finding(name)] if line]
    errors = validate(name)["errors"]
    return [f"{name}: {code} {text}" for code, text in errors if code in codes]


def module_finding(name: str) -> str:
    """A module needs a summary."""
    summary = (resolve(name).__doc__ or "").strip().split("\n\n")[0]
    return "" if summary.endswith(".") else f"{name}: the module has no summary with a period"


def method_findings(name: str) -> list[str]:
    """A method or property needs a summary, its own or that of the protocol it implements."""
    owner, _, attribute = name.rpartition(".")
    doc = inspect.getdoc(getattr(resolve(owner), attribute))
    if doc is None:
        return [f"{name}: has no docstring and inherits none"]
    summary = re.split(r"\n\s*\n", doc.strip())[0]
    return [] if summary.endswith(".") else [f"{name}: the summary does not end with a period"]


def findings(name: str) -> list[str]:
    """All that is wrong with the documentation of one exported name."""
    found = resolve(name)
    wrong = numpydoc_findings(name, required(found))
    if inspect.isclass(found):
        wrong += [line for method in methods(name) for line in method_findings(method)]
        if dataclasses.is_dataclass(found):
            wrong += [f"{name}: field {field}" for field in sorted(undocumented_fields(found))]
    return wrong


def test_every_public_name_is_documented() -> None:
    names = list(dict.fromkeys(exports(PACKAGE)))
    assert names, f"{PACKAGE}.__all__ is empty"
    assert [line for name in names for line in findings(name)] == []


PLANTED = '''
"""A planted module."""

import dataclasses


def bare(x):
    return x


def silent(x, y):
    """Sum of two numbers.

    Parameters
    ----------
    x : float
        The first number.

    Returns
    -------
    float
        The sum.
    """
    return x + y


class Loose:
    """A class with a bare method."""

    def method(self):
        return 0


@dataclasses.dataclass
class Record:
    """A record.

    Attributes
    ----------
    known : int
        Documented.
    """

    known: int
    forgotten: int
'''


@pytest.mark.parametrize(("name", "finding"), [
    ("bare", "GL08"),
    ("silent", "PR01"),
    ("Loose", "has no docstring and inherits none"),
    ("Record", "field forgotten"),
])  # fmt: skip
def test_a_planted_mistake_is_found(
    planted: Callable[..., ModuleType], name: str, finding: str
) -> None:
    module = planted("planted_docs", __init__=PLANTED)
    assert any(finding in line for line in findings(f"{module.__name__}.{name}"))
