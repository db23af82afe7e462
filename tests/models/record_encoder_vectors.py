"""Records what sentence-transformers makes of the small encoders of ``made_encoders``.

Run where the extra is installed, after a change of the encoders or their texts:

    python tests/models/record_encoder_vectors.py
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from made_encoders import ENCODERS, RECORDED, TEXTS, make_encoder

_DIGITS = 6


def main() -> None:
    from sentence_transformers import SentenceTransformer

    recorded = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, made in ENCODERS.items():
            model = SentenceTransformer(
                str(make_encoder(Path(folder) / name, made)),
                device="cpu",
                model_kwargs={"dtype": "float32"},
            )
            recorded[name] = {
                kind: np.round(
                    model.encode(
                        list(TEXTS),
                        prompt=made.prompts.get(kind, ""),
                        normalize_embeddings=True,
                    ).astype(np.float64),
                    _DIGITS,
                ).tolist()
                for kind in ("passage", "query")
                if kind == "passage" or made.prompts
            }
    lines = [f"{json.dumps(name)}: {json.dumps(found)}" for name, found in recorded.items()]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
