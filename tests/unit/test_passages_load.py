"""Loading passages: whole or not at all, resumed anywhere, linked, counted (L6)."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest
from graphs import load_graph

import loaders.progress
from graph_service.errors import GraphNotFoundError, InputError
from graph_service.link import link_title
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.passage import Passage
from graph_service.model.statement import Entity
from graph_service.service.passages import TitleLinker
from graph_service.store.passages import PassageSet
from graph_service.store.protocol import Store
from loaders.passages import load as module
from loaders.passages.load import PassageOptions, PassageReport, load_passages

ENTITIES = [
    Entity("Q1", labels={"en": "Mercury"}),
    Entity("Q2", labels={"en": "Mercury"}),
    Entity("Q3", labels={"en": "Mercury"}),
    Entity("Q4", labels={"en": "planet"}),
    Entity("Q5", labels={"en": "god"}),
    Entity("Q6", labels={"en": "Rome"}, aliases={"en": ("Mercury",)}),
    Entity("Q7", labels={"en": "Caput Mundi"}, same_as=("http://dbpedia.org/resource/Rome",)),
    Entity("Q8", redirect="Q4"),
]
STATEMENTS = [("Q1", "P31", "Q4"), ("Q2", "P31", "Q5"), ("Q3", "P1", "Q6"), ("Q3", "P2", "Q6")]


@pytest.fixture
def graph(tmp_store: Store) -> str:
    load_graph(tmp_store, "g", STATEMENTS, ENTITIES)
    return "g"


def linker_of(store: Store, graph: str) -> TitleLinker:
    info = store.graph(graph)
    return TitleLinker(store, info, store.snapshot(info))


def load(
    store: Store, path: Path, options: PassageOptions | None = None, **more: object
) -> PassageReport:
    return load_passages(
        path,
        store=store,
        graph="g",
        linker=linker_of(store, "g"),
        options=options or PassageOptions(rejects_path=path.parent / "rejects.jsonl"),
        **more,  # type: ignore[arg-type]
    )


def kept(store: Store, one: PassageSet | None = None) -> list[Passage]:
    sets = [one] if one else store.passages.sets(graph="g")
    return [item for each in sets for chunk in store.passages.scan(each.number) for item in chunk]


def test_documents_become_linked_passages(tmp_store: Store, graph: str, tmp_path: Path) -> None:
    """L6: title, source, entity and at most 100 words each; counts in the report."""
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"title": "Mercury", "text": "It is a planet.", "source": "s"}\n'
        '{"title": "T", "text": "Given.", "entity": "Q8"}\n'
        '{"title": "Rome", "text": "' + "Word " * 250 + '"}\n'
        '{"title": "Nobody", "text": "Unknown."}\n'
        '{"title": "Nobody", "text": "Unknown."}\n'
        '{"title": "Lost", "text": "Lost.", "entity": "Q99"}\n'
        '{"title": "Empty", "text": " "}\n'
        "{bad\n"
    )
    report = load(tmp_store, path)
    found = {(item.title, item.entity, len(item.text.split())) for item in kept(tmp_store)}
    assert found == {
        ("Mercury", "Q1", 4),
        ("T", "Q4", 1),
        ("Rome", "Q7", 100),
        ("Rome", "Q7", 50),
        ("Nobody", None, 1),
        ("Lost", None, 1),
    }
    assert (report.documents, report.passages, report.linked) == (6, 8, 3)
    assert report.set is not None
    # Two of the hundred words are one passage, and the two documents of one content are another.
    assert report.set.passages == 6
    assert report.set.report["passages"] == 8
    assert not {"status", "set", "kept"} & report.set.report.keys()
    assert report.skipped == {
        module.NO_TEXT: 1,
        module.NO_ENTITY: 2,
        module.NOT_IN_GRAPH: 1,
    }
    assert (report.rejected, report.exit_code) == (1, 3)
    assert report.to_json()["kept"] == 6
    assert (tmp_path / "rejects.jsonl").read_text().count("\n") == 1
    again = load(tmp_store, path)
    assert again.set is not None
    assert again.set.fingerprint == report.set.fingerprint
    assert [one.number for one in tmp_store.passages.sets()] == [again.set.number]


@pytest.mark.parametrize(
    ("title", "context", "entity"),
    [
        ("Mercury", "The smallest planet.", "Q1"),
        ("Mercury", "A Roman god.", "Q2"),
        ("MERCURY", "", "Q3"),
        ("Mercury (planet)", "", "Q1"),
        ("Mercury (god)", "", "Q2"),
        ("Mercury (song)", "About Rome.", "Q3"),
        ("Mercury (", "", "Q3"),
        ("Mercury planet", "", None),
        ("", "planet", None),
        ("(planet)", "", "Q4"),
    ],
)
def test_titles_are_told_apart_by_the_linkers_rule(
    tmp_store: Store, graph: str, title: str, context: str, entity: str | None
) -> None:
    """K2, L6: neighbours named in the text, then label over alias, then degree, then key."""
    arrays: KnowledgeGraph = tmp_store.snapshot(tmp_store.graph(graph))
    node = link_title(title, arrays, context=context)
    found = None if node is None else arrays.node_ids[node]
    assert found == entity


def test_a_folder_of_texts(tmp_store: Store, graph: str, tmp_path: Path) -> None:
    """L6: all files below it in order of their names; pictures are passed over and counted."""
    folder = tmp_path / "docs"
    (folder / "b").mkdir(parents=True)
    (folder / "b" / "Rome.txt").write_text("Rome is old.")
    (folder / "a.txt").write_text("Text.")
    (folder / "p.png").write_bytes(b"\x00\x01")
    report = load(tmp_store, folder)
    assert report.formats == {"text": 2}
    assert report.skipped[module.NOT_TEXT] == 1
    assert {(item.title, item.entity) for item in kept(tmp_store)} == {("a", None), ("Rome", "Q7")}


def test_a_stopped_load_goes_on_where_it_was(
    tmp_store: Store, graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L6: stopped at random places again and again, it ends as an unbroken one: same set, same
    counts, same rejects; until then readers see nothing of it.
    """
    draw = random.Random(5)
    monkeypatch.setattr(loaders.progress, "PROGRESS_INTERVAL_S", 0.0)
    monkeypatch.setattr(module, "_COMMIT_PARTS", 3)
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "1.txt").write_text("\n".join(f"Sentence {n} of a text." for n in range(90)))
    lines = [f'{{"title": "Mercury", "text": "planet {n}"}}' for n in range(40)]
    (folder / "2.jsonl").write_text("\n".join([*lines, "{bad", *lines]))
    (folder / "3").write_text(
        "".join(f'<doc url="u" title="T{n}">\nT{n}\nText {n}.\n</doc>\nstray\n' for n in range(30))
    )
    options = PassageOptions(rejects_path=tmp_path / "r.jsonl", batch_size=4, max_words=12)
    whole = load(tmp_store, folder, options)
    assert whole.set is not None
    expected = (whole.set.fingerprint, whole.documents, whole.passages, dict(whole.skipped))
    rejected = (tmp_path / "r.jsonl").read_bytes()
    tmp_store.passages.delete("g")
    runs = 0
    while True:
        stop, left = threading.Event(), draw.randint(1, 60)

        def count(_: object, stop: threading.Event = stop) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                stop.set()

        report = load(tmp_store, folder, options, progress=count, stop=stop)
        runs += 1
        if report.set is not None:
            break
        assert [one.published for one in tmp_store.passages.sets()] == [False]
    assert runs > 5
    assert report.resumed
    assert (
        report.set.fingerprint,
        report.documents,
        report.passages,
        dict(report.skipped),
    ) == expected
    assert (tmp_path / "r.jsonl").read_bytes() == rejected


