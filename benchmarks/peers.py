"""Build the same Transformer in several libraries: equal sizes, random weights, ready to train.

Each entry of `PEERS` returns a model and a function from source and target ids to logits. All models share
one matrix for source, target and output, and use dropout wherever they have it.
"""

import math
from collections.abc import Callable
from importlib.metadata import distributions, version
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from glassformer.modules import SinusoidalPositions, Transformer, TransformerConfig, causal_mask

PAD, START, END = 0, 1, 2
VOCABULARY_SIZE = 10_000
DROPOUT = 0.1


class Size(NamedTuple):
    """Size of a model and of its batch: sentences, and tokens per sentence."""

    d_model: int
    d_ff: int
    num_heads: int
    num_layers: int
    sentences: int
    tokens: int

    def of_the_model(self) -> dict[str, int]:
        """Return the size without the batch."""
        batch = ("sentences", "tokens")
        return {name: number for name, number in self._asdict().items() if name not in batch}


SIZES = {"tiny": Size(128, 256, 4, 4, 128, 14), "base": Size(512, 2048, 8, 6, 32, 25)}

ToLogits = Callable[[Tensor, Tensor], Tensor]


def glassformer(size: Size) -> tuple[Transformer, ToLogits]:
    """Build our model."""
    config = TransformerConfig(
        source_vocabulary_size=VOCABULARY_SIZE,
        target_vocabulary_size=VOCABULARY_SIZE,
        d_model=size.d_model,
        d_ff=size.d_ff,
        num_heads=size.num_heads,
        num_encoder_layers=size.num_layers,
        num_decoder_layers=size.num_layers,
        dropout=DROPOUT,
        norm="pre",
        tie_embeddings="all",
    )
    model = Transformer(config)
    return model, model


class TorchTransformer(nn.Module):
    """torch.nn.Transformer with embeddings and an output projection."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.token = nn.Embedding(VOCABULARY_SIZE, size.d_model)
        nn.init.normal_(self.token.weight, std=size.d_model**-0.5)
        self.position = SinusoidalPositions(size.d_model, 1024)
        self.dropout = nn.Dropout(DROPOUT)
        self.stacks = nn.Transformer(
            size.d_model,
            size.num_heads,
            size.num_layers,
            size.num_layers,
            size.d_ff,
            DROPOUT,
            batch_first=True,
            norm_first=True,
        )

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Compute the logits."""
        return self.decode(target_ids, self.encode(source_ids), source_ids)

    def embed(self, ids: Tensor) -> Tensor:
        """Embed tokens and add their positions."""
        return self.dropout(self.position(self.token(ids) * math.sqrt(self.token.embedding_dim)))

    def encode(self, source_ids: Tensor) -> Tensor:
        """Encode the source."""
        return self.stacks.encoder(self.embed(source_ids), src_key_padding_mask=source_ids == PAD)

    def decode(self, target_ids: Tensor, memory: Tensor, source_ids: Tensor) -> Tensor:
        """Compute the logits of the target."""
        states = self.stacks.decoder(
            self.embed(target_ids),
            memory,
            tgt_mask=~causal_mask(target_ids.shape[1], target_ids.device),
            tgt_key_padding_mask=target_ids == PAD,
            memory_key_padding_mask=source_ids == PAD,
            tgt_is_causal=True,
        )
        return states @ self.token.weight.T


def torch_transformer(size: Size) -> tuple[nn.Module, ToLogits]:
    """Build torch.nn.Transformer."""
    model = TorchTransformer(size)
    return model, model


def marian(size: Size, max_length: int = 64) -> tuple[nn.Module, ToLogits]:
    """Build MarianMTModel of transformers, which is post-norm."""
    from transformers import MarianConfig, MarianMTModel

    sizes: dict[str, Any] = {
        f"{stack}_{name}": number
        for stack in ("encoder", "decoder")
        for name, number in (
            ("layers", size.num_layers),
            ("attention_heads", size.num_heads),
            ("ffn_dim", size.d_ff),
        )
    }
    model = MarianMTModel(
        MarianConfig(
            **sizes,
            d_model=size.d_model,
            vocab_size=VOCABULARY_SIZE,
            max_position_embeddings=max_length,
            dropout=DROPOUT,
            attention_dropout=DROPOUT,
            activation_dropout=DROPOUT,
            activation_function="relu",
            scale_embedding=True,
            pad_token_id=PAD,
            bos_token_id=START,
            eos_token_id=END,
            forced_eos_token_id=None,
            decoder_start_token_id=START,
        )
    )

    def logits(source_ids: Tensor, target_ids: Tensor) -> Tensor:
        return model(
            input_ids=source_ids,
            attention_mask=(source_ids != PAD).long(),
            decoder_input_ids=target_ids,
            use_cache=False,
        ).logits

    return model, logits


