"""Every value written by an export is read back the same, or is counted as left out (S8)."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_service.export.lines import LinesWriter
from graph_service.export.ntriples import NTriplesWriter
from graph_service.export.report import Omissions
from graph_service.export.tables import KgtkWriter, TsvWriter
from graph_service.model.graph_info import GraphCounts, GraphInfo
from graph_service.model.identity import Fingerprints
from graph_service.model.statement import (
    Entity,
    Rank,
    Reference,
    Snak,
    Statement,
    make_statement,
)
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    UnknownValue,
    Value,
)
from loaders.formats import Format, recognise_source
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.readers import read
from loaders.source import open_source

NOTHING = Fingerprints("0" * 48, "0" * 48)
INFO = GraphInfo(
    "test", "test@1", GraphCounts(0, 0, 0, 0), NOTHING, "test", "2026-01-01T00:00:00Z", {}, "0", {}
)

texts = st.text(
    st.one_of(
        st.sampled_from(list("\\'\"|\t\n\r @^<>#%_:/ .,é京\u2028\x7f\x85")),
        st.characters(exclude_categories=["Cs"], exclude_characters="\x00"),
    ),
    min_size=1,
    max_size=12,
)
wikidata_ids = st.sampled_from(["Q42", "P31", "L525-F2", "Q1", "E7", "M3"])
iris = st.sampled_from(
    [
        "http://dbpedia.org/resource/Rome",
        "http://example.org/a b",
        "http://example.org/é'",
        "http://www.wikidata.org/prop/P31",
        "urn:graph-service:x",
        "https://commons.wikimedia.org/wiki/Special:FilePath/A_b.png",
        "_:0123456789abcdef0123456789abcdef",
        "dbr:Rome",
        "http://[",
        "a:%zz",
    ]
)


def is_id(text: str) -> bool:
    from graph_service.model.identity import normalise_entity_id

    return normalise_entity_id(text) == text


ids = st.one_of(wikidata_ids, iris, texts.filter(is_id))
relations = st.one_of(
    st.sampled_from(
        [
            "P31",
            "label",
            "http://www.w3.org/2000/01/rdf-schema#label",
            "http://www.w3.org/2002/07/owl#sameAs",
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
            "http://dbpedia.org/ontology/birthPlace",
        ]
    ),
    ids,
)
languages = st.sampled_from(["en", "zh-hant", "mul", "be-x-old", "x_y", "toolonglanguage"])
numbers = st.sampled_from(["1", "-1.50", "0.0025", "12345678901234567890", "1e500", "1E-400", ".5"])
years = st.sampled_from(["1952", "0001", "-0109", "-13798000000", "10000", "00012"])
days = st.sampled_from(["-00-00", "-03-00", "-03-11", "-01-01", "-02-30"])
clocks = st.sampled_from(["T00:00:00Z", "T12:34:56Z"])
floats = st.one_of(
    st.floats(-180, 180, allow_nan=False), st.sampled_from([0.0, 51.507222, -0.1275, 1e-05])
)
values: st.SearchStrategy[Value] = st.one_of(
    st.builds(EntityValue, ids),
    st.builds(StringValue, texts),
    st.builds(
        StringValue,
        texts,
        st.sampled_from(
            [
                "external-id",
                "commonsMedia",
                "boolean",
                "math",
                "http://example.org/type",
                "http://www.w3.org/2001/XMLSchema#anyURI",
            ]
        ),
    ),
    st.sampled_from([StringValue("true", "boolean"), StringValue("x", "no iri: at all")]),
    st.builds(MonolingualText, texts, languages),
    st.builds(
        Quantity,
        numbers,
        st.sampled_from([None, "Q11573", "%", "http://example.org/unit", "e5"]),
        st.one_of(st.none(), numbers),
        st.one_of(st.none(), numbers),
    ),
    st.builds(
        Time,
        st.builds(lambda *parts: "".join(parts), years, days, clocks),
        st.integers(0, 14),
        st.sampled_from(["Q1985727", "Q1985786"]),
        st.sampled_from([0, 0, 1]),
        st.sampled_from([0, 0, 2]),
        st.sampled_from([0, 0, 60, -330]),
    ),
    st.builds(
        Coordinates,
        floats,
        floats,
        st.sampled_from([None, 10.0]),
        st.sampled_from([None, 1e-05]),
        st.sampled_from(["Q2", "Q405", "http://example.org/globe"]),
    ),
    st.builds(Iri, st.one_of(iris, texts)),
    st.just(SomeValue()),
    st.just(NoValue()),
    st.just(UnknownValue("musical-notation", '{"value":"c"}')),
)
snaks = st.builds(Snak, relations, values)
guids = st.just("Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9")
statements = st.builds(
    lambda head, relation, value, **fields: make_statement(head, relation, value, **fields),
    ids,
    relations,
    values,
    id=st.one_of(st.none(), st.none(), guids),
    rank=st.sampled_from([Rank.NORMAL, Rank.NORMAL, Rank.PREFERRED, Rank.DEPRECATED]),
    qualifiers=st.lists(snaks, max_size=2),
    references=st.lists(
        st.builds(lambda parts: Reference(tuple(parts)), st.lists(snaks, max_size=2)), max_size=1
    ),
    context=st.one_of(st.none(), st.none(), iris),
)


class Exported:
    """What the writers ask of the graph that is written."""

    info = INFO
    view_id = None


def write(format_: str, statement: Statement) -> tuple[bytes, Omissions, TsvWriter | None]:
    out, omissions = io.BytesIO(), Omissions()
    tsv: TsvWriter | None = None
    writer: LinesWriter | KgtkWriter | TsvWriter | NTriplesWriter
    if format_ == "jsonl":
        writer = LinesWriter(out, Exported())  # type: ignore[arg-type]
    elif format_ == "kgtk":
        writer = KgtkWriter(out, omissions)
    elif format_ == "tsv":
        writer = tsv = TsvWriter(out, None, omissions)
    else:
        writer = NTriplesWriter(out, Exported(), omissions, quads=format_ == "nquads")  # type: ignore[arg-type]
    writer.statement(statement)
    writer.finish(NOTHING)
    return out.getvalue(), omissions, tsv


def read_back(path: Path, options: LoadOptions, format_: Format | None) -> list[Parsed]:
    with open_source(path) as source:
        return list(read(format_ or recognise_source(source), source, options, {}))


@pytest.mark.parametrize("format_", ["jsonl", "ntriples", "nquads", "kgtk", "tsv"])
@settings(max_examples=250)
@given(statement=statements)
def test_a_statement_comes_back_or_is_counted(
    tmp_path_factory: pytest.TempPathFactory, format_: str, statement: Statement
) -> None:
    """S8: nothing is left out in silence; jsonl leaves out nothing at all."""
    data, omissions, tsv = write(format_, statement)
    suffix = {"ntriples": "nt", "nquads": "nq"}.get(format_, format_)
    path = tmp_path_factory.getbasetemp() / f"statement.{suffix}"
    path.write_bytes(data)
    options = LoadOptions()
    named = {"nquads": Format.NQUADS, "ntriples": Format.NTRIPLES, "kgtk": Format.KGTK}
    if tsv is not None:
        options = LoadOptions(
            columns=("head", "relation", "tail", "id", "rank", "language", "qualifiers"),
            literal_relations=tuple(tsv.literal_relations),
        )
        named["tsv"] = Format.TSV
    parts = read_back(path, options, named.get(format_))
    assert [reject for part in parts for reject in part.rejects] == []
    back = [item for part in parts for item in part.statements]
    lost = any(row.edges for row in omissions.rows())
    if format_ == "jsonl":
        assert back == [statement]
    elif not lost:
        assert [edge_of(item) for item in back] == [edge_of(statement)]
    if not omissions.rows():
        assert back == [statement]


def edge_of(item: Statement) -> tuple[object, ...]:
    """What the ``edges`` fingerprint covers."""
    return item.id, item.head, item.relation, item.value, item.rank


terms = st.dictionaries(languages, texts, max_size=2)


@settings(max_examples=150)
@given(
    entity=st.builds(
        Entity,
        ids,
        labels=terms,
        descriptions=terms,
        aliases=st.dictionaries(languages, st.lists(texts, min_size=1).map(tuple), max_size=2),
        datatype=st.one_of(st.none(), st.just("wikibase-item")),
        redirect=st.one_of(st.none(), ids),
        revision=st.one_of(st.none(), st.integers(0, 2**40)),
        same_as=st.lists(ids, max_size=2).map(tuple),
    )
)
def test_an_entity_comes_back_whole_from_json_lines(
    tmp_path_factory: pytest.TempPathFactory, entity: Entity
) -> None:
    out = io.BytesIO()
    writer = LinesWriter(out, Exported())  # type: ignore[arg-type]
    writer.entity(entity)
    writer.finish(NOTHING)
    path = tmp_path_factory.getbasetemp() / "entity.jsonl"
    path.write_bytes(out.getvalue())
    parts = read_back(path, LoadOptions(), None)
    assert [reject for part in parts for reject in part.rejects] == []
    assert [item for part in parts for item in part.entities] == [entity]
