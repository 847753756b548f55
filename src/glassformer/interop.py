"""Convert modules to and from torch.nn, with the same outputs and gradients.

| torch.nn                | glassformer.modules  |
|-------------------------|----------------------|
| MultiheadAttention      | MultiHeadAttention   |
| TransformerEncoderLayer | EncoderLayer         |
| TransformerDecoderLayer | DecoderLayer         |
| TransformerEncoder      | Encoder              |
| TransformerDecoder      | Decoder              |
| Transformer             | EncoderDecoder, here |

Two conventions differ. In torch.nn's boolean masks, True means "may *not* attend", so pass ``~attn_mask``.
And if a query may not attend to any key, torch.nn returns NaN, while we return zeros.
"""

import copy
from collections.abc import Callable
from functools import partial, singledispatch
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.layers import DecoderLayer, EncoderLayer
from glassformer.modules.transformer import Decoder, Encoder

Made = TypeVar("Made", bound=nn.Module)
Stack = TypeVar("Stack", Encoder, Decoder)

_PARTS_OF_ENCODER_LAYER = {
    "self_attention": "self_attn",
    "self_attention_residual.dropout": "dropout1",
    "self_attention_residual.norm": "norm1",
    "feed_forward.inner": "linear1",
    "feed_forward.dropout": "dropout",
    "feed_forward.outer": "linear2",
    "feed_forward_residual.dropout": "dropout2",
    "feed_forward_residual.norm": "norm2",
}
_PARTS_OF_DECODER_LAYER = _PARTS_OF_ENCODER_LAYER | {
    "cross_attention": "multihead_attn",
    "cross_attention_residual.dropout": "dropout2",
    "cross_attention_residual.norm": "norm2",
    "feed_forward_residual.dropout": "dropout3",
    "feed_forward_residual.norm": "norm3",
}