def test_strict_publishes_nothing(tmp_store: Store, graph: str, tmp_path: Path) -> None:
    """L6: the first reject stops the load and says where it is."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "One."}\n{bad\n')
    with pytest.raises(InputError, match=r"a\.jsonl, line 2, byte 17:"):
        load(tmp_store, path, PassageOptions(strict=True, rejects_path=tmp_path / "r"))
    assert tmp_store.passages.sets() == []


def test_what_holds_no_text_is_refused(tmp_store: Store, graph: str, tmp_path: Path) -> None:
    """L6: nothing to load is an error that says what there was."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"title": "x", "text": ""}\n{bad\n')
    with pytest.raises(InputError, match=f"1 {module.NO_TEXT}; 1 rejected"):
        load(tmp_store, path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no files"):
        load(tmp_store, tmp_path / "empty")
    with pytest.raises(InputError, match="can't be read"):
        load(tmp_store, tmp_path / "nothing")
    for options in (PassageOptions(max_words=0), PassageOptions(format="pdf")):
        with pytest.raises(InputError):
            load(tmp_store, path, options)
    with pytest.raises(GraphNotFoundError):
        load_passages(path, store=tmp_store, graph="h", linker=linker_of(tmp_store, "g"))
    assert tmp_store.passages.sets() == []


def test_a_file_that_changed_is_loaded_anew(tmp_store: Store, graph: str, tmp_path: Path) -> None:
    """L6: an interrupted load of other bytes is thrown away."""
    path = tmp_path / "a.txt"
    path.write_text("One.\n" * 5)
    stop = threading.Event()
    stop.set()
    assert load(tmp_store, path, stop=stop).set is None
    path.write_text("Two and more.\n" * 5)
    report = load(tmp_store, path)
    assert not report.resumed
    assert {item.text for item in kept(tmp_store)} == {" ".join(["Two and more."] * 5)}
