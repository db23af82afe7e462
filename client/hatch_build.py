"""Builds graph-service-client out of graph_service: its modules, copied and renamed.

Who asks a server needs ``graph_service.client`` and what that imports: the model, the options and
the errors, without numpy. The build follows the imports from there, writes each module under
``graph_service_client`` and names it so in all of them. Nothing is kept twice in the repository.

So the classes of the two packages are not the same. They would be only if the service's model,
options and errors were those of ``graph_service_client``. Shipped in both wheels, that package
would be broken by uninstalling either of them, since pip removes the files that it lists. As a
dependency, it would make each install of the service need a second distribution of its version.
"""

from __future__ import annotations

import ast
import re
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent
SERVICE = "graph_service"
CLIENT = "graph_service_client"
PACKAGE = HERE / "package"


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Gives the builder the modules; of an unpacked source distribution those that are in it."""

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        """Adds the files of the package to what is built."""
        folder = HERE / CLIENT
        if (SOURCE / SERVICE).is_dir():
            self._made = tempfile.TemporaryDirectory(prefix=CLIENT)
            folder = Path(self._made.name) / CLIENT
            write_package(folder)
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                target = f"{CLIENT}/{path.relative_to(folder).as_posix()}"
                build_data["force_include"][str(path)] = target


def version_of_service() -> str:
    """Returns the version of graph_service, which is the client's too."""
    for path in (SOURCE / SERVICE / "__init__.py", HERE / CLIENT / "__init__.py"):
        if path.is_file():
            found = re.search(r'^__version__ = "(.+)"$', path.read_text(), re.MULTILINE)
            if found:
                return found[1]
    raise RuntimeError(f"no version: neither {SERVICE} nor {CLIENT} is beside {__file__}")


def write_package(folder: Path, /) -> None:
    """Writes the package into a folder that is not there yet."""
    modules = modules_of_client()
    ours = re.compile(rf"\b{SERVICE}(?=\.(?:{'|'.join(_parts(modules))})\b)")
    for name, path in modules.items():
        text = ours.sub(CLIENT, path.read_text())
        text = text.replace("import orjson\n", f"from {CLIENT} import json_codec as orjson\n")
        text = text.replace(f"{SERVICE}.__version__", f"{CLIENT}.__version__")
        _write(folder / path.relative_to(SOURCE / SERVICE), text)
        assert "orjson" not in _imported(ast.parse(text)), f"{name} imports orjson in another form"
    for path in PACKAGE.glob("*.py"):
        text = path.read_text()
        text = text.replace('__version__ = "0"', f'__version__ = "{version_of_service()}"')
        _write(folder / path.name, text)
    _write(folder / "py.typed", "")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _parts(modules: dict[str, Path]) -> list[str]:
    """Returns the names below the package that all copied modules stand under."""
    return sorted({name.split(".")[1] for name in modules if "." in name})


def modules_of_client() -> dict[str, Path]:
    """Returns the modules that importing the client and its transport over HTTP loads, by name."""
    folder = SOURCE / SERVICE / "client"
    waiting = [f"{SERVICE}.client.{path.stem}" for path in folder.glob("*.py")]
    # What callers name in a request, which the client itself does not import.
    waiting += [f"{SERVICE}.model.render", f"{SERVICE}.model.view_reference"]
    found: dict[str, Path] = {}
    while waiting:
        name = waiting.pop().removesuffix(".__init__")
        path = _path_of(name)
        if path is None or name in found:
            continue
        if name != SERVICE:
            found[name] = path
            waiting += _imported(ast.parse(path.read_text()))
            waiting.append(name.rpartition(".")[0])
    return dict(sorted(found.items()))


def _path_of(name: str) -> Path | None:
    base = SOURCE.joinpath(*name.split("."))
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file() and name.split(".")[0] == SERVICE:
            return path
    return None


def _imported(tree: ast.Module) -> list[str]:
    """Returns the modules that a module imports when it is imported."""
    found = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return found
