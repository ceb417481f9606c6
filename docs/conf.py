"""The documentation as a site: ``sphinx-build -W docs site``."""

from __future__ import annotations

import sys
from pathlib import Path

from convexml import __version__

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "convexml"
author = "the convexml developers"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "mathml",
    "model_pages",
    "phones",
    "pictures",
    "registries",
]
# README.md is what a browser of the repository shows of this folder.
exclude_patterns = ["README.md", "extensions"]

myst_enable_extensions = ["colon_fence", "dollarmath", "deflist"]
myst_heading_anchors = 3
myst_fence_as_directive = ["math"]
suppress_warnings = ["myst.header", "misc.highlighting_failure"]  # a csv is shown as it is

autodoc_typehints = "none"  # the docstrings say types and shapes
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
default_role = "literal"

html_math_renderer = "mathml"
toc_object_entries_show_parents = "hide"  # the contents of a page are narrow
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme = "pydata_sphinx_theme"
html_title = "convexml"
html_show_sourcelink = False
html_show_search_summary = False  # excerpts are fetched, which pages opened as files may not do
html_context = {"default_mode": "auto"}
PROSE = sorted(path.stem for path in Path(__file__).parent.glob("*.md"))
# Pages that no others lie below have no list of them.
html_sidebars = {name: [] for name in (*PROSE, "reference/changelog", "genindex", "search")}
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 5,
    "navbar_align": "left",
}
