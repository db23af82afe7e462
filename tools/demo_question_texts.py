"""The demo's fifty questions, each written by hand with the statements that answer it.

A question is a text and layers of statements ``(head, relation, tail)``: the first layer touches
an entity that the question names, each next one what the layer before reached; the far ends of
the last layer are the answers. A tail of None stands for the one literal of that relation.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph_service.model.identity import normalise_statement_guid

Edge = tuple[str, str, str | None]

INVERSE = {
    "P22": ("P40",),
    "P25": ("P40",),
    "P40": ("P22", "P25"),
    "P26": ("P26",),
    "P3373": ("P3373",),
}


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before its statements have ids."""

    id: str
    kind: str
    question: str
    entities: tuple[str, ...]
    layers: tuple[tuple[Edge, ...], ...]
    absent: tuple[tuple[str, str], ...] = ()
    note: str = ""


def one(id_: str, question: str, *edges: Edge, note: str = "") -> Draft:
    """Returns a one-hop question about the head of its first edge."""
    return Draft(id_, "one-hop", question, (edges[0][0],), (edges,), note=note)


def chain(
    id_: str,
    kind: str,
    question: str,
    entity: str,
    *layers: Edge | tuple[Edge, ...],
    note: str = "",
) -> Draft:
    """Returns a question over several hops; a layer is one edge or several."""
    full = tuple(layer if isinstance(layer[0], tuple) else (layer,) for layer in layers)
    return Draft(id_, kind, question, (entity,), full, note=note)


