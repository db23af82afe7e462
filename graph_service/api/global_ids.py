"""Global ids: what a cache keys an object by, and what ``node`` reads it again from.

An id is opaque to clients: base64url of a JSON list. It holds all that the fields of its object
depend on, so that two objects with one id have the same fields.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import orjson

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.view_spec import Method, ViewSpec

MAX_ID_CHARACTERS = 10_000
MAX_SPEC_CHARACTERS = 1_000
"""A view whose specification is longer stands in an id by its own id: ``node`` finds it if stored."""


class IdKind(StrEnum):
    """The type of an object, as its id has it."""

    ITEM = "i"
    PROPERTY = "p"
    STATEMENT = "s"
    GRAPH = "g"
    VIEW = "v"
    VIEW_CHANGE = "c"
    RESULT = "r"
    RESULT_ITEM = "x"
    PASSAGE = "t"


@dataclass(frozen=True, slots=True)
class Frame:
    """What an object is shown in: its fields depend on it.

    Attributes:
        edition: Of the graph, ``name@number``.
        languages: Of labels, best first.
        view: The view that made a statement, as ``view_key`` has it; "" for the base.
        names: The same of a view by whose names items are called; "" where they keep theirs.
    """

    edition: str
    languages: tuple[str, ...] = ("en",)
    view: str = ""
    names: str = ""

    def of_base(self) -> Frame:
        """Returns the frame of what the view leaves as it is, but for names."""
        return replace(self, view=self.names)


@dataclass(frozen=True, slots=True)
class GlobalId:
    """A global id as its parts.

    Attributes:
        scope: The edition; of a stored view the name of its graph.
        local: The id within that.
    """

    kind: IdKind
    scope: str
    local: str
    languages: tuple[str, ...] = ()
    view: str = ""


def view_key(spec: str | None, view_id: str | None, /) -> str:
    """Returns what stands for a view in an id: its specification, else its id; "" for the base.

    A specification makes the view anew wherever it was asked for inline. It does not where it
    depends on a question, nor where it is long.
    """
    if spec is None:
        return view_id or ""
    if len(spec) > MAX_SPEC_CHARACTERS or '"ofQuestion"' in spec:
        return view_id or ""
    return spec


def view_of(key: str, /) -> ViewRef | None:
    """Returns the view that a key stands for; None for the base."""
    if key.startswith("{"):
        return ViewRef(spec=ViewSpec.from_json(key))
    return ViewRef(id=key) if key else None


def view_frame(
    edition: str, languages: tuple[str, ...], spec: str | None, view_id: str | None, /
) -> Frame:
    """Returns the frame of what a view shows, by its specification as JSON; of the base for None."""
    key = view_key(spec, view_id)
    # Most views keep names, and a specification may be long.
    is_naming = spec is not None and f'"{Method.NAMES}"' in spec
    if spec is None or not is_naming or ViewSpec.from_json(spec).method is not Method.NAMES:
        return Frame(edition, languages, key)
    return Frame(edition, languages, key, key)


def global_id(
    kind: IdKind, scope: str, local: str, languages: Sequence[str] = (), view: str = "", /
) -> str:
    """Returns the id of an object.

    >>> read_global_id(global_id(IdKind.ITEM, "demo@1", "Q42", ("en",))).local
    'Q42'
    """
    parts = [kind.value, scope, local]
    if languages or view:
        parts.append(",".join(languages))
    if view:
        parts.append(view)
    return encoded_parts(parts)


def read_global_id(text: str, /) -> GlobalId:
    """Returns the parts of an id.

    Raises:
        InputError: It is none of ours.
    """
    parts = decoded_parts(text)
    kinds = {kind.value: kind for kind in IdKind}
    if not 3 <= len(parts) <= 5 or parts[0] not in kinds:
        raise not_ours(text)
    kind, scope, local, languages, view = (*parts, *[""] * (5 - len(parts)))
    if view.startswith("{"):
        ViewSpec.from_json(view)
    return GlobalId(
        kinds[kind], scope, local, tuple(languages.split(",")) if languages else (), view
    )


def decoded_parts(text: str, /) -> list[str]:
    """Returns the texts that ``encoded_parts`` wrote; an empty list for anything else."""
    if len(text) > MAX_ID_CHARACTERS or not text.isascii():
        return []
    try:
        padded = text.encode() + b"=" * (-len(text) % 4)
        parts = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        return []
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        return []
    return parts


def encoded_parts(parts: Sequence[str], /) -> str:
    """Returns texts as one opaque text: base64url of a JSON list."""
    return base64.urlsafe_b64encode(orjson.dumps(list(parts))).rstrip(b"=").decode()


def not_ours(text: str, /) -> InputError:
    """Returns the error for an id that this server did not give."""
    return InputError(
        f"not an id that this API gives: {text[:40]!r}",
        argument="id",
        hint="Give the field id of an object. Ids such as Q42 go to item(itemId:).",
    )
