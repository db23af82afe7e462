"""The explorer in Chromium, against an installed wheel: only with ``make test-explorer``."""

from __future__ import annotations

import os

if not os.environ.get("GRAPH_SERVICE_TEST_EXPLORER"):
    collect_ignore_glob = ["*.py"]
