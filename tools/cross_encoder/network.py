"""The cross-encoder in torch, with gradients: the same layers as ``graph_service.embed.layers``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional

from graph_service.embed.cross_encoder import CrossWeights
from graph_service.embed.layers import Architecture
from graph_service.embed.low_rank import LayerUpdate, LowRank

PARTS = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "merge": "attention.output.dense",
    "widen": "intermediate.dense",
    "narrow": "output.dense",
}
_SCALE = 2.0


class Network:
    """The encoder's weights, which stay, and the updates, which are trained.

    Args:
        tensors: Of the encoder, by BERT's names.
        shape: Of the encoder.
        rank: Of the updates.
        device: Of torch.
        random_seed: Of the updates' first values.
    """

    def __init__(
        self,
        tensors: Mapping[str, Any],
        shape: Architecture,
        /,
        *,
        rank: int,
        device: str,
        random_seed: int,
    ) -> None:
        self.shape = shape
        self.device = torch.device(device)
        self._fixed = {
            name: torch.tensor(np.asarray(tensor, dtype=np.float32), device=self.device)
            for name, tensor in tensors.items()
        }
        generator = torch.Generator().manual_seed(random_seed)
        self.trained: dict[str, torch.Tensor] = {}
        for layer in range(shape.layers):
            for part, name in PARTS.items():
                out, width = self._fixed[f"encoder.layer.{layer}.{name}.weight"].shape
                down = torch.randn(width, rank, generator=generator) / width**0.5
                self.trained[f"{layer}.{part}.down"] = down.to(self.device)
                self.trained[f"{layer}.{part}.up"] = torch.zeros(rank, out, device=self.device)
        head = torch.randn(shape.width, generator=generator) * 0.02
        self.trained["head"] = head.to(self.device)
        for tensor in self.trained.values():
            tensor.requires_grad_(True)

    def scores(
        self, questions: Sequence[Sequence[int]], texts: Sequence[Sequence[int]], owner: Any, /
    ) -> torch.Tensor:
        """Returns a score for each text, float32 [texts].

        Args:
            questions: Ids of tokens.
            texts: Ids of tokens.
            owner: Index of each text's question, int64 [texts].
        """
        ids, mask = self._padded(questions)
        owner = torch.as_tensor(owner, device=self.device)
        lengths = mask.sum(dim=1)
        positions = torch.arange(ids.shape[1], device=self.device).expand(ids.shape)
        state = self._begin(ids, positions, kind=0)
        preceding: list[tuple[torch.Tensor, torch.Tensor]] = []
        for layer in range(self.shape.layers):
            query, key, value = self._heads(layer, state)
            preceding.append((key, value))
            if layer + 1 < self.shape.layers:
                context = functional.scaled_dot_product_attention(
                    query, key, value, attn_mask=mask[:, None, None, :]
                )
                state = self._merge(layer, state, context)

        text_ids, text_mask = self._padded(texts)
        positions = torch.arange(text_ids.shape[1], device=self.device) + lengths[owner][:, None]
        state = self._begin(text_ids, positions, kind=1)
        seen = torch.cat((mask[owner], text_mask), dim=1)[:, None, None, :]
        for layer in range(self.shape.layers):
            query, key, value = self._heads(layer, state)
            before_key, before_value = preceding[layer]
            context = functional.scaled_dot_product_attention(
                query,
                torch.cat((before_key[owner], key), dim=2),
                torch.cat((before_value[owner], value), dim=2),
                attn_mask=seen,
            )
            state = self._merge(layer, state, context)
        weights = text_mask.to(state.dtype)
        mean = (state * weights[..., None]).sum(dim=1) / weights.sum(dim=1)[:, None]
        return mean.float() @ self.trained["head"]

    def export(self, *, embedder: str, data: str, notes: Mapping[str, Any]) -> CrossWeights:
        """Returns what was trained, as the product reads it."""
        arrays = {
            name: tensor.detach().double().cpu().numpy() for name, tensor in self.trained.items()
        }
        layers = tuple(
            LayerUpdate(
                **{
                    part: LowRank(
                        arrays[f"{layer}.{part}.down"], arrays[f"{layer}.{part}.up"] * _SCALE
                    )
                    for part in PARTS
                }
            )
            for layer in range(self.shape.layers)
        )
        return CrossWeights(layers, arrays["head"], embedder, data, notes)

    def _padded(self, texts: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        longest = max(map(len, texts))
        ids = np.zeros((len(texts), longest), dtype=np.int64)
        mask = np.zeros((len(texts), longest), dtype=bool)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = text
            mask[row, : len(text)] = True
        return torch.tensor(ids, device=self.device), torch.tensor(mask, device=self.device)

    def _begin(self, ids: torch.Tensor, positions: torch.Tensor, *, kind: int) -> torch.Tensor:
        state = self._fixed["embeddings.word_embeddings.weight"][ids]
        state = state + self._fixed["embeddings.position_embeddings.weight"][positions]
        state = state + self._fixed["embeddings.token_type_embeddings.weight"][kind]
        return self._normalised(state, "embeddings.LayerNorm")

    def _normalised(self, state: torch.Tensor, name: str) -> torch.Tensor:
        return functional.layer_norm(
            state.float(),
            (self.shape.width,),
            self._fixed[f"{name}.weight"],
            self._fixed[f"{name}.bias"],
            self.shape.epsilon,
        )

    def _product(self, layer: int, part: str, x: torch.Tensor) -> torch.Tensor:
        name = f"encoder.layer.{layer}.{PARTS[part]}"
        product = functional.linear(x, self._fixed[f"{name}.weight"], self._fixed[f"{name}.bias"])
        inner = x @ self.trained[f"{layer}.{part}.down"]
        return product + _SCALE * (inner @ self.trained[f"{layer}.{part}.up"])

    def _heads(self, layer: int, state: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rows, tokens, _ = state.shape
        return tuple(
            self._product(layer, part, state)
            .view(rows, tokens, self.shape.heads, -1)
            .transpose(1, 2)
            for part in ("query", "key", "value")
        )

    def _merge(self, layer: int, state: torch.Tensor, context: torch.Tensor) -> torch.Tensor:
        rows, _, tokens, _ = context.shape
        joined = context.transpose(1, 2).reshape(rows, tokens, -1)
        name = f"encoder.layer.{layer}"
        state = self._normalised(
            state + self._product(layer, "merge", joined), f"{name}.attention.output.LayerNorm"
        )
        wide = functional.gelu(self._product(layer, "widen", state))
        return self._normalised(
            state + self._product(layer, "narrow", wide), f"{name}.output.LayerNorm"
        )
