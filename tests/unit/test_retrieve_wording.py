"""Sequences in words, and the kinds that a question names (preset default)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from graph_service.model.graph import KnowledgeGraph
from graph_service.retrieve.kinds import (
    KINDS,
    KindReader,
    head_kinds,
    question_words,
    relations_in,
)
from graph_service.retrieve.preset import LEARNED
from graph_service.retrieve.region.cut import extract_region
from graph_service.retrieve.sequences.wording import SequenceScorer, Wording
from graph_service.text.function_words import content_words

GraphMaker = Callable[..., KnowledgeGraph]
NAMES = {0: "written by", 1: "release year", 2: "spouse"}


class Planes:
    """Unit vectors of a few words by angle in degrees; every other text has a plane of its own."""

    def __init__(self, **degrees: float) -> None:
        self.degrees = {name.replace("_", " "): value for name, value in degrees.items()}
        self.texts: list[str] = []
        self.planes: dict[str, int] = {}

    def __call__(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        self.texts.extend(texts)
        rows = np.zeros((len(texts), 128), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            if text in self.degrees:
                angle = np.radians(self.degrees[text])
                row[:2] = np.cos(angle), np.sin(angle)
            else:
                row[2 + self.planes.setdefault(text, len(self.planes))] = 1.0
        return rows


def test_words_of_a_question() -> None:
    assert question_words("Which Films, which co-stars? é 北京大学", 3) == [
        "which",
        "films",
        "co-stars",
        "北京大学",
    ]


def test_a_kind_is_spoken_where_a_word_names_it_and_no_relation_does() -> None:
    """``films`` 30 degrees from ``film`` (cosine .87) names it; a relation ``movie``, 35 degrees
    (.82), would mean it as a relation; one at 100 degrees is a relation of its own. A relation at
    50 degrees is nearer to the word than the kind is (.94): the word means that."""
    encode = Planes(film=0, films=30, movie=35, released=100, filming=50)
    asked = "what films did write"
    assert KindReader(["released"], LEARNED, encode=encode).kinds_in(asked) == {"film"}
    assert KindReader(["movie"], LEARNED, encode=encode).kinds_in(asked) == frozenset()
    assert KindReader(["filming"], LEARNED, encode=encode).kinds_in(asked) == frozenset()
    strict = replace(LEARNED, kind_similarity=0.9)
    assert KindReader(["released"], strict, encode=encode).kinds_in(asked) == frozenset()
    apart = replace(LEARNED, synonym_similarity=0.83)
    assert KindReader(["movie"], apart, encode=Planes(film=0, movies=5, movie=35)).kinds_in(
        "what movies"
    ) == {"film"}
    assert KindReader(["released"], LEARNED, encode=encode).kinds_in("?") == frozenset()


@pytest.mark.parametrize("apart", [10.0, 89.99])
def test_the_kind_of_heads_is_like_what_they_have(small_graph: GraphMaker, apart: float) -> None:
    graph = small_graph(
        [("f", "written_by", "p"), ("f", "release_year", "y"), ("p", "spouse", "q")]
    )
    node = graph.find_node("p")
    region = extract_region(graph, np.array([node]), hops=2, max_edges=10)
    texts = {rel: id_.replace("_", " ") for rel, id_ in enumerate(graph.relation_ids)}
    encode = Planes(
        written_by=apart, release_year=-apart, spouse=90, film=0, person=85, **{"year": -40}
    )
    kinds = head_kinds(
        region,
        np.array(list(texts)),
        encode(list(texts.values())),
        encode(KINDS),
        entity_count=graph.entity_count,
        head_relations=relations_in(graph),
        max_heads=32,
    )
    by_name = {texts[rel]: kind for rel, kind in kinds.items()}
    # written by and release year have their mean at 0, where film is, however short it is.
    assert by_name == {"written by": "film", "release year": "film", "spouse": "person"}
    assert len(set(KINDS)) == len(KINDS)


def test_words_of_a_sequence() -> None:
    plain = Wording(NAMES)
    spoken = Wording(NAMES, {0: "film", 1: "film"})
    back, forth = ((0, True), (1, False)), ((0, False),)
    assert plain.parts(back) == ["written by", "release year"]
    # From tail to head a film is reached; the film at which a sequence begins is named only
    # where no step reaches one.
    assert spoken.parts(back) == ["film written by", "release year"]
    assert spoken.parts(forth) == ["film", "written by"]
    assert spoken.parts(((2, False),)) == ["spouse"]


def test_a_step_and_the_same_back_are_read_as_one() -> None:
    """From a film to others of its writer, and from a writer to others of a film."""
    forth, back = (0, False), (0, True)
    plain, spoken = Wording(NAMES), Wording(NAMES, {0: "film"})
    assert plain.parts((forth, back)) == ["other with the same written by"]
    assert spoken.parts((forth, back)) == ["other film with the same written by"]
    assert spoken.parts((back, forth)) == ["other written by of the same film"]
    # A step is read once: what follows a return begins anew.
    assert spoken.parts((forth, back, forth)) == [
        "other film with the same written by",
        "written by",
    ]
    assert spoken.parts(((2, False), forth, back)) == [
        "spouse",
        "other film with the same written by",
    ]
    assert spoken.parts((forth, (1, True))) == ["film", "written by", "release year"]


def test_a_step_that_no_word_is_left_for_costs() -> None:
    """Who asks "Who directed X" has one word to ask with: a second and a third step are nobody's wish."""
    wording = Wording(NAMES, question_words=1, extra_hop_cost=0.05)
    steps = ((2, False), (0, False), (1, False))
    assert [wording.cost(steps[:length]) for length in (1, 2, 3)] == [0.0, 0.05, 0.1]
    # A question of function words alone asks for one step; where words cannot be told, all may.
    assert Wording(NAMES, question_words=0, extra_hop_cost=0.05).cost(steps) == 0.1
    assert Wording(NAMES, question_words=None, extra_hop_cost=0.05).cost(steps) == 0.0
    assert content_words("Who directed the films of [it]?") == ["directed", "films"]
    assert content_words("谁导演了这部电影") is None


