"""The commands of a document and the output that it shows below each."""

from __future__ import annotations

import re
from dataclasses import dataclass

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs between two runs on one machine: durations, dates, and the folder.
VARIES = (
    (re.compile(r"\b\d+(\.\d+)? s\b"), "N s"),
    # By processor time, which a busy machine has more of.
    (re.compile(r'"actual":\d+(\.\d+)?'), '"actual":N'),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)"), "DATE"),
)


@dataclass(frozen=True)
class Command:
    text: str
    output: str
    start: int
    end: int


def commands(document: str) -> list[Command]:
    found = []
    for block in BLOCK.finditer(document):
        body, offset = block.group(1), block.start(1)
        starts = [match.start() for match in re.finditer(r"^\$ ", body, re.MULTILINE)]
        for begin, end in zip(starts, [*starts[1:], len(body)], strict=True):
            lines = body[begin:end].splitlines(keepends=True)
            taken = 1
            heredoc = re.search(r"<<'?(\w+)'?", lines[0])
            if heredoc:
                taken = next(i for i, line in enumerate(lines) if line.strip() == heredoc[1]) + 1
            while lines[taken - 1].endswith("\\\n"):
                taken += 1
            text = "".join(lines[:taken])[2:].replace("\n> ", "\n")
            out_start = offset + begin + sum(len(line) for line in lines[:taken])
            found.append(Command(text, "".join(lines[taken:]), out_start, offset + end))
    return found


def normal(text: str) -> str:
    for pattern, name in VARIES:
        text = pattern.sub(name, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def shows(document: str, printed: str) -> bool:
    """Whether a document shows what was printed; a line of ``...`` stands for any lines."""
    parts = [
        re.escape(part) for part in re.split(r"^\.\.\.$", normal(document), flags=re.MULTILINE)
    ]
    return re.fullmatch(".*?".join(parts), normal(printed), re.DOTALL) is not None
