"""Entities that walks may start from, as the tests of linking and of ranking make them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graph_service.link.spans import Certainty
from graph_service.link.starts import StartCandidate

PLAIN = StartCandidate(0, start=0, end=0, certainty=Certainty.PROPER, words=1, score=0.9, degree=1)


def start_candidate(**changes: Any) -> StartCandidate:
    """Returns an entity that one word names exactly and that linking does not choose, changed."""
    return replace(PLAIN, **changes)
