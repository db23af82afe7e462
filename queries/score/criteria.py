"""Criteria of one's own as a file: labels, descriptions, classes, shots with reasons, rules (T1, T7).

A YAML file a task. All of its values are read as text, so that ``no`` and ``1985`` stay what was written;
every error names the file, the line and what was expected there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.text.fold import index_tokens
from graph_service.text.sentences import split_sentences
from queries.datasets.records import read_text
from queries.datasets.typed import read_typed
from queries.datasets.yaml_file import Node, read_yaml

CITED_ANSWERS = "cited-answers"
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
_LINKING = ("and", "but", "however")


class Measure(StrEnum):
    """What a rule counts, or looks for."""

    WORDS = "words"
    CHARACTERS = "characters"
    SENTENCES = "sentences"
    PATTERN = "pattern"


@dataclass(frozen=True, slots=True)
class Shot:
    """One judged example of a label.

    Attributes:
        reason: Why the fault is there or is not, as a judge should put it.
        present: Whether the text has the fault.
        line: Where it stands in the file.
    """

    question: str
    text: str
    reason: str
    present: bool
    knowledge: tuple[str, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Label:
    """One fault that a model judges.

    Attributes:
        name: In lower case with hyphens, as files of verdicts have it.
        unacceptable: Whether a text with it scores 0; else it scores 1.
    """

    name: str
    title: str
    description: str
    unacceptable: bool
    shots: tuple[Shot, ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Rule:
    """One fault that a program finds (T7): a count outside limits, or a pattern.

    Attributes:
        least, most: Limits of a count, both allowed; None for none.
        pattern: A regular expression; the fault is there where it is found in the text.
    """

    name: str
    title: str
    unacceptable: bool
    measure: Measure
    least: int | None = None
    most: int | None = None
    pattern: str = ""

    def present(self, text: str, /) -> bool:
        """Returns whether a text has the fault.

        >>> Rule("long", "Too long", False, Measure.WORDS, most=3).present("one two three four")
        True
        """
        if self.measure is Measure.PATTERN:
            return re.search(self.pattern, text) is not None
        number = count(text, self.measure)
        return (self.least is not None and number < self.least) or (
            self.most is not None and number > self.most
        )


def count(text: str, measure: Measure, /) -> int:
    """Returns how many words, characters or sentences a text has.

    In scripts without spaces every character is a word.

    >>> count("Ada sang. 北京。", Measure.WORDS), count("Ada sang. 北京。", Measure.SENTENCES)
    (4, 2)
    """
    if measure is Measure.SENTENCES:
        return len(split_sentences(text))
    if measure is Measure.CHARACTERS:
        return len(text.strip())
    # Of an unspaced run the tokens are its characters and their pairs: n and n - 1.
    tokens = index_tokens(text)
    return sum(not (len(token) == 2 and _UNSPACED.fullmatch(token)) for token in tokens)


_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{2}"
)


@dataclass(frozen=True, slots=True)
class Criteria:
    """All criteria of a task.

    Attributes:
        task: What the texts were written for, in words.
        version: 16 hexadecimal digits of the file's text.
    """

    name: str
    task: str
    labels: tuple[Label, ...]
    rules: tuple[Rule, ...]
    version: str
    source: str = ""

    @property
    def classes(self) -> Mapping[str, bool]:
        """Whether each label and rule is unacceptable, by name, labels first."""
        label_classes = {label.name: label.unacceptable for label in self.labels}
        return label_classes | {rule.name: rule.unacceptable for rule in self.rules}

    @property
    def label(self) -> str:
        """Name and version, as reports show them."""
        return f"{self.name}@{self.version}"


def criteria_names() -> tuple[str, ...]:
    """Returns the criteria that come with the package, sorted."""
    folder = resources.files("queries.score") / "criteria_files"
    return tuple(sorted(item.name[:-5] for item in folder.iterdir() if item.name.endswith(".yaml")))


def load_criteria(name: str = CITED_ANSWERS, /) -> Criteria:
    """Returns criteria by name, or of a file of one's own (a name that ends in .yaml or .yml).

    Raises:
        InputError: There are none of that name, or the file is wrong; names the line.
    """
    if name.endswith((".yaml", ".yml")):
        return parse_criteria(read_text(name), source=Path(name).name)
    if name not in criteria_names():
        raise InputError(
            f"there are no criteria {name!r}; there are {', '.join(criteria_names())}, or give a "
            "file that ends in .yaml",
            argument="criteria",
        )
    file = resources.files("queries.score") / "criteria_files" / f"{name}.yaml"
    return parse_criteria(file.read_text(encoding="utf-8"), source=file.name)


def parse_criteria(text: str, /, *, source: str) -> Criteria:
    """Returns the criteria of a file's text.

    Args:
        text: YAML.
        source: Name of the file, for errors.

    Raises:
        InputError: It is no YAML, or not of the form that ``docs/reference/scores.md`` gives.
    """
    root = read_yaml(text, source, expected="criteria").fields(
        required=("task", "labels"), optional=("name", "rules")
    )
    labels = tuple(_label(item) for item in root["labels"].items())
    if not labels:
        raise root["labels"].error("at least one label")
    rules = tuple(_rule(item) for item in root["rules"].items()) if "rules" in root else ()
    named = [
        *((label.name, part) for label, part in zip(labels, root["labels"].items(), strict=True))
    ]
    if "rules" in root:
        named += [
            (rule.name, part) for rule, part in zip(rules, root["rules"].items(), strict=True)
        ]
    seen: dict[str, int] = {}
    for key, part in named:
        if key in seen:
            raise InputError(
                f"{source}, line {part.line}, {part.where}: expected a name of its own; "
                f"{key!r} stands in line {seen[key]} already"
            )
        seen[key] = part.line
    name = root["name"].text() if "name" in root else source.rsplit(".", 1)[0]
    version = digest((text.replace("\r\n", "\n"),), size=8, person=b"criteria").hex()
    return Criteria(name, root["task"].text(), labels, rules, version, source)


def _name(node: Node) -> str:
    text = node.text()
    if not _NAME.fullmatch(text) or text == "none":
        raise node.error("a name of small letters, digits and hyphens, other than none")
    return text


def _is_unacceptable(node: Node) -> bool:
    return node.choice(("unacceptable", "acceptable")) == "unacceptable"


_READERS = {"name": _name, "unacceptable": _is_unacceptable}


def _label(node: Node) -> Label:
    return read_typed(
        Label,
        node,
        names={"unacceptable": "class"},
        readers={**_READERS, "shots": lambda part: tuple(map(_shot, part.items()))},
        line=node.line,
    )


def _shot(node: Node) -> Shot:
    return read_typed(Shot, node, line=node.line)


def _rule(node: Node) -> Rule:
    rule = read_typed(Rule, node, names={"unacceptable": "class"}, readers=_READERS)
    allowed = {"pattern"} if rule.measure is Measure.PATTERN else {"least", "most"}
    limits = {name for name in ("least", "most", "pattern") if node.has(name)}
    if not limits or not limits <= allowed:
        raise node.error(
            f"for a rule on {rule.measure.value}: {' or '.join(sorted(allowed))}, and no other limit"
        )
    if rule.least is not None and rule.most is not None and rule.least > rule.most:
        raise node.error("a least that is not above most")
    try:
        re.compile(rule.pattern)
    except re.error as error:
        raise node.field("pattern").error(f"a regular expression ({error})") from error
    return rule


@dataclass(frozen=True, slots=True)
class ShotWarning:
    """Something in a file of criteria that makes judges worse (T4)."""

    line: int
    label: str
    words: str


def lint_criteria(criteria: Criteria, /) -> tuple[ShotWarning, ...]:
    """Returns what is against the paper's rules for shots, in the order of the file (T4).

    A reason should not turn in its first half: ``and``, ``but`` and ``however`` there let the judge decide
    before it has looked. A verdict in a reason gives it away; a label needs shots with and
    without the fault.

    >>> lint_criteria(load_criteria())
    ()
    """
    warnings: list[ShotWarning] = []
    for label in criteria.labels:
        for present, kind in ((True, "with"), (False, "without")):
            if label.shots and not any(shot.present is present for shot in label.shots):
                warnings.append(ShotWarning(label.line, label.name, f"no shot {kind} the fault"))
        if not label.shots:
            warnings.append(
                ShotWarning(label.line, label.name, "no shots: few-shot is as zero-shot")
            )
        for shot in label.shots:
            reason_words = [
                match.group().casefold() for match in re.finditer(r"[\w'-]+", shot.reason)
            ]
            half = reason_words[: (len(reason_words) + 1) // 2]
            turning = [word for word in _LINKING if word in half]
            if turning:
                warnings.append(
                    ShotWarning(
                        shot.line,
                        label.name,
                        f"the first half of the reason has {', '.join(turning)}: it decides too soon",
                    )
                )
            if re.search(r"\[\[.*?\]\]", shot.reason):
                warnings.append(ShotWarning(shot.line, label.name, "the reason holds a verdict"))
    return tuple(sorted(warnings, key=lambda item: (item.line, item.label, item.words)))
