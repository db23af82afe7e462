"""What mkdocs calls while it builds the site.

It adds the pages that are made from the code, and lists the pages of a folder that ``nav`` names.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).parents[2]))

from tools.site.reference import reference_pages


def on_config(config: Any, /) -> Any:
    """Puts the pages of a folder in the place of its name in ``nav``, in the order of their names."""
    config.nav = [_listed(entry, Path(config.docs_dir)) for entry in config.nav]
    return config


def _listed(entry: Any, docs: Path) -> Any:
    if isinstance(entry, dict):
        return {title: _listed(below, docs) for title, below in entry.items()}
    if isinstance(entry, list):
        return [_listed(one, docs) for one in entry]
    if entry.endswith("/"):
        return [str(page.relative_to(docs)) for page in sorted((docs / entry).glob("*.md"))]
    return entry


def on_files(files: Any, /, config: Any) -> Any:
    """Adds the pages that no file in ``docs/`` holds."""
    for path, text in reference_pages().items():
        files.append(File.generated(config, path, content=text))
    return files
