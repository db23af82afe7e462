"""A trained scorer as bytes: arrays alone, read without running anything that they hold."""

from __future__ import annotations

import io
from hashlib import blake2b

import numpy as np

from graph_service.errors import StoreCorruptError
from graph_service.npz_file import read_npz
from graph_service.views.scorer.trained import Learned

_FORMAT = 1
_ARRAYS = ("format", "entity", "relation", "weights")


def encode_scorer(learned: Learned, /) -> bytes:
    """Returns a scorer as bytes, a numpy archive; entities' vectors in half precision."""
    entity = np.stack([learned.entity.real, learned.entity.imag]).astype(np.float16)
    relation = np.stack([learned.relation.real, learned.relation.imag]).astype(np.float32)
    written = io.BytesIO()
    np.savez(
        written,
        format=np.array([_FORMAT]),
        entity=entity,
        relation=relation,
        weights=learned.weights.astype(np.float64),
    )
    return written.getvalue()


def decode_scorer(data: bytes, /, *, entities: int, relations: int) -> Learned:
    """Returns the scorer of ``encode_scorer``.

    Args:
        data: The bytes.
        entities: Number of the graph's entities.
        relations: Number of its relations.

    Raises:
        StoreCorruptError: They are no scorer of such a graph.
    """
    try:
        arrays = read_npz(data)
        form, entity, relation, weights = (arrays[name] for name in _ARRAYS)
    except (ValueError, KeyError) as error:
        raise _wrong(f"it can't be read: {error}") from error
    if form.shape != (1,) or form[0] != _FORMAT:
        raise _wrong(f"expected format {_FORMAT}")
    width = relation.shape[-1]
    if (
        entity.shape != (2, entities, width)
        or relation.shape != (2, relations, width)
        or weights.shape != (4,)
        or not all(np.isfinite(part).all() for part in (entity, relation, weights))
    ):
        raise _wrong(f"expected vectors of {entities} entities and {relations} relations")
    full = entity.astype(np.float32)
    return Learned(
        entity=np.ascontiguousarray(full[0] + np.complex64(1j) * full[1], dtype=np.complex64),
        relation=np.ascontiguousarray(
            relation[0] + np.complex64(1j) * relation[1], dtype=np.complex64
        ),
        weights=weights,
    )


def fingerprint_of(data: bytes, edges: str, /) -> str:
    """Returns 16 hexadecimal digits of a scorer's bytes and of its graph's ``edges``."""
    return blake2b(data, digest_size=8, key=edges.encode()[:64]).hexdigest()


def _wrong(why: str) -> StoreCorruptError:
    return StoreCorruptError(
        f"a stored scorer is damaged: {why}",
        hint="Delete it (scorer delete) and train anew: graph-service scorer train",
    )
