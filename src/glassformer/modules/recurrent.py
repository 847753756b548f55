"""Differentiable recurrent networks, and recurrent translators with and without attention."""

import math
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from glassformer.modules.additive import AdditiveAttention
from glassformer.modules.additive import additive_attention as additive_attention
from glassformer.modules.cache import RecurrentCache, takes_cache
from glassformer.modules.configuration import RecurrentConfig as RecurrentConfig
from glassformer.modules.dropout import Dropout
from glassformer.modules.masks import padding_mask
from glassformer.modules.sentences import explain_bad_ids, require_sentences
from glassformer.validation import require_recurrent_inputs, require_same_batch, require_shape


def elman_rnn(
    x: Float[Tensor, "*batch time d_in"],
    *,
    input_weight: Float[Tensor, "d_in d_hidden"],
    hidden_weight: Float[Tensor, "d_hidden d_hidden"],
    bias: Float[Tensor, " d_hidden"],
    initial_state: Float[Tensor, "*batch d_hidden"] | None = None,
) -> Float[Tensor, "*batch time d_hidden"]:
    """Run an Elman network differentiably, as in `reference.recurrence.elman_rnn`."""
    d_hidden = require_recurrent_inputs(x, input_weight, hidden_weight, bias, gates=1)
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
    """Run an LSTM differentiably, as in `reference.recurrence.lstm`."""
    d_hidden = require_recurrent_inputs(x, input_weight, hidden_weight, bias, gates=4)
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


