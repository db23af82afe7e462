"""What both stores compute of statements as they load them: hashes, their sums, collisions."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from graph_service.errors import KeyCollisionError
from graph_service.model.graph import RANKS
from graph_service.model.identity import sum_hashes

Uint64 = npt.NDArray[np.uint64]

RANK_BYTES = {rank: rank.value.encode() for rank in RANKS}
_NOTHING = (0).to_bytes(8, "little")
_NO_SNAKS = (2).to_bytes(8, "little") + b"[]"


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
    parts = []
    for part in (id_.encode(), head.encode(), relation.encode(), value.encode(), rank):
        parts.append(len(part).to_bytes(8, "little"))
        parts.append(part)
    message = b"".join(parts)
    edge = blake2b(message, digest_size=16, person=b"edge").digest()
    rest = [message]
    for text in (qualifiers, sources):
        if text is None:
            rest.append(_NO_SNAKS)
        else:
            data = text.encode()
            rest.append(len(data).to_bytes(8, "little"))
            rest.append(data)
    if context:
        data = context.encode()
        rest.append(len(data).to_bytes(8, "little"))
        rest.append(data)
    else:
        rest.append(_NOTHING)
    return edge, blake2b(b"".join(rest), digest_size=16, person=b"content").digest()


def content_sums(edges: bytes, contents: bytes, /) -> Uint64:
    """Returns the wrapped sums of concatenated hashes of both kinds: four words."""
    total: Uint64 = np.concatenate((sum_hashes(edges), sum_hashes(contents)))
    return total
