"""ariadne-codegen: the client that it makes of the schema and of our operations."""

import importlib
import subprocess
import sys
from pathlib import Path

from operations import ANSWERED, KEY, OPERATIONS, URL

Path("ariadne.graphql").write_text("\n".join(one["document"] for one in ANSWERED))
Path("ariadne.toml").write_text(
    """[tool.ariadne-codegen]
schema_path = "schema.graphql"
queries_path = "ariadne.graphql"
target_package_name = "made_client"
async_client = false

[tool.ariadne-codegen.scalars.JSON]
type = "typing.Any"
"""
)
command = [Path(sys.executable).parent / "ariadne-codegen", "--config", "ariadne.toml"]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
sys.path.insert(0, ".")
made = importlib.import_module("made_client")
headers = {"Authorization": f"Bearer {KEY}"}
with made.Client(URL, headers=headers) as client:
    for name in ("graphs", "item"):
        one = OPERATIONS[name]
        found = getattr(client, name)(**one["variables"])
        assert found.model_dump(by_alias=True) == one["data"], found
