"""Formulas as MathML: drawn by the browser, without a script and without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

from convexml.typesetting.formulas import mathml

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def inline(translator: Any, node: Any) -> None:
    """A formula within a line."""
    text = str(mathml(node.astext())).replace('display="block"', 'display="inline"')
    translator.body.append(text)
    raise nodes.SkipNode


def block(translator: Any, node: Any) -> None:
    """A formula on lines of its own, as wide as the page at most."""
    rows = node.astext().strip().removeprefix(r"\begin{aligned}").removesuffix(r"\end{aligned}")
    for row in rows.split(r"\\"):
        formula = row.replace("&", "").strip()
        translator.body.append(f'<div class="math" tabindex="0">{mathml(formula)}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """The renderer is called mathml."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
