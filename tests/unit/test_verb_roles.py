"""A relation whose name is a verb is walked the way about that a question says that verb."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status
from graph_service.retrieve.constraints.verb_roles import Role, role_of, walks_against_verb

TABLES = {
    "packages": """head,relation,tail
Tarnwood,maintained by,Ilse Brandt
Tarnwood,latest version,4.2.1
Quillfeather,depends on,Tarnwood
Quillfeather,maintained by,Tomas Ruiz
Quillfeather,latest version,2.0.0
Quillfeather,is a,library
Tarnwood,is a,library
Lichgate,depends on,Quillfeather
Lichgate,depends on,Tarnwood
Lichgate,maintained by,Wanjiru Odhiambo
Lichgate,latest version,1.8.0
Lichgate,is a,program
Ilse Brandt,works for,Norrland Systems
Tomas Ruiz,works for,Opal Foundation
Norrland Systems,headquarters,Uppsala
Norrland Systems,operates in,Sweden
Norrland Systems,operates in,Norway
Opal Foundation,headquarters,Riga
Riga,mayor,Piet Vos
Riga,is a,town
Uppsala,is a,town
Riga,population,605000
Uppsala,population,177000
Riga,twinned with,Uppsala
""",
}

service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "name", "verb", "preposition", "role"),
    [
        ("Who does Ann Lee manage?", "Ann Lee", "manag", "", Role.SUBJECT),
        ("the books that Ann Lee published", "Ann Lee", "publish", "", Role.SUBJECT),
        ("What was published by Ann Lee?", "Ann Lee", "publish", "", Role.SUBJECT),
        ("Who manages Ann Lee?", "Ann Lee", "manag", "", Role.OBJECT),
        ("What depends on the Tarnwood?", "Tarnwood", "depend", "on", Role.OBJECT),
        ("Who was Ann Lee managed by?", "Ann Lee", "manag", "", Role.PASSIVE_SUBJECT),
        ("Who owns Ann Lee's dog?", "Ann Lee", "own", "", None),
        ("Who works Tarnwood?", "Tarnwood", "work", "for", None),
        ("Who knows Ann Lee?", "Ann Lee", "manag", "", None),
    ],
)
def test_the_words_beside_a_name_tell_its_role(
    question: str, name: str, verb: str, preposition: str, role: Role | None
) -> None:
    start = question.index(name)
    assert role_of(question, (start, start + len(name)), verb, preposition) is role


@pytest.mark.parametrize(
    ("question", "label", "backward"),
    [
        ("What does X depend on?", "depends on", False),
        ("What depends on X?", "depends on", True),
        ("Which tools still depend on X?", "depends on", True),
        ("the firm that X works for", "works for", False),
        ("Who lives in X?", "lives in", True),
        ("What was X written in?", "written in", False),
        ("Which books were written in X?", "written in", True),
        ("Who maintains X?", "maintained by", False),
        ("Which tools does X maintain?", "is maintained by", True),
        ("What is maintained by X?", "maintained by", True),
        ("Who is X maintained by?", "maintained by", False),
        ("Whose manager is X?", "manager", True),
        ("Whose daughter is X?", "parent", False),
        ("Which tool's maintainer is X?", "maintainer", True),
        ("Who has X as a manager?", "manager", True),
        ("Who manages X?", "manager", False),
        ("Who does X manage?", "manager", True),
        ("Who taught X?", "teacher", False),
        ("Who did X teach?", "teacher", True),
        ("Who does X mentor?", "mentor", True),
        ("What does X supply?", "supplies", False),
        ("Which bridges cross X?", "crosses", True),
    ],
)
def test_a_step_may_go_against_its_verb(question: str, label: str, backward: bool) -> None:
    name = (question.index("X"), question.index("X") + 1)
    assert not walks_against_verb(question, name, label, is_backward=backward)
    assert walks_against_verb(question, name, label, is_backward=not backward)


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What does X depend on?", "number of parts"),
        ("Who works with X?", "works with"),
        ("Who sponsors X?", "sponsors"),
        ("Which film does X star in?", "stars"),
        ("Who is X's manager?", "manager"),
        ("who is X father", "father"),
    ],
)
def test_other_labels_and_questions_tell_nothing(question: str, label: str) -> None:
    name = (question.index("X"), question.index("X") + 1)
    assert not walks_against_verb(question, name, label, is_backward=True)
    assert not walks_against_verb(question, name, label, is_backward=False)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What does Quillfeather depend on?", {"Tarnwood"}),
        ("What depends on Quillfeather?", {"Lichgate"}),
        ("Which libraries depend on Tarnwood?", {"Quillfeather"}),
        ("Who maintains what Quillfeather depends on?", {"Ilse Brandt"}),
        ("What is the latest version of Lichgate?", {"1.8.0"}),
        ("Where is the company that Ilse Brandt works for?", {"Uppsala"}),
        ("Who is the mayor of Riga?", {"Piet Vos"}),
        ("In which countries does Norrland Systems operate?", {"Sweden", "Norway"}),
        ("Which town has the largest population?", {"Riga"}),
    ],
)
def test_the_right_way_about_is_answered(
    service: Service, question: str, expected: set[str]
) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What does Tarnwood depend on?",
        "Where is the company that maintains Lichgate?",
    ],
)
def test_the_other_way_about_is_no_answer(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def test_verbs_are_read_out_as_such(service: Service) -> None:
    text = retrieve(service, "What depends on Quillfeather?").interpretation
    assert text is not None
    assert text.text == "those that depend on Quillfeather"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Whose mayor is Piet Vos?", {"Riga"}),
        ("Which town's mayor is Piet Vos?", {"Riga"}),
        ("Who has Piet Vos as mayor?", {"Riga"}),
    ],
)
def test_whose_asks_for_what_has_the_name(
    service: Service, question: str, expected: set[str]
) -> None:
    assert sure_answers(service, question) == expected
