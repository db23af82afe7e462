"""Evaluators in their frameworks: only with ``make test-adapters``, which installs them (B18).

The frameworks report their use over the network by default: here they do not.
"""

from __future__ import annotations

import os

from demo_graph import demo_file, demo_service, demo_settings

if not os.environ.get("GRAPH_SERVICE_TEST_EVALUATORS"):
    collect_ignore_glob = ["*.py"]

os.environ["RAGAS_DO_NOT_TRACK"] = "true"
os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
os.environ["DEEPEVAL_NO_INSPECT_PROMPT"] = "1"

__all__ = ["demo_file", "demo_service", "demo_settings"]
