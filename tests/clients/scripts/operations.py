"""What every client is asked: the operations of operations.json, of the server at URL with KEY."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

URL = os.environ["URL"]
KEY = os.environ["KEY"]
OPERATIONS: dict[str, dict[str, Any]] = json.loads(Path("operations.json").read_text())
ANSWERED = [OPERATIONS["graphs"], OPERATIONS["item"]]
INVALID = OPERATIONS["invalid"]
