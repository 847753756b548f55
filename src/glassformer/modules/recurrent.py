"""What came before, trainable: recurrent networks, and translators without and with attention."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from glassformer.modules.masks import padding_mask
from glassformer.modules.sentences import require_sentences
from glassformer.modules.softmax import softmax
from glassformer.validation import (
    require_axes,
    require_floating,
    require_mask,
    require_not_empty,
    require_probability,
    require_same_batch,
    require_shape,
    require_whole,
)


def elman_rnn(
    x: Float[Tensor, "*batch time d_in"],
    *,
    input_weight: Float[Tensor, "d_in d_hidden"],
    hidden_weight: Float[Tensor, "d_hidden d_hidden"],
    bias: Float[Tensor, " d_hidden"],
    initial_state: Float[Tensor, "*batch d_hidden"] | None = None,
) -> Float[Tensor, "*batch time d_hidden"]:
    """Differentiable twin of `reference.recurrence.elman_rnn`."""
    d_hidden = _require_recurrent_inputs(x, input_weight, hidden_weight, bias, gates=1)
    state = _initial(initial_state, x, d_hidden, "initial_state")
    states = []
    for from_input in (x @ input_weight + bias).unbind(-2):
        state = (from_input + state @ hidden_weight).tanh()
        states.append(state)
    return torch.stack(states, dim=-2)


def lstm(
    x: Float[Tensor, "*batch time d_in"],
    *,
    input_weight: Float[Tensor, "d_in four_d_hidden"],
    hidden_weight: Float[Tensor, "d_hidden four_d_hidden"],
    bias: Float[Tensor, " four_d_hidden"],
    initial_state: tuple[Float[Tensor, "*batch d_hidden"], Float[Tensor, "*batch d_hidden"]] | None = None,
) -> tuple[Float[Tensor, "*batch time d_hidden"], Float[Tensor, "*batch time d_hidden"]]:
    """Differentiable twin of `reference.recurrence.lstm`."""
    d_hidden = _require_recurrent_inputs(x, input_weight, hidden_weight, bias, gates=4)
    first_state, first_cell = initial_state or (None, None)
    state = _initial(first_state, x, d_hidden, "initial_state[0]")
    cell = _initial(first_cell, x, d_hidden, "initial_state[1]")
    states, cells = [], []
    for from_input in (x @ input_weight + bias).unbind(-2):
        gates = from_input + state @ hidden_weight
        input_gate, forget_gate, candidate, output_gate = gates.chunk(4, dim=-1)
        cell = forget_gate.sigmoid() * cell + input_gate.sigmoid() * candidate.tanh()
        state = output_gate.sigmoid() * cell.tanh()
        states.append(state)
        cells.append(cell)
    return torch.stack(states, dim=-2), torch.stack(cells, dim=-2)


def additive_attention(
    query: Float[Tensor, "*batch query d_query"],
    key: Float[Tensor, "*batch key d_key"],
    value: Float[Tensor, "*batch key d_v"],
    *,
    query_weight: Float[Tensor, "d_query d_hidden"],
    key_weight: Float[Tensor, "d_key d_hidden"],
    score_weight: Float[Tensor, " d_hidden"],
    attn_mask: Bool[Tensor, "*#batch #query #key"] | None = None,
) -> tuple[Float[Tensor, "*batch query d_v"], Float[Tensor, "*batch query key"]]:
    """Differentiable twin of `reference.recurrence.additive_attention`."""
    vectors = {"query": query, "key": key, "value": value}
    require_floating(**vectors)
    require_axes(2, **vectors)
    require_not_empty(**vectors)
    require_axes(1, score_weight=score_weight)
    d_hidden = score_weight.shape[-1]
    require_shape((query.shape[-1], d_hidden), query_weight=query_weight)
    require_shape((key.shape[-1], d_hidden), key_weight=key_weight)
    require_shape((*query.shape[:-2], *key.shape[-2:]), key=key)
    require_shape((*key.shape[:-1], value.shape[-1]), value=value)
    if attn_mask is not None:
        require_mask(attn_mask, (*query.shape[:-1], key.shape[-2]))
    pairs = (query @ query_weight)[..., :, None, :] + (key @ key_weight)[..., None, :, :]
    weights = softmax(pairs.tanh() @ score_weight, where=attn_mask)
    return weights @ value, weights


@dataclass(frozen=True, kw_only=True)
class RecurrentConfig:
    """The sizes of a recurrent translator.

    Attributes:
        source_vocabulary_size: how many source ids there are.
        target_vocabulary_size: how many target ids there are.
        pad_id: the id that fills short sentences up at their end.
        d_model: the width of embeddings, states and attention.
        num_layers: how many LSTMs are stacked, in the encoder and in the decoder.
        dropout: the probability of dropping embeddings, and states before they are used.

    Raises:
        ValueError: a size does not fit; the message names it.
    """

    source_vocabulary_size: int
    target_vocabulary_size: int
    pad_id: int = 0
    d_model: int = 128
    num_layers: int = 1
    dropout: float = 0.0

    def __post_init__(self) -> None:
        sizes = ("source_vocabulary_size", "target_vocabulary_size", "d_model", "num_layers")
        require_whole(**{name: getattr(self, name) for name in sizes})
        require_probability(dropout=self.dropout)
        smaller = min(self.source_vocabulary_size, self.target_vocabulary_size)
        if not 0 <= self.pad_id < smaller:
            raise ValueError(f"pad_id must be at least 0 and below {smaller}, got {self.pad_id}")


class FixedContextTranslator(nn.Module):
    """Read the source into one vector, and write the target from it (Sutskever et al., 2014).

    The encoder's last state and cell are all that the decoder, which starts from them, ever sees.

    Args:
        config: its sizes.
        generator: where the first weights come from; torch's global generator without it.
    """

    def __init__(self, config: RecurrentConfig, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = nn.Embedding(config.source_vocabulary_size, config.d_model)
        self.target_embedding = nn.Embedding(config.target_vocabulary_size, config.d_model)
        between_layers = config.dropout if config.num_layers > 1 else 0.0
        sizes = (config.d_model, config.d_model, config.num_layers)
        self.encoder = nn.LSTM(*sizes, batch_first=True, dropout=between_layers)
        self.decoder = nn.LSTM(*sizes, batch_first=True, dropout=between_layers)
        self.dropout = nn.Dropout(config.dropout)
        self.output_proj = nn.Linear(config.d_model, config.target_vocabulary_size)
        _initialise(self, config.d_model, generator)

    def forward(
        self, source_ids: Int[Tensor, "batch source"], target_ids: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Give the logits of the token that follows each target token.

        Args:
            source_ids: the sentences to read, filled up with the pad id at their end.
            target_ids: what has been written so far, one step behind what is to be told.

        Raises:
            ValueError: ids are outside the vocabulary, padding is not at the end, a source holds nothing
                else, or a shape does not fit; the message names it.
        """
        require_same_batch(source_ids=source_ids, target_ids=target_ids)
        _, context = self.encode(source_ids)
        return self.output_proj(self.dropout(self.decode_states(target_ids, context)))

    def encode(
        self, source_ids: Int[Tensor, "batch source"]
    ) -> tuple[
        Float[Tensor, "batch source d_model"],
        tuple[Float[Tensor, "layers batch d_model"], Float[Tensor, "layers batch d_model"]],
    ]:
        """Read the source: the state after each token, and the state and cell after the last real one."""
        lengths = self._measure(source_ids)
        embedded = self.dropout(self.source_embedding(source_ids))
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, context = self.encoder(packed)
        memory, _ = pad_packed_sequence(states, batch_first=True, total_length=source_ids.shape[-1])
        return memory, context

    def decode_states(
        self,
        target_ids: Int[Tensor, "batch target"],
        context: tuple[Float[Tensor, "layers batch d_model"], Float[Tensor, "layers batch d_model"]],
    ) -> Float[Tensor, "batch target d_model"]:
        """Run the decoder over the target, from the context on."""
        require_sentences("target_ids", target_ids, self.config.target_vocabulary_size)
        states, _ = self.decoder(self.dropout(self.target_embedding(target_ids)), context)
        return states

    def _measure(self, source_ids: Tensor) -> Tensor:
        """Count the real tokens of each sentence; the padding must follow them."""
        require_sentences("source_ids", source_ids, self.config.source_vocabulary_size)
        real = source_ids != self.config.pad_id
        if not bool(real[:, 0].all()) or bool((real[:, 1:] & ~real[:, :-1]).any()):
            sentence = int((~real[:, 0] | (real[:, 1:] & ~real[:, :-1]).any(-1)).nonzero()[0])
            raise ValueError(
                f"source_ids must start with a real token and end in padding (id {self.config.pad_id}), "
                f"but sentence {sentence} is {source_ids[sentence].tolist()}"
            )
        return real.sum(-1)


