"""The whole Transformer on one page: from a file of weights to a translation, in NumPy.

This is the encoder-decoder of Vaswani et al. (2017, Figure 1) with the options of the pretrained
translator: pre-norm layers, sinusoidal positions, one matrix for both embeddings and the output.
It takes one sentence at a time, so there is no batch axis and no padding.
"""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy import ndarray as Array
from safetensors.numpy import load_file

from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.reference.heads import merge_heads, split_heads
from glassformer.reference.layers import feed_forward, layer_norm
from glassformer.reference.masks import causal_mask
from glassformer.reference.positions import sinusoidal_positions
from glassformer.reference.softmax import log_softmax
from glassformer.validation import require_ids, require_positive_int, require_shape

PAD_ID, START_ID, END_ID = 0, 1, 2  # the special tokens of data.vocabulary
OPTIONS = {"norm": "pre", "positions": "sinusoidal", "tie_embeddings": "all"}
Weights = SimpleNamespace  # nested, with the names in PyTorch: part.query_proj.bias
KeysAndValues = tuple[Float[Array, "heads _ d_head"], Float[Array, "heads _ d_head"]]
Cache = list[tuple[KeysAndValues, KeysAndValues]]  # for each layer: target so far, source


def load_transformer(folder: Path | str) -> Weights:
    """Load a model from its two files, with its weights in float32.

    Args:
        folder: folder with ``model.json`` and ``model.safetensors``, such as ``pretrained/en-fr``.

    Raises:
        ValueError: the model's options differ from those above.
    """
    config = json.loads(Path(folder, "model.json").read_text(encoding="utf-8"))["config"]
    if (options := {name: config.get(name) for name in OPTIONS}) != OPTIONS:
        raise ValueError(f"the model must have the options {OPTIONS}, got {options}")
    model = Weights(num_heads=config["num_heads"])
    for name, weight in load_file(Path(folder, "model.safetensors")).items():
        *path, last = name.split(".")
        part = model
        for step in path:
            part = vars(part).setdefault(step, Weights())
        setattr(part, last, weight.astype(np.float32))
    for stack in (model.encoder, model.decoder):
        layers = vars(stack.layers)
        stack.layers = [layers[str(number)] for number in range(len(layers))]
    return model


def linear(part: Weights, x: Float[Array, "time d_in"]) -> Float[Array, "time d_out"]:
    """Compute xWᵀ + b; as in PyTorch, W has one row for each component of the output."""
    return x @ part.weight.T + part.bias


def norm(part: Weights, x: Float[Array, "time d_model"]) -> Float[Array, "time d_model"]:
    """Apply layer normalisation."""
    return layer_norm(x, part.weight, part.bias)


def transform(part: Weights, x: Float[Array, "time d_model"]) -> Float[Array, "time d_model"]:
    """Transform each position by the feed-forward network: max(0, xW₁ + b₁)W₂ + b₂."""
    inner = {"inner_weight": part.inner.weight.T, "inner_bias": part.inner.bias}
    outer = {"outer_weight": part.outer.weight.T, "outer_bias": part.outer.bias}
    return feed_forward(x, **inner, **outer)


def keys_and_values(part: Weights, x: Float[Array, "key d_model"], num_heads: int) -> KeysAndValues:
    """Compute the keys and values of each head."""
    key, value = linear(part.key_proj, x), linear(part.value_proj, x)
    return split_heads(key, num_heads), split_heads(value, num_heads)


def attend(
    part: Weights,
    x: Float[Array, "query d_model"],
    memory: KeysAndValues,
    attn_mask: Bool[Array, "query key"] | None = None,
) -> Float[Array, "query d_model"]:
    """Compute multi-head attention from x to keys and values: Concat(head₁, …, headₕ) W_O."""
    key, value = memory
    query = split_heads(linear(part.query_proj, x), num_heads=len(key))
    attended, _ = scaled_dot_product_attention(query, key, value, attn_mask)
    return linear(part.output_proj, merge_heads(attended))


def embed(model: Weights, ids: Int[Array, " time"], start: int = 0) -> Float[Array, "time d_model"]:
    """Embed tokens: rows of the embedding matrix times √d_model, plus positional encodings."""
    matrix = model.source_embedding.token.weight
    require_ids("ids", ids, len(matrix))
    require_shape((len(ids),), ids=ids)
    positions = sinusoidal_positions(start + len(ids), matrix.shape[1])[start:]
    return matrix[ids] * matrix.shape[1] ** 0.5 + positions.astype(matrix.dtype)


