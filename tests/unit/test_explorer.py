"""The files of the explorer, and how they are served; ``make test-explorer`` runs them in a browser."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from error_texts import raises
from graphql import build_schema, parse, validate
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.errors import SetupError
from graph_service.model.view_spec import TAKES, Method, Takes
from graph_service.server import explorer
from graph_service.server.app import make_app
from graph_service.server.explorer.documents import SOURCE, trusted_documents
from graph_service.server.options import ServerOptions
from queries.experiment.scoring import TITLES

ASSETS = Path(explorer.__file__).parent / "assets"
SCHEMA = Path(__file__).parents[2] / "docs" / "schema.graphql"
SENT_AT_MOST = 150_000


def client(service: Service, **options: object) -> TestClient:
    app = make_app(service, ServerOptions(**options))  # type: ignore[arg-type]
    return TestClient(app, base_url="http://localhost")


def own_scripts() -> dict[str, str]:
    return {
        name: (ASSETS / name).read_text(encoding="utf-8")
        for name in explorer.OWN
        if name.endswith(".js")
    }


def test_each_document_holds_against_the_schema() -> None:
    schema = build_schema(SCHEMA.read_text(encoding="utf-8"))
    for text in trusted_documents(SOURCE.read_text(encoding="utf-8")).values():
        assert not validate(schema, parse(text)), text


def test_the_trusted_documents_are_those_of_the_source() -> None:
    kept = json.loads((ASSETS / "documents.json").read_text(encoding="utf-8"))
    assert kept == trusted_documents(SOURCE.read_text(encoding="utf-8")), (
        "make it anew: python -m graph_service.server.explorer.documents"
    )


def test_each_operation_that_a_script_names_is_there() -> None:
    texts = trusted_documents(SOURCE.read_text(encoding="utf-8")).values()
    there = {re.findall(r"^(?:query|mutation) (\w+)", text, re.MULTILINE)[0] for text in texts}
    named = {
        name for text in own_scripts().values() for name in re.findall(r"\bask\(\s*\"(\w+)\"", text)
    }
    assert named == there


def test_pages_and_scripts_load_what_is_served() -> None:
    served = {*explorer.PINNED, *explorer.OWN}
    for name in explorer.ADDRESSES.values():
        page = (ASSETS / name).read_text(encoding="utf-8")
        assert set(re.findall(r'(?:src|href)="FOLDER/([^"]*)"', page)) <= served
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=", page)
    for name, text in own_scripts().items():
        imported = set(re.findall(r'^import .* from "\./([^"]+)";', text, re.MULTILINE))
        assert imported <= served, name
    kept = {path.name for path in ASSETS.iterdir()}
    assert kept - served == {*explorer.ADDRESSES.values(), "LICENSES.txt", "global.d.ts"}


@pytest.mark.parametrize("name", sorted(name for name in explorer.OWN if name.endswith(".js")))
def test_no_script_reads_text_as_html_or_as_code(name: str) -> None:
    text = (ASSETS / name).read_text(encoding="utf-8")
    for forbidden in (
        r"innerHTML",
        r"outerHTML\s*=",
        r"insertAdjacentHTML",
        r"document\.write",
        r"createContextualFragment",
        r"DOMParser",
        r"\beval\(",
        r"new Function",
        r"localStorage|sessionStorage|indexedDB|cookie",
    ):
        assert not re.search(forbidden, text), forbidden
    assert len(text.splitlines()) < 400


def test_the_page_offers_each_method_with_the_fields_that_it_takes() -> None:
    text = (ASSETS / "methods.js").read_text(encoding="utf-8")
    offered = set(re.findall(r'name: "(\w+)"', text))
    assert offered == {one.name for one in Method} - {"WITHHOLDING", "CUSTOM"}
    fields = build_schema(SCHEMA.read_text(encoding="utf-8"))
    known = {
        name
        for kind in ("ViewSpecInput", "ScopeInput")
        for name in fields.type_map[kind].fields  # type: ignore[attr-defined]
    }
    given = set(re.findall(r"give: \(\w*\) => \(\{ (\w+)", text))
    assert len(given) == len(re.findall(r"\bgive: ", text)) > 9
    assert given <= known
    for method in Method:
        if method.name in offered and (needed := TAKES.get(method, Takes()).needed):
            assert set(needed) == {"entity_ids", "answer_ids"}
            (about,) = re.findall(rf'name: "{method.name}".*', text)
            assert "aims: true" in about


def test_calls_name_each_field_as_python_and_the_command_line_do() -> None:
    """The browser's tests run some calls; the table of options has all names."""
    text = (ASSETS / "calls.js").read_text(encoding="utf-8")
    fields = re.findall(r'(\w+): \["(\w+)", "(--[\w-]+)"\]', text)
    options = (SCHEMA.parent / "reference" / "options.md").read_text(encoding="utf-8")
    for name, in_python, option in fields:
        assert f"| `{in_python}` | `{option}` | `{name}` |" in options, name
    methods = (ASSETS / "methods.js").read_text(encoding="utf-8")
    given = re.findall(r"give: \(\w*\) => \(\{ (\w+)", methods)
    assert {*given, "level", "itemIds", "answerIds", "aroundItemIds"} <= {one[0] for one in fields}


