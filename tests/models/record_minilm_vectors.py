"""Records the golden vectors of all-MiniLM-L6-v2 from sentence-transformers.

Run where the extra is installed, after a change of the texts:

    python tests/models/record_minilm_vectors.py FOLDER_OF_THE_MODEL
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

GOLDEN = Path(__file__).parents[1] / "golden"

TEXTS = [
    "",
    " ",
    "a",
    "place of birth",
    "date of death",
    "Who is the mother of the director of Titanic?",
    "What awards did the author of The Hitchhiker's Guide to the Galaxy win?",
    "Douglas Adams",
    "John F. Kennedy",
    "Arnold Schwarzenegger's wife",
    "Harry Potter and the Philosopher's Stone",
    "1952-03-11",
    "3.14159 metre",
    "http://dbpedia.org/ontology/birthPlace",
    "__music__album__artist",
    "ALL CAPITALS, AND; PUNCTUATION!!! (of many kinds) — “quoted” …",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich",
    "Łódź, Győr, İstanbul, Ærø, Þórshöfn",
    "tabs\tand\nlines\r\nand  spaces",
    "zero\u200bwidth \u00adsoft hyphen\u0000nul\ufffd",
    "emoji 👩‍🔬 and 🏳️‍🌈 and 🧪",
    "Москва является столицей России",
    "Кто написал роман «Война и мир»?",
    "Київ — столиця України",
    "北京市是中华人民共和国的首都",
    "約翰·甘迺迪的母親是誰?",
    "東京タワーの高さは何メートルですか",
    "서울특별시는 대한민국의 수도이다",
    "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย",
    "ใครเป็นผู้แต่งเพลงชาติไทย",
    "القاهرة هي عاصمة مصر",
    "من هو مؤلف رواية أولاد حارتنا؟",
    "ירושלים עיר הבירה של ישראל",
    "नई दिल्ली भारत की राजधानी है",
    "Αθήνα είναι η πρωτεύουσα της Ελλάδας",
    "x" * 99,
    "x" * 101,
    "one two three four five six seven eight nine ten " * 12,
    "The graph holds entities, relations and values. " * 40,
    "слово " * 300,
    "字" * 400,
    "word " * 1000,
]


def main() -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(sys.argv[1], device="cpu")
    vectors = model.encode(TEXTS, normalize_embeddings=True, batch_size=8)
    (GOLDEN / "minilm_vectors.json").write_text(
        json.dumps(TEXTS, ensure_ascii=True, indent=0) + "\n", encoding="utf-8"
    )
    np.save(GOLDEN / "minilm_vectors.npy", vectors.astype(np.float32))


if __name__ == "__main__":
    main()
