"""The explorer in Chromium, against an installed wheel: only with ``make test-explorer``."""

from __future__ import annotations

import os

if not os.environ.get("GRAPH_SERVICE_TEST_EXPLORER"):
    collect_ignore_glob = ["*.py"]
else:
    # By its name: Playwright is installed for this folder's tests alone.
    pytest_plugins = ["explorer_page"]
