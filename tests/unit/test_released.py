"""What the last release promised: its schema still holds, and its stores are read and upgraded."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from graphs import load_graph
from hatchling.builders.sdist import SdistBuilder
from word_vectors import Letters

from graph_service import __version__, open_service
from graph_service.api.schema import print_schema
from graph_service.model.request import ViewRef
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.settings import Settings
from graph_service.store import open_store
from graph_service.store.page_views import read_page_views
from tools.release import FACTS, STORE, notes_of
from tools.released_schema import CHANGELOG, RELEASED, ROOT, breaks, unnamed

BEFORE = """
type Query { item(id: ID!): Item  old: Int  kinds: [Kind]  it: Named  all: Any }
interface Named { label: String }
type Item implements Named { label: String!  size: Int }
type Other { label: String }
union Any = Item | Other
enum Kind { A B }
input Asked { limit: Int }
"""


def after(*changes: tuple[str, str]) -> str:
    text = BEFORE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("old", "new", "coordinates"),
    [
        ("  old: Int", "", {"Query.old"}),
        ("size: Int", "size: String", {"Item.size"}),
        ("label: String!  size", "label: String  size", {"Item.label"}),
        ("enum Kind { A B }", "enum Kind { A }", {"Kind.B"}),
        ("union Any = Item | Other", "union Any = Item", {"Any.Other"}),
        ("{ limit: Int }", "{ limit: Int  preset: String! }", {"Asked.preset"}),
        ("{ limit: Int }", "{ limit: String }", {"Asked.limit"}),
        ("item(id: ID!)", "item(id: ID!, graph: ID!)", {"Query.item"}),
        ("item(id: ID!)", "item(id: ID!, itemId: ID!)", {"Query.item"}),
        ("type Item implements Named", "type Item", {"Item"}),
        ("input Asked { limit: Int }", "", {"Asked"}),
        ("input Asked { limit: Int }", "type Asked { limit: Int }", {"Asked"}),
    ],
)
def test_what_can_break_a_client_is_named_by_type_and_field(
    old: str, new: str, coordinates: set[str]
) -> None:
    found = breaks(BEFORE, after((old, new)))
    assert {one.coordinate for one in found} == coordinates
    changelog = "# C\n\n## [Unreleased]\n\n- {}\n\n## [0.1.0]\n\n- `Query.old`, `Item`\n"
    assert unnamed(found, changelog.format("nothing")) == found
    named = " ".join(f"`{one}`" for one in coordinates)
    assert unnamed(found, changelog.format(named)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("size: Int", "size: Int  more: Int"),
        ("size: Int", "size: Int!"),
        ("item(id: ID!)", "item(id: ID!, graph: ID = null)"),
        ("item(id: ID!)", "item(id: ID)"),
        ("enum Kind { A B }", "enum Kind { A B C }"),
        ("{ limit: Int }", "{ limit: Int  preset: String }"),
    ],
)
def test_what_only_adds_breaks_nobody(old: str, new: str) -> None:
    assert breaks(BEFORE, after((old, new))) == []


def test_the_schema_breaks_no_client_of_the_last_release_in_silence() -> None:
    found = breaks(RELEASED.read_text("utf-8"), print_schema())
    assert unnamed(found, CHANGELOG.read_text("utf-8")) == []


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """The store that the last release wrote."""
    path = tmp_path / "store.db"
    with gzip.open(STORE) as packed, path.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return path


def test_a_store_of_the_last_release_is_read(released: Path) -> None:
    facts = json.loads(FACTS.read_text("utf-8"))
    with open_store(f"sqlite:///{released}", read_only=True) as store:
        info = store.graph("demo")
        assert info.counts.statements == facts["statements"]
        assert info.fingerprints.edges == facts["edges"]
        assert info.fingerprints.content == facts["content"]
        assert read_page_views(store, "demo").find("Q2685").mean == 2400  # type: ignore[union-attr]
        assert [one.passages for one in store.passages.sets()] == [1]
        assert [one.fault for one in store.inspect(info) if one.fault] == []


def test_a_store_of_the_last_release_is_upgraded_and_written(
    released: Path, tmp_path: Path
) -> None:
    settings = Settings(vectors=str(tmp_path / "vectors.db"), cache_dir=str(tmp_path))
    with open_service(f"sqlite:///{released}", settings=settings, embedder=Letters()) as service:
        thin = service.views.get("thin")
        assert not thin.stale
        assert (
            service.views.diff(ViewRef(id=thin.id), graph="demo", first=5)[1]
            == thin.report.counts["removed"]
        )
        again = service.views.create(ViewSpec(Method.EDGE_DELETION, level=0.1), graph="demo")
        assert again.id == thin.id
        load_graph(service.store, "demo", [("Q1", "P1", "Q2")])
        assert service.graph("demo").edition == "demo@2"
        assert service.views.get("thin").stale


def test_the_changelog_s_newest_version_is_that_of_the_package() -> None:
    changelog = CHANGELOG.read_text("utf-8")
    assert re.findall(r"^## \[(\d.*?)\]", changelog, re.MULTILINE)[0] == __version__
    assert json.loads(FACTS.read_text("utf-8"))["tool_version"] == __version__
    notes = notes_of(__version__, changelog)
    assert notes.startswith(f"graph-service {__version__}\n\n")
    assert "## [" not in notes


@pytest.mark.parametrize("part", ["", "## [1.2.0]\n\n- One.\n", "## [1.2.0] - 2026-01-01\n\n"])
def test_a_version_without_a_dated_part_has_no_notes(part: str) -> None:
    with pytest.raises(ValueError, match=r"rename \[Unreleased\] to \[1.2.0\]"):
        notes_of("1.2.0", f"# C\n\n## [Unreleased]\n\n{part}## [1.1.0] - 2026-01-01\n\n- Old.\n")


def test_the_source_distribution_has_all_that_is_tracked_and_nothing_that_is_ignored() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    packed = {one.relative_path for one in SdistBuilder(str(ROOT)).recurse_included_files()}
    packed.add("pyproject.toml")  # In every archive, whatever else is chosen.
    assert {name for name in tracked if name and (ROOT / name).exists()} <= packed
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=ROOT, input="\n".join(sorted(packed)), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ignored.stdout == ""
