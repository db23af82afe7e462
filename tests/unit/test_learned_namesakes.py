"""Whether an answer is of somebody else than the words of a question first name."""

from __future__ import annotations

from dataclasses import replace

import pytest
from start_candidates import start_candidate

from graph_service.link.spans import Certainty
from graph_service.link.starts import NameForm, StartCandidate
from graph_service.retrieve.learned.namesakes import is_lesser_namesake, sharers_of_name

# what money do they have in italy
ITALY = start_candidate(node=1, start=27, end=32, linked=True, listed=True, degree=800)
KINGDOM = replace(ITALY, node=2, rank=1, is_alias=True, linked=False, degree=250)
OF_THE_SAME_LABEL = replace(KINGDOM, is_alias=False)
# who was born in mexico city
MEXICO_CITY = replace(ITALY, node=3, start=16, end=27, words=2, degree=20)
MEXICO = replace(ITALY, node=4, start=16, end=22, linked=False, covered=True)


@pytest.mark.parametrize(
    ("start", "candidates", "is_lesser"),
    [
        (KINGDOM, (ITALY, KINGDOM), True),
        (ITALY, (ITALY, KINGDOM), False),
        # Psycho the film beside Psycho the novel: what each has tells which is meant.
        (OF_THE_SAME_LABEL, (ITALY, OF_THE_SAME_LABEL), False),
        (replace(KINGDOM, degree=500), (ITALY, KINGDOM), False),
        (replace(KINGDOM, neighbour_matches=1), (ITALY, KINGDOM), False),
        (KINGDOM, (replace(ITALY, is_alias=True), KINGDOM), False),
        # Robert F. Kennedy Jr. beside Robert F. Kennedy; what is of a place is not its namesake.
        (replace(KINGDOM, form=NameForm.PART), (ITALY, KINGDOM), True),
        (replace(KINGDOM, form=NameForm.DEMONYM), (ITALY, KINGDOM), False),
        (MEXICO, (MEXICO_CITY, MEXICO), True),
        (MEXICO, (replace(MEXICO_CITY, certainty=Certainty.COMMON), MEXICO), False),
        (MEXICO, (MEXICO,), False),
        (replace(MEXICO, start=-1, end=-1), (MEXICO_CITY,), False),
    ],
)
def test_whom_the_words_rather_mean(
    start: StartCandidate, candidates: tuple[StartCandidate, ...], is_lesser: bool
) -> None:
    assert is_lesser_namesake(start, candidates) is is_lesser


# the father of patrick
PATRICK = replace(ITALY, form=NameForm.PART, degree=20)
OTHER = replace(PATRICK, node=9, rank=1, degree=12)


@pytest.mark.parametrize(
    ("start", "other", "expected"),
    [
        (PATRICK, OTHER, [1]),
        (replace(PATRICK, neighbour_matches=1), OTHER, []),
        (replace(PATRICK, degree=24), OTHER, []),
        (replace(PATRICK, form=NameForm.EXACT), OTHER, []),
        (PATRICK, replace(OTHER, form=NameForm.EXACT), []),
        (PATRICK, replace(OTHER, start=1, end=5), []),
    ],
)
def test_who_shares_a_part_of_a_name(
    start: StartCandidate, other: StartCandidate, expected: list[int]
) -> None:
    assert sharers_of_name(start, (start, other)) == expected
