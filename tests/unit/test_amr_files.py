"""AMR parses from Penman files, and from the command line (L5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from error_texts import check_error, raises

from graph_service.errors import InputError
from graph_service.rank.parses import Parse
from queries.datasets.amr import by_question, read_parses

pytest.importorskip("penman", reason="the extra amr is not installed")

Cli = Callable[..., tuple[int, str, str]]
WHO = """# ::id q1
# ::snt Who wrote Dune?
(w / write-01
   :ARG0 (a / amr-unknown)
   :ARG1 (b / book :name (n / name :op1 "Dune")))
"""
WHAT = """# ::id q2
(t / thing
   :ARG1-of (w / write-01 :ARG0 t)
   :polarity -)
"""


def test_concepts_roles_and_constants_are_nodes_l5(tmp_path: Path) -> None:
    (tmp_path / "p.amr").write_text(f"# a remark\n\n{WHO}\n\n{WHAT}")
    found = read_parses(tmp_path / "p.amr")
    assert list(found) == ["q1", "q2"]
    assert found["q1"] == Parse(
        ("write-01", "amr-unknown", "book", "name", ":ARG0", ":ARG1", ":name", "dune", ":op1"),
        ((0, 4), (4, 1), (0, 5), (5, 2), (2, 6), (6, 3), (3, 8), (8, 7)),
    )
    # The inverse role points from the verb, and the variable that comes again is the same node.
    assert found["q2"] == Parse(
        ("thing", "write-01", ":ARG1", ":ARG0", "-", ":polarity"),
        ((1, 2), (2, 0), (1, 3), (3, 0), (0, 5), (5, 4)),
    )


@pytest.mark.parametrize(
    "text",
    [
        f"{WHO}\n# ::id q3\n(x / thing\n",
        f"{WHO}\n(x / thing)\n",
        f"{WHO}\n{WHO}",
        "# only remarks\n",
        "",
    ],
)
def test_mistakes_are_named_by_file_and_line_l5(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.amr").write_text(text)
    with raises(InputError):
        read_parses(tmp_path / "p.amr")
    (tmp_path / "p.amr").write_bytes(b"# ::id a\n\xff\n")
    with raises(InputError):
        read_parses(tmp_path / "p.amr")


def test_parses_go_to_the_questions_of_their_ids_l5() -> None:
    parse = Parse(("a",), ())
    found, without = by_question({"1": parse}, {"1": "Who?", "2": "What?"})
    assert (found, without) == ({"Who?": parse}, 1)
    with raises(InputError):
        by_question({"1": parse}, {"x": "Who?"})


def write_task(folder: Path, names: range) -> None:
    """Questions whose words are the same for both relations; the parse tells them apart."""
    rows, graphs = [], []
    for i in names:
        for key, roles in (("P50", (":ARG0", ":ARG1")), ("-P50", (":ARG1", ":ARG0"))):
            id_ = f"{i}{key}"
            rows.append(
                {"id": id_, "question": f"tell {i} of {id_}", "relation": key, "label": "author"}
            )
            graphs.append(
                f"# ::id {id_}\n(w / write-01 {roles[0]} (a / amr-unknown) {roles[1]} (n / name))\n"
            )
    (folder / "q.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    (folder / "p.amr").write_text("\n".join(graphs))


def test_a_ranker_is_trained_with_parses_and_ranks_by_them_l5(
    demo_cli: Cli, tmp_path: Path
) -> None:
    write_task(tmp_path, range(20))
    code, out, err = demo_cli(
        "rank", "train", "q.jsonl", "--amr", "p.amr", "--out", "r.npz", "--json"
    )
    assert code == 0, err
    assert json.loads(out)["parses"] == 40
    measure = ("rank", "measure", "q.jsonl", "--ranker", "r.npz", "--k", "1", "--json")
    with_parses = json.loads(demo_cli(*measure, "--amr", "p.amr")[1])
    assert with_parses["ranker"].endswith(", with AMR parses")
    assert with_parses["recall"]["1"]["value"] == 1.0
    code, _, err = demo_cli("rank", "measure", "q.jsonl", "--ranker", "embedding", "--amr", "p.amr")
    assert code == 2
    check_error(err)
    (tmp_path / "ask.jsonl").write_text('{"id": "0P50", "question": "Who is Maria Shriver?"}\n')
    code, out, err = demo_cli(
        "answer", "--questions", "ask.jsonl", "--ranker", "r.npz", "--amr", "p.amr", "--json"
    )
    assert code == 0, err
    code, _, err = demo_cli("answer", "Who is Maria Shriver?", "--amr", "p.amr")
    assert code == 2
    check_error(err)
