import itertools

import numpy as np
import pytest
import torch

from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.layers import feed_forward, layer_norm
from glassformer.reference import heads, layers
from glassformer.widgets.figures.block.stack import Parts, Stack

WORDS, D_MODEL, HEADS, D_FF, LAYERS = 3, 10, 2, 7, 4
PARTS = [Parts(*each) for each in itertools.product((False, True), ("none", "post", "pre"), (False, True))]
ROLES = ("query", "key", "value", "output")


@pytest.fixture(scope="module")
def stack():
    return Stack(WORDS, d_model=D_MODEL, num_heads=HEADS, d_ff=D_FF, num_layers=LAYERS, seed=1)


def climb(x, stack, parts, look, work, norm):
    """Apply a block with these parts, written with the package's functions."""
    levels = [x]
    for layer in stack.layers:
        for sublayer in (look, work)[: 1 + parts.feed_forward]:
            made = sublayer(norm(x) if parts.norm == "pre" else x, layer)
            x = x + made if parts.residual else made
            x = norm(x) if parts.norm == "post" else x
        levels.append(x)
    return levels


def by_reference(x, stack, parts):
    def look(x, layer):
        weights = {f"{role}_weight": layer[role] for role in ROLES}
        return heads.multi_head_attention(x, x, x, num_heads=HEADS, **weights)[0]

    def work(x, layer):
        maps = {f"{name}_weight": layer[name] for name in ("inner", "outer")}
        return layers.feed_forward(x, **maps, inner_bias=np.zeros(D_FF), outer_bias=np.zeros(D_MODEL))

    return climb(
        x, stack, parts, look, work, lambda x: layers.layer_norm(x, np.ones(D_MODEL), np.zeros(D_MODEL))
    )


def by_torch(x, stack, parts):
    def look(x, layer):
        attention = MultiHeadAttention(D_MODEL, HEADS, bias=False).double()
        for role in ROLES:
            getattr(attention, f"{role}_proj").weight.data = torch.from_numpy(layer[role].T)
        return attention(x, x, x)[0]

    def work(x, layer):
        maps = {f"{name}_weight": torch.from_numpy(layer[name]) for name in ("inner", "outer")}
        return feed_forward(x, **maps, inner_bias=zeros(D_FF), outer_bias=zeros(D_MODEL))

    def zeros(width):
        return torch.zeros(width, dtype=torch.float64)

    def norm(x):
        return layer_norm(x, zeros(D_MODEL) + 1, zeros(D_MODEL))

    levels = climb(x, stack, parts, look, work, norm)
    return levels, norm(levels[-1]) if parts.norm == "pre" else levels[-1]


@pytest.mark.parametrize("parts", PARTS, ids=str)
def test_activations_are_those_of_the_package(stack, parts):
    found = stack.run(parts, LAYERS)
    levels = by_reference(stack.x, stack, parts)
    for seen, x in zip(found, levels, strict=True):
        apart = np.linalg.norm(x - x.mean(axis=0)) / np.linalg.norm(x)
        assert seen.spread == pytest.approx(apart, rel=1e-6, abs=1e-14)
        assert seen.length == pytest.approx(np.mean([np.sqrt(word @ word) for word in x]))


@pytest.mark.parametrize("parts", PARTS, ids=str)
def test_gradients_are_those_of_pytorch(stack, parts):
    levels, top = by_torch(torch.from_numpy(stack.x).requires_grad_(), stack, parts)
    above = torch.from_numpy(stack.above)
    grads = torch.autograd.grad(top, levels, above)
    expected = [(grad.norm() / above.norm()).item() for grad in grads]
    assert [seen.gradient for seen in stack.run(parts, LAYERS)] == pytest.approx(expected, rel=1e-9)


def test_a_shallower_stack_has_the_same_lower_layers(stack):
    parts = Parts(residual=True, norm="post", feed_forward=True)
    whole, part = stack.run(parts, LAYERS), stack.run(parts, 2)
    assert [seen.spread for seen in part] == [seen.spread for seen in whole[:3]]
    assert [part[-1].gradient, whole[-1].gradient] == [1, 1]


def test_weights_have_the_variance_of_their_initialization():
    stack = Stack(2, d_model=64, num_heads=1, d_ff=256, num_layers=1, seed=1)
    for weight in stack.layers[0].values():
        assert weight.var() == pytest.approx(2 / sum(weight.shape), rel=0.06)
