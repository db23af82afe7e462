"""Names of relations as vectors and stems: made once, and never kept where a vector is lacking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from word_vectors import WordVectors

from graph_service.byte_budget import ByteBudget
from graph_service.retrieve.learned.relation_names import NamedRelation, NamesScope, RelationNamer

SCOPE = NamesScope("films@1", "00", ("en",), "words")
ALIASES = {"r1": ("husband", "wife"), "r2": ("faith",)}


class Counting:
    """Vectors of words, but zeros for some texts; counts what it is asked."""

    def __init__(self, *lacking: str) -> None:
        self.texts = 0
        self.lacking = set(lacking)
        self._words = WordVectors()

    def __call__(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        self.texts += len(texts)
        vectors = np.array(self._words.encode(texts), dtype=np.float32)
        vectors[[text in self.lacking for text in texts]] = 0.0
        return vectors


def aliases(ids: Sequence[str]) -> list[tuple[str, ...]]:
    return [ALIASES.get(id_, ()) for id_ in ids]


def ask(
    namer: RelationNamer,
    encode: Counting,
    *relations: tuple[str, str],
    scope: NamesScope = SCOPE,
) -> list[NamedRelation]:
    ids, labels = zip(*relations, strict=True)
    return namer.named(scope, aliases, ids, labels, encode)


def test_a_relation_has_its_label_first_and_each_name_once() -> None:
    namer, encode = RelationNamer(ByteBudget()), Counting()
    spouse, religion = ask(namer, encode, ("r1", "wife"), ("r2", "the religion"))
    assert np.array_equal(spouse.vectors, Counting()(["wife", "husband"]))
    assert spouse.stems == (frozenset({"wif"}), frozenset({"husband"}))
    assert religion.stems == (frozenset({"religion"}), frozenset({"faith"}))
    assert religion.all_stems == {"religion", "faith"}


def test_names_are_made_once_for_each_graph_embedder_id_and_label() -> None:
    namer, encode = RelationNamer(ByteBudget()), Counting()
    first = ask(namer, encode, ("r1", "spouse"), ("r2", "religion"))
    asked = encode.texts
    again = ask(namer, encode, ("r2", "religion"), ("r1", "spouse"))
    assert [again[1], again[0]] == first
    assert encode.texts == asked
    other = SCOPE._replace(embedder="other")
    for relation, scope in (
        (("r1", "partner"), SCOPE),
        (("r3", "spouse"), SCOPE),
        (("r1", "spouse"), other),
    ):
        before = encode.texts
        ask(namer, encode, relation, scope=scope)
        assert encode.texts > before


@pytest.mark.parametrize("lacking", ["faith", "religion"])
def test_names_without_all_vectors_are_used_and_not_kept(lacking: str) -> None:
    namer, encode = RelationNamer(ByteBudget()), Counting(lacking)
    spouse, religion = ask(namer, encode, ("r1", "spouse"), ("r2", "religion"))
    assert len(religion.vectors) == 2
    assert not religion.vectors.any(axis=1).all()
    encode.lacking.clear()
    before = encode.texts
    again = ask(namer, encode, ("r1", "spouse"), ("r2", "religion"))
    assert again[0] is spouse
    assert again[1].vectors.any(axis=1).all()
    assert encode.texts == before + 2


@pytest.mark.parametrize("lacking", ["gender", "sex or gender"])
def test_names_of_common_relations_are_looked_for_again_where_a_vector_was_lacking(
    lacking: str,
) -> None:
    """Of the label, or of any of the common names."""
    namer, encode = RelationNamer(ByteBudget()), Counting(lacking)
    (alone,) = ask(namer, encode, ("r9", "gender"))
    assert len(alone.vectors) == 1
    encode.lacking.clear()
    (known,) = ask(namer, encode, ("r9", "gender"))
    assert len(known.vectors) > 1
    assert "sex" in known.all_stems


def test_kept_names_count_in_the_budget() -> None:
    budget = ByteBudget()
    ask(RelationNamer(budget), Counting(), ("r1", "spouse"))
    assert budget.used()["names of relations"] > 3 * 4 * len(Counting()(["spouse"])[0])