DRAFTS: tuple[Draft, ...] = (
    one("one-01", "Who is Maria Shriver's husband?", ("Q230654", "P26", "Q2685")),
    one("one-02", "On what date was John F. Kennedy born?", ("Q9696", "P569", None)),
    one(
        "one-03",
        "which political party does arnold schwarzenegger belong to?",
        ("Q2685", "P102", "Q29468"),
    ),
    one("one-04", "Who was the father of Sargent Shriver?", ("Q317248", "P22", "Q96077739")),
    one("one-05", "Where was JFK buried?", ("Q9696", "P119", "Q216344"), note="alias"),
    one("one-06", "Who directed The Terminator?", ("Q162255", "P57", "Q42574")),
    one(
        "one-07",
        "Which instrument did Douglas Adams play?",
        ("Q42", "P1303", "Q6607"),
        note="a homonym that the question does not settle; one of the two has an instrument",
    ),
    one("one-08", "Where did Rory Kennedy study?", ("Q273833", "P69", "Q49114")),
    one("one-09", "What is Caroline Kennedy's birthplace?", ("Q230303", "P19", "Q60")),
    one("one-10", "Who founded the University of Virginia?", ("Q213439", "P112", "Q11812")),
    one("one-11", "Which award did Ted Kennedy receive?", ("Q134549", "P166", "Q17144")),
    one("one-12", "What did Peter Lawford die of?", ("Q345517", "P509", "Q476921")),
    one(
        "one-13",
        "Who influenced Richard Dawkins?",
        ("Q44461", "P737", "Q42"),
        ("Q44461", "P737", "Q33760"),
        note="two answers",
    ),
    chain(
        "two-01",
        "two-hop",
        "Who is the mother of Maria Shriver's husband?",
        "Q230654",
        ("Q230654", "P26", "Q2685"),
        ("Q2685", "P25", "Q23800370"),
    ),
    chain(
        "two-02",
        "two-hop",
        "Where was the wife of Arnold Schwarzenegger educated?",
        "Q2685",
        ("Q2685", "P26", "Q230654"),
        ("Q230654", "P69", "Q333886"),
    ),
    chain(
        "two-03",
        "two-hop",
        "Who was the father of Jackie Kennedy's husband?",
        "Q165421",
        ("Q165421", "P26", "Q9696"),
        ("Q9696", "P22", "Q313696"),
        note="alias",
    ),
    chain(
        "two-04",
        "two-hop",
        "Where was the wife of Robert F. Kennedy born?",
        "Q25310",
        ("Q25310", "P26", "Q258661"),
        ("Q258661", "P19", "Q1297"),
    ),
    chain(
        "two-05",
        "two-hop",
        "What is the occupation of Katherine Schwarzenegger's husband?",
        "Q4521676",
        ("Q4521676", "P26", "Q503706"),
        ("Q503706", "P106", "Q33999"),
    ),
    chain(
        "two-06",
        "two-hop",
        "In which city was Patricia Kennedy Lawford's husband born?",
        "Q432694",
        ("Q432694", "P26", "Q345517"),
        ("Q345517", "P19", "Q84"),
    ),
    chain(
        "two-07",
        "two-hop",
        "Which university did the husband of Eunice Kennedy Shriver attend?",
        "Q272908",
        ("Q272908", "P26", "Q317248"),
        ("Q317248", "P69", "Q49112"),
    ),
    chain(
        "two-08",
        "two-hop",
        "Who was the mother of Christopher Lawford's mother?",
        "Q1086823",
        ("Q1086823", "P25", "Q432694"),
        ("Q432694", "P25", "Q236540"),
    ),
    chain(
        "two-09",
        "two-hop",
        "Who was Malissa Feruzzi's mother-in-law?",
        "Q65589427",
        ("Q65589427", "P26", "Q3436301"),
        ("Q3436301", "P25", "Q272908"),
    ),
    chain(
        "two-10",
        "two-hop",
        "In which city is the university that Anna Faris attended?",
        "Q4491",
        ("Q4491", "P69", "Q219563"),
        ("Q219563", "P131", "Q5083"),
    ),
    chain(
        "two-11",
        "two-hop",
        "Which party is Kerry Kennedy's former husband a member of?",
        "Q467912",
        ("Q467912", "P26", "Q11673"),
        ("Q11673", "P102", "Q29552"),
    ),
    chain(
        "two-12",
        "two-hop",
        "Where did the mother of John F. Kennedy Jr. die?",
        "Q316064",
        ("Q316064", "P25", "Q165421"),
        ("Q165421", "P20", "Q60"),
    ),
    chain(
        "two-13",
        "two-hop",
        "Who directed the film that Bobby Shriver acted in?",
        "Q3436301",
        ("Q110397", "P161", "Q3436301"),
        ("Q110397", "P57", "Q42574"),
        note="the first statement is walked from tail to head",
    ),
    chain(
        "two-14",
        "two-hop",
        "When was the mother of Caroline Kennedy born?",
        "Q230303",
        ("Q230303", "P25", "Q165421"),
        ("Q165421", "P569", None),
    ),
    chain(
        "two-15",
        "two-hop",
        "Where is the college located that Joseph P. Kennedy Jr. attended?",
        "Q505178",
        ("Q505178", "P69", "Q49123"),
        ("Q49123", "P131", "Q49111"),
    ),
    chain(
        "two-16",
        "two-hop",
        "what was the cause of death of sydney lawford's mother?",
        "Q75326779",
        ("Q75326779", "P25", "Q432694"),
        ("Q432694", "P509", "Q12192"),
    ),
    chain(
        "two-17",
        "two-hop",
        "Who was the dad of Patrick M. Knapp Schwarzenegger's father?",
        "Q24004771",
        ("Q24004771", "P22", "Q38196234"),
        ("Q38196234", "P22", "Q3288486"),
    ),
    chain(
        "two-18",
        "two-hop",
        "What was the blood type of Caroline Kennedy's father?",
        "Q230303",
        ("Q230303", "P22", "Q9696"),
        ("Q9696", "P1853", "Q19831455"),
    ),
    chain(
        "two-19",
        "two-hop",
        "In which country is the birthplace of Peter Lawford?",
        "Q345517",
        ("Q345517", "P19", "Q84"),
        ("Q84", "P17", "Q145"),
    ),
    chain(
        "two-20",
        "two-hop",
        "Whom did the godparent of Ted Kennedy marry?",
        "Q134549",
        ("Q134549", "P1290", "Q9696"),
        ("Q9696", "P26", "Q165421"),
    ),
    chain(
        "two-21",
        "two-hop",
        "Who are the parents of Arnold Schwarzenegger's wife?",
        "Q2685",
        ("Q2685", "P26", "Q230654"),
        (("Q230654", "P22", "Q317248"), ("Q230654", "P25", "Q272908")),
        note="two answers",
    ),
    chain(
        "two-22",
        "two-hop",
        "Which office did Patrick Schwarzenegger's father hold?",
        "Q901541",
        ("Q901541", "P22", "Q2685"),
        ("Q2685", "P39", "Q887010"),
    ),
    chain(
        "two-23",
        "two-hop",
        "Who is the father of Joseph Baena's father?",
        "Q23800185",
        ("Q23800185", "P22", "Q2685"),
        ("Q2685", "P22", "Q3288486"),
    ),
    chain(
        "two-24",
        "two-hop",
        "Who founded the party of Andrew Cuomo?",
        "Q11673",
        ("Q11673", "P102", "Q29552"),
        ("Q29552", "P112", "Q11817"),
    ),
    chain(
        "three-01",
        "three-hop",
        "In which city is the university where the mother of Katherine Schwarzenegger studied?",
        "Q4521676",
        ("Q4521676", "P25", "Q230654"),
        ("Q230654", "P69", "Q333886"),
        ("Q333886", "P131", "Q61"),
    ),
    chain(
        "three-02",
        "three-hop",
        "Who was the mother of the husband of Maria Shriver's mother?",
        "Q230654",
        ("Q230654", "P25", "Q272908"),
        ("Q272908", "P26", "Q317248"),
        ("Q317248", "P25", "Q96077740"),
    ),
    chain(
        "three-03",
        "three-hop",
        "Who founded the university where Ethel Skakel Kennedy's husband studied law?",
        "Q258661",
        ("Q258661", "P26", "Q25310"),
        ("Q25310", "P69", "Q213439"),
        ("Q213439", "P112", "Q11812"),
        note="the academic major is a qualifier",
    ),
    chain(
        "three-04",
        "three-hop",
        "In which state is the birthplace of JFK Jr.'s father?",
        "Q316064",
        ("Q316064", "P22", "Q9696"),
        ("Q9696", "P19", "Q49142"),
        ("Q49142", "P131", "Q771"),
        note="alias",
    ),
    Draft(
        "name-01",
        "homonym",
        "In which state of the United States of America is Cambridge, the headquarters location of "
        "Harvard University?",
        ("Q49111", "Q13371", "Q30"),
        ((("Q49111", "P131", "Q771"),),),
        note="Cambridge is also a city in England",
    ),
    Draft(
        "name-02",
        "homonym",
        "What is the citizenship of Douglas Adams, the screenwriter who worked for the BBC?",
        ("Q42", "Q9531"),
        ((("Q42", "P27", "Q145"),),),
        note="Douglas Adams is also an American engineer",
    ),
    Draft(
        "name-03",
        "homonym",
        "Who is the mother of Patrick Kennedy, the brother of Kara Kennedy?",
        ("Q948920", "Q2383370"),
        ((("Q948920", "P25", "Q441424"),),),
        note="Patrick Kennedy also names a son of John F. Kennedy",
    ),
    Draft(
        "name-04",
        "homonym",
        "Who is the father of Kathleen Kennedy, the sister of Rory Kennedy?",
        ("Q467861", "Q273833"),
        ((("Q467861", "P22", "Q25310"),),),
        note="Kathleen Kennedy also names a sister of John F. Kennedy",
    ),
    Draft(
        "lack-01",
        "lacking",
        "What was the blood type of Jacqueline Kennedy Onassis?",
        ("Q165421",),
        (),
        (("Q165421", "P1853"),),
    ),
    Draft(
        "lack-02",
        "lacking",
        "Which instrument does Arnold Schwarzenegger play?",
        ("Q2685",),
        (),
        (("Q2685", "P1303"),),
    ),
    Draft(
        "lack-03", "lacking", "How tall was Ted Kennedy?", ("Q134549",), (), (("Q134549", "P2048"),)
    ),
    Draft(
        "lack-04",
        "lacking",
        "Where was Eunice Kennedy Shriver buried?",
        ("Q272908",),
        (),
        (("Q272908", "P119"),),
    ),
    Draft(
        "lack-05",
        "lacking",
        "What was the cause of death of Maria Shriver's mother?",
        ("Q230654",),
        ((("Q230654", "P25", "Q272908"),),),
        (("Q272908", "P509"),),
        note="the graph has the first hop and lacks the second",
    ),
)


