"""GraphQL responses to the model's types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from graph_service.client.errors import error_of
from graph_service.client.types import (
    ClientComparison,
    ClientViewChange,
    FoundItem,
    Item,
    ItemStatement,
)
from graph_service.errors import GraphServiceError
from graph_service.model.answer import AnswerKind, ConstraintKind, ReadConstraint
from graph_service.model.graph_info import GraphCounts, GraphInfo, UnfinishedLoad
from graph_service.model.identity import Fingerprints
from graph_service.model.limits import Cut, CutReason
from graph_service.model.result import (
    Answer,
    BasisStatement,
    EntityRef,
    LinkedEntity,
    PathsResult,
    Prizes,
    Provenance,
    RegionReport,
    RelationRef,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    ScorePart,
    Status,
    Step,
    Strategy,
    SubgraphResult,
    Tokens,
    Triple,
    TripleChange,
    TripletsResult,
)
from graph_service.model.serialise import from_plain
from graph_service.model.statement import Rank, Reference, Snak
from graph_service.model.stored_view import Deviation, StoredView, ViewReport, ViewState
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
from graph_service.model.view_spec import ChangeKind, ViewSpec

Json = Mapping[str, Any]


def decode_value(data: Json, /) -> Value:
    """Returns the typed value of a ``Value`` object."""
    match data["__typename"]:
        case "ItemValue":
            return EntityValue(data["item"]["id"])
        case "StringValue":
            return StringValue(data["content"], data["datatype"])
        case "MonolingualTextValue":
            return MonolingualText(data["text"], data["language"])
        case "QuantityValue":
            unit = data["unit"]["id"] if data["unit"] else None
            return Quantity(data["amount"], unit, data["lowerBound"], data["upperBound"])
        case "TimeValue":
            return Time(
                data["time"],
                data["precision"],
                data["calendarModel"],
                data["before"],
                data["after"],
                data["timezone"],
            )
        case "GlobeCoordinateValue":
            return Coordinates(
                data["latitude"],
                data["longitude"],
                data["altitude"],
                data["coordinatePrecision"],
                data["globe"],
            )
        case "UrlValue":
            return Iri(data["url"])
        case "SomeValue":
            return SomeValue()
        case "NoValue":
            return NoValue()
        case _:
            return UnknownValue(data["datatype"], data["json"])


def _snaks(parts: list[Json]) -> tuple[Snak, ...]:
    return tuple(Snak(part["property"]["id"], decode_value(part["value"])) for part in parts)


def decode_triple(subject: Json, data: Json, /) -> Triple:
    """Returns a triple of its subject and its statement."""
    return Triple(
        statement_id=data["id"],
        head=EntityRef(subject["id"], subject["label"], subject.get("description")),
        relation=RelationRef(data["property"]["id"], data["property"]["label"]),
        value=decode_value(data["value"]),
        value_label=data["valueText"],
        rank=Rank[data["rank"]],
        qualifiers=_snaks(data.get("qualifiers", [])),
        references=tuple(Reference(_snaks(group["parts"])) for group in data.get("references", [])),
        stands_for=tuple(data.get("standsFor", [])),
    )


def _change(subject: Json, data: Json | None) -> TripleChange:
    if data is None:
        return TripleChange()  # It was not asked for: there is no view.
    base = data["baseStatement"]
    return TripleChange(
        ChangeKind[data["kind"]], decode_triple(subject, base) if base is not None else None
    )


def _scored(data: Json) -> ScoredTriple:
    subject = data["subject"]
    return ScoredTriple(
        decode_triple(subject, data["statement"]),
        data["score"],
        Prizes(*data["prizes"]),
        _change(subject, data.get("change")),
        data["originId"],
        _constraints(data["constraints"]),
    )


def _path(data: Json) -> ScoredPath:
    return ScoredPath(
        tuple(
            Step(
                decode_triple(step["subject"], step["statement"]),
                step["reversed"],
                _change(step["subject"], step.get("change")),
            )
            for step in data["steps"]
        ),
        data["score"],
        data["originId"],
        tuple(ScorePart(name, amount) for name, amount in data["parts"].items()),
        _constraints(data["constraints"]),
    )


def _constraints(read: Sequence[Json]) -> tuple[ReadConstraint, ...]:
    return tuple(
        ReadConstraint(one["text"], ConstraintKind[one["kind"]], one["met"]) for one in read
    )


def _answer(data: Json) -> Answer:
    return Answer(
        kind=AnswerKind[data["kind"]],
        value=data["value"],
        entities=tuple(map(_ref, data["items"])),
        basis=tuple(
            BasisStatement(
                decode_triple(one["subject"], one["statement"]),
                _change(one["subject"], one.get("change")),
            )
            for one in data["basis"]
        ),
        statements=data["statements"],
        truncated=data["truncated"],
    )


def _ref(data: Json) -> EntityRef:
    return EntityRef(data["id"], data["label"], data.get("description"))


def _canonical(data: Any) -> str | None:
    if data is None:
        return None
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode()


def decode_result(data: Json, /) -> RetrievalResult:
    """Returns the result of a ``Result`` object."""
    source = data["provenance"]
    common: dict[str, Any] = {
        "id": data["id"],
        "question": data["question"],
        "status": Status[data["status"]],
        "linked": tuple(
            LinkedEntity(
                _ref(item["item"]),
                item["mention"],
                item["start"],
                item["end"],
                item["score"],
                tuple(_ref(other) for other in item["alternatives"]),
                _ref(item["swappedFor"]) if item["swappedFor"] is not None else None,
            )
            for item in data["linked"]
        ),
        "truncated": tuple(
            Cut(cut["what"], CutReason(cut["reason"]), cut["limit"], cut["kept"], cut["total"])
            for cut in data["truncated"]
        ),
        "tokens": Tokens(data["tokens"]["count"], data["tokens"]["tokenizer"]),
        "region": from_plain(RegionReport, data["region"]) if data["region"] else None,
        "provenance": Provenance(
            graph=source["graph"],
            edition=source["edition"],
            fingerprints=Fingerprints(source["edgesFingerprint"], source["contentFingerprint"]),
            view_id=source["viewId"],
            view_spec=_canonical(source["viewSpec"]),
            strategy=Strategy[source["strategy"]],
            preset=source["preset"],
            parameters=source["parameters"],
            embedder=source["embedder"],
            solver=source["solver"],
            version=source["version"],
        ),
        "timings_ms": data["timings"],
        "relevance": data["relevance"],
        "constraints": _constraints(data["constraints"]),
        "answer": _answer(data["answer"]) if data["answer"] is not None else None,
    }
    match data["__typename"]:
        case "TripletsResult":
            scored = data["items"] if "items" in data else data["scored"]
            return TripletsResult(**common, items=tuple(_scored(item) for item in scored))
        case "PathsResult":
            paths = data["items"] if "items" in data else data["paths"]
            return PathsResult(**common, items=tuple(_path(item) for item in paths))
        case _:
            scored = data["items"] if "items" in data else data["scored"]
            return SubgraphResult(
                **common,
                items=tuple(_scored(item) for item in scored),
                objective=data["objective"],
                gap=data["gap"],
            )


def decode_outcome(data: Json, /) -> RetrievalResult | GraphServiceError:
    """Returns a question's result, or its error as the class of its code."""
    error = data["error"]
    return decode_result(data["result"]) if error is None else error_of(error["message"], error)


