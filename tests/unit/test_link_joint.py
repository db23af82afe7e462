"""What a question is taken to name once retrieval has chosen among the start candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from start_candidates import start_candidate

from graph_service.link.joint import JointMention, joint_linking
from graph_service.link.starts import NameForm

# what does jamaican people speak in new york city
#           ^10      ^19           ^35      ^44^48
JAMAICA = start_candidate(node=1, start=10, end=18, score=0.3, form=NameForm.DEMONYM)
PEOPLE = start_candidate(node=2, start=19, end=25, score=0.8, linked=True, listed=True)
PEOPLES = start_candidate(node=3, start=19, end=25, score=0.2, rank=1, listed=True)
NEW_YORK_CITY = start_candidate(node=4, start=35, end=48, score=0.7, linked=True, listed=True)
NEW_YORK = start_candidate(node=5, start=35, end=43, covered=True)
STATE = start_candidate(node=6, start=35, end=43, rank=1, score=0.1, covered=True)
CITY = start_candidate(node=7, start=44, end=48, covered=True)
ALL = (PEOPLE, NEW_YORK_CITY, JAMAICA, PEOPLES, NEW_YORK, STATE, CITY)

JAMAICA_SHOWN = JointMention(10, 18, 0.3, (1,))
PEOPLE_SHOWN = JointMention(19, 25, 0.8, (2, 3))
CITY_SHOWN = JointMention(35, 48, 0.7, (4,))


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        # Nothing used: what link says.
        ([], [PEOPLE_SHOWN, CITY_SHOWN]),
        # A used mention that link does not know, beside those that it knows.
        ([1], [JAMAICA_SHOWN, PEOPLE_SHOWN, CITY_SHOWN]),
        # The used entity first, with its own score, and link's as an alternative.
        ([3], [JointMention(19, 25, 0.2, (3, 2)), CITY_SHOWN]),
        # What overlaps a used mention goes, though link knows it.
        ([5], [PEOPLE_SHOWN, JointMention(35, 43, 0.9, (5, 6))]),
        # Two used entities of one name: the first used is the entity, the other is next.
        ([6, 5], [PEOPLE_SHOWN, JointMention(35, 43, 0.1, (6, 5))]),
        # Used mentions may overlap.
        ([4, 7, 4], [PEOPLE_SHOWN, CITY_SHOWN, JointMention(44, 48, 0.9, (7,))]),
    ],
)
def test_what_is_shown(used: Sequence[int], expected: list[JointMention]) -> None:
    assert joint_linking(ALL, used) == expected


def test_a_mention_keeps_so_many_alternatives() -> None:
    alike = [replace(PEOPLE, node=node, linked=node == 20) for node in range(20, 30)]
    (mention,) = joint_linking(alike, [25])
    assert mention.nodes == (25, 20, 21, 22, 23, 24)
    assert joint_linking(alike, [25], max_alternatives=0)[0].nodes == (25,)


def test_a_used_entity_must_be_a_candidate() -> None:
    with pytest.raises(KeyError):
        joint_linking(ALL, [99])
