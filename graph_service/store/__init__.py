"""Where graphs are kept: a local file or Neo4j, behind one set of protocols."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from graph_service.errors import InputError
from graph_service.store.protocol import Store

__all__ = ["Store", "open_store"]

SQLITE_SCHEME = "sqlite:///"
NEO4J_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")


def open_store(
    url: str,
    /,
    *,
    read_only: bool = False,
    username: str | None = None,
    password: str | None = None,
    database: str | None = None,
    snapshot_folder: Path | None = None,
    snapshot_cache_bytes: int | None = None,
    trust_snapshots: bool = False,
) -> Store:
    """Opens the store at an address; a context manager.

    Args:
        url: ``sqlite:///graph.db`` (relative), ``sqlite:////srv/graph.db`` (absolute),
            ``bolt://host``, ``neo4j://host``, ``neo4j+s://host``.
        read_only: Whether a file may not be written, nor made where there is none; otherwise a
            file that is not there is made. In Neo4j the user's rights decide.
        username: For Neo4j.
        password: For Neo4j.
        database: For Neo4j.
        snapshot_folder: Where snapshots are kept, if not in the usual place.
        snapshot_cache_bytes: Most bytes of snapshots kept.
        trust_snapshots: Whether to open snapshots without checking their content.

    Raises:
        InputError: The address is none of these, or a file to be read is not there.
        StoreError: The store does not answer or is damaged.
    """
    from graph_service.store.snapshot.cache import DEFAULT_CACHE_BYTES

    if snapshot_cache_bytes is None:
        snapshot_cache_bytes = DEFAULT_CACHE_BYTES
    scheme = urlsplit(url).scheme.lower()
    if scheme == "sqlite":
        path = url[len(SQLITE_SCHEME) :]
        if not url.lower().startswith(SQLITE_SCHEME) or not path or "\x00" in path:
            raise InputError(
                f"expected sqlite:///FILE (or sqlite:////FILE from the root), got {url!r}",
                argument="store",
            )
        from graph_service.store.sqlite.store import open_sqlite

        return open_sqlite(
            path,
            read_only=read_only,
            snapshot_folder=snapshot_folder,
            snapshot_cache_bytes=snapshot_cache_bytes,
            trust_snapshots=trust_snapshots,
        )
    if scheme in NEO4J_SCHEMES:
        from graph_service.store.neo4j.store import open_neo4j

        return open_neo4j(
            url,
            username=username,
            password=password,
            database=database,
            snapshot_folder=snapshot_folder,
            snapshot_cache_bytes=snapshot_cache_bytes,
            trust_snapshots=trust_snapshots,
        )
    raise InputError(
        f"expected sqlite:///FILE, bolt://HOST or neo4j://HOST, got {url!r}",
        argument="store",
        hint=None if scheme else f"If it is a file: {SQLITE_SCHEME}{url}",
    )
