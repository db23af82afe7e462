"""A plugin of coverage.py: saves what was measured now and then, as a killed process can't."""

from __future__ import annotations

import threading
import time
from typing import Any

from coverage import Coverage

_EVERY_S = 0.25


def coverage_init(_registry: object, _options: dict[str, Any]) -> None:
    """Begins saving, in a thread that ends with the process."""
    threading.Thread(target=_save, daemon=True).start()


def _save() -> None:
    while True:
        time.sleep(_EVERY_S)
        measured = Coverage.current()
        if measured is not None:
            measured.save()
