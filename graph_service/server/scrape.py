"""What ``/metrics`` answers: the metrics of this server, which a sick store can't hold up."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from datetime import UTC, datetime

from starlette.responses import Response

from graph_service.errors import GraphServiceError
from graph_service.model.graph_info import UnfinishedLoad
from graph_service.server import metrics
from graph_service.server.daemon import in_daemon
from graph_service.server.preparation import Preparation
from graph_service.server.response_cache import ResponseCache
from graph_service.service import Service

LOOK_S = 1.0
"""How long a scrape waits for the store."""


class Scrape:
    """Answers scrapes of one server. Used from one event loop.

    Args:
        service: What is measured.
        cache: The answers that the server stores.
        preparation: What embeds names of its graphs.
    """

    def __init__(self, service: Service, cache: ResponseCache, preparation: Preparation, /) -> None:
        self._service = service
        self._cache = cache
        self._preparation = preparation
        self._look: Future[list[UnfinishedLoad]] | None = None

    async def answer(self, accept: str, /) -> Response:
        """Returns all metrics, in the format that a header ``Accept`` asks for."""
        metrics.note_caches(self._service, answer_bytes=self._cache.held_bytes)
        metrics.note_embedded(self._preparation.progress)
        try:
            async with asyncio.timeout(LOOK_S):
                loads = await asyncio.shield(asyncio.wrap_future(self._looking()))
        except (GraphServiceError, TimeoutError):
            metrics.note_store_silent()
        else:
            now = datetime.now(UTC)
            held = sum(datetime.fromisoformat(load.lease_expires_at) > now for load in loads)
            metrics.note_loads(held=held, expired=len(loads) - held)
        body, media_type = metrics.page(accept)
        return Response(body, media_type=media_type)

    def _looking(self) -> Future[list[UnfinishedLoad]]:
        """Returns the look at the store that is under way, or begins one."""
        if self._look is None or self._look.done():
            self._look = in_daemon("scrape", self._service.store.unfinished_loads)
        return self._look