def test_the_page_names_each_score_as_the_report_does() -> None:
    text = (ASSETS / "score_names.js").read_text(encoding="utf-8")
    words = re.search(r"export const SCORES = \{(.*?)\};", text, re.DOTALL)
    assert words
    assert dict(re.findall(r'(\w+): "([^"]+)"', words[1])) == dict(TITLES)


def test_all_that_a_browser_fetches_is_small() -> None:
    names = (*explorer.PINNED, *explorer.OWN, *explorer.ADDRESSES.values())
    sent = sum(len(gzip.compress((ASSETS / name).read_bytes(), 3)) for name in names)
    assert sent <= SENT_AT_MOST


def test_pages_are_served_without_a_key_under_a_strict_policy(demo_service: Service) -> None:
    asked = client(demo_service, api_key="secret")
    for address in explorer.ADDRESSES:
        page = asked.get(address)
        assert page.status_code == 200
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        loaded = re.findall(r'(?:src|href)="(explorer/[^"]*)"', page.text)
        assert loaded
        for name in loaded:
            assert re.fullmatch(r"explorer/[0-9a-f]{16}/[\w.-]+", name)
            file = asked.get(f"/{name}")
            assert file.status_code == 200
            assert "immutable" in file.headers["cache-control"]
        assert asked.get(address, headers={"host": "elsewhere"}).status_code == 421
        assert asked.get(f"/{loaded[0]}", headers={"host": "elsewhere"}).status_code == 421
    folder = loaded[0].rsplit("/", 1)[0]
    for other in ("explore.html", "LICENSES.txt", "global.d.ts", "..%2f__init__.py"):
        assert asked.get(f"/{folder}/{other}").status_code == 404


def test_the_pages_can_be_turned_off(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise SetupError("the explorer can't be shown")

    monkeypatch.setattr(explorer, "read_assets", missing)
    with pytest.raises(SetupError, match="explorer"):
        make_app(demo_service)
    for address in explorer.ADDRESSES:
        assert client(demo_service, explorer=False).get(address).status_code == 404


def test_no_server_starts_whose_pages_would_be_broken(tmp_path: Path) -> None:
    for file in ASSETS.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert explorer.read_assets(tmp_path).digest == explorer.read_assets().digest
    explorer.read_assets.cache_clear()
    (tmp_path / "d3-force.min.js").write_bytes(b"changed")
    with raises(SetupError) as changed:
        explorer.read_assets(tmp_path)
    assert "--no-explorer" in str(changed.value)
    (tmp_path / "main.js").unlink()
    with raises(SetupError):
        explorer.read_assets(tmp_path)


def test_the_licences_of_what_others_wrote_are_there() -> None:
    text = (ASSETS / "LICENSES.txt").read_text(encoding="utf-8")
    for name, version in explorer.VERSIONS.items():
        assert f"== {name} {version}" in text
    assert text.count("Copyright 2010-2021 Mike Bostock") == len(explorer.VERSIONS)
