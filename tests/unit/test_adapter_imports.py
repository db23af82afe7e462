"""An adapter without its framework says which extra brings it."""

from __future__ import annotations

import importlib
import sys

import pytest

FRAMEWORKS = {"haystack": "haystack", "langchain": "langchain_core", "llamaindex": "llama_index"}


@pytest.mark.parametrize(("extra", "framework"), FRAMEWORKS.items())
def test_an_adapter_names_the_extra_that_it_lacks(
    extra: str, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == framework]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, framework, None)
    monkeypatch.delitem(sys.modules, f"graph_service.adapters.{extra}", raising=False)
    with pytest.raises(
        ImportError, match=rf"Run: pip install 'graph-service\[{extra}\]'"
    ) as raised:
        importlib.import_module(f"graph_service.adapters.{extra}")
    assert (raised.value.name or "").partition(".")[0] == framework
