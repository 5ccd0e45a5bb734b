"""The script of the live figures, on the pages that have one.

`docs/live/` has two modules. A page that is opened as a file cannot load
modules, so they are joined into one classic script.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

LIVE = Path(__file__).parents[2] / "live"
MODULES = ("attention.mjs", "figures.mjs")
SCRIPT = "figures.js"


def classic_script() -> str:
    """Return the modules as one function that is called at once."""
    parts = [(LIVE / name).read_text(encoding="utf-8") for name in MODULES]
    text = re.sub(
        r"^import \{[^}]*\} from .*\n", "", "\n".join(parts), flags=re.M
    )
    text = re.sub(r"^export ", "", text, flags=re.M)
    return f"(() => {{\n{text}\n}})();\n"


def write_script(app: Sphinx) -> None:
    """Write the script where the static files will be.

    Before the pages: each names it with its checksum.
    """
    path = Path(app.outdir) / "_static" / SCRIPT
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(classic_script(), encoding="utf-8")


def load_script(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: Any,
) -> None:
    """Let a page load the script if it has a figure."""
    if '<figure class="live"' in context.get("body", ""):
        app.add_js_file(SCRIPT, defer="defer")


def bring_figures_to_life(app: Sphinx) -> None:
    """Write the script, and load it where it is needed."""
    app.connect("builder-inited", write_script)
    app.connect("html-page-context", load_script)
