"""The definitions as pure NumPy functions: one idea per file, no classes, no PyTorch.

The module `transformer` puts them together to a complete translator.
"""

from glassformer.reference.attention import (
    attention_weights,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
)
from glassformer.reference.heads import merge_heads, multi_head_attention, split_heads
from glassformer.reference.layers import feed_forward, layer_norm, layer_norm_backward
from glassformer.reference.masks import causal_mask, padding_mask
from glassformer.reference.positions import alibi, apply_rotary_embedding, sinusoidal_positions
from glassformer.reference.recurrence import additive_attention, elman_rnn, lstm
from glassformer.reference.softmax import log_softmax, online_softmax, softmax, softmax_backward
