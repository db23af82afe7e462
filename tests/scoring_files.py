"""Files and options of scores on the command line."""

from __future__ import annotations

import json
from pathlib import Path

from openai_stand_in import StandIn


def write_lines(path: Path, *rows: object) -> str:
    """Writes rows as JSON lines, and returns the path as an argument."""
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def judged_by(server: StandIn) -> tuple[str, ...]:
    """The options that name a server's model as the judge."""
    return ("--model", "judge", "--model-url", server.url)
