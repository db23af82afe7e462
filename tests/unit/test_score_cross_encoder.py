"""A cross-encoder over stand-ins of torch and transformers: what is loaded, asked and read (K5).

``tests/models/test_cross_encoder.py`` runs the real ones.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from error_texts import raises

from graph_service.errors import InputError, SetupError
from queries.score.cross_encoder import CrossEncoder
from queries.score.entailment import Pair

SHORT, LONG = Pair("a b", "c"), Pair("w " * 600, "c")
LABELS = {"0": "contradiction", "1": "entailment", "2": "neutral"}


class Tensor:
    """A torch tensor, as far as it is asked."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def double(self) -> Tensor:
        return Tensor(np.asarray(self.rows, dtype=np.float64))

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> Any:
        return self.rows


class Hub:
    """Both modules, with what was asked of them in ``asked``."""

    def __init__(self, *, cuda: bool = False, longest: float = 512) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.gradients = True
        torch, transformers = ModuleType("torch"), ModuleType("transformers")
        torch.cuda = SimpleNamespace(is_available=lambda: cuda)  # type: ignore[attr-defined]
        torch.no_grad = self._no_grad  # type: ignore[attr-defined]
        self.longest = longest
        transformers.AutoTokenizer = self._loader("tokenizer", self._tokenize)  # type: ignore[attr-defined]
        transformers.AutoModelForSequenceClassification = self._loader("model", self._classify)  # type: ignore[attr-defined]
        self.modules = {"torch": torch, "transformers": transformers}
        self.fault: Exception | None = None

    def _loader(self, kind: str, call: Any) -> Any:
        hub = self

        class Loaded:
            model_max_length = self.longest
            config = SimpleNamespace(id2label=LABELS)

            def __call__(self, *given: Any, **named: Any) -> Any:
                return call(*given, **named)

            def to(self, device: str) -> Any:
                hub.asked.append(("to", device))
                return self

            def eval(self) -> None:
                hub.asked.append(("eval",))

        def from_pretrained(name: str) -> Loaded:
            hub.asked.append((kind, name))
            if hub.fault is not None:
                raise hub.fault
            return Loaded()

        return SimpleNamespace(from_pretrained=from_pretrained)

    def _no_grad(self) -> AbstractContextManager[None]:
        self.gradients = False
        return nullcontext()

    def _tokenize(self, premises: Sequence[str], hypotheses: Sequence[str], **named: Any) -> Any:
        ids = [f"{a} {b}".split() for a, b in zip(premises, hypotheses, strict=True)]
        if named == {"truncation": False, "verbose": False}:
            return {"input_ids": ids}
        self.asked.append(("tokens", named))
        cut = [one[: named["max_length"]] for one in ids]
        return SimpleNamespace(to=lambda device: {"ids": cut, "device": device})

    def _classify(self, *, ids: list[list[str]], device: str) -> Any:
        self.asked.append(("forward", device, [len(one) for one in ids], self.gradients))
        return SimpleNamespace(logits=Tensor([[0.0, float(len(one)), 1.0] for one in ids]))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Hub:
    made = Hub()
    for name, module in made.modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return made


def test_pairs_are_encoded_together_and_a_long_premise_loses_its_end(hub: Hub) -> None:
    judge = CrossEncoder("some/model", batch_size=2)
    assert (judge.name, judge.notes) == ("cross-encoder some/model", ())
    assert hub.asked == [], "it is loaded when the first pair is judged"
    found = judge.judge([SHORT, LONG, SHORT])
    assert [one.entailed for one in found] == [True, True, True]
    assert [one.cut for one in found] == [False, True, False]
    # Outputs 0, 3, 1: e^3 of 1 + e^3 + e.
    total = 1 + np.exp(3) + np.exp(1)
    assert found[0].score == pytest.approx(np.exp(3) / total)
    assert found[0].shares == {
        "contradiction": pytest.approx(1 / total),
        "entailment": pytest.approx(np.exp(3) / total),
        "neutral": pytest.approx(np.exp(1) / total),
    }
    encoded = (
        "tokens",
        {"truncation": "only_first", "max_length": 512, "padding": True, "return_tensors": "pt"},
    )
    assert hub.asked == [
        ("tokenizer", "some/model"),
        ("model", "some/model"),
        ("to", "cpu"),
        ("eval",),
        encoded,
        ("forward", "cpu", [3, 512], False),
        encoded,
        ("forward", "cpu", [3], False),
    ]
    judge.judge([SHORT])
    assert sum(asked[0] == "model" for asked in hub.asked) == 1, "it is loaded once"


@pytest.mark.parametrize(
    ("cuda", "device", "used"),
    [(True, None, "cuda"), (True, "cpu", "cpu"), (False, None, "cpu"), (False, "cuda:1", "cuda:1")],
)
def test_the_device_is_the_one_given_else_a_gpu(
    monkeypatch: pytest.MonkeyPatch, cuda: bool, device: str | None, used: str
) -> None:
    hub = Hub(cuda=cuda)
    for name, module in hub.modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    CrossEncoder("m", device=device).judge([SHORT])
    assert ("to", used) in hub.asked
    assert ("forward", used, [3], False) in hub.asked


@pytest.mark.parametrize(("longest", "cut"), [(3, False), (2, True), (1e30, False)])
def test_a_pair_is_cut_at_the_models_own_length(
    monkeypatch: pytest.MonkeyPatch, longest: float, cut: bool
) -> None:
    for name, module in Hub(longest=longest).modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert CrossEncoder("m").judge([SHORT])[0].cut is cut


@pytest.mark.parametrize(
    "fault", [OSError("no such model\nsee there"), ValueError("no such model")]
)
def test_a_model_that_is_not_there_is_said_to_be(hub: Hub, fault: Exception) -> None:
    hub.fault = fault
    with raises(SetupError):
        CrossEncoder("some/model").judge([SHORT])


@pytest.mark.parametrize("name", ["torch", "transformers"])
def test_the_extra_that_is_not_installed_is_named(
    hub: Hub, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with raises(SetupError) as caught:
        CrossEncoder("m").judge([SHORT])
    assert caught.value.hint == "pip install 'graph-service[sentence-transformers]'"


def test_a_batch_holds_at_least_one_pair() -> None:
    with raises(InputError):
        CrossEncoder("m", batch_size=0)
    CrossEncoder("m", batch_size=1)


def test_sixteen_pairs_are_judged_at_once_by_default(hub: Hub) -> None:
    CrossEncoder("m").judge([SHORT] * 17)
    batches = [len(asked[2]) for asked in hub.asked if asked[0] == "forward"]
    assert batches == [16, 1]
