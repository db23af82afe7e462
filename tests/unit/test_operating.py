"""The files that operators start from: what they name is there, and their times fit together."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from graph_service.cli.options import read_options
from graph_service.cli.parser import make_parser
from graph_service.cli.serve_options import ServeOptions
from graph_service.server.readiness import PING_TIMEOUT_S
from graph_service.settings import SETTINGS, Settings

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "operating"
UNIT = (FOLDER / "graph-service.service").read_text(encoding="utf-8")
NGINX = (FOLDER / "nginx.conf").read_text(encoding="utf-8")
CADDY = (FOLDER / "Caddyfile").read_text(encoding="utf-8")
# It has no types.
yaml: Any = import_module("yaml")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
VARIABLES = {setting.variable for setting in SETTINGS}


def serve_options(arguments: list[str]) -> ServeOptions:
    """What a command line of ``serve`` says; it ends the test if that is not understood."""
    return read_options(ServeOptions, make_parser().parse_args(arguments))


def seconds(text: str) -> float:
    assert text.endswith("s"), text
    return float(text.removesuffix("s"))


def of_unit(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT, re.MULTILINE)


def test_the_unit_starts_a_server_and_lets_it_end() -> None:
    (command,) = of_unit("ExecStart")
    options = serve_options(command.split()[1:])
    assert float(of_unit("TimeoutStopSec")[0]) > options.drain_s + Settings().shutdown_timeout_s
    assert float(of_unit("LimitNOFILE")[0]) > Settings().max_connections
    for setting in of_unit("Environment"):
        assert setting.partition("=")[0] in VARIABLES


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "graph-service.service"
    unit.write_text(UNIT.replace("/opt/graph-service/bin/graph-service", sys.executable))
    done = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, timeout=600
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_both_containers_have_health_checks_and_time_to_end() -> None:
    services = COMPOSE["services"]
    assert services.keys() == {"neo4j", "service"}
    for service in services.values():
        check = service["healthcheck"]
        assert check["test"][0] in ("CMD", "CMD-SHELL")
        assert check["retries"] * seconds(check["interval"]) >= 30
    ours = services["service"]
    options = serve_options(ours["command"])
    assert options.host == "0.0.0.0"
    assert seconds(ours["stop_grace_period"]) > options.drain_s + Settings().shutdown_timeout_s
    assert ours["depends_on"]["neo4j"]["condition"] == "service_healthy"
    assert ours["environment"].keys() <= VARIABLES
    # No port is open to other machines.
    ports = [port for service in services.values() for port in service["ports"]]
    assert all(port.startswith("127.0.0.1:") for port in ports)
    # A look at readiness ends before the check does.
    (limit,) = re.findall(r"timeout=(\d+)", ours["healthcheck"]["test"][-1])
    assert PING_TIMEOUT_S < float(limit) < seconds(ours["healthcheck"]["timeout"])
    assert ours["healthcheck"]["test"][-1] in DOCKERFILE


def test_the_image_has_all_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for package in project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        assert f"COPY {package} {package}\n" in DOCKERFILE
    (command,) = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert serve_options(yaml.safe_load(command)).host == "0.0.0.0"


def test_proxies_close_first_and_wait_longer() -> None:
    settings = Settings()
    kept = re.findall(r"keepalive_timeout (\w+);", NGINX) + re.findall(r"keepalive (\w+s)", CADDY)
    assert len(kept) == 2
    assert all(seconds(one) < settings.keep_alive_s for one in kept)
    waits = re.findall(r"(?:proxy_read_timeout|response_header_timeout) (\w+)", NGINX + CADDY)
    assert len(waits) == 2
    assert all(seconds(one) > settings.read_timeout_s + 1 for one in waits)
    (asked,) = re.findall(r"health_timeout (\w+)", CADDY)
    assert seconds(asked) > PING_TIMEOUT_S
