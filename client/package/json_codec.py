"""What the client uses of orjson, by the standard library: compact, sorted on demand, strict."""

from __future__ import annotations

import json
from typing import Any, NoReturn

OPT_SORT_KEYS = 1
JSONDecodeError = json.JSONDecodeError


def dumps(item: Any, /, *, option: int = 0) -> bytes:
    r"""Returns JSON in UTF-8; raises ``TypeError`` for what JSON can't hold.

    >>> dumps({"b": "é", "a": None}, option=OPT_SORT_KEYS)
    b'{"a":null,"b":"\xc3\xa9"}'
    """
    try:
        return json.dumps(
            item,
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
            sort_keys=bool(option & OPT_SORT_KEYS),
        ).encode()
    except ValueError as error:
        raise TypeError(str(error)) from error


def loads(text: str | bytes, /) -> Any:
    """Returns what JSON holds; raises ``JSONDecodeError`` for anything else."""
    try:
        decoded = text if isinstance(text, str) else text.decode()
    except UnicodeDecodeError as error:
        raise JSONDecodeError(str(error), "", 0) from error
    return json.loads(decoded, parse_constant=_refuse)


def _refuse(name: str) -> NoReturn:
    raise JSONDecodeError(f"{name} is no JSON", name, 0)
