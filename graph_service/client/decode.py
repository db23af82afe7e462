"""GraphQL responses to the model's types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from graph_service.client.errors import error_of
from graph_service.client.types import (
    ClassDescription,
    ClientComparison,
    ClientViewChange,
    FoundItem,
    GraphDescription,
    Item,
    ItemRelation,
    ItemRelations,
    ItemStatement,
    ItemStatements,
    Neighbour,
    RelationDescription,
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
    RegionStats,
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
from graph_service.model.statement import Rank, Reference, Snak
from graph_service.model.stored_view import (
    NAMES_CHANGED,
    Deviation,
    StoredView,
    ViewReport,
    ViewState,
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
from graph_service.model.view_spec import ChangeKind, ViewSpec

Json = Mapping[str, Any]


def decode_value(data: Json, /) -> Value:
    """Returns the typed value of a ``Value`` object."""
    match data["__typename"]:
        case "ItemValue":
            return EntityValue(data["item"]["itemId"])
        case "StringValue":
            return StringValue(data["content"], data["datatype"])
        case "MonolingualTextValue":
            return MonolingualText(data["text"], data["language"])
        case "QuantityValue":
            unit = data["unit"]["itemId"] if data["unit"] else None
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
    return tuple(
        Snak(part["property"]["propertyId"], decode_value(part["value"])) for part in parts
    )


def decode_triple(subject: Json, data: Json, stands_for: Sequence[str] = (), /) -> Triple:
    """Returns a triple of its subject and its statement."""
    return Triple(
        statement_id=data["statementId"],
        head=_ref(subject),
        relation=_relation(data["property"]),
        value=decode_value(data["value"]),
        value_label=data["valueText"],
        rank=Rank[data["rank"]],
        qualifiers=_snaks(data.get("qualifiers", [])),
        references=tuple(Reference(_snaks(group["parts"])) for group in data.get("references", [])),
        stands_for=tuple(stands_for),
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
        decode_triple(subject, data["statement"], data["standsFor"]),
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
                decode_triple(step["subject"], step["statement"], step["standsFor"]),
                step["reversed"],
                _change(step["subject"], step.get("change")),
            )
            for step in data["steps"]
        ),
        data["score"],
        data["originId"],
        tuple(ScorePart(part["name"].lower(), part["amount"]) for part in data["parts"]),
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
                decode_triple(one["subject"], one["statement"], one["standsFor"]),
                _change(one["subject"], one.get("change")),
            )
            for one in data["basis"]
        ),
        statements=data["statements"],
        truncated=data["truncated"],
    )


def _ref(data: Json) -> EntityRef:
    return EntityRef(data["itemId"], data["label"], data.get("description"))


def _relation(data: Json) -> RelationRef:
    return RelationRef(data["propertyId"], data["label"])


def _spec(data: Json | None) -> str | None:
    spec: str | None = None if data is None else data["json"]
    return spec


def decode_cuts(rows: Sequence[Json], /) -> tuple[Cut, ...]:
    """Returns what limits left out."""
    return tuple(
        Cut(
            row["what"].lower(),
            CutReason[row["reason"]],
            row["limit"],
            row["kept"],
            row["total"],
        )
        for row in rows
    )


def decode_timings(rows: Sequence[Json], /) -> dict[str, float]:
    """Returns milliseconds by stage."""
    return {row["stage"]: row["milliseconds"] for row in rows}


def decode_named(rows: Sequence[Json], /) -> dict[str, Any]:
    """Returns named values by name."""
    return {
        row["name"]: row["text"] if row["type"] == "TEXT" else orjson.loads(row["text"])
        for row in rows
    }


def _region(data: Json) -> RegionReport:
    def stats(figures: Json) -> RegionStats:
        return RegionStats(
            figures["nodes"],
            figures["edges"],
            figures["meanDegree"],
            figures["clustering"],
            figures["density"],
        )

    return RegionReport(stats(data["before"]), stats(data["after"]))


def decode_result(data: Json, /) -> RetrievalResult:
    """Returns the result of a ``Result`` object."""
    source = data["provenance"]
    common: dict[str, Any] = {
        "id": data["resultId"],
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
        "truncated": decode_cuts(data["truncated"]),
        "tokens": Tokens(data["tokens"]["count"], data["tokens"]["tokenizer"]),
        "region": _region(data["region"]) if data["region"] else None,
        "provenance": Provenance(
            graph=source["graph"],
            edition=source["edition"],
            fingerprints=Fingerprints(source["edgesFingerprint"], source["contentFingerprint"]),
            view_id=source["viewId"],
            view_spec=_spec(source["viewSpec"]),
            strategy=Strategy[source["strategy"]],
            preset=source["preset"],
            parameters=orjson.loads(source["parametersJson"]),
            embedder=source["embedder"],
            solver=source["solver"],
            version=source["version"],
        ),
        "timings_ms": decode_timings(data["timings"]),
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
        view_spec=_spec(data["viewSpec"]),
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
        options=decode_named(data["options"]),
        tool_version=data["toolVersion"],
        report=decode_named(data["report"]),
        unfinished=UnfinishedLoad(
            edition=unfinished["edition"],
            owner=unfinished["owner"],
            source=unfinished["source"],
            started_at=unfinished["startedAt"],
            statements=unfinished["statements"],
            lease_expires_at=unfinished["leaseExpiresAt"],
        )
        if unfinished
        else None,
    )


def decode_item(data: Json, /) -> Item:
    """Returns an item with its terms."""
    return Item(
        id=data["itemId"],
        label=data["label"],
        description=data["description"],
        aliases=tuple(data["aliases"]),
        label_languages=tuple(data["labelLanguages"]),
        url=data["url"],
    )


def decode_hit(edge: Json, /) -> FoundItem:
    """Returns an item found by name."""
    return FoundItem(
        _ref(edge["node"]), edge["matched"], edge["languageCode"], edge["isAlias"], edge["score"]
    )


def decode_item_statement(subject: Json, edge: Json, /) -> ItemStatement:
    """Returns a statement of an item."""
    return ItemStatement(decode_triple(subject, edge["node"]), _change(subject, edge["change"]))


def decode_item_statements(item: Json, /) -> ItemStatements:
    """Returns a page of the statements of an item."""
    page = item["statements"]
    edges = page["edges"]
    return ItemStatements(
        item=_ref(item),
        statements=tuple(decode_item_statement(edge["node"]["subject"], edge) for edge in edges),
        cursors=tuple(edge["cursor"] for edge in edges),
        total=page["totalCount"],
        next=end_cursor(page),
    )


def decode_item_relations(item: Json, /) -> ItemRelations:
    """Returns a page of the relations of an item."""
    page = item["relations"]
    edges = page["edges"]
    return ItemRelations(
        item=_ref(item),
        relations=tuple(
            ItemRelation(_relation(edge["node"]), edge["direction"] == "OUTGOING", edge["count"])
            for edge in edges
        ),
        cursors=tuple(edge["cursor"] for edge in edges),
        total=page["totalCount"],
        next=end_cursor(page),
    )


def decode_description(graph: Json, /) -> GraphDescription:
    """Returns what a graph is about."""
    return GraphDescription(
        info=decode_graph(graph),
        classes=tuple(
            ClassDescription(_ref(edge["node"]), edge["count"], tuple(map(_ref, edge["examples"])))
            for edge in graph["classes"]["edges"]
        ),
        class_count=graph["classes"]["totalCount"],
        relations=tuple(
            RelationDescription(
                _relation(edge["node"]),
                edge["count"],
                edge["example"] and decode_triple(edge["example"]["subject"], edge["example"]),
            )
            for edge in graph["relations"]["edges"]
        ),
    )


def end_cursor(page: Json, /) -> str | None:
    """Returns the cursor of the page after one; None after the last."""
    info = page["pageInfo"]
    cursor: str | None = info["endCursor"] if info["hasNextPage"] else None
    return cursor


def decode_neighbour(edge: Json, /) -> Neighbour:
    """Returns a neighbour of an item."""
    statement = edge["statement"]
    subject = statement["subject"]
    return Neighbour(
        _ref(edge["node"]),
        decode_triple(subject, statement),
        edge["direction"] == "OUTGOING",
        _change(subject, edge["change"]),
    )


def decode_view(data: Json, /) -> StoredView:
    """Returns a stored view."""
    report, deviation = data["report"], data["deviation"]
    counts = report["counts"]
    return StoredView(
        id=data["viewId"],
        name=data["name"],
        graph=data["graph"],
        edges=data["edgesFingerprint"],
        spec=ViewSpec.from_json(data["spec"]["json"]),
        report=ViewReport(
            scope_edges=report["scopeEdges"],
            level_asked=report["levelAsked"],
            level_reached=report["levelReached"],
            counts={
                "removed": counts["removed"],
                "relation-changed": counts["relationChanged"],
                "value-changed": counts["valueChanged"],
                "added": counts["added"],
                **({"head-changed": counts["headChanged"]} if counts["headChanged"] else {}),
                **({"rank-changed": counts["rankChanged"]} if counts["rankChanged"] else {}),
                **({NAMES_CHANGED: counts["namesChanged"]} if counts["namesChanged"] else {}),
            }
            if counts
            else {},
            unavoidable=report["unavoidable"],
            notes=tuple(report["notes"]),
        ),
        note=data["note"],
        created_at=data["createdAt"],
        state=ViewState[data["state"]],
        progress=data["progress"],
        stale=data["stale"],
        deviation=_deviation(deviation) if deviation else None,
        error=data["error"],
    )


def _deviation(data: Json) -> Deviation:
    return Deviation(
        ats=data["ats"],
        ats_base=data["atsBase"],
        ats_edges=data["atsEdges"],
        unscored=data["unscored"],
        scorer=data["scorer"],
        sc2d=data["sc2d"],
        sd2=data["sd2"],
        scorer_accuracy=data["scorerAccuracy"],
        scorer_calibration_error=data["scorerCalibrationError"],
    )


def decode_view_change(data: Json, /) -> ClientViewChange:
    """Returns one difference between a view and its base."""
    subject = data["subject"]
    return ClientViewChange(
        kind=data["kind"].lower().replace("_", "-"),
        words=data["words"],
        before=decode_triple(subject, data["before"]) if data["before"] else None,
        after=decode_triple(subject, data["after"]) if data["after"] else None,
    )
