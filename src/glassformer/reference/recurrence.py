"""Recurrent networks and additive attention, the predecessors of the Transformer."""

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray as Array

from glassformer.reference.softmax import softmax
from glassformer.validation import (
    require_additive_inputs,
    require_axes,
    require_no_nan,
    require_recurrent_inputs,
    require_shape,
)


def elman_rnn(
    x: Float[Array, "*batch time d_in"],
    *,
    input_weight: Float[Array, "d_in d_hidden"],
    hidden_weight: Float[Array, "d_hidden d_hidden"],
    bias: Float[Array, " d_hidden"],
    initial_state: Float[Array, "*batch d_hidden"] | None = None,
) -> Float[Array, "*batch time d_hidden"]:
    """Run an Elman network over a sequence: stateₜ = tanh(xₜ W_x + stateₜ₋₁ W_h + b) (Elman, 1990).

    Args:
        x: one vector per step.
        input_weight: W_x, applied as ``x @ input_weight``.
        hidden_weight: W_h, applied to the previous hidden state in the same way.
        bias: b, added at every step.
        initial_state: hidden state before the first step; zeros if omitted.

    Returns:
        The hidden state after each step.

    Raises:
        ValueError: the shape, dtype or value of an argument is invalid.
    """
    d_hidden = require_recurrent_inputs(x, input_weight, hidden_weight, bias, gates=1)
    require_no_nan(x=x)
    state = _initial(initial_state, x, d_hidden, "initial_state")
    states = []
    for x_t in np.moveaxis(x, -2, 0):
        state = np.tanh(x_t @ input_weight + state @ hidden_weight + bias)
        states.append(state)
    return np.stack(states, axis=-2)


def lstm(
    x: Float[Array, "*batch time d_in"],
    *,
    input_weight: Float[Array, "d_in four_d_hidden"],
    hidden_weight: Float[Array, "d_hidden four_d_hidden"],
    bias: Float[Array, " four_d_hidden"],
    initial_state: tuple[Float[Array, "*batch d_hidden"], Float[Array, "*batch d_hidden"]] | None = None,
) -> tuple[Float[Array, "*batch time d_hidden"], Float[Array, "*batch time d_hidden"]]:
    """Run an LSTM over a sequence (Hochreiter & Schmidhuber, 1997).

    The equations are cellₜ = forget · cellₜ₋₁ + input · candidate and stateₜ = output · tanh(cellₜ). Each of
    forget, input and output is a gate σ(xₜ W_x + stateₜ₋₁ W_h + b), and the candidate has tanh in place of σ,
    each with weights of its own. A step multiplies the cell state by the forget gate (Gers et al., 2000) and
    adds to it, instead of multiplying it by a matrix, so while the forget gate stays close to 1, the gradient
    with respect to earlier cell states does not vanish.

    Args:
        x: one vector per step.
        input_weight: matrices from the input to the input gate, forget gate, candidate and output gate, side
            by side in this order, as in PyTorch.
        hidden_weight: matrices from the previous hidden state, in the same order.
        bias: biases in the same order.
        initial_state: hidden state and cell state before the first step; zeros if omitted.

    Returns:
        The hidden state and the cell state after each step.

    Raises:
        ValueError: the shape, dtype or value of an argument is invalid.
    """
    d_hidden = require_recurrent_inputs(x, input_weight, hidden_weight, bias, gates=4)
    require_no_nan(x=x)
    first_state, first_cell = initial_state or (None, None)
    state = _initial(first_state, x, d_hidden, "initial_state[0]")
    cell = _initial(first_cell, x, d_hidden, "initial_state[1]")
    states, cells = [], []
    for x_t in np.moveaxis(x, -2, 0):
        gates = x_t @ input_weight + state @ hidden_weight + bias
        input_gate, forget_gate, candidate, output_gate = np.split(gates, 4, axis=-1)
        cell = _sigmoid(forget_gate) * cell + _sigmoid(input_gate) * np.tanh(candidate)
        state = _sigmoid(output_gate) * np.tanh(cell)
        states.append(state)
        cells.append(cell)
    return np.stack(states, axis=-2), np.stack(cells, axis=-2)


def additive_attention(
    query: Float[Array, "*batch query d_query"],
    key: Float[Array, "*batch key d_key"],
    value: Float[Array, "*batch key d_v"],
    *,
    query_weight: Float[Array, "d_query d_hidden"],
    key_weight: Float[Array, "d_key d_hidden"],
    score_weight: Float[Array, " d_hidden"],
    attn_mask: Bool[Array, "*#batch #query #key"] | None = None,
) -> tuple[Float[Array, "*batch query d_v"], Float[Array, "*batch query key"]]:
    """Compute additive attention: softmax(tanh(q W_q + k W_k) · w) V, with one score per query-key pair.

    This is the original attention mechanism of neural machine translation (Bahdanau et al., 2015,
    appendix A.1.2).

    Args:
        query: hidden states of the decoder.
        key: hidden states of the encoder; their width may differ from that of the queries.
        value: value vectors, usually the encoder's hidden states again.
        query_weight: W_q, applied as ``query @ query_weight``.
        key_weight: W_k, applied as ``key @ key_weight``.
        score_weight: w, which turns each hidden vector into a score.
        attn_mask: True where a query may attend to a key; broadcasts to ``*batch query key``. A query whose
            keys are all masked gets an output of zero.

    Returns:
        The weighted averages of the values, and the attention weights.

    Raises:
        ValueError: the shape, dtype or value of an argument is invalid.
    """
    require_additive_inputs(query, key, value, attn_mask)
    require_no_nan(query=query, key=key, value=value)
    require_axes(1, score_weight=score_weight)
    d_hidden = score_weight.shape[-1]
    require_shape((query.shape[-1], d_hidden), query_weight=query_weight)
    require_shape((key.shape[-1], d_hidden), key_weight=key_weight)
    pairs = (query @ query_weight)[..., :, None, :] + (key @ key_weight)[..., None, :, :]
    weights = softmax(np.tanh(pairs) @ score_weight, where=attn_mask)
    return weights @ value, weights


def _sigmoid(x: Array) -> Array:
    """Compute 1 / (1 + exp(−x)) without overflow."""
    return x.dtype.type(0.5) * (np.tanh(x / 2) + 1)


def _initial(state: Array | None, x: Array, d_hidden: int, name: str) -> Array:
    shape = (*x.shape[:-2], d_hidden)
    if state is None:
        return np.zeros(shape, x.dtype)
    require_shape(shape, **{name: state})
    return state
