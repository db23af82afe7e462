"""From an address and settings to an open service."""

from __future__ import annotations

from pathlib import Path

from graph_service.byte_budget import ByteBudget
from graph_service.embed import Embedder, Vectors, open_embedder, open_vectors
from graph_service.service.service import Service
from graph_service.settings import Settings, read_settings
from graph_service.store import open_store
from graph_service.store.protocol import Store


def open_service(
    store: str | Store | None = None,
    /,
    *,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
) -> Service:
    """Opens a store and returns the service over it.

    Args:
        store: An address (``sqlite:///graph.db``, ``bolt://localhost:7687``) or an open store;
            by default what the settings say.
        settings: By default those of the environment.
        embedder: By default the one the settings name, opened at first use.

    Raises:
        StoreError: The store does not answer or can't be read.
    """
    chosen = settings or read_settings()
    if store is None or isinstance(store, str):
        store = open_configured_store(chosen, store)

    memory = ByteBudget(chosen.memory_bytes)

    def vectors() -> Vectors:
        return open_vectors(
            embedder
            or open_embedder(
                chosen.embedder,
                model_dir=chosen.model_dir or None,
                base_url=chosen.embedder_url or None,
                api_key=chosen.model_key or None,
            ),
            chosen.vector_file,
            memory=memory,
        )

    return Service(store, vectors=vectors, settings=chosen, memory=memory)


def open_configured_store(settings: Settings, url: str | None = None, /) -> Store:
    """Opens the store of an address, or the one that the settings name."""
    return open_store(
        url or settings.store_url,
        username=settings.neo4j_username,
        password=settings.neo4j_password or None,
        database=settings.neo4j_database,
        snapshot_folder=Path(settings.cache_dir) if settings.cache_dir else None,
        snapshot_cache_bytes=int(settings.cache_gb * 2**30),
        trust_snapshots=settings.trust_snapshots,
    )
