"""Pictures that are wider than a phone scroll by themselves, by keyboard too."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def enclose(app: Sphinx, doctree: Any, docname: str) -> None:
    """Each picture in an element of its own, which says what it shows."""
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        label = escape(image.get("alt", ""))
        opening = f'<span class="picture" tabindex="0" role="group" aria-label="{label}">'
        place, at = image.parent, image.parent.index(image)
        place.insert(at, nodes.raw("", opening, format="html"))
        place.insert(at + 2, nodes.raw("", "</span>", format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    """After everything else is resolved."""
    app.connect("doctree-resolved", enclose)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
