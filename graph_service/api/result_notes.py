"""What a result says of itself as GraphQL types: cuts, timings, figures and where it came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import orjson
import strawberry

from graph_service.api.enums import CutKind
from graph_service.api.named_values import NamedValue, named_values
from graph_service.api.views import ViewSpecType, spec_type
from graph_service.model.limits import Cut, CutReason
from graph_service.model.result import RegionReport, RegionStats, RetrievalResult, Strategy
from graph_service.model.serialise import to_plain


@strawberry.type(name="Cut", description="Something that a limit left out.")
class CutType:
    """Something that a limit left out."""

    what: CutKind = strawberry.field(description="What was left out.")
    reason: CutReason = strawberry.field(description="Why.")
    limit: float = strawberry.field(description="The limit that was met.")
    kept: int = strawberry.field(description="How many stayed.")
    total: int | None = strawberry.field(description="How many there were, where that is known.")


def cut_types(cuts: Sequence[Cut], /) -> list[CutType]:
    """Returns what limits left out, for output."""
    return [
        CutType(
            what=CutKind(cut.what),
            reason=cut.reason,
            limit=cut.limit,
            kept=cut.kept,
            total=cut.total,
        )
        for cut in cuts
    ]


@strawberry.type(description="How long a stage of a query took.")
class StageTiming:
    """How long a stage took."""

    stage: str = strawberry.field(description="The stage; total is the whole query.")
    milliseconds: float = strawberry.field(description="How long it took.")


def timing_types(milliseconds: Mapping[str, float], /) -> list[StageTiming]:
    """Returns timings for output."""
    return [
        StageTiming(stage=stage, milliseconds=round(ms, 3)) for stage, ms in milliseconds.items()
    ]


@strawberry.type(name="RegionFigures", description="Figures of a region of a graph.")
class RegionFiguresType:
    """Figures of a region."""

    nodes: int = strawberry.field(description="How many nodes it has.")
    edges: int = strawberry.field(description="How many edges it has.")
    mean_degree: float = strawberry.field(description="Edges a node, both ends counted.")
    clustering: float | None = strawberry.field(
        description="Mean clustering coefficient; null where it was not measured."
    )
    density: float = strawberry.field(description="Share of all possible edges that it has.")


@strawberry.type(
    name="RegionReport", description="Figures of the region before and after PageRank cut it."
)
class RegionReportType:
    """Figures of the region."""

    before: RegionFiguresType = strawberry.field(description="Before the cut.")
    after: RegionFiguresType = strawberry.field(description="After the cut.")


def region_report(region: RegionReport, /) -> RegionReportType:
    """Returns the figures of a region before and after it was cut, for output."""
    return RegionReportType(before=_figures(region.before), after=_figures(region.after))


def _figures(stats: RegionStats) -> RegionFiguresType:
    return RegionFiguresType(
        nodes=stats.nodes,
        edges=stats.edges,
        mean_degree=stats.mean_degree,
        clustering=stats.clustering,
        density=stats.density,
    )


@strawberry.type(name="Tokens", description="Size of the result's text.")
class TokensType:
    """Size of the result's text."""

    count: int = strawberry.field(description="How many tokens the text has.")
    tokenizer: str = strawberry.field(description="Whose tokens they are.")


@strawberry.type(name="Provenance", description="Where a result came from.")
class ProvenanceType:
    """Where a result came from."""

    result: strawberry.Private[RetrievalResult]
    graph: str = strawberry.field(description="The name of the graph.")
    edition: str = strawberry.field(description="The edition that was read.")
    edges_fingerprint: str = strawberry.field(description="Of the statements of that edition.")
    content_fingerprint: str = strawberry.field(description="Of all that the edition says.")
    view_id: strawberry.ID | None = strawberry.field(
        description="The viewId of the view that was asked; null for the graph itself."
    )
    strategy: Strategy = strawberry.field(description="What was retrieved.")
    preset: str = strawberry.field(description="The preset, in its version.")
    embedder: str = strawberry.field(description="What made vectors of texts.")
    solver: str | None = strawberry.field(description="What solved for the subgraph.")
    version: str = strawberry.field(description="The version of graph-service.")

    @strawberry.field(description="The specification of that view.")
    def view_spec(self) -> ViewSpecType | None:
        """The specification of the view."""
        return spec_type(self.result.provenance.view_spec)

    @strawberry.field(description="All parameters as resolved, the preset's included, one by one.")
    def parameters(self) -> list[NamedValue]:
        """The parameters."""
        return named_values(to_plain(self.result.provenance.parameters), split=True)

    @strawberry.field(description="The same as one JSON object, which takes a program less time.")
    def parameters_json(self) -> str:
        """The parameters as JSON."""
        return orjson.dumps(to_plain(self.result.provenance.parameters)).decode()


def provenance_type(result: RetrievalResult, /) -> ProvenanceType:
    """Returns where a result came from, for output."""
    source = result.provenance
    return ProvenanceType(
        result=result,
        graph=source.graph,
        edition=source.edition,
        edges_fingerprint=source.fingerprints.edges,
        content_fingerprint=source.fingerprints.content,
        view_id=strawberry.ID(source.view_id) if source.view_id else None,
        strategy=source.strategy,
        preset=source.preset,
        embedder=source.embedder,
        solver=source.solver,
        version=source.version,
    )
