"""Text as both stores keep it: what neither can hold, and an entity as a value."""

from __future__ import annotations

import orjson


def holds_nul(payload: object, /) -> bool:
    r"""Returns whether a text in decoded JSON holds NUL, also in JSON within JSON.

    >>> holds_nul(["a", {"b": "c\x00"}]), holds_nul(["a", '["s","\\u0000"]']), holds_nul("a")
    (True, True, False)
    """
    if isinstance(payload, str):
        # A value inside a qualifier is JSON in JSON.
        return "\x00" in payload or (
            payload.startswith("[") and "\\u0000" in payload and holds_nul(_loads(payload))
        )
    if isinstance(payload, list):
        return any(holds_nul(item) for item in payload)
    if isinstance(payload, dict):
        return any(holds_nul(item) for pair in payload.items() for item in pair)
    return False


def _loads(text: str) -> object:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def encode_entity_value(id_: str, /) -> str:
    """Returns ``encode_value(EntityValue(id_))``, without the object."""
    return orjson.dumps(("e", id_)).decode()
