"""sgqlc: a request, and the module that its generator makes of the schema."""

import importlib
import subprocess
import sys

from operations import ANSWERED, INVALID, KEY, URL
from sgqlc.endpoint.http import HTTPEndpoint

endpoint = HTTPEndpoint(URL, {"x-api-key": KEY})
for one in ANSWERED:
    response = endpoint(one["document"], one["variables"])
    assert response["data"] == one["data"], response
refused = endpoint(INVALID["document"])
assert refused["errors"][0]["extensions"]["code"] == INVALID["code"], refused

command = [sys.executable, "-m", "sgqlc.codegen", "schema", "introspection.json", "made_schema.py"]
subprocess.run(command, check=True)
sys.path.insert(0, ".")
made = importlib.import_module("made_schema")
assert made.made_schema.query_type is made.Query
