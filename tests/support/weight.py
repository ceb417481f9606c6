"""What source files weigh: lines of code, without blanks, comments and docstrings."""

from __future__ import annotations

import ast
import io
import tokenize
from functools import cache

from support.sources import nodes, parsed

SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER, tokenize.ENCODING,
}  # fmt: skip


@cache
def code_lines(source: str) -> set[int]:
    """The numbers of the lines with code; a string that stands alone explains something."""
    told: set[int] = set()
    for node in nodes(parsed(source)):
        for first in getattr(node, "body", []) if isinstance(node, BODIES) else []:
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                if isinstance(first.value.value, str):
                    told.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            code.update(range(token.start[0], token.end[0] + 1))
    return code - told


BODIES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def import_lines(source: str) -> set[int]:
    """The numbers of the lines that import."""
    return {
        line
        for node in nodes(parsed(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
