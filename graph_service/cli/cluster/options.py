"""The options of the verb ``cluster``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.experiment.options import PlanOptions
from graph_service.cli.options import GraphOptions, Subverb, SubverbGroup, VerbOptions, request
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.options import option
from loaders.options import LoadOptions


@dataclass(frozen=True, kw_only=True)
class ClusterOptions(VerbOptions):
    """What every word of ``cluster`` takes that works with an engine."""

    remote: str = option(
        "sail",
        help="the engine: sc://host:port of a Spark Connect server, sail (in this process), or "
        "local[N] for Spark on this machine",
        metavar="ENGINE",
    )


@dataclass(frozen=True, kw_only=True)
class ClusterViewOptions(ClusterOptions):
    """What ``cluster view create`` takes."""

    source: Path = option(
        help="the folder that export --format parquet wrote", metavar="GRAPH.parquet", is_word=True
    )
    to: Path = option(
        help="a new folder for the view; this process and the engine both see it", metavar="FOLDER"
    )
    spec: ViewSpec = request(
        ViewSpec,
        only={"method", "level", "count", "random_seed", "cardinality"},
        method=Method.EDGE_DELETION,
    )
    scope: Scope = request(Scope, only={"relation_ids"})


@dataclass(frozen=True, kw_only=True)
class ClusterDeviationOptions(ClusterOptions):
    """What ``cluster view deviation`` takes."""

    source: Path = option(
        help="the folder that export --format parquet wrote", metavar="GRAPH.parquet", is_word=True
    )
    view: Path = option(
        help="the folder that cluster view create wrote", metavar="FOLDER", is_word=True
    )
    scorer: str = option(
        "counts", help="the scorer of ATS; others than counts need one machine", metavar="NAME"
    )


@dataclass(frozen=True, kw_only=True)
class StoreViewOptions(GraphOptions):
    """What ``cluster view store`` takes."""

    source: Path = option(
        help="the folder that cluster view create wrote", metavar="FOLDER", is_word=True
    )
    name: str | None = option(None, help="what to call the view", metavar="NAME")
    note: str = option("", help="kept with the view")


@dataclass(frozen=True, kw_only=True)
class ClusterExperimentOptions(ClusterOptions, PlanOptions):
    """What ``cluster experiment run`` takes."""

    out: Path = option(
        help="folder of the run, which the executors see too; goes on where it was", metavar="DIR"
    )
    tasks: int = option(
        8, help="tasks of the engine; each opens the store, or reaches the server, once", least=1
    )


@dataclass(frozen=True, kw_only=True)
class ClusterLoadOptions(ClusterOptions):
    """What ``cluster load`` takes."""

    source: str = option(
        help="a file (.gz .bz2 .xz too) or a folder, which this process and the engine both see",
        metavar="SOURCE",
        is_word=True,
    )
    to: str = option(
        help="parquet:FOLDER, as export writes it, or neo4j-import:FOLDER, for neo4j-admin",
        metavar="KIND:FOLDER",
    )
    graph: str = option(help="name of the graph", metavar="NAME")
    chunk_mib: int = option(
        16, help="MiB of the source that a task reads, more or less", least=1, metavar="N"
    )
    reading: LoadOptions = request(
        LoadOptions,
        only={
            *("format", "columns", "edge_relation", "encoding", "base_iri", "literal_relations"),
            *("label_files", "type_files", "description_files", "same_as", "entities_from_labels"),
            *("qualifier_file", "entity_ids", "relation_ids"),
            *("languages", "fallback_languages", "redirects", "strict", "rejects_path"),
        },
    )


CLUSTER_VERBS = (
    Subverb(
        "load",
        "cluster.load:load",
        "load files into a graph by an engine that speaks Spark Connect",
        ClusterLoadOptions,
        (
            "cluster load wikidata.json.bz2 --to parquet:wikidata.parquet --graph wikidata",
            "cluster load dump.nt --to neo4j-import:csv --graph dump --remote sc://spark:15002",
        ),
    ),
    SubverbGroup(
        "view",
        "draw views of a whole graph, and take them into a store",
        (
            Subverb(
                "create",
                "cluster.views:create",
                "draw a view of a graph in Parquet by an engine that speaks Spark Connect",
                ClusterViewOptions,
                (
                    "cluster view create demo.parquet --method edge-deletion --level 0.3 --to ed30",
                    "cluster view create demo.parquet --method inversion --level 0.1 --to inv10 "
                    "--remote sc://spark:15002",
                ),
            ),
            Subverb(
                "deviation",
                "cluster.deviation:deviation",
                "measure SC2D, SD2 and ATS of a view by an engine",
                ClusterDeviationOptions,
                ("cluster view deviation demo.parquet ed30",),
            ),
            Subverb(
                "store",
                "cluster.views:store",
                "take a view that a cluster drew into the store of its graph",
                StoreViewOptions,
                ("cluster view store ed30 --graph demo --name ed30",),
            ),
        ),
    ),
    SubverbGroup(
        "experiment",
        "answer the cells of an experiment by an engine",
        (
            Subverb(
                "run",
                "cluster.experiment:run",
                "answer the cells of a plan by an engine's tasks, then score them",
                ClusterExperimentOptions,
                (
                    "cluster experiment run PLAN.yaml --out DIR --remote sc://spark:15002 "
                    "--server http://serve:8000",
                ),
            ),
        ),
    ),
)
"""The words of ``cluster``."""
