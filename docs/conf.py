"""How the documentation is built: `make docs`. Nothing is fetched, and a warning is an error."""

from __future__ import annotations

import os
import re

os.environ["MPLBACKEND"] = "agg"

import certselect

project = "certselect"
author = "the certselect authors"
copyright = f"2026, {author}"
version = release = certselect.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_static", "_templates", "examples"]
templates_path = ["_templates"]

# Pages are the Markdown that readers of the repository see; headings can be linked to as there.
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

# Docstrings are numpydoc's; a name in single backquotes is code, as in scikit-learn's.
default_role = "literal"
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "certselect"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "logo": {"text": "certselect"},
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}
html_show_sourcelink = False


def keep_bars(app, what, name, obj, options, lines):
    """|x| in a docstring is an absolute value or a size, which reStructuredText would take for a substitution."""
    for i, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[i] = re.sub(r"`[^`]*`|\|", lambda found: r"\|" if found[0] == "|" else found[0], line)


def setup(app):
    app.connect("autodoc-process-docstring", keep_bars)
