"""How the documentation site is built: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

from repbm import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "repbm"
author = "the authors of repbm"
release = __version__
html_title = f"repbm {release}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "plain_docstrings", "command_line"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3

# The public names of a package are those in its __all__, wherever they are written.
autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "none"
add_module_names = False
toc_object_entries = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False

MAY_BE_MISSING = ("benchmarks", "reading-the-report", "reproduction")
"""Pages that stand in the table of contents once they are there."""


def _leave_out(app: Sphinx, page: str, content: list[str]) -> None:
    if page == "index":
        for name in (
            name for name in MAY_BE_MISSING if not (HERE / f"{name}.md").exists()
        ):
            content[0] = content[0].replace(f"\n{name}\n", "\n")


def setup(app: Sphinx) -> None:
    app.connect("source-read", _leave_out)
