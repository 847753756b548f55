"""The Transformer: an encoder and a decoder (Vaswani et al., 2017, Figure 1)."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassformer.modules.cache import DecoderCache, LayerCache, takes_cache
from glassformer.modules.configuration import TransformerConfig as TransformerConfig
from glassformer.modules.dropout import Dropout
from glassformer.modules.layers import DecoderLayer, EncoderLayer
from glassformer.modules.masks import causal_mask, padding_mask
from glassformer.modules.positions import make_absolute_positional_encoding, make_relative_positional_encoding
from glassformer.modules.sentences import explain_bad_ids, require_sentences
from glassformer.validation import require_same_batch


class Embedding(nn.Module):
    """Token embeddings times √d_model (Vaswani et al., 2017, section 3.4), plus positional encodings.

    Rotary and ALiBi encodings are not added here, but act in the attention layers.

    Args:
        vocabulary_size: number of tokens in the vocabulary.
        config: sizes and options of the model.
    """

    def __init__(self, vocabulary_size: int, config: TransformerConfig) -> None:
        super().__init__()
        self.token = nn.Embedding(vocabulary_size, config.d_model)
        self.position = make_absolute_positional_encoding(config.positions, config.d_model, config.max_length)
        self.dropout = Dropout(config.dropout)

    def forward(self, ids: Int[Tensor, "batch time"], start: int = 0) -> Float[Tensor, "batch time d_model"]:
        """Embed token ids, and add the sinusoidal or learned encodings of their positions.

        Args:
            ids: token ids.
            start: position of the first token of each sentence; ignored if no encodings are added here.

        Raises:
            ValueError: an encoding is added, and ``start`` is negative or a sentence is longer than the
                learned positions.
            IndexError: an id on the CPU is outside the vocabulary.
        """
        x = self.token(ids) * math.sqrt(self.token.embedding_dim)
        return self.dropout(x if self.position is None else self.position(x, start))


class Encoder(nn.Module):
    """Stack of encoder layers.

    Args:
        layers: encoder layers, first to last.
        final_norm: layer normalisation of the output, which pre-norm layers need; None for no normalisation.
    """

    def __init__(self, layers: Iterable[EncoderLayer], final_norm: nn.LayerNorm | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.final_norm = final_norm or nn.Identity()

    def forward(
        self, x: Float[Tensor, "*batch source d_model"], attn_mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "*batch source d_model"]:
        """Encode embedded source tokens. Arguments and errors are as in `EncoderLayer.forward`."""
        for layer in self.layers:
            x = layer(x, attn_mask)
        return self.final_norm(x)


class Decoder(nn.Module):
    """Stack of decoder layers that attend to the same memory.

    Args:
        layers: decoder layers, first to last.
        final_norm: layer normalisation of the output, as in `Encoder`.
    """

    def __init__(self, layers: Iterable[DecoderLayer], final_norm: nn.LayerNorm | None = None) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.final_norm = final_norm or nn.Identity()

    def forward(
        self,
        x: Float[Tensor, "*batch target d_model"],
        memory: Float[Tensor, "*batch source d_model"],
        attn_mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        cache: Sequence[LayerCache] | None = None,
    ) -> Float[Tensor, "*batch target d_model"]:
        """Compute the hidden states of embedded target tokens.

        Arguments and errors are as in `DecoderLayer.forward`, except that ``cache`` holds one pair of caches
        per layer.
        """
        for number, layer in enumerate(self.layers):
            cached = {} if cache is None else {"cache": cache[number]}
            x = layer(x, memory, attn_mask, memory_mask, **cached)
        return self.final_norm(x)


class Transformer(nn.Module):
    """Transformer with an encoder and a decoder, for translation (Vaswani et al., 2017).

    Args:
        config: sizes and options of the model.
        generator: random generator for the initial parameters; PyTorch's global generator if omitted.
    """

    def __init__(self, config: TransformerConfig, *, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config = config
        self.source_embedding = Embedding(config.source_vocabulary_size, config)
        self.target_embedding = Embedding(config.target_vocabulary_size, config)
        layer = _layer_options(config)
        encoder_layers = (EncoderLayer(**layer) for _ in range(config.num_encoder_layers))
        decoder_layers = (DecoderLayer(**layer) for _ in range(config.num_decoder_layers))
        self.encoder = Encoder(encoder_layers, _final_norm(config))
        self.decoder = Decoder(decoder_layers, _final_norm(config))
        self.output_proj = nn.Linear(config.d_model, config.target_vocabulary_size, bias=False)
        if config.tie_embeddings != "none":
            self.output_proj.weight = self.target_embedding.token.weight
        if config.tie_embeddings == "all":
            self.source_embedding.token.weight = self.target_embedding.token.weight
        self._initialise(generator)

    def forward(
        self, source_ids: Int[Tensor, "batch source"], target_ids: Int[Tensor, "batch target"]
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Compute the logits of the token after each target token.

        Args:
            source_ids: source sentences, padded with the pad id.
            target_ids: target sentences, beginning with the start token, right-padded with the pad id.

        Raises:
            ValueError: a shape is invalid, a sentence is longer than the learned positions, or an id on the
                CPU is outside the vocabulary. On other devices, the embedding lookup itself fails, because
                ids are never copied back to the CPU.
        """
        require_same_batch(source_ids=source_ids, target_ids=target_ids)
        return self.decode(target_ids, *self.encode(source_ids))

    def encode(
        self, source_ids: Int[Tensor, "batch source"]
    ) -> tuple[Float[Tensor, "batch source d_model"], Bool[Tensor, "batch 1 1 source"]]:
        """Encode source sentences: return the encoder output (the memory) and its padding mask.

        Arguments and errors are as in `forward`.
        """
        require_sentences(source_ids=source_ids)
        with explain_bad_ids("source_ids", source_ids, self.config.source_vocabulary_size):
            x = self.source_embedding(source_ids)
        memory_mask = padding_mask(source_ids, self.config.pad_id)
        return self.encoder(x, memory_mask), memory_mask

    def decode(
        self,
        target_ids: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        memory_mask: Bool[Tensor, "batch 1 1 source"] | None = None,
        *,
        cache: DecoderCache | None = None,
    ) -> Float[Tensor, "batch target vocabulary"]:
        """Compute the logits of the token after each target token.

        Arguments and errors are as in `hidden_states`.
        """
        return self.output_proj(self.hidden_states(target_ids, memory, memory_mask, cache=cache))

    def hidden_states(
        self,
        target_ids: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        memory_mask: Bool[Tensor, "batch 1 1 source"] | None = None,
        *,
        cache: DecoderCache | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        """Compute the decoder's hidden states, from which ``output_proj`` computes the logits.

        Args:
            target_ids: all target tokens so far; with a cache, the last token of each beam.
            memory: output of the encoder.
            memory_mask: True where a target position may attend to a source position.
            cache: cache from `make_cache`, which holds the keys and values of the source and of earlier
                target tokens.

        Raises:
            ValueError: a shape is invalid, a sentence is longer than the learned positions, or an id on the
                CPU is outside the vocabulary.
        """
        require_sentences(target_ids=target_ids)
        require_same_batch(target_ids=target_ids, memory=memory)
        length = target_ids.shape[-1]
        if cache is None:
            causal = causal_mask(length, target_ids.device)
            attn_mask: Tensor | None = causal & padding_mask(target_ids, self.config.pad_id)
            start = 0
        else:  # beams are side by side, each of one token
            start, attn_mask = cache.reserve_slots(length)
            target_ids = target_ids.reshape(-1, 1)
        with explain_bad_ids("target_ids", target_ids, self.config.target_vocabulary_size):
            x = self.target_embedding(target_ids, start).view(-1, length, self.config.d_model)
        return self.decoder(x, memory, attn_mask, memory_mask, cache=cache and cache.layers)

    def make_cache(self, max_length: int, beam_size: int = 1) -> DecoderCache | None:
        """Make an empty cache for `decode`, or return None if an overridden method or a layer takes none.

        Args:
            max_length: maximum number of tokens per beam.
            beam_size: maximum number of beams per sentence.
        """
        layers = [layer.forward for layer in self.decoder.layers]
        if not takes_cache(self.decode, self.hidden_states, self.decoder.forward, *layers):
            return None
        slots = 1 + (max_length - 1) * beam_size  # each sentence starts with one beam
        return DecoderCache(len(layers), slots, self.output_proj.weight.device)

    def _initialise(self, generator: torch.Generator | None) -> None:
        """Initialise matrices Xavier-uniformly, biases to zero, and embeddings from N(0, 1/d_model)."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight, generator=generator)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
        for module in self.modules():  # last, because a tied output matrix is also an embedding
            if isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=self.config.d_model**-0.5, generator=generator)


def _final_norm(config: TransformerConfig) -> nn.LayerNorm | None:
    return nn.LayerNorm(config.d_model) if config.norm == "pre" else None


def _layer_options(config: TransformerConfig) -> dict[str, Any]:
    """Return the constructor arguments of the encoder and decoder layers."""
    return {
        "d_model": config.d_model,
        "num_heads": config.num_heads,
        "d_ff": config.d_ff,
        "dropout": config.dropout,
        "attention_dropout": config.attention_dropout,
        "activation_dropout": config.activation_dropout,
        "norm": config.norm,
        "positions": make_relative_positional_encoding(config.positions),
    }
