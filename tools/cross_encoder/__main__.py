"""``make train-scorer``: trains the cross-encoder, and says what it reaches on what it did not see.

    python -m tools.cross_encoder FILE... --out weights.npz [--hold FAMILY]

Ended at any moment, it goes on from its last checkpoint when the same command runs again.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from graph_service.embed.cross_encoder import encode_cross_weights
from graph_service.embed.folder import read_tensors
from graph_service.embed.minilm import ARCHITECTURE, MiniLM
from graph_service.embed.weights import find_model
from graph_service.text.fold import normalise_name

from .network import Network
from .questions import (
    Question,
    Tokens,
    at_most,
    hash_files,
    is_open,
    measured_questions,
    read_questions,
    tokenise,
)

CHECKPOINT_S = 600.0
_EVALUATED = 200
_READ = 16
_WEIGHTS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Of the cross-encoder's score beside the networks' in what is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How it is trained.

    Attributes:
        rank: Of the updates.
        epochs: How often each question is looked at; less than one takes a part of them.
        batch: Questions a step.
        candidates: Wrong candidates of a question that a step looks at, at most: the better half
            the first of the file, the others drawn.
        repeats: How often a recorded question stands among those of an epoch; a published one, whose
            wrong candidates are drawn and easy, stands there once.
        most_of_a_set: Questions of a set, at most.
        learning_rate: Greatest of the schedule, which rises over a twentieth and falls to 0.
        decay: Of the average over steps that the written weights are.
        random_seed: Of all draws.
    """

    rank: int = 32
    epochs: float = 1.0
    batch: int = 32
    candidates: int = 7
    repeats: int = 3
    most_of_a_set: int = 20_000
    learning_rate: float = 8e-4
    decay: float = 0.998
    random_seed: int = 0


def main() -> int:
    """Trains, prints what it reaches, and writes the weights."""
    parser = argparse.ArgumentParser(prog="make train-scorer", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="questions, JSON lines")
    parser.add_argument("--out", type=Path, required=True, help="file of the weights")
    parser.add_argument(
        "--data", type=Path, help="published questions; their measured ones are left out"
    )
    parser.add_argument("--hold", action="append", default=[], help="a family to leave out")
    parser.add_argument("--all-licences", action="store_true", help="to measure, never to ship")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    defaults = Options()
    for name, value in asdict(defaults).items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    arguments = parser.parse_args()
    options = Options(**{name: getattr(arguments, name) for name in asdict(defaults)})

    questions = [question for path in arguments.files for question in read_questions(path)]
    measured = measured_questions(arguments.data) if arguments.data else []
    ids = {each.id for each in measured}
    texts = {normalise_name(each.text) for each in measured}
    held = [
        each
        for each in questions
        if each.id in ids or each.family in arguments.hold or (each.scores and not is_open(each))
    ]

    usable = (
        each
        for each in questions
        if each.family not in arguments.hold
        and (arguments.all_licences or is_open(each))
        and each.id not in ids
        and normalise_name(each.text) not in texts
        and 0 < sum(is_right for _, is_right in each.candidates) < len(each.candidates)
    )
    train = at_most(usable, options.most_of_a_set, random_seed=options.random_seed)
    print(f"{len(train):,} questions to train on, {len(held):,} to measure", flush=True)

    folder = find_model()
    embedder = MiniLM.load(folder)
    tensors = {
        name: tensor
        for name, tensor in read_tensors(folder.weights).items()
        if name.startswith(("encoder.", "embeddings."))
    }
    network = Network(
        tensors,
        ARCHITECTURE,
        rank=options.rank,
        device=arguments.device,
        random_seed=options.random_seed,
    )
    mixture = [
        index
        for index, question in enumerate(train)
        for _ in range(options.repeats if question.scores else 1)
    ]
    data = hash_files(arguments.files)
    path = arguments.out.with_suffix(".pt")
    _train(network, tokenise(embedder, train), mixture, options, path, data)
    figures = {
        f"{name} by {weight:g}": figure
        for name in dict.fromkeys(each.source for each in held)
        for weight, figure in _first_right(
            network, embedder, [each for each in held if each.source == name][:_EVALUATED]
        ).items()
    }
    notes = {**asdict(options), "questions": len(train), "held": arguments.hold, **figures}
    weights = network.export(embedder=embedder.name, data=data, notes=notes)
    arguments.out.write_bytes(encode_cross_weights(weights))
    print(json.dumps(notes))
    return 0


def _train(
    network: Network,
    tokens: Tokens,
    mixture: Sequence[int],
    options: Options,
    path: Path,
    data: str,
) -> None:
    """Trains the network; its weights are then the average over the steps, the late ones most.

    Args:
        network: To train.
        tokens: Of the questions.
        mixture: Indices of the questions of an epoch; some stand there more than once.
        options: How to train.
        path: Of the checkpoint.
        data: Hash of the files of questions.
    """
    steps = math.ceil(options.epochs * len(mixture) / options.batch)
    optimiser = torch.optim.AdamW(
        list(network.trained.values()), lr=options.learning_rate, weight_decay=0.01
    )
    average = {name: tensor.detach().clone() for name, tensor in network.trained.items()}
    key = json.dumps([asdict(options), data, steps])
    begin = _resume(network, optimiser, average, path, key)
    saved = time.monotonic()
    mean_loss = 0.0
    progress = tqdm(range(begin, steps), initial=begin, total=steps, unit="step")
    for step, batch in zip(progress, _batches(tokens, mixture, options, begin), strict=False):
        for group in optimiser.param_groups:
            group["lr"] = options.learning_rate * min(
                1.0, 20.0 * (step + 1) / steps, (steps - step) / steps / 0.95
            )
        loss = _loss(network, tokens, batch, options, step)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(network.trained.values()), 1.0)
        optimiser.step()
        decay = min(options.decay, (step + 1) / (step + 10))
        with torch.no_grad():
            for name, tensor in network.trained.items():
                average[name].lerp_(tensor, 1.0 - decay)
        value = loss.item()
        mean_loss = 0.98 * mean_loss + 0.02 * value if mean_loss else value
        progress.set_postfix(loss=f"{mean_loss:.3f}", refresh=False)
        if time.monotonic() - saved > CHECKPOINT_S:
            _save(network, optimiser, average, path, key, step + 1)
            saved = time.monotonic()
    _save(network, optimiser, average, path, key, steps)
    with torch.no_grad():
        for name, tensor in network.trained.items():
            tensor.copy_(average[name])