def x_transformers(size: Size) -> tuple[nn.Module, ToLogits]:
    """Build XTransformer of x-transformers with its fused attention."""
    from x_transformers import XTransformer

    options = {
        "num_tokens": VOCABULARY_SIZE,
        "depth": size.num_layers,
        "heads": size.num_heads,
        "attn_dim_head": size.d_model // size.num_heads,
        "ff_mult": size.d_ff / size.d_model,
        "attn_flash": True,
        "attn_dropout": DROPOUT,
        "ff_dropout": DROPOUT,
        "layer_dropout": 0.0,
        "emb_dropout": DROPOUT,
        "max_seq_len": 64,
    }
    prefixed = {f"{stack}_{name}": value for stack in ("enc", "dec") for name, value in options.items()}
    model = XTransformer(dim=size.d_model, tie_token_emb=True, **prefixed)
    decoder = model.decoder.net
    decoder.to_logits.weight = decoder.token_emb.emb.weight

    def logits(source_ids: Tensor, target_ids: Tensor) -> Tensor:
        mask = source_ids != PAD
        memory = model.encoder(source_ids, mask=mask, return_embeddings=True)
        return decoder(target_ids, context=memory, context_mask=mask)

    return model, logits


def joeynmt(size: Size) -> tuple[nn.Module, ToLogits]:
    """Build JoeyNMT's Transformer."""
    from joeynmt.decoders import TransformerDecoder
    from joeynmt.embeddings import Embeddings
    from joeynmt.encoders import TransformerEncoder

    options = {
        "hidden_size": size.d_model,
        "ff_size": size.d_ff,
        "num_layers": size.num_layers,
        "num_heads": size.num_heads,
        "dropout": DROPOUT,
        "emb_dropout": DROPOUT,
        "layer_norm": "pre",
    }
    parts = {
        "embedding": Embeddings(size.d_model, scale=True, vocab_size=VOCABULARY_SIZE, padding_idx=PAD),
        "encoder": TransformerEncoder(**options),
        "decoder": TransformerDecoder(**options, vocab_size=VOCABULARY_SIZE),
    }
    nn.init.normal_(parts["embedding"].lut.weight, std=size.d_model**-0.5)
    parts["decoder"].output_layer.weight = parts["embedding"].lut.weight

    def logits(source_ids: Tensor, target_ids: Tensor) -> Tensor:
        source_mask = (source_ids != PAD)[:, None]
        lengths = source_mask.sum(-1).squeeze(1)
        memory, _ = parts["encoder"](parts["embedding"](source_ids), lengths, source_mask)
        return parts["decoder"](
            parts["embedding"](target_ids),
            encoder_output=memory,
            encoder_hidden=None,
            src_mask=source_mask,
            unroll_steps=None,
            hidden=None,
            trg_mask=(target_ids != PAD)[:, None],
        )[0]

    return nn.ModuleDict(parts), logits


PEERS: dict[str, Callable[[Size], tuple[nn.Module, ToLogits]]] = {
    "glassformer": glassformer,
    "torch.nn.Transformer": torch_transformer,
    "transformers, Marian": marian,
    "x-transformers": x_transformers,
    "joeynmt": joeynmt,
}


def sentences(count: int, tokens: int) -> Tensor:
    """Draw sentences of random tokens without special tokens."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(END + 1, VOCABULARY_SIZE, (count, tokens), generator=generator)


def num_parameters(model: nn.Module) -> int:
    """Count the parameters; shared ones count once."""
    return sum(parameter.numel() for parameter in model.parameters())


def versions() -> dict[str, str]:
    """Return the versions of the installed libraries."""
    names = ("torch", "transformers", "x-transformers", "joeynmt", "ctranslate2")
    there = {name.lower() for one in distributions() if (name := one.metadata["Name"])}
    return {name: version(name) for name in names if name in there}
