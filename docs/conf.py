"""The site: `docs/build` makes it; notebooks are executed, live pages compiled, and a warning is an error."""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_extensions")]
os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])

from jupyter_cache import get_cache  # noqa: E402
from notebook_cache import folder  # noqa: E402

from saltus.version import __version__  # noqa: E402

project = "Saltus"
author = "The Saltus authors"
copyright = "The Saltus authors, Apache-2.0"
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx-mathjax-offline",
    "docstrings",
    "generated",
    "live_page",
]
exclude_patterns = ["_build", "_extensions", "**/.ipynb_checkpoints"]
nitpicky = False
smartquotes = False  # "--option" stays as it is
default_role = "name-or-code"  # what stands in backticks in docstrings

# pages
html_theme = "furo"
html_title = "Saltus"
html_static_path = ["_static"]
html_show_sourcelink = True
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

# the repository, where the site is built from it by GitHub's actions
REPOSITORY = "/".join(os.environ.get(name, "") for name in ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY")).strip("/")
if REPOSITORY.startswith("https://github.com/"):  # the theme knows no others
    html_theme_options |= {
        "source_repository": f"{REPOSITORY}/",
        "source_branch": os.environ.get("GITHUB_REF_NAME", "main"),
        "source_directory": "docs/",
    }

# Markdown and notebooks
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath", "fieldlist", "substitution"]
myst_substitutions = {"repository": f"[The repository]({REPOSITORY}) has sources and issues. " if REPOSITORY else ""}
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_cache_path = str(folder())
_ = get_cache(nb_execution_cache_path).db  # made before several processes read pages
nb_execution_timeout = 600
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

# docstrings
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"exclude-members": "feature_key"}
autodoc_class_signature = "mixed"
maximum_signature_line_length = 100
python_use_unqualified_type_names = True

# pages that take longest are read first, so that no process ends with them alone
SLOWEST = (
    *("verification/contact_hard", "verification/rolling", "gallery"),
    *("tutorials/events", "coming_from/gymnasium", "coming_from/humans"),
)


def slowest_first(app, env, docnames):
    docnames.sort(key=lambda name: (SLOWEST.index(name) if name in SLOWEST else len(SLOWEST), name))


def setup(app):
    app.connect("env-before-read-docs", slowest_first)
    app.extensions["sphinx-mathjax-offline"].parallel_read_safe = True  # it only copies files at the end
