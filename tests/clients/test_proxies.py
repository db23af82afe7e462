"""nginx and Caddy, as the guide configures them, before a server."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from demo_graph import copy_store
from server_process import ServerProcess, server_process

GUIDE = Path(__file__).parents[2] / "docs" / "operating"
KEY = "key-behind-a-proxy"
NAME = "graph.example.org"
ASKED = {"query": "{ graphs { nodes { name } } }"}
LIMIT_S = 600


def needs(program: str, package: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        shutil.which(program) is None and not os.environ.get("GRAPH_SERVICE_TEST_REQUIRE"),
        reason=f"no {program} is installed, so the guide was not tried: apt-get install {package}",
    )


@pytest.fixture(scope="module")
def server(demo_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    store = copy_store(demo_file, tmp_path_factory.mktemp("proxied"))
    options = ("--allow-host", NAME, "--address-header", "X-Forwarded-For", "--rate", "0.01")
    with server_process(store, *options, "--max-cost", "1", api_key=KEY) as started:
        yield started


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    """Runs a proxy until the block ends."""
    homes = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **homes}, stdout=log, stderr=log
        )
        try:
            limit = time.monotonic() + LIMIT_S
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=5).close()
                    break
                except ConnectionRefusedError:
                    said = (folder / "log").read_text()
                    assert process.poll() is None, said
                    assert time.monotonic() < limit, said
                    time.sleep(0.02)
            yield
        finally:
            process.terminate()
            process.wait(LIMIT_S)


def is_served(url: str) -> None:
    """Queries pass, what is not for the public does not, and each client has its own budget."""
    headers = {"host": NAME, "authorization": f"Bearer {KEY}"}
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with httpx.Client(base_url=url, headers=headers, verify=context) as asked:
        for _ in range(2):
            # What a client says of its address is not believed.
            answer = asked.post(
                "/graphql", json=ASKED, headers={"x-forwarded-for": "192.0.2.1, 192.0.2.2"}
            )
            assert answer.json()["data"] == {"graphs": {"nodes": [{"name": "demo"}]}}, answer.text
            left = answer.json()["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"]
        other = asked.post("/graphql", json=ASKED, headers={"x-forwarded-for": "192.0.2.9"})
        after = other.json()["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"]
        assert after < left, "a header gave a client another budget"
        for path in ("/metrics", "/health/ready"):
            assert asked.get(path).status_code == 404
        assert asked.get("/version").status_code == 200


@needs("nginx", "nginx-light")
@needs("openssl", "openssl")
def test_nginx(server: ServerProcess, tmp_path: Path) -> None:
    port = free_port()
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "1", "-subj", f"/CN={NAME}"],
        cwd=tmp_path, check=True, capture_output=True, timeout=LIMIT_S,
    )  # fmt: skip
    site = (GUIDE / "nginx.conf").read_text(encoding="utf-8")
    for old, new in (
        ("127.0.0.1:8000", f"127.0.0.1:{server.port}"),
        ("listen 443", f"listen 127.0.0.1:{port}"),
        (f"/etc/ssl/{NAME}.pem", str(tmp_path / "cert.pem")),
        (f"/etc/ssl/private/{NAME}.key", str(tmp_path / "key.pem")),
    ):
        assert old in site
        site = site.replace(old, new)
    user = "user root;" if os.getuid() == 0 else ""
    kept = "".join(
        f"{one}_temp_path {tmp_path / one};"
        for one in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration = tmp_path / "nginx.conf"
    configuration.write_text(
        f"{user} daemon off; pid {tmp_path / 'pid'}; error_log stderr;\n"
        f"events {{}}\nhttp {{ access_log off; {kept}\n{site}\n}}\n"
    )
    command = ["nginx", "-e", "stderr", "-c", str(configuration)]
    tested = subprocess.run([*command, "-t"], capture_output=True, text=True, timeout=LIMIT_S)
    assert tested.returncode == 0, tested.stderr
    with running(command, tmp_path, port):
        is_served(f"https://127.0.0.1:{port}")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2", "http/1.1"])
        with (
            socket.create_connection(("127.0.0.1", port), timeout=5) as plain,
            context.wrap_socket(plain, server_hostname=NAME) as encrypted,
        ):
            assert encrypted.selected_alpn_protocol() == "h2"


@needs("caddy", "caddy")
def test_caddy(server: ServerProcess, tmp_path: Path) -> None:
    port = free_port()
    site = (GUIDE / "Caddyfile").read_text(encoding="utf-8")
    # The certificate that Caddy would get is not for this machine.
    for old, new in (
        ("reverse_proxy 127.0.0.1:8000", f"reverse_proxy 127.0.0.1:{server.port}"),
        (f"\n{NAME} {{", f"\n{{\n\tadmin off\n}}\nhttp://{NAME}:{port} {{\n\tbind 127.0.0.1"),
    ):
        assert site.count(old) == 1
        site = site.replace(old, new)
    configuration = tmp_path / "Caddyfile"
    configuration.write_text(site)
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(configuration)]
    with running(command, tmp_path, port):
        is_served(f"http://127.0.0.1:{port}")