class FixedContextTranslator(nn.Module):
    """LSTM encoder-decoder with a context of fixed size and no attention (Sutskever et al., 2014).

    The decoder starts from the encoder's final hidden and cell states, and sees nothing else of the source.

    Args:
        config: sizes and options of the model.
        generator: random generator for the initial parameters; PyTorch's global generator if omitted.
    """

    def __init__(self, config: RecurrentConfig, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config = config
        d_model, ways = config.d_model, 2 if config.bidirectional else 1
        self.source_embedding = nn.Embedding(config.source_vocabulary_size, d_model)
        self.target_embedding = nn.Embedding(config.target_vocabulary_size, d_model)
        stack: dict[str, Any] = {
            "num_layers": config.num_layers,
            "batch_first": True,
            "dropout": config.dropout if config.num_layers > 1 else 0.0,
        }
        self.encoder = nn.LSTM(d_model, d_model // ways, bidirectional=config.bidirectional, **stack)
        self.decoder = nn.LSTM(d_model, d_model, **stack)
        self.dropout = Dropout(config.dropout)
        self.output_proj = nn.Linear(d_model, config.target_vocabulary_size)
        if config.tie_embeddings != "none":
            self.output_proj.weight = self.target_embedding.weight
        if config.tie_embeddings == "all":
            self.source_embedding.weight = self.target_embedding.weight
        _initialise(self, d_model, generator)
        if config.tie_embeddings != "none":  # an output matrix needs smaller entries than an embedding
            self.output_proj.weight.data.div_(math.sqrt(d_model))

    def forward(
        self, source_ids: Int[Tensor, "batch source"], target_ids: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Compute the logits of the token after each target token.

        Args:
            source_ids: source sentences, right-padded with the pad id.
            target_ids: target sentences, beginning with the start token, right-padded with the pad id.

        Raises:
            ValueError: a shape is invalid, an id on the CPU is outside the vocabulary, or a source sentence
                is empty or has padding before its end.
        """
        require_same_batch(source_ids=source_ids, target_ids=target_ids)
        return self.decode(target_ids, *self.encode(source_ids))

    def encode(
        self, source_ids: Int[Tensor, "batch source"]
    ) -> tuple[
        Float[Tensor, "batch source d_model"],
        Bool[Tensor, "batch 1 source"],
        Float[Tensor, "batch layers d_model"],
        Float[Tensor, "batch layers d_model"],
    ]:
        """Encode source sentences: return the hidden states, their padding mask, and the final states.

        The final states are the hidden state and the cell state of each layer. In a bidirectional encoder,
        half of each state comes from the forward direction and half from the backward direction. Arguments
        and errors are as in `forward`.
        """
        lengths = self._measure(source_ids)
        embedded = self._embed(self.source_embedding, "source_ids", source_ids)
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        states, (state, cell) = self.encoder(packed)
        memory, _ = pad_packed_sequence(states, batch_first=True, total_length=source_ids.shape[-1])
        memory_mask = padding_mask(source_ids, self.config.pad_id)[:, 0]  # without an axis for heads
        return memory, memory_mask, self._join_directions(state), self._join_directions(cell)

    def decode(
        self,
        target_ids: Int[Tensor, "batch target"],
        *encoded: Any,
        cache: RecurrentCache | None = None,
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Compute the logits of the token after each target token; ``encoded`` is the output of `encode`.

        The other arguments and the errors are as in `hidden_states`.
        """
        return self.output_proj(self.hidden_states(target_ids, *encoded, cache=cache))

    def hidden_states(
        self,
        target_ids: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        memory_mask: Bool[Tensor, "batch 1 source"] | None,
        state: Float[Tensor, "batch layers d_model"],
        cell: Float[Tensor, "batch layers d_model"],
        *,
        cache: RecurrentCache | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """Compute the decoder's hidden states, from which ``output_proj`` computes the logits.

        Args:
            target_ids: all target tokens so far; with a cache, the last token of each beam.
            memory: hidden states of the encoder; ignored without attention.
            memory_mask: True where a target position may attend to a source position; ignored without
                attention.
            state: final hidden state of the encoder, from which the decoder starts.
            cell: final cell state of the encoder, from which the decoder starts.
            cache: cache from `make_cache`, which holds the decoder's states after earlier target tokens.

        Raises:
            ValueError: a shape is invalid, or an id on the CPU is outside the vocabulary.
        """
        return self.dropout(self.run_decoder(target_ids, state, cell, cache=cache))

    def run_decoder(
        self,
        target_ids: Int[Tensor, "batch target"],
        state: Float[Tensor, "batch layers d_model"],
        cell: Float[Tensor, "batch layers d_model"],
        *,
        cache: RecurrentCache | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """Compute the decoder LSTM's hidden states. Arguments and errors are as in `hidden_states`."""
        require_sentences(target_ids=target_ids)
        shape = (len(target_ids), self.config.num_layers, self.config.d_model)
        require_shape(shape, state=state, cell=cell)
        context = state.transpose(0, 1).contiguous(), cell.transpose(0, 1).contiguous()
        ids = target_ids
        if cache is not None:  # each beam is a separate row of one token
            context, ids = cache.state or context, target_ids.reshape(-1, 1)
        states, context = self.decoder(self._embed(self.target_embedding, "target_ids", ids), context)
        if cache is not None:
            cache.state = context
        return states.reshape(*target_ids.shape, -1)

    def make_cache(self, max_length: int, beam_size: int = 1) -> RecurrentCache | None:
        """Make an empty cache for `decode`, or return None if a method of a subclass does not accept one.

        The arguments, those of `Transformer.make_cache`, have no effect: recurrent states do not grow.
        """
        takes = takes_cache(self.decode, self.hidden_states, self.run_decoder)
        return RecurrentCache() if takes else None

    def _embed(self, embedding: nn.Embedding, name: str, ids: Tensor) -> Tensor:
        """Embed each token; a table tied to the output matrix has small entries, so scale by √d_model."""
        with explain_bad_ids(name, ids, embedding.num_embeddings):
            embedded: Tensor = embedding(ids)
        tied = embedding.weight is self.output_proj.weight
        return self.dropout(embedded * math.sqrt(self.config.d_model) if tied else embedded)

    def _join_directions(
        self, last: Float[Tensor, "layers_directions batch width"]
    ) -> Float[Tensor, "batch layers d_model"]:
        """Concatenate the final forward and backward states of each layer."""
        by_layer = last.reshape(self.config.num_layers, -1, *last.shape[1:])
        return by_layer.permute(2, 0, 1, 3).flatten(2)

    def _measure(self, source_ids: Tensor) -> Int[Tensor, " batch"]:
        """Return sentence lengths on the CPU, where packing needs them; check that padding comes last."""
        require_sentences(source_ids=source_ids)
        real = (source_ids != self.config.pad_id).cpu().numpy()
        if not real[:, 0].all() or (real[:, 1:] & ~real[:, :-1]).any():
            sentence = int((~real[:, 0] | (real[:, 1:] & ~real[:, :-1]).any(-1)).argmax())
            raise ValueError(
                f"source_ids must start with a real token and end in padding (id {self.config.pad_id}), "
                f"but sentence {sentence} is {source_ids[sentence].tolist()}"
            )
        return torch.from_numpy(real.sum(-1))


class AdditiveAttentionTranslator(FixedContextTranslator):
    """LSTM encoder-decoder with additive attention to every hidden state of the encoder.

    It extends `FixedContextTranslator`, with the same arguments. The scores are those of Bahdanau et al.
    (2015). The decoder attends after its recurrent step instead of before it, as in Luong et al. (2015), so
    that one call can process the whole target.
    """

    def __init__(self, config: RecurrentConfig, *, generator: torch.Generator | None = None) -> None:
        super().__init__(config, generator=generator)
        self.attention = AdditiveAttention(config.d_model)
        self.mix = nn.Linear(2 * config.d_model, config.d_model)
        _initialise(self.attention, config.d_model, generator)
        _initialise(self.mix, config.d_model, generator)

    def hidden_states(
        self,
        target_ids: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        memory_mask: Bool[Tensor, "batch 1 source"] | None,
        state: Float[Tensor, "batch layers d_model"],
        cell: Float[Tensor, "batch layers d_model"],
        *,
        cache: RecurrentCache | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """Compute the decoder's hidden states: LSTM states combined with their attention context vectors.

        Arguments and errors are as in `FixedContextTranslator.hidden_states`.
        """
        states = self.run_decoder(target_ids, state, cell, cache=cache)
        keys = None if cache is None else cache.memory
        attended, _ = self.attention(states, memory, memory, memory_mask, cache=keys)
        return self.dropout(self.mix(torch.cat([states, attended], dim=-1)).tanh())


def _initialise(module: nn.Module, d_model: int, generator: torch.Generator | None = None) -> None:
    """Initialise embeddings from N(0, 1), the rest uniformly in ±1/√d_model, as nn.LSTM does."""
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


@torch.no_grad()
def set_forget_bias(layer: nn.LSTM, bias: float) -> None:
    """Set the bias of every forget gate; a positive bias keeps these gates of a new LSTM open.

    An open forget gate preserves the cell state (Gers et al., 2000). PyTorch adds two biases per gate, so one
    is set to ``bias`` and the other to 0.

    Args:
        layer: LSTM to change in place; its other gates keep their biases.
        bias: bias of the forget gates, before the sigmoid.

    Raises:
        ValueError: ``layer`` has no biases.
    """
    if not layer.bias:
        raise ValueError("layer has no biases to set; make it with bias=True")
    forget = slice(layer.hidden_size, 2 * layer.hidden_size)
    for name, parameter in layer.named_parameters():
        if name.startswith("bias"):
            parameter[forget] = bias if name.startswith("bias_ih") else 0.0