class EncoderDecoder(nn.Module):
    """Encoder and decoder without embeddings and output projection: the counterpart of nn.Transformer.

    To convert a `Transformer` to torch.nn: ``to_torch(EncoderDecoder(model.encoder, model.decoder))``.

    Args:
        encoder: stack of encoder layers.
        decoder: stack of decoder layers.
    """

    def __init__(self, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(
        self,
        source: Float[Tensor, "*batch source d_model"],
        target: Float[Tensor, "*batch target d_model"],
        source_mask: Bool[Tensor, "..."] | None = None,
        target_mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "*batch target d_model"]:
        """Compute the decoder's hidden states from embedded tokens.

        Args:
            source: one vector per source position.
            target: one vector per target position.
            source_mask: True where a source position may attend to a source position.
            target_mask: True where a target position may attend to a target position.
            memory_mask: True where a target position may attend to a source position.
        """
        memory = self.encoder(source, source_mask)
        return self.decoder(target, memory, target_mask, memory_mask)


@singledispatch
def from_torch(module: nn.Module) -> Any:
    """Convert a torch.nn module to ours, with copies of its weights.

    Dtype, device, training mode, dropout and frozen weights are preserved.

    Args:
        module: torch.nn module from the table above, with ``batch_first=True``.

    Raises:
        ValueError: the module or one of its options has no counterpart.
    """
    known = ", ".join(each.__name__ for each in from_torch.registry if each is not object)
    raise ValueError(f"module must be one of torch.nn's {known}, got {type(module).__name__}")


@singledispatch
def to_torch(module: nn.Module) -> Any:
    """Convert one of our modules to torch.nn, with copies of its weights: the inverse of `from_torch`.

    Args:
        module: one of our modules from the table above.

    Raises:
        ValueError: the module has no counterpart, or its attention has relative positions.
    """
    known = ", ".join(each.__name__ for each in to_torch.registry if each is not object)
    raise ValueError(f"module must be one of {known}, got {type(module).__name__}")


@from_torch.register
def _(module: nn.MultiheadAttention) -> MultiHeadAttention:
    if not module.batch_first:
        raise ValueError(
            "batch_first must be True, got False: build the module with batch_first=True and load its weights"
        )
    if (module.kdim, module.vdim) != (module.embed_dim, module.embed_dim):
        raise ValueError(
            f"kdim ({module.kdim}) and vdim ({module.vdim}) must be embed_dim ({module.embed_dim})"
        )
    if module.bias_k is not None:
        raise ValueError("add_bias_kv must be False, got True")
    if module.add_zero_attn:
        raise ValueError("add_zero_attn must be False, got True")
    has_bias = module.in_proj_bias is not None
    with torch.device("meta"):
        ours = MultiHeadAttention(module.embed_dim, module.num_heads, dropout=module.dropout, bias=has_bias)
    for name in ("weight", "bias") if has_bias else ("weight",):
        stacked = getattr(module, f"in_proj_{name}")
        for projection, part in zip(_input_projections(ours), stacked.chunk(3), strict=True):
            setattr(projection, name, _copy_of(part, stacked.requires_grad))
        outward = getattr(module.out_proj, name)
        setattr(ours.output_proj, name, _copy_of(outward, outward.requires_grad))
    return ours.train(module.training)


@to_torch.register
def _(module: MultiHeadAttention) -> nn.MultiheadAttention:
    if module.positions is not None:
        raise ValueError(f"positions must be None, got {type(module.positions).__name__}")
    has_bias = module.output_proj.bias is not None
    with torch.device("meta"):
        theirs = nn.MultiheadAttention(
            module.d_model, module.num_heads, dropout=module.heads.dropout, bias=has_bias, batch_first=True
        )
    for name in ("weight", "bias") if has_bias else ("weight",):
        parts = [getattr(projection, name) for projection in _input_projections(module)]
        setattr(theirs, f"in_proj_{name}", _copy_of(torch.cat(parts), any(p.requires_grad for p in parts)))
        outward = getattr(module.output_proj, name)
        setattr(theirs.out_proj, name, _copy_of(outward, outward.requires_grad))
    return theirs.train(module.training)


@from_torch.register
def _(module: nn.TransformerEncoderLayer) -> EncoderLayer:
    return _fill_our_layer(EncoderLayer, module, _PARTS_OF_ENCODER_LAYER)


@to_torch.register
def _(module: EncoderLayer) -> nn.TransformerEncoderLayer:
    return _fill_their_layer(nn.TransformerEncoderLayer, module, _PARTS_OF_ENCODER_LAYER)


@from_torch.register
def _(module: nn.TransformerDecoderLayer) -> DecoderLayer:
    return _fill_our_layer(DecoderLayer, module, _PARTS_OF_DECODER_LAYER)


@to_torch.register
def _(module: DecoderLayer) -> nn.TransformerDecoderLayer:
    return _fill_their_layer(nn.TransformerDecoderLayer, module, _PARTS_OF_DECODER_LAYER)


@from_torch.register
def _(module: nn.TransformerEncoder) -> Encoder:
    return _fill_our_stack(Encoder, module)


@to_torch.register
def _(module: Encoder) -> nn.TransformerEncoder:
    return _fill_their_stack(partial(nn.TransformerEncoder, enable_nested_tensor=False), module)


@from_torch.register
def _(module: nn.TransformerDecoder) -> Decoder:
    return _fill_our_stack(Decoder, module)


@to_torch.register
def _(module: Decoder) -> nn.TransformerDecoder:
    return _fill_their_stack(nn.TransformerDecoder, module)


@from_torch.register
def _(module: nn.Transformer) -> EncoderDecoder:
    ours = EncoderDecoder(from_torch(module.encoder), from_torch(module.decoder))
    ours.training = module.training
    return ours


@to_torch.register
def _(module: EncoderDecoder) -> nn.Transformer:
    d_model, num_heads, _ = _sizes_of(module.encoder.layers[0])
    # nn.Transformer reinitialises the stacks it is given, so ours are set afterwards.
    theirs = nn.Transformer(
        d_model, num_heads, custom_encoder=nn.Identity(), custom_decoder=nn.Identity(), batch_first=True
    )
    theirs.encoder, theirs.decoder = to_torch(module.encoder), to_torch(module.decoder)
    theirs.training = module.training
    return theirs


def _fill_our_layer(layer: type[Made], theirs: Any, parts: dict[str, str]) -> Made:
    activation = theirs.activation
    if not (activation in (F.relu, torch.relu) or isinstance(activation, nn.ReLU)):
        name = getattr(activation, "__name__", type(activation).__name__)
        raise ValueError(f"activation must be relu, got {name}")
    if theirs.linear1.bias is None:
        raise ValueError("bias must be True, got False, because our layers always have biases")
    attention = theirs.self_attn
    sizes = (attention.embed_dim, attention.num_heads, theirs.linear1.out_features)
    with torch.device("meta"):
        ours = layer(*sizes, norm="pre" if theirs.norm_first else "post")
    return _fill(ours, theirs, parts, from_torch)


def _fill_their_layer(layer: type[Made], ours: EncoderLayer | DecoderLayer, parts: dict[str, str]) -> Made:
    norm_first = ours.feed_forward_residual.norm_first
    with torch.device("meta"):
        theirs = layer(*_sizes_of(ours), batch_first=True, norm_first=norm_first)
    return _fill(theirs, ours, {given: made for made, given in parts.items()}, to_torch)


def _fill(made: Made, given: nn.Module, parts: dict[str, str], convert: Callable[[nn.Module], Any]) -> Made:
    """Copy the submodules of one layer into another, converting its attention layers."""
    made.train(given.training)
    for name, given_name in parts.items():
        part = given.get_submodule(given_name)
        is_attention = isinstance(part, nn.MultiheadAttention | MultiHeadAttention)
        made.set_submodule(name, convert(part) if is_attention else copy.deepcopy(part))
    return made


def _fill_our_stack(stack: type[Stack], theirs: nn.TransformerEncoder | nn.TransformerDecoder) -> Stack:
    if not isinstance(theirs.norm, nn.LayerNorm | None):
        raise ValueError(f"norm must be a LayerNorm or None, got {type(theirs.norm).__name__}")
    ours = stack((from_torch(layer) for layer in theirs.layers), copy.deepcopy(theirs.norm))
    for module in (ours, ours.layers, ours.final_norm):  # not `train`: layers may be in different modes
        module.training = theirs.training
    return ours


def _fill_their_stack(make: Callable[..., Made], ours: Encoder | Decoder) -> Made:
    layers = nn.ModuleList(to_torch(layer) for layer in ours.layers)
    norm = None if isinstance(ours.final_norm, nn.Identity) else copy.deepcopy(ours.final_norm)
    theirs = make(layers[0], len(layers), norm=norm)
    theirs.layers = layers
    for module in (theirs, layers):
        module.training = ours.training
    return theirs


def _sizes_of(layer: Any) -> tuple[int, int, int]:
    return layer.self_attention.d_model, layer.self_attention.num_heads, layer.feed_forward.inner.out_features


def _input_projections(attention: MultiHeadAttention) -> tuple[nn.Linear, nn.Linear, nn.Linear]:
    """Return the input projections in the order in which torch.nn stacks them."""
    return attention.query_proj, attention.key_proj, attention.value_proj


def _copy_of(weights: Tensor, requires_grad: bool) -> nn.Parameter:
    return nn.Parameter(weights.detach().clone(), requires_grad)
