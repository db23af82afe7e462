"""The options of the verb ``snapshot``."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.cli.options import GraphOptions, Subverb
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class SnapshotOptions(GraphOptions):
    """What ``snapshot push`` and ``snapshot pull`` take."""

    address: str = option(
        help="a folder, or an address that fsspec knows, such as s3://bucket/folder",
        is_word=True,
        metavar="ADDRESS",
    )


SNAPSHOT_VERBS = (
    Subverb(
        "push",
        "graph.snapshots:push",
        "build a graph's arrays, if they are not there, and copy them to an address",
        SnapshotOptions,
        (
            "snapshot push /mnt/shared/snapshots --graph demo",
            "snapshot push s3://bucket/snapshots --graph demo",
        ),
    ),
    Subverb(
        "pull",
        "graph.snapshots:pull",
        "fetch a graph's arrays from an address, so that no process has to build them",
        SnapshotOptions,
        ("snapshot pull s3://bucket/snapshots --graph demo",),
    ),
)
"""The words of ``snapshot``."""
