"""Draws by a keyed hash of ids: the same everywhere, and a larger draw holds a smaller one."""

from __future__ import annotations

from collections.abc import Iterable

from graph_service.model.identity import digest


def in_draw_order(ids: Iterable[str], what: str, /, *, random_seed: int) -> list[str]:
    """Returns ids in the order of a keyed hash; the first n are a random draw of n.

    Args:
        ids: In any order.
        what: What is drawn, so that two draws of the same ids are not alike.
        random_seed: Of the draw.
    """
    return sorted(ids, key=lambda id_: (digest((what, str(random_seed), id_), person=b"draw"), id_))
