"""graph-service-client: a wheel of its own, built from this repository, that needs httpx alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path

import orjson
import pytest
from demo_graph import QUESTION
from packaging.requirements import Requirement
from served import served

import graph_service
from graph_service import Service
from graph_service.server.options import ServerOptions

REPOSITORY = Path(__file__).resolve().parents[2]
CLIENT = REPOSITORY / "client"


def built(source: Path, folder: Path, target: str) -> Path:
    found = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)],
        cwd=source,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stderr
    (path,) = folder.iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(CLIENT, tmp_path_factory.mktemp("wheel"), "wheel")


def packages_of(name: str) -> set[str]:
    """Returns a package and all it needs here."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        each = waiting.pop()
        if each in found or each == "typing_extensions":
            continue
        found.add(each)
        needed = [Requirement(text) for text in requires(each) or ()]
        waiting += [
            one.name.replace("-", "_")
            for one in needed
            if one.marker is None or one.marker.evaluate({"extra": ""})
        ]
    return found


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the wheel, httpx with what it needs, and nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    zipfile.ZipFile(wheel).extractall(folder)
    for name in (*packages_of("httpx"), "typing_extensions"):
        spec = find_spec(name)
        assert spec is not None
        assert spec.origin is not None
        place = Path(spec.origin)
        place = place.parent if place.name == "__init__.py" else place
        (folder / place.name).symlink_to(place)
    return folder


def run(environment: Path, code: str) -> str:
    """Returns what a program prints that sees the environment and the standard library alone."""
    begin = f"import sys\nsys.path.insert(0, {str(environment)!r})\n"
    found = subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", "-c", begin + code],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_it_depends_on_httpx_alone_and_has_the_service_s_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith("METADATA"))
        told = archive.read(metadata).decode()
        assert re.findall(r"^Requires-Dist: (.*)$", told, re.MULTILINE) == ["httpx>=0.28"]
        assert f"Version: {graph_service.__version__}\n" in told
        assert {name.split("/")[0] for name in names} == {
            "graph_service_client",
            f"graph_service_client-{graph_service.__version__}.dist-info",
        }
        for name in names:
            if name.endswith(".py"):
                text = archive.read(name).decode()
                assert "import numpy" not in text
                assert not re.search(r"^\s*import orjson", text, re.MULTILINE), name
                assert not re.search(r"graph_service\.(client|model|errors|options)\b", text), name
    assert (CLIENT / "LICENSE").read_text() == (REPOSITORY / "LICENSE").read_text()


def test_its_modules_are_those_of_the_service(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in ("client/calls.py", "model/result.py", "errors.py"):
            copied = archive.read(f"graph_service_client/{name}").decode()
            own = (REPOSITORY / "graph_service" / name).read_text()
            assert copied.replace("graph_service_client", "graph_service") == own


def test_no_extra_names_what_comes_without_it() -> None:
    """Or ``doctor`` would take an extra that nobody asked for as half installed."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    brought = set[str]()
    for text in project["dependencies"]:
        brought |= packages_of(Requirement(text).name.replace("-", "_"))
    for extra, texts in project["optional-dependencies"].items():
        names = {Requirement(text).name.replace("-", "_") for text in texts}
        assert not names & brought, extra


def test_it_asks_over_http(environment: Path, demo_service: Service) -> None:
    with served(demo_service, ServerOptions(api_key="secret", writable=True)) as url:
        told = run(
            environment,
            f"""
import asyncio, json
import graph_service_client
from graph_service_client import AsyncClient, Client
loaded = set(sys.modules)
from graph_service_client.errors import GraphNotFoundError
from graph_service_client.model.render import result_text
from graph_service_client.model.view_spec import Method, ViewSpec
with Client.connect({url!r}, api_key="secret") as client:
    result = client.paths({QUESTION!r}, limit=1, details=True)
    view = client.create_view(ViewSpec(Method.EDGE_DELETION, level=0.2), graph="demo", name="wheel")
    assert client.view("wheel").spec == view.spec
    client.delete_view("wheel")
    try:
        client.graph("nope")
    except GraphNotFoundError as error:
        message = error.message
async def ask():
    async with AsyncClient.connect({url!r}, api_key="secret") as client:
        return await client.paths({QUESTION!r}, limit=1, details=True)
assert asyncio.run(ask()) == result
print(json.dumps([graph_service_client.__version__, result_text(result), message,
                  "httpx" in loaded, sorted(m for m in sys.modules if m.startswith("graph_service.")),
                  "orjson" in sys.modules]))
""",
        )
    version, text, message, httpx_loaded, service, has_orjson = json.loads(told)
    assert version == graph_service.__version__
    assert text.startswith("Maria Shriver -[spouse]-> Arnold Schwarzenegger -[mother]->")
    assert "demo" in message
    # Importing it is quick: httpx comes with the first connection.
    assert not httpx_loaded
    assert (service, has_orjson) == ([], False)


def test_its_json_is_what_orjson_writes_and_reads(environment: Path) -> None:
    items = [
        {"b": [1, -0.5, 1e22, None, True], "a": 'é\u2028\x00"\\ 😀'},
        [],
        {"": {"z": 1, "y": 2**62}},
    ]
    told = run(
        environment,
        f"""
from graph_service_client import json_codec
for item in {items!r}:
    print(json_codec.dumps(item, option=json_codec.OPT_SORT_KEYS))
    assert json_codec.loads(json_codec.dumps(item)) == item
for wrong in (b"NaN", b"[Infinity]", b"\\xff", "{{", b""):
    try:
        json_codec.loads(wrong)
    except json_codec.JSONDecodeError:
        print("refused")
for wrong in (object(), "\\ud800", float("nan")):
    try:
        json_codec.dumps(wrong)
    except TypeError:
        print("refused")
""",
    )
    expected = [str(orjson.dumps(item, option=orjson.OPT_SORT_KEYS)) for item in items]
    assert told.splitlines() == [*expected, *["refused"] * 8]


def test_a_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = built(CLIENT, tmp_path / "sdist", "sdist")
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.glob("graph_service_client-*")
    again = built(unpacked, tmp_path / "wheel", "wheel")
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(again) as second:
        contents = [
            {name: one.read(name) for name in one.namelist() if not name.endswith("RECORD")}
            for one in (first, second)
        ]
    assert contents[0] == contents[1]
