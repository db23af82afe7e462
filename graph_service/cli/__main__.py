"""Runs the command line: ``python -m graph_service.cli``."""

from __future__ import annotations

import sys

from graph_service.cli import main

sys.exit(main())
