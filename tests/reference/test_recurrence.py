import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.reference.recurrence import additive_attention, elman_rnn, lstm

TIME, D_IN, D_HIDDEN = 5, 3, 2
batches = st.sampled_from([(), (7,)])
seeds = st.integers(0, 2**32 - 1)


def arguments_of(network):
    """Return torch's weights as our arguments: transposed, its two biases added up."""
    state = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    return {
        "input_weight": state["weight_ih_l0"].T,
        "hidden_weight": state["weight_hh_l0"].T,
        "bias": state["bias_ih_l0"] + state["bias_hh_l0"],
    }


@given(batches, seeds, st.booleans())
def test_the_elman_network_equals_that_of_pytorch(batch, seed, started):
    rng = np.random.default_rng(seed)
    theirs = torch.nn.RNN(D_IN, D_HIDDEN, batch_first=True, dtype=torch.float64)
    x = rng.normal(size=(*batch, TIME, D_IN))
    state = rng.normal(size=(*batch, D_HIDDEN)) if started else None
    with torch.no_grad():
        expected, _ = theirs(torch.tensor(x), torch.tensor(state)[None] if started else None)
    states = elman_rnn(x, initial_state=state, **arguments_of(theirs))
    np.testing.assert_allclose(states, expected, atol=1e-12)


@given(batches, seeds, st.booleans())
def test_the_lstm_equals_that_of_pytorch(batch, seed, started):
    rng = np.random.default_rng(seed)
    theirs = torch.nn.LSTM(D_IN, D_HIDDEN, batch_first=True, dtype=torch.float64)
    x = rng.normal(size=(*batch, TIME, D_IN))
    first = tuple(rng.normal(size=(2, *batch, D_HIDDEN))) if started else None
    with torch.no_grad():
        expected, (_, last_cell) = theirs(
            torch.tensor(x), tuple(torch.tensor(array)[None] for array in first) if started else None
        )
    states, cells = lstm(x, initial_state=first, **arguments_of(theirs))
    np.testing.assert_allclose(states, expected, atol=1e-12)
    np.testing.assert_allclose(cells[..., -1, :], last_cell[0], atol=1e-12)


def test_an_open_forget_gate_and_a_closed_input_gate_keep_the_cell():
    bias = np.repeat([-50.0, 50.0, 0.0, 0.0], D_HIDDEN)
    cell = np.array([0.3, -2.0])
    _, cells = lstm(
        np.ones((TIME, D_IN)),
        input_weight=np.zeros((D_IN, 4 * D_HIDDEN)),
        hidden_weight=np.zeros((D_HIDDEN, 4 * D_HIDDEN)),
        bias=bias,
        initial_state=(np.zeros(D_HIDDEN), cell),
    )
    np.testing.assert_allclose(cells, np.tile(cell, (TIME, 1)))


@given(batches, seeds)
def test_additive_attention_applies_a_small_network_to_each_pair(batch, seed):
    rng = np.random.default_rng(seed)
    query, key = rng.normal(size=(*batch, 3, 5)), rng.normal(size=(*batch, 4, 2))
    value = rng.normal(size=(*batch, 4, 6))
    projections = {"query_weight": rng.normal(size=(5, 7)), "key_weight": rng.normal(size=(2, 7))}
    score_weight, attn_mask = rng.normal(size=7), np.array([True, True, False, True])[None]
    attended, weights = additive_attention(
        query, key, value, **projections, score_weight=score_weight, attn_mask=attn_mask
    )
    for at in np.ndindex(*batch, 3):
        scores = [
            score_weight
            @ np.tanh(query[at] @ projections["query_weight"] + one_key @ projections["key_weight"])
            for one_key in key[at[:-1]]
        ]
        expected = np.exp(scores) * attn_mask[0]
        np.testing.assert_allclose(weights[at], expected / expected.sum())
        np.testing.assert_allclose(attended[at], weights[at] @ value[at[:-1]])


def read(network=elman_rnn, **changes):
    gates = 4 if network is lstm else 1
    return network(
        **{
            "x": np.zeros((TIME, D_IN)),
            "input_weight": np.zeros((D_IN, gates * D_HIDDEN)),
            "hidden_weight": np.zeros((D_HIDDEN, gates * D_HIDDEN)),
            "bias": np.zeros(gates * D_HIDDEN),
        }
        | changes
    )


def attend(**changes):
    return additive_attention(
        **{
            "query": np.zeros((3, 5)),
            "key": np.zeros((4, 2)),
            "value": np.zeros((4, 2)),
            "query_weight": np.zeros((5, 7)),
            "key_weight": np.zeros((2, 7)),
            "score_weight": np.zeros(7),
        }
        | changes
    )


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read(x=np.zeros((0, D_IN))), r"x must not be empty, got shape \(0, 3\)"),
        (lambda: read(x=np.full((2, D_IN), np.nan)), "x must not hold NaN, got 6 among 6"),
        (lambda: read(x=np.zeros((TIME, 4))), r"input_weight must have shape \(4, 2\), got \(3, 2\)"),
        (
            lambda: read(hidden_weight=np.zeros((2, 3))),
            r"hidden_weight must have shape \(2, 2\), got \(2, 3\)",
        ),
        (lambda: read(bias=np.zeros(3)), r"bias must have shape \(2,\), got \(3,\)"),
        (lambda: read(initial_state=np.zeros(3)), r"initial_state must have shape \(2,\), got \(3,\)"),
        (lambda: read(lstm, bias=np.zeros(2)), r"bias must have shape \(8,\), got \(2,\)"),
        (lambda: read(lstm, initial_state=(np.zeros(2), np.zeros(3))), r"initial_state\[1\] must have shape"),
        (lambda: attend(value=np.zeros((5, 2))), r"value must have shape \(4, 2\), got \(5, 2\)"),
        (lambda: attend(key_weight=np.zeros((3, 7))), r"key_weight must have shape \(2, 7\), got \(3, 7\)"),
        (lambda: attend(attn_mask=np.ones((4, 3), bool)), r"attn_mask must broadcast against \(3, 4\)"),
    ],
)
def test_an_invalid_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
