"""The functions of `reference` in PyTorch, with gradients, and the models built from them.

Arguments and errors of the functions are as in `reference`, except that the values in a tensor are not
checked, because the CPU would have to wait for the GPU. NaN in the input gives NaN in the output.
"""

from glassformer.modules.additive import AdditiveAttention, additive_attention
from glassformer.modules.attention import (
    AttentionHeads,
    MultiHeadAttention,
    attention_weights,
    fused_attention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from glassformer.modules.cache import DecoderCache, KVCache, RecurrentCache
from glassformer.modules.configuration import Positions, RecurrentConfig, TransformerConfig
from glassformer.modules.dropout import Dropout
from glassformer.modules.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    Residual,
    feed_forward,
    layer_norm,
)
from glassformer.modules.masks import causal_mask, padding_mask
from glassformer.modules.positions import (
    AlibiPositions,
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    alibi,
    apply_rotary_embedding,
)
from glassformer.modules.recurrent import (
    AdditiveAttentionTranslator,
    FixedContextTranslator,
    elman_rnn,
    lstm,
    set_forget_bias,
)
from glassformer.modules.softmax import softmax
from glassformer.modules.storage import load_model, save_model
from glassformer.modules.transformer import Decoder, Embedding, Encoder, Transformer
