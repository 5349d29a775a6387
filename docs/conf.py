"""The documentation site; `make docs` builds it into build/docs.

The module kith must be importable (PYTHONPATH). Pages with code are run in the build, so what they show is what it
does.
"""

import importlib
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extension"))
# For the pages that are run: where the repository is, and the scripts of the figures.
os.environ["KITH_SOURCE"] = str(HERE.parent)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(HERE / "figures"), os.environ.get("PYTHONPATH")]))
# A fresh configuration, not the user's; kernels talk to this machine only, which is all that they would warn of.
_ipython = tempfile.TemporaryDirectory(prefix="kith-docs-")
_profile = pathlib.Path(_ipython.name) / "profile_default"
_profile.mkdir()
(_profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 40\n")
os.environ["IPYTHONDIR"] = _ipython.name

project = "kith"
author = "the authors of kith"
version = release = re.search(r'KITH_VERSION "(.*)"', (HERE.parent / "include/kith/version.hpp").read_text()).group(1)

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton", "from_sources"]
exclude_patterns = ["figures", "extension", "images", "style"]
source_suffix = {".md": "myst-nb"}
language = "en"
default_role = "py:obj"  # names in docstrings are links where there is something to link to

html_theme = "furo"
html_title = f"kith {version}"
html_static_path = ["style"]
html_css_files = ["kith.css"]
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#2a6f97", "color-brand-content": "#2a6f97"},
    "dark_css_variables": {"color-brand-primary": "#7fb7d6", "color-brand-content": "#7fb7d6"},
}
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "monokai"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 240
nb_merge_streams = True
nb_render_markdown_format = "myst"
copybutton_exclude = ".linenos, .gp, .go"

napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
autodoc_mock_imports = ["mpi4py"]
try:
    importlib.import_module("kith.jax")
except ImportError:  # built without JAX: what its functions say can be shown all the same
    sys.modules.pop("kith.jax", None)
    autodoc_mock_imports += ["jax", "kith._jax"]
try:
    importlib.import_module("kith.sklearn")
except ImportError:
    sys.modules.pop("kith.sklearn", None)
    autodoc_mock_imports += ["joblib", "scipy", "sklearn"]
