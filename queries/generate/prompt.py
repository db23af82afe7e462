"""Prompts as text files: parts by role, named placeholders, a version that is their hash.

A file holds parts that begin with a line ``[[system]]``, ``[[user]]`` or ``[[assistant]]``;
``{{name}}`` stands for a text that is put in once, so that nothing in a text is taken for a
placeholder or a part of its own. What stands between ``{{#name}}`` and ``{{/name}}`` is left out
where the text of that name is empty; such a mark that fills a line takes its line end with it.
All prompts are this project's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import resources

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.result import Triple
from graph_service.model.serialise import to_plain
from queries.generate.citations import one_line
from queries.llm import Message, Rendered

_PART = re.compile(r"^\[\[(system|user|assistant)\]\]\n", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")
_SECTION = re.compile(r"\{\{#(\w+)\}\}(.*?)\{\{/\1\}\}", re.DOTALL)
_LINE_OF_MARK = re.compile(r"^(\{\{[#/]\w+\}\})\n", re.MULTILINE)
_MARK = re.compile(r"\{\{[#/](\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt before its texts are put in.

    Attributes:
        name: Name of its file, without the ending.
        version: 16 hexadecimal digits of its text.
        parts: Messages with placeholders.
        placeholders: Names to give, in order of first use.
    """

    name: str
    version: str
    parts: tuple[Message, ...]
    placeholders: tuple[str, ...]

    @property
    def label(self) -> str:
        """Name and version, ``kalma@0f3c...``, as answers record it."""
        return f"{self.name}@{self.version}"

    def render(self, **texts: str) -> Rendered:
        """Returns the messages with the texts put in.

        Raises:
            InputError: A text is missing, or none of that name is asked for.
        """
        missing = [name for name in self.placeholders if name not in texts]
        extra = sorted(set(texts) - set(self.placeholders))
        if missing or extra:
            raise InputError(
                f"prompt {self.name!r} takes {', '.join(self.placeholders) or 'nothing'}; "
                f"missing: {', '.join(missing) or 'none'}; unknown: {', '.join(extra) or 'none'}"
            )
        return Rendered(
            (Message(part.role, _put_in(part.content, texts)) for part in self.parts),
            label=self.label,
        )


def _put_in(content: str, texts: Mapping[str, str]) -> str:
    text = _SECTION.sub(
        lambda match: match.group(2) if texts[match.group(1)] else "",
        _LINE_OF_MARK.sub(r"\1", content),
    )
    return _PLACEHOLDER.sub(lambda match: texts[match.group(1)], text)


def parse_prompt(name: str, text: str, /, *, where: str = "") -> Prompt:
    """Returns the prompt of a file's text.

    Args:
        name: Its name.
        text: The file's text; lines before the first part that begin with ``#`` are remarks.
        where: The file, for messages; the prompt's name by default.

    Raises:
        InputError: Text stands before the first part, or there is none, or a mark has no partner;
            names the line.
    """
    where = where or f"prompt {name!r}"
    text = text.replace("\r\n", "\n")
    headings = list(_PART.finditer(text))
    before = text[: headings[0].start()] if headings else text
    # What `prompt show` prints has its name and version above it, as a remark.
    before = re.sub(r"(?m)^#.*$", lambda remark: " " * len(remark.group()), before)
    if before.strip() or not headings:
        line = line_of(text, len(before) - len(before.lstrip()))
        raise InputError(
            f"{where}, line {line}: a prompt must begin with a line [[system]], [[user]] or "
            "[[assistant]]",
            argument="prompt",
        )
    stops = [heading.start() for heading in headings[1:]] + [len(text)]
    parts: list[Message] = []
    for match, end in zip(headings, stops, strict=True):
        content = text[match.end() : end]
        # Whole sections are blanked, so that what is left stands where it stood.
        blanked = _SECTION.sub(lambda section: re.sub(r"[^\n]", " ", section.group()), content)
        if left := _MARK.search(blanked):
            raise InputError(
                f"{where}, line {line_of(text, match.end() + left.start())}: {left.group()} has no "
                "partner in its part",
                argument="prompt",
            )
        parts.append(Message(match.group(1), content.strip("\n")))
    names = [mark for part in parts for mark in re.findall(r"\{\{#?(\w+)\}\}", part.content)]
    version = digest((text[headings[0].start() :],), size=8, person=b"prompt").hex()
    return Prompt(name, version, tuple(parts), tuple(dict.fromkeys(names)))


def line_of(text: str, position: int, /) -> int:
    """Returns the number of the line that a position is in, from 1."""
    return text.count("\n", 0, position) + 1