def encode(model: Weights, source_ids: Int[Array, " source"]) -> Float[Array, "source d_model"]:
    """Encode a sentence: return the memory, one vector per source token."""
    x = embed(model, source_ids)
    for layer in model.encoder.layers:
        normalised = norm(layer.self_attention_residual.norm, x)
        source = keys_and_values(layer.self_attention, normalised, model.num_heads)
        x = x + attend(layer.self_attention, normalised, source)
        x = x + transform(layer.feed_forward, norm(layer.feed_forward_residual.norm, x))
    return norm(model.encoder.final_norm, x)


def start_cache(model: Weights, memory: Float[Array, "source d_model"]) -> Cache:
    """Make a cache for `decode`: no target tokens yet, and the keys and values of the memory."""
    nothing = np.empty((model.num_heads, 0, memory.shape[1] // model.num_heads), memory.dtype)
    parts = [layer.cross_attention for layer in model.decoder.layers]
    return [((nothing, nothing), keys_and_values(part, memory, model.num_heads)) for part in parts]


def decode(
    model: Weights, target_ids: Int[Array, " target"], cache: Cache
) -> tuple[Float[Array, "target vocabulary"], Cache]:
    """Compute the logits of the token after each target token, and the cache extended by them.

    The given cache is left unchanged, so several hypotheses can continue from it.
    """
    (past_key, _), _ = cache[0]
    start = past_key.shape[1]  # number of target tokens in the cache
    attn_mask = causal_mask(start + len(target_ids))[start:]
    x, extended = embed(model, target_ids, start), []
    for layer, ((past_key, past_value), source) in zip(model.decoder.layers, cache, strict=True):
        normalised = norm(layer.self_attention_residual.norm, x)
        key, value = keys_and_values(layer.self_attention, normalised, model.num_heads)
        target = np.concatenate([past_key, key], axis=1), np.concatenate([past_value, value], axis=1)
        x = x + attend(layer.self_attention, normalised, target, attn_mask)
        x = x + attend(layer.cross_attention, norm(layer.cross_attention_residual.norm, x), source)
        x = x + transform(layer.feed_forward, norm(layer.feed_forward_residual.norm, x))
        extended.append((target, source))
    return norm(model.decoder.final_norm, x) @ model.source_embedding.token.weight.T, extended


def predict(model: Weights, last_id: int, cache: Cache) -> tuple[Float[Array, " vocabulary"], Cache]:
    """Compute the log-probability of every next token; padding and the start token are ruled out."""
    logits, cache = decode(model, np.array([last_id]), cache)
    log_probs = log_softmax(logits[0])
    log_probs[[PAD_ID, START_ID]] = -np.inf
    return log_probs, cache


def greedy_decode(model: Weights, source_ids: Int[Array, " source"]) -> list[int]:
    """Translate by greedy decoding: append the most probable token until the end token.

    Args:
        model: model from `load_transformer`.
        source_ids: tokens of the sentence, then the end token.

    Returns:
        The generated tokens, at most twice the source length plus 10.

    Raises:
        ValueError: the ids are not one sentence, or an id is outside the vocabulary.
    """
    ids, cache = [START_ID], start_cache(model, encode(model, source_ids))
    while ids[-1] != END_ID and len(ids) <= 2 * len(source_ids) + 10:
        log_probs, cache = predict(model, ids[-1], cache)
        ids.append(int(log_probs.argmax()))
    return ids[1:]


def beam_search(model: Weights, source_ids: Int[Array, " source"], beam_size: int = 4) -> list[int]:
    """Translate by beam search: extend the ``beam_size`` most probable hypotheses at each step.

    A hypothesis that ends is set aside, and the search goes on with one beam fewer, until none can
    still win: more tokens never raise the log-probability, and no length penalty is larger than that
    of the maximum length. Other arguments, result and errors are as in `greedy_decode`.
    """
    require_positive_int(beam_size=beam_size)
    max_length = 2 * len(source_ids) + 10
    beams = [(0.0, [START_ID], start_cache(model, encode(model, source_ids)))]
    ended: list[tuple[float, list[int]]] = []
    for length in range(1, max_length + 1):
        candidates = []
        for total, ids, cache in beams:
            log_probs, extended = predict(model, ids[-1], cache)
            for token in np.argsort(-log_probs)[:beam_size]:
                candidates.append((total + log_probs[token], [*ids, int(token)], extended))
        candidates.sort(key=lambda candidate: -candidate[0])
        best = candidates[: beam_size - len(ended)]
        penalty = length_penalty(length)
        ended += [(total / penalty, ids) for total, ids, _ in best if ids[-1] == END_ID]
        beams = [beam for beam in best if beam[1][-1] != END_ID]
        if not beams or (ended and beams[0][0] / length_penalty(max_length) <= max(ended)[0]):
            break
    _, ids = max(ended) if ended else beams[0][:2]
    return ids[1:]


def length_penalty(length: int) -> float:
    """Compute the divisor of a log-probability, for ``length`` tokens (Wu et al., 2016, section 7)."""
    return ((5 + length) / 6) ** 0.6
