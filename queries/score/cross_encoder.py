"""Entailment by a transformers cross-encoder, by name or path (extra ``sentence-transformers``).

Which output means what is read from the model's configuration: published models order their
labels differently, and a wrong order gives plausible scores in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from graph_service.errors import InputError, SetupError
from queries.score.entailment import Judgement, Pair, Relation
from queries.score.metric import Float64

Logits = Callable[[Sequence[Pair]], tuple[Float64, list[bool]]]
INSTALL = "pip install 'graph-service[sentence-transformers]'"
LONGEST = 512


def label_columns(labels: Mapping[int, str], /) -> dict[Relation, int]:
    """Returns which output column stands for which relation.

    Args:
        labels: ``id2label`` of a model's configuration.

    Raises:
        SetupError: The labels do not say which one is entailment.

    >>> label_columns({0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"})[Relation.ENTAILMENT]
    2
    >>> label_columns({0: "entailment", 1: "not_entailment"})
    {<Relation.ENTAILMENT: 'entailment'>: 0}
    """
    columns: dict[Relation, int] = {}
    for column, label in sorted(labels.items()):
        name = label.strip().casefold().replace("-", "_").replace(" ", "_")
        for relation in Relation:
            if name == relation.value or name.startswith(f"{relation.value}_"):
                if relation in columns:
                    raise SetupError(f"two labels of the model mean {relation}: {dict(labels)}")
                columns[relation] = column
    if Relation.ENTAILMENT not in columns:
        raise SetupError(
            f"the model's configuration does not say which output is entailment: {dict(labels)}.",
            hint="Give its labels in order: --labels contradiction,entailment,neutral",
        )
    return columns


class CrossEncoder:
    """A sequence-pair classifier of transformers; loaded when the first pair is judged.

    Args:
        model: Name on the model hub, or a folder.
        labels: Its labels in the order of its outputs, where its configuration does not say.
        batch_size: Pairs at once.
        device: ``cpu``, ``cuda``; None chooses.

    Raises:
        InputError: The batch size is under 1.
    """

    def __init__(
        self,
        model: str,
        /,
        *,
        labels: Sequence[str] = (),
        batch_size: int = 16,
        device: str | None = None,
    ) -> None:
        if batch_size < 1:
            raise InputError(f"the batch size must be at least 1, got {batch_size}")
        self._model = model
        self._label_names = dict(enumerate(labels))
        self._batch_size = batch_size
        self._device = device
        self._logits: Logits | None = None
        self._columns: dict[Relation, int] = {}

    @property
    def name(self) -> str:
        """The model's name or path."""
        return f"cross-encoder {self._model}"

    @property
    def notes(self) -> tuple[str, ...]:
        """None: what a model is worth is its authors' to say."""
        return ()

    def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
        """Returns softmax probabilities; entailed where entailment is the likeliest label.

        A premise that is too long loses its end, and the judgement says so.

        Raises:
            SetupError: The extra is not installed, there is no such model, or its labels say
                nothing.
        """
        if not pairs:
            return []
        if self._logits is None:
            self._logits, labels = self._load()
            self._columns = label_columns(self._label_names or labels)
        judged: list[Judgement] = []
        for start in range(0, len(pairs), self._batch_size):
            part = pairs[start : start + self._batch_size]
            logits, cut = self._logits(part)
            if self._label_names and len(self._label_names) != logits.shape[1]:
                raise SetupError(
                    f"{self._model} has {logits.shape[1]} outputs; {len(self._label_names)} labels "
                    f"were given: {', '.join(self._label_names.values())}"
                )
            judged.extend(self._judged(row, lost) for row, lost in zip(logits, cut, strict=True))
        return judged

    def _judged(self, logits: Float64, cut: bool) -> Judgement:
        powers = np.exp(logits - logits.max())
        shares = powers / powers.sum()
        yes = self._columns[Relation.ENTAILMENT]
        named = (
            {relation.value: float(shares[column]) for relation, column in self._columns.items()}
            if len(self._columns) == len(Relation)
            else {}
        )
        return Judgement(bool(shares.argmax() == yes), float(shares[yes]), named, cut)

    def _load(self) -> tuple[Logits, dict[int, str]]:
        try:
            torch: Any = import_module("torch")
            transformers: Any = import_module("transformers")
        except ImportError as error:
            raise SetupError(
                f"a cross-encoder needs transformers and torch ({error}).", hint=INSTALL
            ) from error
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(self._model)
            model = transformers.AutoModelForSequenceClassification.from_pretrained(self._model)
        except (OSError, ValueError) as error:
            raise SetupError(
                f"can't load the cross-encoder {self._model!r}: {str(error).splitlines()[0]}",
                hint="Give the name of a sequence classification model, or its folder.",
            ) from error
        device = self._device or ("cuda" if torch.cuda.is_available() else "cpu")
        model.to(device).eval()
        # Some configurations give no limit, and the tokenizer then an absurd one.
        limit = min(int(tokenizer.model_max_length), LONGEST)

        def logits(part: Sequence[Pair]) -> tuple[Float64, list[bool]]:
            premises = [pair.premise for pair in part]
            hypotheses = [pair.hypothesis for pair in part]
            untruncated = tokenizer(premises, hypotheses, truncation=False, verbose=False)[
                "input_ids"
            ]
            encoded = tokenizer(
                premises,
                hypotheses,
                truncation="only_first",
                max_length=limit,
                padding=True,
                return_tensors="pt",
            ).to(device)
            with torch.no_grad():
                values = model(**encoded).logits.double().cpu().numpy()
            return values, [len(ids) > limit for ids in untruncated]

        return logits, {int(key): str(value) for key, value in model.config.id2label.items()}
