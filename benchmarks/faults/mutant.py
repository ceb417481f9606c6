"""One fault to plant: a text of the package replaced by another, and the tests that must notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A row of a table of mutants.

    Attributes
    ----------
    name : str
        The fault in words.
    file : str
        Below the repository; ``old`` occurs in it exactly once.
    old, new : str
        The texts.
    tests : tuple of str
        Node ids of which at least one must fail.
    explained : str
        Why a survivor is none: the two texts mean the same.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    explained: str = ""