def _save(
    network: Network,
    optimiser: Any,
    average: Mapping[str, torch.Tensor],
    path: Path,
    key: str,
    step: int,
) -> None:
    state = {
        "key": key,
        "step": step,
        "optimiser": optimiser.state_dict(),
        "trained": {name: tensor.detach() for name, tensor in network.trained.items()},
        "average": dict(average),
    }
    partial = path.with_suffix(".tmp")
    torch.save(state, partial)
    partial.replace(path)


def _resume(
    network: Network, optimiser: Any, average: Mapping[str, torch.Tensor], path: Path, key: str
) -> int:
    """Returns the step to go on from: 0 where there is no checkpoint of this training."""
    if not path.exists():
        return 0
    state = torch.load(path, map_location=network.device, weights_only=True)
    if state["key"] != key:
        return 0
    optimiser.load_state_dict(state["optimiser"])
    with torch.no_grad():
        for name, tensor in network.trained.items():
            tensor.copy_(state["trained"][name])
            average[name].copy_(state["average"][name])
    return int(state["step"])


def _batches(
    tokens: Tokens, mixture: Sequence[int], options: Options, begin: int
) -> Iterator[Sequence[int]]:
    """Yields the questions of each step from ``begin`` on; those of a step are of like length."""
    total = len(mixture)
    run = 32 * options.batch
    step = 0
    epoch = 0
    while True:
        rng = np.random.default_rng((options.random_seed, epoch))
        order = [mixture[i] for i in rng.permutation(total)]
        batches: list[Sequence[int]] = []
        for first in range(0, total, run):
            part = sorted(order[first : first + run], key=lambda i: len(tokens.questions[i]))
            cut = [part[i : i + options.batch] for i in range(0, len(part), options.batch)]
            batches += [cut[i] for i in rng.permutation(len(cut))]
        for batch in batches:
            if step >= begin:
                yield batch
            step += 1
        epoch += 1


def _loss(
    network: Network, tokens: Tokens, batch: Sequence[int], options: Options, step: int
) -> torch.Tensor:
    """Returns the mean of minus the log of the probability that the right candidates get."""
    rng = np.random.default_rng((options.random_seed, 1, step))
    chosen: list[int] = []
    owner: list[int] = []
    for row, question in enumerate(batch):
        candidates = np.arange(tokens.first[question], tokens.first[question + 1])
        right = tokens.right[candidates]
        hard, other = np.split(candidates[~right], [(options.candidates + 1) // 2])
        wrong = np.concatenate((hard, rng.permutation(other)[: options.candidates - len(hard)]))
        picked = [*rng.permutation(candidates[right])[:1], *wrong]
        chosen += [int(i) for i in picked]
        owner += [row] * len(picked)
    owners = np.array(owner)
    with torch.autocast(network.device.type, torch.bfloat16):
        scores = network.scores(
            [tokens.questions[i] for i in batch], [tokens.texts[i] for i in chosen], owners
        )
    first = np.concatenate(([0], np.flatnonzero(np.diff(owners)) + 1, [len(owners)]))
    losses = [
        torch.logsumexp(scores[begin:end], 0) - scores[begin]
        for begin, end in zip(first[:-1], first[1:], strict=True)
    ]
    return torch.stack(losses).mean()


def _first_right(
    network: Network, embedder: MiniLM, questions: Sequence[Question]
) -> dict[float, float]:
    """Returns the share of questions whose best candidate is right, by the weight of the score.

    Of a recorded question the networks' score is added, and their best alone are candidates.
    """
    tokens = tokenise(embedder, questions)
    hits = dict.fromkeys(_WEIGHTS, 0)
    with torch.no_grad():
        for i, (ids, question) in enumerate(zip(tokens.questions, questions, strict=True)):
            begin, end = tokens.first[i], tokens.first[i + 1]
            end = min(end, begin + _READ)
            scores = network.scores([ids], tokens.texts[begin:end], np.zeros(end - begin, np.int64))
            right = tokens.right[begin:end]
            own = np.array(question.scores[:_READ] or [0.0] * len(right), dtype=np.float64)
            own[np.isnan(own)] = -np.inf
            for weight in hits:
                hits[weight] += bool(right[int((own + weight * scores.numpy()).argmax())])
    print(
        questions[0].source, {w: round(n / len(questions), 4) for w, n in hits.items()}, flush=True
    )
    return {weight: round(number / len(questions), 4) for weight, number in hits.items()}


if __name__ == "__main__":
    raise SystemExit(main())
