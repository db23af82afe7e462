"""Retrievers in their frameworks: only with ``make test-adapters``, which installs them."""

from __future__ import annotations

import os

from demo_graph import demo_file, demo_service, demo_settings

if not os.environ.get("GRAPH_SERVICE_TEST_ADAPTERS"):
    collect_ignore_glob = ["*.py"]

__all__ = ["demo_file", "demo_service", "demo_settings"]
