"""Convert our Transformer to CTranslate2."""

from pathlib import Path

import ctranslate2
from ctranslate2.converters.utils import fuse_linear
from ctranslate2.specs import common_spec
from ctranslate2.specs.attention_spec import MultiHeadAttentionSpec
from ctranslate2.specs.transformer_spec import TransformerSpec
from peers import END, PAD, START
from torch import nn

from glassformer.modules import (
    Decoder,
    DecoderLayer,
    Embedding,
    Encoder,
    EncoderLayer,
    FeedForward,
    MultiHeadAttention,
    Transformer,
)


def load(model: Transformer, folder: Path, compute_type: str) -> ctranslate2.Translator:
    """Convert a model and load it for one thread; its vocabulary is "0", "1", ..."""
    config = model.config
    spec = TransformerSpec.from_config(
        (config.num_encoder_layers, config.num_decoder_layers), config.num_heads, pre_norm=True
    )
    _fill_stack(spec.encoder, model.encoder, model.source_embedding, spec.encoder.embeddings[0])
    _fill_stack(spec.decoder, model.decoder, model.target_embedding, spec.decoder.embeddings)
    _fill_linear(spec.decoder.projection, model.output_proj)
    words = [str(token) for token in range(config.target_vocabulary_size)]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = words[PAD], words[START], words[END]
    spec.config.decoder_start_token = words[START]
    spec.validate()
    spec.optimize()
    spec.save(str(folder))
    return ctranslate2.Translator(
        str(folder), compute_type=compute_type, inter_threads=1, intra_threads=1, max_queued_batches=-1
    )


def _fill_stack(
    spec: common_spec.model_spec.LayerSpec,
    stack: Encoder | Decoder,
    embedding: Embedding,
    embedding_spec: common_spec.EmbeddingsSpec,
) -> None:
    embedding_spec.weight = embedding.token.weight
    spec.scale_embeddings = True
    spec.position_encodings.encodings = embedding.position.table
    _fill_norm(spec.layer_norm, stack.final_norm)
    for layer_spec, layer in zip(spec.layer, stack.layers, strict=True):
        _fill_layer(layer_spec, layer)


def _fill_layer(spec: common_spec.model_spec.LayerSpec, layer: EncoderLayer | DecoderLayer) -> None:
    _fill_attention(spec.self_attention, layer.self_attention, fused=(3,))
    _fill_norm(spec.self_attention.layer_norm, layer.self_attention_residual.norm)
    if isinstance(layer, DecoderLayer):
        _fill_attention(spec.attention, layer.cross_attention, fused=(1, 2))
        _fill_norm(spec.attention.layer_norm, layer.cross_attention_residual.norm)
    _fill_feed_forward(spec.ffn, layer.feed_forward)
    _fill_norm(spec.ffn.layer_norm, layer.feed_forward_residual.norm)


def _fill_attention(
    spec: MultiHeadAttentionSpec, attention: MultiHeadAttention, *, fused: tuple[int, ...]
) -> None:
    """Fuse the projections of queries, keys and values in groups of the given sizes."""
    maps = []
    for module in (attention.query_proj, attention.key_proj, attention.value_proj):
        maps.append(common_spec.LinearSpec())
        _fill_linear(maps[-1], module)
    for number, count in enumerate(fused):
        fuse_linear(spec.linear[number], maps[:count])
        maps = maps[count:]
    _fill_linear(spec.linear[len(fused)], attention.output_proj)


def _fill_feed_forward(spec: common_spec.model_spec.LayerSpec, feed_forward: FeedForward) -> None:
    _fill_linear(spec.linear_0, feed_forward.inner)
    _fill_linear(spec.linear_1, feed_forward.outer)


def _fill_linear(spec: common_spec.LinearSpec, module: nn.Linear) -> None:
    spec.weight = module.weight
    if module.bias is not None:
        spec.bias = module.bias


def _fill_norm(spec: common_spec.LayerNormSpec, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = norm.weight, norm.bias
