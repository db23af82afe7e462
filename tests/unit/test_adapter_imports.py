"""An adapter without its framework says which extra brings it."""

from __future__ import annotations

import importlib
import sys

import pytest

FRAMEWORKS = [
    ("graph_service.adapters.haystack", "haystack", "haystack"),
    ("graph_service.adapters.langchain", "langchain", "langchain_core"),
    ("graph_service.adapters.llamaindex", "llamaindex", "llama_index"),
    ("graph_service.cli.inspect_ai.tasks", "inspect", "inspect_ai"),
    ("graph_service.mcp.server", "mcp", "mcp"),
    ("queries.evaluators.deepeval", "deepeval", "deepeval"),
    ("queries.evaluators.ragas", "ragas", "ragas"),
]


@pytest.mark.parametrize(("module", "extra", "framework"), FRAMEWORKS)
def test_an_adapter_names_the_extra_that_it_lacks(
    module: str, extra: str, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == framework]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, framework, None)
    # A package that has needs of its own is imported anew, with the module in it.
    for name in (module, module.rpartition(".")[0]):
        monkeypatch.delitem(sys.modules, name, raising=False)
    message = rf"[a-z_.]+ needs .+ Run: pip install 'graph-service\[{extra}\]'"
    with pytest.raises(ImportError, match=message) as raised:
        importlib.import_module(module)
    assert (raised.value.name or "").partition(".")[0] == framework