class Index:
    """The statements of the slice by (head, relation, tail)."""

    def __init__(self, documents: list[dict[str, Any]]) -> None:
        self.ids: dict[Edge, str] = {}
        self.literals: dict[tuple[str, str], str] = {}
        self.labels = {d["id"]: d["labels"]["en"]["value"] for d in documents}
        for document in documents:
            for relation, group in document["claims"].items():
                for found in group:
                    value = found["mainsnak"]["datavalue"]["value"]
                    tail = value.get("id") if isinstance(value, dict) else None
                    guid = normalise_statement_guid(found["id"])
                    if guid is None:
                        raise SystemExit(f"{found['id']} is no statement GUID")
                    self.ids[document["id"], relation, tail] = guid
                    if tail is None and isinstance(value, dict) and "time" in value:
                        self.literals[document["id"], relation] = value["time"][1:11]

    def inverse(self, edge: Edge) -> str | None:
        """Returns the id of the statement that says the same from the other end, if there."""
        head, relation, tail = edge
        for other in INVERSE.get(relation, ()):
            if tail is not None and (tail, other, head) in self.ids:
                return self.ids[tail, other, head]
        return None


def resolve(draft: Draft, index: Index) -> dict[str, Any]:
    """Returns the question's record, with ids, alternatives and answers."""
    choices: list[list[tuple[str, ...]]] = []
    frontier = set(draft.entities)
    ends: list[str | None] = []
    literals: list[str] = []
    for layer in draft.layers:
        options = [tuple(index.ids[edge] for edge in layer)]
        inverses = tuple(index.inverse(edge) for edge in layer)
        if all(inverses):
            options.append(tuple(i for i in inverses if i))
        choices.append(options)
        ends = [tail if head in frontier else head for head, _, tail in layer]
        literals = [index.literals[head, rel] for head, rel, tail in layer if tail is None]
        frontier = {end for end in ends if end}
    sets = [tuple(itertools.chain(*combination)) for combination in itertools.product(*choices)]
    answer_ids = [] if draft.absent else [end for end in ends if end]
    answers = ["[NA]"] if draft.absent else [index.labels[a] for a in answer_ids] + literals
    return {
        "id": draft.id,
        "question": draft.question,
        "kind": draft.kind,
        "entity_ids": draft.entities,
        "statement_ids": sets[0],
        "alternatives": sets[1:],
        "answer_ids": answer_ids,
        "answers": answers,
        "hops": len(draft.layers) + (1 if draft.absent else 0),
        "lacking": bool(draft.absent),
        "absent": draft.absent,
        "note": draft.note,
    }


def write_questions(documents: list[dict[str, Any]], path: Path) -> None:
    """Writes one JSON line a question."""
    index = Index(documents)
    lines = [json.dumps(resolve(d, index), ensure_ascii=False) + "\n" for d in DRAFTS]
    path.write_text("".join(lines), encoding="utf-8")
