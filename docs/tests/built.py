"""The built book: where it is, what is in it, what looks at it."""

from __future__ import annotations

import os
import shutil

import pytest

from attention_twice.sources import ROOT

SITE = ROOT / ".venv" / "site"
LANGUAGES = {"en": "en", "zh_Hant": "zh-Hant-TW"}
PAGES = sorted(path.stem for path in (ROOT / "docs" / "en").glob("*.md"))
NOTEBOOKS = sorted(path.stem for path in (SITE / "en").glob("*.ipynb"))
CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "google-chrome"))), None
)
in_a_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: set CHROMIUM to its path"
)