def decode_comparison(data: Json, /) -> ClientComparison:
    """Returns one row of a comparison."""
    return ClientComparison(
        view_id=data["viewId"],
        view_spec=_canonical(data["viewSpec"]),
        result=decode_result(data["result"]),
        lost=tuple(data["lost"]),
        gained=tuple(data["gained"]),
        changed=tuple(data["changed"]),
    )


def decode_graph(data: Json, /) -> GraphInfo:
    """Returns a graph."""
    unfinished = data["unfinishedLoad"]
    return GraphInfo(
        name=data["name"],
        edition=data["edition"],
        counts=GraphCounts(data["items"], data["statements"], data["properties"], data["literals"]),
        fingerprints=Fingerprints(data["edgesFingerprint"], data["contentFingerprint"]),
        source=data["source"],
        published_at=data["publishedAt"],
        options=data["options"],
        tool_version=data["toolVersion"],
        report=data["report"],
        unfinished=from_plain(UnfinishedLoad, unfinished) if unfinished else None,
    )


def decode_item(data: Json, /) -> Item:
    """Returns an item with its terms."""
    return Item(
        id=data["id"],
        label=data["inLanguage"] or data["label"],
        description=data["description"],
        aliases=tuple(data["aliases"]),
        label_languages=tuple(data["labelLanguages"]),
    )


def decode_hit(data: Json, /) -> FoundItem:
    """Returns an item found by name."""
    return FoundItem(
        _ref(data["item"]), data["matched"], data["languageCode"], data["isAlias"], data["score"]
    )


def decode_item_statement(subject: Json, data: Json, /) -> ItemStatement:
    """Returns a statement of an item."""
    return ItemStatement(
        decode_triple(subject, data["statement"]), _change(subject, data["change"])
    )


def decode_view(data: Json, /) -> StoredView:
    """Returns a stored view."""
    return StoredView(
        id=data["id"],
        name=data["name"],
        graph=data["graph"],
        edges=data["edgesFingerprint"],
        spec=ViewSpec.from_json(orjson.dumps(data["spec"])),
        report=from_plain(ViewReport, data["report"]),
        note=data["note"],
        created_at=data["createdAt"],
        state=ViewState[data["state"]],
        progress=data["progress"],
        stale=data["stale"],
        deviation=from_plain(Deviation, data["deviation"]) if data["deviation"] else None,
        error=data["error"],
    )


def decode_view_change(data: Json, /) -> ClientViewChange:
    """Returns one difference between a view and its base."""
    subject = data["subject"]
    return ClientViewChange(
        kind=data["kind"],
        words=data["words"],
        before=decode_triple(subject, data["before"]) if data["before"] else None,
        after=decode_triple(subject, data["after"]) if data["after"] else None,
    )
