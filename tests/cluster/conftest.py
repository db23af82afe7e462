"""Work on a cluster by real engines: only with ``make test-cluster``, which installs them.

``GRAPH_SERVICE_TEST_CLUSTER`` names the engine: ``sail``, ``local[2]`` or ``sc://host:port``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

ENGINE = os.environ.get("GRAPH_SERVICE_TEST_CLUSTER")
if not ENGINE:
    collect_ignore_glob = ["*.py"]


@pytest.fixture(scope="session")
def session() -> Iterator[Any]:
    """A session with the engine."""
    from graph_service.cluster.session import open_session

    assert ENGINE is not None
    with open_session(ENGINE) as opened:
        yield opened
