"""Learns the alignment of multilingual-e5-small with MiniLM that ships.

    make train-alignment DATA=../shared/data

Both encoders read English texts under open licences: labels of properties and entities of Wikidata
(CC0), questions of SimpleQuestions over Wikidata (CC BY 3.0) and LC-QuAD 2.0 (CC BY 4.0), and single
words of both. The ridge and the least agreement are chosen on a fifth of them that is held out.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from graph_service.embed.alignment import Alignment, encode_alignment, fitted
from graph_service.embed.exact import to_unit_length
from graph_service.embed.minilm import MiniLM
from graph_service.embed.multilingual import PROMPT, open_packed_e5
from graph_service.embed.protocol import Embedder, Float32
from graph_service.model.identity import digest
from graph_service.text.fold import words
from queries.datasets.wikidata_questions import FOLDER

RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0)
LEAST_SHARE = 0.05
"""Share of held-out English texts that the least agreement takes for foreign."""
_PROPERTIES, _ENTITIES, _WORDS, _QUESTIONS = 600, 300, 1000, 2400
_OPEN_SETS = ("wdsq", "wikidata/lcquad2")
_STEP = 200
_HELD_OUT = 5


def english_texts(data: Path, /) -> list[str]:
    """Returns the texts, in the order of a hash."""
    properties: list[str] = []
    entities: list[str] = []
    with lzma.open(data / FOLDER / "labels.tsv.xz", "rt", encoding="utf-8") as file:
        for line in file:
            id_, text, language = line.rstrip("\n").split("\t")
            if language == "en":
                (properties if id_.startswith("P") else entities).append(text)
    questions = []
    with lzma.open(data / "question_relations/questions.jsonl.xz", "rt", encoding="utf-8") as file:
        for line in file:
            row = json.loads(line)
            if row["set"].startswith(_OPEN_SETS):
                questions.append(row["q"])
    single = [word for text in (*questions, *properties) for word in words(text) if word.isalpha()]
    chosen = {
        *_first(properties, _PROPERTIES),
        *_first(entities, _ENTITIES),
        *_first([word for word in single if len(word) > 2], _WORDS),
        *_first(questions, _QUESTIONS),
    }
    return _first(chosen, len(chosen))


def _first(texts: Iterable[str], most: int) -> list[str]:
    """Returns the first distinct texts in the order of a hash."""
    return sorted(set(texts), key=lambda text: digest((text,), person=b"alignment"))[:most]


def _vectors(embedder: Embedder, texts: list[str], prompt: str) -> Float32:
    parts = []
    for start in range(0, len(texts), _STEP):
        parts.append(embedder.encode([prompt + text for text in texts[start : start + _STEP]]))
        print(f"{embedder.name}: {start + _STEP:,} of {len(texts):,}", file=sys.stderr)
    return np.concatenate(parts)


def _agreements(source: Float32, target: Float32, *, ridge: float) -> np.ndarray:
    """Returns the cosines of held-out texts' mapped vectors and their own, [held out]."""
    held = np.arange(len(source)) % _HELD_OUT == 0
    matrix, bias = fitted(source[~held], target[~held], ridge=ridge)
    mapped = source[held].astype(np.float64) @ matrix + bias
    to_unit_length(mapped)
    return np.asarray((mapped * target[held]).sum(axis=1))


def main() -> None:
    """Learns the alignment and writes its file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    texts = english_texts(options.data)
    english, other = MiniLM.open(), open_packed_e5()
    source, target = _vectors(other, texts, PROMPT), _vectors(english, texts, "")
    means = {ridge: float(_agreements(source, target, ridge=ridge).mean()) for ridge in RIDGES}
    ridge = max(means, key=lambda one: (means[one], one))
    held_out = _agreements(source, target, ridge=ridge)
    least = round(float(np.quantile(held_out, LEAST_SHARE)), 3)
    matrix, bias = fitted(source, target, ridge=ridge)
    notes = {
        "texts": len(texts),
        "ridge": ridge,
        "held_out_agreement": {
            str(share): round(float(np.quantile(held_out, share)), 3)
            for share in (0.01, 0.05, 0.25, 0.5)
        },
    }
    data = digest(tuple(texts), person=b"alignment").hex()
    alignment = Alignment(matrix, bias, least, other.name, english.name, data, notes)
    options.out.write_bytes(encode_alignment(alignment))
    print(json.dumps({"means": means, "least_agreement": least, **notes}, indent=1))


if __name__ == "__main__":
    main()
