"""What mkdocstrings does to docstrings before it shows them: examples become blocks of code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^>>> .*\n(?:.+\n?)*", re.MULTILINE)


class Examples(griffe.Extension):
    """Fences doctests, which Markdown would take for quotations."""

    def on_instance(self, *, obj: Any, **_: Any) -> None:
        """Changes the docstring of one module, class, function or attribute."""
        if obj.is_alias or obj.docstring is None:
            return
        obj.docstring.value = _EXAMPLE.sub(
            lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value
        )
