"""How the values of options are read that are more than a word or a number."""

from __future__ import annotations

from pathlib import Path

import orjson

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.view_spec import Scope, ViewSpec, parse_method

QUESTION_SCOPE = "question"


def view_ref(text: str | None, /) -> ViewRef | None:
    """Returns the view of an option: ``METHOD:LEVEL[:SEED[:question]]``, or a stored view's name.

    With ``question`` at the end only the region of the question's own entities is changed, as
    in OKGQA-P.
    """
    if text is None:
        return None
    parts = text.split(":")
    of_question = len(parts) == 4 and parts[3] == QUESTION_SCOPE
    if len(parts) in (2, 3) or of_question:
        try:
            level = float(parts[1])
            random_seed = int(parts[2]) if len(parts) > 2 else 0
        except ValueError:
            return ViewRef(id=text)
        spec = ViewSpec(
            method=parse_method(parts[0]),
            level=level,
            random_seed=random_seed,
            scope=Scope(of_question=of_question),
        )
        spec.validate()
        return ViewRef(spec=spec)
    return ViewRef(id=text)


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
        isinstance(number, int | float) and not isinstance(number, bool) for number in data
    ):
        raise InputError("a vector is a JSON list of numbers", argument="question_vector")
    return tuple(float(number) for number in data)