@dataclass(frozen=True, slots=True)
class PromptFolder:
    """The prompts that come with a package: ``prompts/NAME.txt`` in it.

    Attributes:
        package: Its name.
        prefix: What the names begin with where they stand among all prompts.
        kind: What one is called in an error.
    """

    package: str
    prefix: str = ""
    kind: str = "prompt"

    def names(self) -> tuple[str, ...]:
        """Returns the names of the prompts, sorted."""
        folder = resources.files(self.package) / "prompts"
        files = (item.name for item in folder.iterdir())
        return tuple(sorted(name[:-4] for name in files if name.endswith(".txt")))

    def load(self, name: str, /) -> Prompt:
        """Returns a prompt: one's own where one is in use, else the one that comes with the package.

        Raises:
            InputError: There is none of that name; names those there are.
        """
        return _IN_USE.get(f"{self.prefix}{name}") or _shipped(self, name)


@cache
def _shipped(folder: PromptFolder, name: str) -> Prompt:
    if name not in folder.names():
        raise InputError(
            f"there is no {folder.kind} {name!r}; there are {', '.join(folder.names())}",
            argument="prompt",
        )
    file = resources.files(folder.package) / "prompts" / f"{name}.txt"
    return parse_prompt(name, file.read_text(encoding="utf-8"))


_PROMPTS = PromptFolder("queries.generate")
prompt_names = _PROMPTS.names
"""Returns the names of the prompts that answers are asked with, sorted."""
load_prompt = _PROMPTS.load
"""Returns one prompt of the folder; see ``PromptFolder.load``."""

# Prompts are asked for deep inside of answers and scores, in threads of their own.
_IN_USE: dict[str, Prompt] = {}


@contextmanager
def using_prompts(prompts: Mapping[str, Prompt], /) -> Iterator[None]:
    """Puts one's own prompts in the place of those that come with the package, in all threads.

    Args:
        prompts: By name, judges' as ``judge/NAME``; see ``own_prompt.read_own_prompts``.
    """
    before = dict(_IN_USE)
    _IN_USE.update(prompts)
    try:
        yield
    finally:
        _IN_USE.clear()
        _IN_USE.update(before)


def prompts_in_use() -> Mapping[str, Prompt]:
    """Returns one's own prompts that are in use, by name."""
    return dict(_IN_USE)


def messages_text(prompt: Prompt, /) -> str:
    """Returns a prompt as a file has it: its version as a remark, and each part below its role."""
    parts = "\n\n".join(f"[[{part.role}]]\n{part.content}" for part in prompt.parts)
    return f"# {prompt.label}\n{parts}\n"


def messages_hash(messages: Sequence[Message], /) -> str:
    """Returns 32 hexadecimal digits of a rendered prompt."""
    encoded = orjson.dumps([to_plain(message) for message in messages]).decode()
    return digest((encoded,), person=b"rendered").hex()


def flat_knowledge(knowledge: Sequence[Triple], /) -> str:
    """Returns triples as blocks, one an entity in order of first appearance, ids kept (K3)."""
    if not knowledge:
        return "(none)"
    blocks: dict[str, list[str]] = {}
    for triple in knowledge:
        head = one_line(triple.head.id)
        lines = blocks.setdefault(head, [f"{head} {one_line(triple.head.label)}"])
        line = f"  {one_line(triple.relation.label)}: {one_line(triple.value_label)}"
        if line not in lines:
            lines.append(line)
    return "\n".join("\n".join(lines) for lines in blocks.values())


def plain_knowledge(knowledge: Sequence[Triple], /) -> str:
    """Returns triples one a line, ``head | relation | value``, ids left out."""
    return "\n".join(
        dict.fromkeys(
            f"{one_line(triple.head.label)} | {one_line(triple.relation.label)} | "
            f"{one_line(triple.value_label)}"
            for triple in knowledge
        )
    )


def dialogue_text(history: Sequence[Message], question: str, /) -> str:
    """Returns a conversation that ends with a question, one turn a line."""
    names = {"user": "User", "assistant": "Assistant"}
    turns = [*history, Message("user", question)]
    return "\n".join(
        f"{names.get(turn.role, turn.role.title())}: {one_line(turn.content)}" for turn in turns
    )


def numbered_knowledge(knowledge: Sequence[Triple], /) -> str:
    """Returns triples one a line, numbered from 1 as citations name them."""
    if not knowledge:
        return "(none)"
    return "\n".join(
        f"[{i}] {one_line(triple.head.label)} ({one_line(triple.head.id)}) | "
        f"{one_line(triple.relation.label)} | {one_line(triple.value_label)}"
        for i, triple in enumerate(knowledge, 1)
    )
