"""The example of docs/typescript, compiled against the schema, asks a server."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from clients.programs import KEY, Clients, run_program

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_it_compiles_and_prints_what_its_page_shows(clients: Clients) -> None:
    page = (DOCS / "how-to" / "typescript.md").read_text()
    query = (DOCS / "typescript" / "ask.graphql").read_text()
    shown = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    assert f"```graphql\n{query}```" in page
    # Beside what its own lock file installs; nothing of an earlier run may be found.
    folder = clients.folder / "example"
    shutil.rmtree(folder / "dist", ignore_errors=True)
    for made in folder.glob("*.generated.ts"):
        made.unlink()
    for file in (*(DOCS / "typescript").iterdir(), DOCS / "schema.graphql"):
        if file.is_file() and not file.name.endswith(".generated.ts"):
            shutil.copy(file, folder)
    environment = {
        **clients.environment,
        "GRAPH_SERVICE_URL": f"{clients.url}/graphql",
        "GRAPH_SERVICE_API_KEY": KEY,
    }
    for step in ("generate", "build"):
        run_program(["npm", "--silent", "run", step], folder, environment)
    assert run_program(["npm", "--silent", "start"], folder, environment) == shown[1]
