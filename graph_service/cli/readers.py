"""How the values of options are read that are more than a word or a number."""

from __future__ import annotations

from pathlib import Path

import orjson

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.view_reference import parse_view


def view_ref(text: str | None, /) -> ViewRef | None:
    """Returns the view of an option: see ``parse_view``."""
    return None if text is None else parse_view(text)


def read_vector(path: str, /) -> tuple[float, ...]:
    """Returns the numbers of a file that holds a JSON list of them."""
    try:
        return vector_of(orjson.loads(Path(path).read_bytes()))
    except OSError as error:
        raise InputError(
            f"can't read {path}: {error.strerror}", argument="question_vector"
        ) from error
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: not JSON: {error}", argument="question_vector") from error


def vector_of(data: object, /) -> tuple[float, ...]:
    """Returns the numbers of a JSON list; raises ``InputError`` where it is none of numbers."""
    if not isinstance(data, list) or not all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in data
    ):
        raise InputError("a vector is a JSON list of numbers", argument="question_vector")
    return tuple(float(value) for value in data)
