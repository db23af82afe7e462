"""W3C's suites run by ``make test-w3c``, which names this folder."""

from __future__ import annotations

import os

if os.environ.get("GRAPH_SERVICE_TEST_W3C") != "1":
    collect_ignore_glob = ["test_*.py"]
