"""Live comparisons with sentence-transformers: only with ``make test-models``, which sets this."""

from __future__ import annotations

import os

if not os.environ.get("GRAPH_SERVICE_TEST_MODELS"):
    collect_ignore_glob = ["*.py"]
