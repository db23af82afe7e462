"""How a model is asked: the settings of the papers by name, and what each is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from graph_service.errors import InputError


class Setting(StrEnum):
    """The settings.

    ``KALMA`` cites in that paper's printed form (K1, K3); ``KALMA_NUMBERED`` is asked to cite by
    numbers that stand for the triples, which models do more reliably, and is printed in the
    paper's form. The OKGQA ones (O8) take facts, as triplets, paths or a subgraph, or none:
    ``OKGQA_SC`` is chain of thought with self-consistency, ``OKGQA_IRCOT`` looks passages up while
    it reasons. The LTGen ones (L7) differ in what stands above the dialogue. ``ANSWER_LIST`` is of no
    paper: it wants names alone in a list, so that what a reply mentions is told from what it answers.
    """

    KALMA = "kalma"
    KALMA_NUMBERED = "kalma-numbered"
    OKGQA_ZERO = "okgqa-zero"
    OKGQA_4SHOT = "okgqa-4shot"
    OKGQA_COT = "okgqa-cot"
    OKGQA_SC = "okgqa-sc"
    OKGQA_IRCOT = "okgqa-ircot"
    LTGEN_NONE = "ltgen-none"
    LTGEN_PASSAGES = "ltgen-passages"
    LTGEN_TRIPLES = "ltgen-triples"
    LTGEN_BOTH = "ltgen-both"
    ANSWER_LIST = "answer-list"


class Join(StrEnum):
    """How the answers of self-consistency become one.

    ``OVERLAP`` takes the answer that shares most words with the others and asks nothing further;
    ``MODEL`` shows all of them to the model, which writes what most of them say.
    """

    OVERLAP = "overlap"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a setting is made of.

    Attributes:
        prompt: Name of its prompt file.
        facts: Whether it takes facts of a graph.
        passages: How many passages it takes; 0 for none.
        cites: Whether the answer cites facts.
        reasons: Whether the reply reasons first and marks where its answer begins.
        lists: Whether the reply holds a list of names, which ``parse_answer_list`` reads.
        temperature: By default.
        max_tokens: Of a reply, by default.
    """

    prompt: str
    facts: bool = True
    passages: int = 0
    cites: bool = False
    reasons: bool = False
    lists: bool = False
    temperature: float = 0.0
    max_tokens: int = 1024


# LTGen's appendix: temperature 0, at most 128 new tokens, ten passages.
RECIPES: Mapping[Setting, Recipe] = {
    Setting.KALMA: Recipe("kalma", cites=True),
    Setting.KALMA_NUMBERED: Recipe("kalma-numbered", cites=True),
    Setting.OKGQA_ZERO: Recipe("okgqa-zero"),
    Setting.OKGQA_4SHOT: Recipe("okgqa-4shot"),
    Setting.OKGQA_COT: Recipe("okgqa-cot", reasons=True),
    Setting.OKGQA_SC: Recipe("okgqa-cot", reasons=True, temperature=0.7),
    Setting.OKGQA_IRCOT: Recipe("okgqa-ircot", facts=False, passages=4),
    Setting.LTGEN_NONE: Recipe("ltgen", facts=False, max_tokens=128),
    Setting.LTGEN_PASSAGES: Recipe("ltgen", facts=False, passages=10, max_tokens=128),
    Setting.LTGEN_TRIPLES: Recipe("ltgen", max_tokens=128),
    Setting.LTGEN_BOTH: Recipe("ltgen", passages=10, max_tokens=128),
    Setting.ANSWER_LIST: Recipe("answer-list", lists=True),
}


@dataclass(frozen=True, slots=True)
class Generation:
    """How replies are drawn; written down with every answer.

    Attributes:
        temperature: None leaves it to the endpoint.
        max_tokens: Of a reply at most.
        random_seed: Passed on to endpoints that take one; self-consistency counts up from it,
            or from 0.
        samples: Replies of self-consistency.
        join: How they become one answer.
        steps: Sentences of reasoning that IRCoT looks passages up for, at most.
        passages: Passages of a prompt, or of each look-up of IRCoT.
    """

    temperature: float | None = 0.0
    max_tokens: int = 1024
    random_seed: int | None = None
    samples: int = 5
    join: Join = Join.OVERLAP
    steps: int = 4
    passages: int = 0

    def __post_init__(self) -> None:
        for name, low in (("max_tokens", 1), ("samples", 1), ("steps", 1), ("passages", 0)):
            value = getattr(self, name)
            if value < low:
                raise InputError(f"{name} must be at least {low}, got {value}", argument=name)
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise InputError(
                f"the temperature must be 0 to 2, got {self.temperature}", argument="temperature"
            )

    def to_parameters(self, setting: Setting, /) -> dict[str, object]:
        """Returns what of it a setting uses, with the setting's name."""
        used: dict[str, object] = {
            "setting": setting.value,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "random_seed": self.random_seed,
        }
        if setting is Setting.OKGQA_SC:
            used |= {"samples": self.samples, "join": self.join.value}
        if setting is Setting.OKGQA_IRCOT:
            used["steps"] = self.steps
        if RECIPES[setting].passages:
            used["passages"] = self.passages
        return used


def default_generation(setting: Setting, /) -> Generation:
    """Returns how a setting draws its replies unless it is told otherwise.

    >>> default_generation(Setting.LTGEN_BOTH).max_tokens
    128
    """
    recipe = RECIPES[setting]
    return Generation(
        temperature=recipe.temperature, max_tokens=recipe.max_tokens, passages=recipe.passages
    )
