"""The site: `make docs` builds it into docs/_build/html, without a network and with warnings as errors."""

from __future__ import annotations

import inspect
import os
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("COLUMNS", "100")

import dsna  # noqa: E402

project = "dsna"
author = "The dsna developers"
project_copyright = author
version = release = dsna.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    "mathml",
    "commands",
    "fields",
]
exclude_patterns = ["_build", "_ext", "figures", "benchmark/notes.md", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["_templates"]
default_role = "code"
smartquotes = False  # `--option` is no dash

# Markdown
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# Pictures that pages make while the site is built (docs/figures)
plot_include_source = False
plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("png", 130)]
plot_working_directory = str(HERE / "figures")
plot_rcparams = {
    "figure.constrained_layout.use": True,
    "font.size": 10.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
plot_apply_rcparams = True

# Examples
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": "/plot_",
    "ignore_pattern": r"(beside_other_forests|nano_dsna|__init__)\.py",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "plot_gallery": "True",
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "image_srcset": [],
    "matplotlib_animations": False,
    "doc_module": ("dsna",),
    "notebook_images": False,
    "capture_repr": (),
    "within_subsection_order": "gallery_order.Order",
}

# Reference
autosummary_generate = True
autosummary_imported_members = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

# Pages
html_theme = "pydata_sphinx_theme"
html_title = f"dsna {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_search_scorer = str(HERE / "_ext" / "search_order.js")
html_math_renderer = "mathml"
# A list of all public names beside each of them would be a fifth of the site.
html_sidebars: dict[str, list[str]] = {"index": [], "glossary": [], "reference/api/*": []}
html_theme_options = {
    "logo": {"text": "dsna"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


#: Methods that other parts of the package call, and users need not know.
_FOR_OTHER_STAGES = {"check_parameters", "holds_rows", "in_set", "restored", "partial_fit"}


def _signature(app: Any, what: str, name: str, obj: Any, options: Any, signature: str, returns: str) -> Any:
    """Estimators are made through a `__new__` of any arguments: what counts is `__init__`."""
    if what != "class" or not signature or "*args" not in signature:
        return None
    taken = list(inspect.signature(obj.__init__).parameters.values())[1:]
    return str(inspect.Signature([one.replace(annotation=inspect.Parameter.empty) for one in taken])), returns


def _skip_inherited(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Members that scikit-learn or Python brings along are documented there."""
    if what != "class" or skip:
        return None
    if name in _FOR_OTHER_STAGES:
        return True
    made = inspect.unwrap(getattr(obj, "fget", None) or getattr(obj, "__func__", obj))
    module = getattr(made, "__module__", None) or ""
    return None if module.startswith("dsna") else True


def _link_gallery(app: Any, page: str, source: list[str]) -> None:
    """Links to the scripts of the examples, which work in the repository, lead to their pages."""
    source[0] = re.sub(r"\]\((?:\.\./)+examples/(plot_\w+)\.py\)", r"](/gallery/\1.rst)", source[0])


def _drop_maps(app: Any, error: Exception | None) -> None:
    """Maps to the sources of the theme are for its developers, and a quarter of the site."""
    for path in Path(app.outdir, "_static").rglob("*.map"):
        path.unlink()


def setup(app: Any) -> None:
    app.connect("build-finished", _drop_maps)
    app.connect("source-read", _link_gallery)
    app.connect("autodoc-skip-member", _skip_inherited)
    app.connect("autodoc-process-signature", _signature)
