"""Source files, parsed once for all the tests that walk them."""

from __future__ import annotations

import ast
from functools import cache


@cache
def parsed(source: str) -> ast.Module:
    """The syntax tree of a text; nobody changes it."""
    return ast.parse(source)


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All of its nodes, as ``ast.walk`` finds them."""
    return tuple(ast.walk(tree))
