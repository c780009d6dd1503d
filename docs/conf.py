"""The site: Sphinx reads the Markdown pages as they are, the examples of the gallery and the docstrings of the Python package.

`bash scripts/site.sh` builds it into target/site. Nothing is loaded from the network, so that the pages open from disk.
"""

import importlib.util
import os
import pathlib
import re
import shutil
import warnings

import eigenfold
from pygments.lexers import RustLexer

DOCS = pathlib.Path(__file__).parent
ROOT = DOCS.parent

project = "eigenfold"
author = "The eigenfold developers"
copyright = "the eigenfold developers; MIT or Apache-2.0"
version = release = eigenfold.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["requirements.txt", "_build", "_templates"]
root_doc = "index"
nitpicky = False  # types of docstrings such as "array of shape (n, d)" are no links

# --- pages
myst_enable_extensions = ["attrs_inline", "colon_fence", "html_image"]
myst_heading_anchors = 4
myst_links_external_new_tab = True
# Links to files beside the pages (scripts, examples) become downloads; `json` blocks may be shortened by "...".
suppress_warnings = ["misc.highlighting_failure", "myst.header"]
highlight_language = "none"
copybutton_exclude = ".linenos, .gp, .go"

# --- Python reference
templates_path = ["_templates"]
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = True
numpydoc_class_members_toctree = False
numpydoc_show_inherited_class_members = True

# --- gallery
warnings.filterwarnings("ignore", category=UserWarning, module="matplotlib")


def runs(example):
    """Whether the data, the packages and the programs that an example asks for are there; else its page has the code without pictures."""
    text = example.read_text(encoding="utf-8")
    folders = re.findall(r'environ\.get\("EIGENFOLD_DATA", "data"\)\) / "(\w+)"', text)
    packages = re.findall(r'find_spec\("(\w+)"\) is None', text)
    programs = re.findall(r'which\("(\w+)"\) is None', text)
    there = all((pathlib.Path(os.environ.get("EIGENFOLD_DATA", "data")) / one).is_dir() for one in folders)
    return there and all(importlib.util.find_spec(one) for one in packages) and all(shutil.which(one) for one in programs)


EXAMPLES = ROOT / "examples/gallery"
SECTIONS = ["basics", "tuning", "new_data", "missing_and_distances", "real_data", "papers"]
sphinx_gallery_conf = {
    "examples_dirs": str(EXAMPLES),
    "gallery_dirs": "gallery",
    "filename_pattern": "/(" + "|".join(re.escape(one.name) for one in EXAMPLES.glob("*/plot_*.py") if runs(one)) + ")$",
    "subsection_order": [f"../examples/gallery/{one}" for one in SECTIONS],
    "within_subsection_order": "FileNameSortKey",
    "ignore_pattern": r"(^|/)_",
    "plot_gallery": os.environ.get("EIGENFOLD_GALLERY", "yes") == "yes",
    "abort_on_example_error": True,
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("eigenfold",),
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "download_all_examples": True,
}

# --- looks
html_theme = "pydata_sphinx_theme"
html_title = "eigenfold"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "eigenfold"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def dark_pictures(app, docname, source):
    """Shows NAME-dark.png, where there is one, in place of NAME.png when the reader's theme is dark."""
    folder = DOCS / pathlib.Path(docname).parent

    def both(found, light, dark):
        name = found["name"] + "-dark." + found["kind"]
        return light + dark(name) if (folder / name).exists() else found[0]

    source[0] = re.sub(
        r"!\[(?P<alt>[^\]]*)\]\((?P<name>[^)\s]+)\.(?P<kind>png|svg)\)",
        lambda found: both(found, found[0] + "{.only-light}", lambda name: f"![{found['alt']}]({name}){{.only-dark}}"),
        source[0],
    )
    source[0] = re.sub(
        r"<img src=\"(?P<name>[^\"]+)\.(?P<kind>png|svg)\"(?P<rest>[^>]*)>",
        lambda found: both(
            found,
            f'<img src="{found["name"]}.{found["kind"]}" class="only-light"{found["rest"]}>',
            lambda name: f'<img src="{name}" class="only-dark"{found["rest"]}>',
        ),
        source[0],
    )


def setup(app):
    for kind in ("rust,no_run", "rust,ignore"):
        app.add_lexer(kind, RustLexer)
    app.connect("source-read", dark_pictures)
