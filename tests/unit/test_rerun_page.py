"""docs/how-to/rerun-the-papers.md: TALEC's commands as they stand, on a server that judges by rule."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

from cli_runs import Cli, Run
from openai_stand_in import Scripted, ok, stand_in

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "how-to" / "rerun-the-papers.md").read_text(encoding="utf-8")
SCORES = (DOCS / "reference" / "scores.md").read_text(encoding="utf-8")
QUESTION = "How far does the A1 go?"
FAULTS = ("wrong-model", "too-long")


def section(title: str) -> str:
    """Returns a section of the page, its heading left out."""
    found = re.search(rf"^## {title}.*?\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def judged(body: dict[str, Any]) -> Scripted:
    """Judge M sees that a text is of the A2, which nobody asked for; judge N sees no fault."""
    shown = [part["content"] for part in body["messages"] if "\nText: " in part["content"]]
    is_seen = body["model"] == "M" and "The A2" in shown[-1]
    return ok(f"It says so. [[{'A' if is_seen else 'B'}]]")


def test_the_commands_of_talec_run_as_they_stand_t6(cli: Cli, tmp_path: Path) -> None:
    criteria = re.search(r"```yaml\n(task: .*?)```", SCORES, re.DOTALL)
    shown = re.search(r"```json\n(.*?)```", section("TALEC"), re.DOTALL)
    assert criteria is not None
    assert shown is not None
    (tmp_path / "own.yaml").write_text(criteria[1])
    texts: list[dict[str, Any]] = [json.loads(shown[1])]
    for id_, text, faults, split in (
        ("2", "The A2 goes far.", (1, 0), "eval"),
        ("3", "The A1 goes far. " * 40, (0, 1), "eval"),
        ("4", "The A2 goes farther.", (1, 0), "train"),
    ):
        human = dict(zip(FAULTS, faults, strict=True))
        made = {"id": id_, "question": QUESTION, "text": text, "human": human, "split": split}
        texts.append(made)
    (tmp_path / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))
    commands = re.findall(
        r"^    graph-service (.+)$", re.sub(r"\\\n +", "", section("TALEC")), re.MULTILINE
    )
    done: dict[str, list[Run]] = {}
    with stand_in(judged) as server:
        for command in commands:
            words = shlex.split(command.replace("URL", server.url))
            ran = cli(*words)
            assert ran.code == 0, (command, ran.err)
            done.setdefault(words[1], []).append(ran)
    # Of three texts one label, judged without shots, with them, and by who sees both judgements.
    assert [body["model"] for body in server.requests] == ["M"] * 9 + ["N"] * 9
    assert done["lint"][0].out.endswith("1 labels, 2 shots, 1 rules, 0 warnings\n")
    # People score 0 and 1 the two texts of which they judge all: M finds both faults, N only the one
    # that is a rule.
    for ran, accuracy in zip(done["talec"], ("1.000", "0.500"), strict=True):
        assert f"wrong-model: accuracy   {accuracy} " in ran.out
    # The final scores: 2, 0 and by the rule 1 of M; 2, 2 and 1 of N.
    assert "2 wrong-model: 1 -> 0 (people: 1, worse)" in done["compare"][0].out
    # They agree on 2 of 3 texts, by chance on (1 * 2 + 1 * 1) / 9: (2/3 - 1/3) / (1 - 1/3).
    assert "  kappa            0.500 " in done["agreement"][0].out
