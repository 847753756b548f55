import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.testing import assert_close

from glassformer.modules.dropout import Dropout, dropout

SHAPE = (3, 5, 7)  # 105 numbers: not a multiple of four
MANY = 200_003


@pytest.fixture(autouse=True)
def chance():
    torch.manual_seed(0)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_each_component_is_dropped_with_the_given_probability(p, device):
    dropped = dropout(torch.ones(MANY, device=device), p) == 0
    assert_close(dropped.double().mean().item(), p, atol=5 * (p * (1 - p) / MANY) ** 0.5, rtol=0)


def test_components_are_dropped_independently(device):
    left = dropout(torch.ones(MANY // 4, 4, device=device), 0.3) != 0
    for other in range(1, 4):
        both = (left[:, 0] & left[:, other]).double().mean().item()
        assert_close(both, 0.49, atol=0.01, rtol=0)
    followed = (left[1:, 0] & left[:-1, 3]).double().mean().item()
    assert_close(followed, 0.49, atol=0.01, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_kept_components_and_their_gradients_are_scaled_up(dtype, device):
    if dtype == torch.float64 and device.type == "mps":
        pytest.skip("mps has no float64")
    x = torch.rand(SHAPE, device=device).add(1).to(dtype).requires_grad_()
    result = dropout(x, 0.25)
    assert result.dtype == dtype
    result.backward(torch.full_like(x, 3))
    kept = result != 0
    assert 0 < kept.sum() < kept.numel()
    assert_close(result, torch.where(kept, x / 0.75, 0))
    assert_close(x.grad, torch.where(kept, torch.full_like(x, 4), 0))


def test_second_derivatives_pass_through():
    x = torch.rand(SHAPE, dtype=torch.float64, requires_grad=True)

    def reseeded(x):
        torch.manual_seed(0)
        return dropout(x, 0.4) ** 2

    assert torch.autograd.gradcheck(reseeded, x, fast_mode=True)
    assert torch.autograd.gradgradcheck(reseeded, x, fast_mode=True)


def test_non_contiguous_input_is_dropped_alike():
    x = torch.ones(7, 5, 3).transpose(0, 2)
    torch.manual_seed(0)
    once = dropout(x, 0.5)
    torch.manual_seed(0)
    assert_close(dropout(x.contiguous(), 0.5), once)


def test_the_seed_determines_the_mask_and_every_call_draws_a_new_one():
    x = torch.ones(SHAPE)
    first, second = dropout(x, 0.5), dropout(x, 0.5)
    torch.manual_seed(0)
    assert_close(dropout(x, 0.5), first)
    assert (first != second).any()


def test_a_probability_of_zero_changes_nothing():
    x = torch.randn(SHAPE)
    assert_close(dropout(x, 0.0), x, atol=0, rtol=0)
    assert dropout(torch.ones(0, 3), 0.5).shape == (0, 3)
    assert dropout(torch.ones(()), 0.5).shape == ()


def test_the_largest_probability_gives_finite_values():
    assert dropout(torch.ones(MANY), 1 - 1e-9).isfinite().all()


def test_other_devices_and_compilers_use_pytorchs_dropout(monkeypatch):
    monkeypatch.setattr(functional, "dropout", lambda x, p: x + p)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert_close(dropout(torch.ones(SHAPE), 0.25), torch.full(SHAPE, 1.25))
    monkeypatch.undo()
    assert dropout(torch.ones(SHAPE, device="meta"), 0.25).device.type == "meta"


def test_the_module_drops_only_in_training():
    module = Dropout(0.5)
    assert isinstance(module, nn.Dropout)
    x = torch.ones(SHAPE)
    assert set(module(x).unique().tolist()) == {0, 2}
    assert module.eval()(x) is x


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("x", "p", "message"),
    [
        (torch.ones(3), 1.0, r"p must be at least 0 and below 1, got 1\.0"),
        (torch.ones(3), -0.1, r"p must be at least 0 and below 1, got -0\.1"),
        (torch.ones(3).long(), 0.5, r"x must hold floating-point numbers, got torch\.int64"),
    ],
)
def test_invalid_input_is_named(x, p, message):
    with pytest.raises(ValueError, match=message):
        dropout(x, p)


def test_the_module_rejects_a_probability_of_one():
    with pytest.raises(ValueError, match=r"p must be at least 0 and below 1, got 1\.0"):
        Dropout(1.0)
