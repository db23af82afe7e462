"""What both stores compute of statements as they load them: hashes, their sums, collisions."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from graph_service.errors import KeyCollisionError
from graph_service.model.graph import RANKS
from graph_service.model.hashing import sum_hashes

Uint64 = npt.NDArray[np.uint64]

RANK_BYTES = {rank: rank.value.encode() for rank in RANKS}
# Texts are hashed behind their length in eight bytes; making those anew each time would cost as
# much as hashing does.
_LENGTHS = tuple(length.to_bytes(8, "little") for length in range(4096))
_NOTHING = _LENGTHS[0]
_NO_SNAKS = _LENGTHS[2] + b"[]"
_NO_DETAILS = _NO_SNAKS + _NO_SNAKS + _NOTHING
_EDGE_STATE = blake2b(digest_size=16, person=b"edge")
_ENTITY_STATE = blake2b(digest_size=16, person=b"entity")
_CONTENT_STATE = blake2b(digest_size=16, person=b"content")


def collision(new: str, stored: str, /) -> KeyCollisionError:
    """Returns the error for two ids of one key."""
    return KeyCollisionError(
        f"the ids {new[:200]!r} and {stored[:200]!r} have the same 64-bit key",
        hint="Leave one of them out; nothing of this batch is in.",
    )


def statement_hashes(
    id_: str,
    head: str,
    relation: str,
    value: str,
    rank: bytes,
    qualifiers: str | None,
    sources: str | None,
    context: str | None,
    /,
) -> tuple[bytes, bytes]:
    """Returns ``statement_edge_hash`` and ``statement_content_hash`` from encoded parts.

    The same bytes as the model's, hashed in one piece: a load spends most of its time here.
    """
    # Written out: a loop here takes half as long again.
    a, b, c, d = id_.encode(), head.encode(), relation.encode(), value.encode()
    try:
        message = b"".join(
            (
                _LENGTHS[len(a)],
                a,
                _LENGTHS[len(b)],
                b,
                _LENGTHS[len(c)],
                c,
                _LENGTHS[len(d)],
                d,
                _LENGTHS[len(rank)],
                rank,
            )
        )
    except IndexError:
        message = b"".join([prefixed(part) for part in (a, b, c, d, rank)])
    edge = _EDGE_STATE.copy()
    edge.update(message)
    content = _CONTENT_STATE.copy()
    content.update(message)
    if qualifiers is None and sources is None and not context:
        content.update(_NO_DETAILS)
    else:
        content.update(_NO_SNAKS if qualifiers is None else prefixed(qualifiers.encode()))
        content.update(_NO_SNAKS if sources is None else prefixed(sources.encode()))
        content.update(prefixed(context.encode()) if context else _NOTHING)
    return edge.digest(), content.digest()


def entity_hash(id_: str, kind: str, redirect: str | None, terms: str, /) -> bytes:
    """Returns ``entity_content_hash`` from ``encode_terms`` of an entity without its revision."""
    state = _ENTITY_STATE.copy()
    for text in (id_, kind, redirect or "", terms):
        state.update(prefixed(text.encode()))
    return state.digest()


def prefixed(data: bytes, /) -> bytes:
    """Returns bytes behind their length in eight bytes."""
    length = len(data)
    return (_LENGTHS[length] if length < len(_LENGTHS) else length.to_bytes(8, "little")) + data


def content_sums(edges: bytes, contents: bytes, /) -> Uint64:
    """Returns the wrapped sums of concatenated hashes of both kinds: four words."""
    total: Uint64 = np.concatenate((sum_hashes(edges), sum_hashes(contents)))
    return total
