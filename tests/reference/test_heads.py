import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassformer.reference.attention import scaled_dot_product_attention
from glassformer.reference.heads import merge_heads, multi_head_attention, split_heads

BATCH, QUERY, KEY, HEADS, D_HEAD = 2, 3, 5, 7, 11
D_MODEL = HEADS * D_HEAD
NAMES = ("query_weight", "key_weight", "value_weight", "output_weight")


def inputs(seed):
    rng = np.random.default_rng(seed)
    query = rng.normal(size=(BATCH, QUERY, D_MODEL))
    key, value = rng.normal(size=(2, BATCH, KEY, D_MODEL))
    projections = {name: rng.normal(size=(D_MODEL, D_MODEL)) / np.sqrt(D_MODEL) for name in NAMES}
    return query, key, value, projections, rng


def test_a_head_is_a_slice_of_neighbouring_components():
    x = np.arange(12.0).reshape(1, 2, 6)
    np.testing.assert_array_equal(split_heads(x, 3)[0, 1], [[2, 3], [8, 9]])


@given(st.lists(st.integers(1, 3), max_size=2), st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))
def test_merging_heads_inverts_splitting_them(batch, time, heads, d_head):
    x = np.random.default_rng(0).normal(size=(*batch, time, heads * d_head))
    split = split_heads(x, heads)
    assert split.shape == (*batch, heads, time, d_head)
    np.testing.assert_array_equal(merge_heads(split), x)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_multi_head_attention_equals_that_of_pytorch(seed, masked):
    query, key, value, projections, rng = inputs(seed)
    may_look = rng.random((BATCH, HEADS, QUERY, KEY)) < 0.8
    may_look[..., 0] = True  # torch answers NaN to a query that may look at nothing
    attn_mask = may_look if masked else None
    output, weights = multi_head_attention(
        query, key, value, num_heads=HEADS, attn_mask=attn_mask, **projections
    )
    theirs = torch.nn.MultiheadAttention(D_MODEL, HEADS, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.tensor(np.hstack([projections[name] for name in NAMES[:3]]).T))
        theirs.out_proj.weight.copy_(torch.tensor(projections["output_weight"].T))
        their_output, their_weights = theirs(
            *map(torch.tensor, (query, key, value)),
            attn_mask=torch.tensor(~may_look).flatten(0, 1) if masked else None,
            average_attn_weights=False,
        )
    np.testing.assert_allclose(output, their_output, atol=1e-10)
    np.testing.assert_allclose(weights, their_weights, atol=1e-10)


def test_each_head_is_attention_on_a_slice_of_the_projections():
    query, key, value, projections, _ = inputs(seed=1)
    output, weights = multi_head_attention(query, key, value, num_heads=HEADS, **projections)
    heads = []
    for head in range(HEADS):
        columns = slice(head * D_HEAD, (head + 1) * D_HEAD)
        attended, head_weights = scaled_dot_product_attention(
            query @ projections["query_weight"][:, columns],
            key @ projections["key_weight"][:, columns],
            value @ projections["value_weight"][:, columns],
        )
        heads.append(attended)
        np.testing.assert_allclose(weights[:, head], head_weights)
    np.testing.assert_allclose(output, np.concatenate(heads, axis=-1) @ projections["output_weight"])


def attend(width=6, key_width=6, weight_width=6, num_heads=3):
    weights = dict.fromkeys(NAMES, np.zeros((weight_width, weight_width)))
    key = np.zeros((2, key_width))
    return multi_head_attention(np.zeros((2, width)), key, key, num_heads=num_heads, **weights)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attend(num_heads=4), r"d_model \(6\) must be a multiple of num_heads \(4\)"),
        (lambda: attend(num_heads=0), "num_heads must be a positive integer, got 0"),
        (lambda: attend(key_width=5), r"key must have size 6 in its last axis, got shape \(2, 5\)"),
        (lambda: attend(weight_width=5), r"query_weight must have shape \(6, 6\), got \(5, 5\)"),
        (lambda: split_heads(np.zeros(6), 3), r"x must have at least 2 axes, got shape \(6,\)"),
        (lambda: merge_heads(np.zeros((2, 6))), r"x must have at least 3 axes, got shape \(2, 6\)"),
    ],
)
def test_an_invalid_argument_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