class AdditiveAttention(nn.Module):
    """Look back at the source with a small network: see `additive_attention` (Bahdanau et al., 2015).

    Args:
        d_model: the width of queries and keys, and of the network.
    """

    def __init__(self, d_model: int) -> None:
        super().__init__()
        require_whole(d_model=d_model)
        self.query_weight = nn.Parameter(torch.empty(d_model, d_model))
        self.key_weight = nn.Parameter(torch.empty(d_model, d_model))
        self.score_weight = nn.Parameter(torch.empty(d_model))
        _initialise(self, d_model)

    def forward(
        self,
        query: Float[Tensor, "batch query d_model"],
        key: Float[Tensor, "batch key d_model"],
        value: Float[Tensor, "batch key d_v"],
        attn_mask: Bool[Tensor, "batch #query key"] | None = None,
    ) -> tuple[Float[Tensor, "batch query d_v"], Float[Tensor, "batch query key"]]:
        """Return the attended values and the weights that mixed them."""
        return additive_attention(
            query,
            key,
            value,
            query_weight=self.query_weight,
            key_weight=self.key_weight,
            score_weight=self.score_weight,
            attn_mask=attn_mask,
        )


class AdditiveAttentionTranslator(FixedContextTranslator):
    """A `FixedContextTranslator` whose decoder may also look back at every state of the encoder.

    The scores are Bahdanau et al.'s (2015). The decoder asks after its step rather than before it, as in
    Luong et al. (2015), so that it can read the whole target in one call.
    """

    def __init__(self, config: RecurrentConfig, *, generator: torch.Generator | None = None) -> None:
        super().__init__(config, generator=generator)
        self.attention = AdditiveAttention(config.d_model)
        self.mix = nn.Linear(2 * config.d_model, config.d_model)
        _initialise(self.attention, config.d_model, generator)
        _initialise(self.mix, config.d_model, generator)

    def forward(
        self, source_ids: Int[Tensor, "batch source"], target_ids: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Give the logits of the token that follows each target token; as in `FixedContextTranslator`."""
        require_same_batch(source_ids=source_ids, target_ids=target_ids)
        memory, context = self.encode(source_ids)
        states = self.decode_states(target_ids, context)
        memory_mask = padding_mask(source_ids, self.config.pad_id)[:, 0]  # without an axis for heads
        attended, _ = self.attention(states, memory, memory, memory_mask)
        mixed = self.mix(torch.cat([states, attended], dim=-1)).tanh()
        return self.output_proj(self.dropout(mixed))


def _initialise(module: nn.Module, d_model: int, generator: torch.Generator | None = None) -> None:
    """Draw embeddings from a standard normal, all else uniformly within ±1/√d_model, as nn.LSTM does."""
    bound = d_model**-0.5
    for name, parameter in module.named_parameters():
        if "embedding" in name:
            nn.init.normal_(parameter, generator=generator)
        else:
            nn.init.uniform_(parameter, -bound, bound, generator=generator)


def _initial(state: Tensor | None, x: Tensor, d_hidden: int, name: str) -> Tensor:
    shape = (*x.shape[:-2], d_hidden)
    if state is None:
        return x.new_zeros(shape)
    require_shape(shape, **{name: state})
    return state


def _require_recurrent_inputs(
    x: Tensor, input_weight: Tensor, hidden_weight: Tensor, bias: Tensor, *, gates: int
) -> int:
    """Check what both networks are given, and return the width of their state."""
    require_floating(x=x, input_weight=input_weight, hidden_weight=hidden_weight, bias=bias)
    require_axes(2, x=x, input_weight=input_weight, hidden_weight=hidden_weight)
    require_not_empty(x=x)
    d_hidden = hidden_weight.shape[0]
    require_shape((d_hidden, gates * d_hidden), hidden_weight=hidden_weight)
    require_shape((x.shape[-1], gates * d_hidden), input_weight=input_weight)
    require_shape((gates * d_hidden,), bias=bias)
    return d_hidden