def test_costs_of_steps() -> None:
    """Read at 60 degrees (.5), less two hops of .01 and one inverse step of .1."""
    steps = ((2, False), (0, True), (1, False))
    encode = Planes(**{"spouse's written by's release year": 60})
    question = np.zeros(128, dtype=np.float32)
    question[0] = 1.0
    wording = Wording(NAMES, hop_cost=0.01, inverse_cost=0.1)
    scorer = SequenceScorer(question, encode, wording)
    assert scorer.final_score([steps]).tolist() == [0.38]


def test_a_part_of_a_sequence_does_not_begin_at_the_kind_of_its_start() -> None:
    """``spouse's written by``: the part ``written by`` is not ``film's written by``, for the
    walk is at no film when it begins; as a sequence of its own it is."""
    encode = Planes(**{"spouse's written by": 60, "film's written by": 0, "written by": 60})
    question = np.zeros(128, dtype=np.float32)
    question[0] = 1.0
    wording = Wording(NAMES, {0: "film"}, unsupported_step_cost=2.0)
    scorer = SequenceScorer(question, encode, wording)
    steps = ((2, False), (0, False))
    assert scorer.final_score([steps, ((0, False),)]).tolist() == [0.5, 1.0]


def test_a_step_the_question_does_not_speak_of() -> None:
    """``release year`` at 0 degrees (1) fits better than ``spouse's release year`` at 60 (.5) by
    .5: .4 beyond the margin of .1, taken off twice."""
    steps = ((2, False), (1, False))
    encode = Planes(**{"spouse's release year": 60, "release year": 0, "spouse": 90})
    question = np.zeros(128, dtype=np.float32)
    question[0] = 1.0
    scorer = SequenceScorer(
        question, encode, Wording(NAMES, unsupported_step_cost=2.0, unsupported_step_margin=0.1)
    )
    assert scorer.final_score([steps]).tolist() == [pytest.approx(0.5 - 0.8)]


def test_no_text_is_embedded_twice() -> None:
    encode = Planes()
    question = np.zeros(128, dtype=np.float32)
    question[0] = 1.0
    scorer = SequenceScorer(question, encode, Wording(NAMES))
    one, two = (scorer.final_score([((0, False), (1, False)), ((1, False),)]) for _ in range(2))
    assert one.tolist() == two.tolist()
    assert sorted(encode.texts) == ["release year", "written by", "written by's release year"]


@pytest.mark.parametrize(
    ("cosine", "relation", "named"),
    [
        (0.5, None, {"film"}),
        (0.49, None, set()),
        (0.5, (0.0, 0.0), {"film"}),
        # As near to a relation as to the kind: the word means the relation.
        (0.5, (0.0, 0.5), set()),
        (0.5, (0.0, 0.49), {"film"}),
        # A kind that is like a relation is that relation.
        (0.5, (0.75, 0.0), set()),
        (0.5, (0.74, 0.0), {"film"}),
    ],
)
def test_a_kind_is_named_from_its_cosine_on(
    cosine: float, relation: tuple[float, float] | None, named: set[str]
) -> None:
    """A word of the question, a kind and a relation, with cosines as given."""
    preset = replace(LEARNED, kind_letters=4, kind_similarity=0.5, synonym_similarity=0.75)
    vectors = {"film": [1.0, 0.0, 0.0, 0.0], "movies": [cosine, 1.0, 0.0, 0.0]}
    if relation is not None:
        of_kind, of_word = relation
        vectors["made"] = [of_kind, of_word - of_kind * cosine, 0.0, 0.0]

    def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        nothing = [0.0, 0.0, 0.0, 1.0]
        return np.array([vectors.get(text, nothing) for text in texts], dtype=np.float32)

    texts = ["made"] if relation is not None else []
    assert KindReader(texts, preset, encode=encode).kinds_in("Who has movies?") == named


def test_short_words_name_no_kind() -> None:
    def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.ones((len(texts), 1), dtype=np.float32)

    preset = replace(LEARNED, kind_letters=4, kind_similarity=0.5, synonym_similarity=2.0)
    assert KindReader([], preset, encode=encode).kinds_in("a b c") == frozenset()
    assert KindReader([], preset, encode=encode).kinds_in("abc") == frozenset()
    assert KindReader([], preset, encode=encode).kinds_in("abcd") == frozenset(KINDS)


@pytest.mark.parametrize(
    "kind",
    ["person", "city", "country", "film", "book", "song", "album", "river", "company", "language",
     "team", "award", "disease", "species", "television series", "year"],
)  # fmt: skip
def test_common_nouns_are_kinds(kind: str) -> None:
    """A question "Which river ..." asks for a river, in any graph."""
    encode = Planes()
    asked = f"Which {kind.replace(' ', '-')} is it?"
    if " " in kind:
        encode = Planes(**{"television_series": 10, "television-series": 10})
    assert KindReader(["somewhere"], LEARNED, encode=encode).kinds_in(asked) == {kind}
