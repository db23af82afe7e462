"""A trained ranker's file: arrays and JSON, read without running code from it.

The file is numpy's ``.npz`` and is read with pickling off. It holds the hash of the examples it
was trained on, the embedder's name, and a hash of its own contents.
"""

from __future__ import annotations

import io
import json
import os
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

import numpy as np

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.npz_file import read_npz
from graph_service.output_file import require_file_or_none
from graph_service.rank.graph_encoder import GraphEncoder
from graph_service.rank.neural_head import Network
from graph_service.rank.prototypes import Prototypes
from graph_service.rank.trained import GraphReader, RankerWeights
from graph_service.rank.words import Vocabulary

_FORM = "relation-ranker"
_VERSION = 2
_WITHOUT_PARSES = 1
"""The version of a ranker that reads none: earlier packages read it too."""
_META = "meta"
_MOST_META = 64 * 2**20
Arrays = dict[str, np.ndarray[Any, Any]]


def write_ranker(path: str | Path, weights: RankerWeights, /) -> None:
    """Writes a trained ranker, whole or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    target = Path(path)
    require_file_or_none(target)
    data = encode_ranker(weights)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise InputError(f"can't write {target}: {error.strerror}", argument="out") from error


def read_ranker(path: str | Path, /) -> RankerWeights:
    """Returns the ranker of a file.

    Raises:
        InputError: It is missing, no file of a ranker, of a newer version, or damaged.
    """
    file = Path(path)
    try:
        return decode_ranker(file.read_bytes())
    except FileNotFoundError as error:
        raise InputError(
            f"there is no file {file}",
            argument="ranker",
            hint="Train one: graph-service rank train FILE --out ranker.npz",
        ) from error
    except OSError as error:
        raise InputError(f"can't read {file}: {error.strerror}", argument="ranker") from error
    except InputError as error:
        raise InputError(f"{file}: {error.message}", argument="ranker", hint=error.hint) from error


def encode_ranker(weights: RankerWeights, /) -> bytes:
    """Returns a trained ranker as the bytes of its file; of the same weights the same."""
    arrays = _arrays_of(weights)
    meta = {
        "form": _FORM,
        "version": _WITHOUT_PARSES if weights.graphs is None else _VERSION,
        "embedder": weights.embedder,
        "data": weights.data,
        "relations": list(weights.relations),
        "vocabulary": weights.vocabulary.to_json(),
        "notes": dict(weights.notes),
        "contents": _contents_hash(arrays),
    }
    if weights.graphs is not None:
        meta["labels"] = list(weights.graphs.labels)
    encoded = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    written = io.BytesIO()
    np.savez_compressed(written, **cast(Any, {_META: encoded, **arrays}))
    return written.getvalue()


def decode_ranker(data: bytes, /) -> RankerWeights:
    """Returns the ranker of ``encode_ranker``.

    Raises:
        InputError: They are no ranker's bytes, of a newer version, or damaged.
    """
    try:
        return _weights_of(read_npz(data))
    except (
        AttributeError,
        ValueError,
        KeyError,
        TypeError,
    ) as error:
        raise InputError(
            f"this is not the file of a trained ranker, or is damaged ({error})",
            argument="ranker",
        ) from error


def fingerprint_of(weights: RankerWeights, /) -> str:
    """Returns 16 hexadecimal digits of all that decides a score."""
    parts = [_contents_hash(_arrays_of(weights)), weights.embedder, weights.vocabulary.to_json()]
    if weights.graphs is not None:
        parts.append(json.dumps(weights.graphs.labels))
    return digest(parts, size=8, person=b"ranker").hex()


def _arrays_of(weights: RankerWeights) -> Arrays:
    parts: list[tuple[str, Any]] = [
        ("prototypes", weights.prototypes),
        ("network", weights.network),
    ]
    if weights.graphs is not None:
        parts.append(("graph", weights.graphs.encoder))
    return {
        f"{title}.{each.name}": np.asarray(getattr(part, each.name))
        for title, part in parts
        for each in fields(part)
    }


def _contents_hash(arrays: Arrays) -> str:
    rows: list[str] = []
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        rows.append(
            f"{name} {array.dtype.str} {array.shape} {blake2b(array.tobytes()).hexdigest()}"
        )
    return digest(tuple(rows), person=b"contents").hex()


def _weights_of(arrays: Arrays) -> RankerWeights:
    raw = arrays.pop(_META)
    if raw.dtype != np.uint8 or raw.ndim != 1 or raw.size > _MOST_META:
        raise ValueError("its description is missing")
    meta = json.loads(raw.tobytes().decode())
    if not isinstance(meta, dict) or meta.get("form") != _FORM:
        raise ValueError("it describes something else")
    if meta["version"] > _VERSION:
        raise InputError(
            f"it has version {meta['version']}; this package reads up to {_VERSION}",
            hint="Update graph-service, or train the ranker anew.",
        )
    if _contents_hash(arrays) != meta["contents"]:
        raise ValueError("its contents are not those that were written")
    prototypes = Prototypes(**{each.name: arrays[f"prototypes.{each.name}"]
                               for each in fields(Prototypes)})  # fmt: skip
    network = Network(**{each.name: arrays[f"network.{each.name}"] for each in fields(Network)})
    relations = tuple(str(key) for key in meta["relations"])
    vocabulary = Vocabulary.read(meta["vocabulary"])
    count, d = prototypes.texts.shape
    if (
        len(relations) != count
        or network.out.shape[1] != count
        or network.vector.shape[0] != d
        or len(network.word) != len(vocabulary.terms) + 1
    ):
        raise ValueError("its arrays do not fit each other")
    graphs = None
    if "labels" in meta:
        labels = tuple(str(label) for label in meta["labels"])
        encoder = GraphEncoder(**{each.name: arrays[f"graph.{each.name}"]
                                  for each in fields(GraphEncoder)})  # fmt: skip
        if len(encoder.label) != len(labels) + 1 or encoder.join.shape[1] != len(network.bias):
            raise ValueError("its arrays of parses do not fit each other")
        graphs = GraphReader(labels, encoder)
    return RankerWeights(
        prototypes,
        network,
        vocabulary,
        str(meta["embedder"]),
        str(meta["data"]),
        relations,
        dict(meta["notes"]),
        graphs,
    )
