"""What the processes of one run of the tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def folder_of_run(factory: pytest.TempPathFactory, /) -> Path:
    """Returns the temporary folder of the whole run, the same in each of its processes."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
