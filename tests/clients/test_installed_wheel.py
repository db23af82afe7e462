"""graph-service-client, installed into an empty environment, imports fast and asks a server."""

from __future__ import annotations

import json
import sys
import venv
from pathlib import Path

from clients.programs import KEY, Clients, run_program
from demo_graph import QUESTION

CLIENT = Path(__file__).resolve().parents[2] / "client"
IMPORT_LIMIT_S = 0.3
# The processor's time: others may use this machine meanwhile.
TIMED = (
    "import time; begin = time.process_time(); import graph_service_client; "
    "print(time.process_time() - begin)"
)


def test_it_needs_httpx_alone_and_asks_over_http(clients: Clients, tmp_path: Path) -> None:
    wheels = tmp_path / "wheels"
    run_program([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", wheels], CLIENT)
    (wheel,) = wheels.iterdir()
    venv.create(tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--python",
        python,
    ]
    # httpx comes from the registry.
    run_program([*pip, "install", "--quiet", wheel], tmp_path)
    names = {
        one["name"] for one in json.loads(run_program([*pip, "list", "--format", "json"], tmp_path))
    }
    needed = {"anyio", "certifi", "h11", "httpcore", "httpx", "idna", "typing_extensions"}
    assert names <= {"graph-service-client", *needed}
    seconds = [float(run_program([python, "-c", TIMED], tmp_path)) for _ in range(5)]
    assert min(seconds) <= IMPORT_LIMIT_S
    code = (
        "from graph_service_client import Client\n"
        "from graph_service_client.model.render import result_text\n"
        f"with Client.connect({clients.url!r}, api_key={KEY!r}) as client:\n"
        f"    print(result_text(client.paths({QUESTION!r}, limit=1)))\n"
    )
    assert "Aurelia Schwarzenegger" in run_program([python, "-c", code], tmp_path)
