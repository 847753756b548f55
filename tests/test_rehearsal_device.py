"""The package on another device, and the faults that this rehearsal finds, as a GPU would."""

import copy
import pickle

import numpy as np
import pytest
import torch
from rehearsal_device import IS_SUPPORTED, count_host_reads, rehearsal
from torch import nn
from torch.testing import assert_close

from glassformer.decoding.beam import beam_search
from glassformer.decoding.generate import greedy_decode, sample
from glassformer.modules.attention import MultiHeadAttention
from glassformer.modules.masks import causal_mask
from glassformer.modules.recurrent import AdditiveAttentionTranslator, RecurrentConfig
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.tasks.lookup import AttentionLookup, LookupTask
from glassformer.training.loop import draw_batches, train
from glassformer.training.loss import chunked_cross_entropy, teacher_forced_loss

pytestmark = pytest.mark.skipif(not IS_SUPPORTED, reason="this PyTorch has no Python backends")

PAD, START, END = 0, 1, 2
VOCABULARY = {"source_vocabulary_size": 11, "target_vocabulary_size": 13}
SOURCE = torch.tensor([[3, 4, 5, 6, END], [7, 8, END, PAD, PAD]])
TARGET = torch.tensor([[START, 9, 4, END], [START, 12, END, PAD]])
TWO_DEVICES = "same device, but found rehearsal:0 and cpu"


@pytest.fixture(autouse=True)
def elsewhere():
    with rehearsal() as device:
        yield device


def make_transformer():
    config = TransformerConfig(
        **VOCABULARY,
        d_model=12,
        num_heads=3,
        d_ff=14,
        num_encoder_layers=1,
        num_decoder_layers=2,
        dropout=0.0,
    )
    return Transformer(config, generator=torch.Generator().manual_seed(0))


def make_recurrent():
    config = RecurrentConfig(**VOCABULARY, d_model=6, num_layers=2, dropout=0.0)
    return AdditiveAttentionTranslator(config, generator=torch.Generator().manual_seed(0))


either_model = pytest.mark.parametrize("make_model", [make_transformer, make_recurrent])


# ---- What it refuses, as CUDA does ----


@pytest.mark.parametrize(
    "mix",
    [
        lambda here, there: here + there,
        lambda here, there: there + here,
        lambda here, there: here.clone().add_(there),
        lambda here, there: there.sum().add_(here.sum()),
        lambda here, there: torch.cat([here, there]),
        lambda here, there: torch.stack([here.sum(), there.sum()]),
        lambda here, there: here.masked_fill(there > 0, 1.0),
        lambda here, there: there[here > 0],
        lambda here, there: nn.functional.embedding(there.long(), here[:, None]),
        lambda here, there: nn.Linear(3, 2)(here),
        lambda here, there: nn.functional.cross_entropy(here[None], there[:1].long()),
    ],
)
def test_tensors_of_two_devices_are_refused(mix, elsewhere):
    with pytest.raises(RuntimeError, match=TWO_DEVICES):
        mix(torch.ones(3, device=elsewhere), torch.ones(3))


def test_a_number_of_the_cpu_may_be_mixed_in_and_indices_may_stay_on_the_cpu(elsewhere):
    here, number = torch.arange(3.0, device=elsewhere), torch.tensor(2.0)
    assert (here * number).tolist() == [0, 2, 4]
    assert here.masked_fill(here < 1, number).tolist() == [2, 1, 2]
    assert here[torch.tensor([2, 0])].tolist() == [2, 0]


@pytest.mark.parametrize("read", [lambda one: one.numpy(), np.asarray])
def test_numpy_needs_a_copy_on_the_cpu(read, elsewhere):
    with pytest.raises(TypeError, match=r"can't convert rehearsal:0 device type tensor to numpy"):
        read(torch.ones(3, device=elsewhere))


@pytest.mark.parametrize(
    "draw",
    [
        lambda device, generator: torch.randn(3, device=device, generator=generator),
        lambda device, generator: torch.randperm(3, device=device, generator=generator),
        lambda device, generator: torch.empty(3, device=device).uniform_(generator=generator),
        lambda device, generator: torch.ones(3, device=device).multinomial(1, generator=generator),
    ],
)
def test_a_generator_of_the_cpu_draws_nothing_there(draw, elsewhere):
    with pytest.raises(RuntimeError, match="expected a 'rehearsal' generator"):
        draw(elsewhere, torch.Generator())


# ---- Faults in the package's use that a CPU does not show ----


def test_a_model_left_on_the_cpu_refuses_batches_of_the_device(elsewhere):
    model = AttentionLookup(8, 4, d_model=6, num_heads=2, scale=1.0).to(elsewhere)
    *ids, _ = (
        torch.from_numpy(one).to(elsewhere) for one in LookupTask(3, 8, 4).sample(2, np.random.default_rng(0))
    )
    model(*ids)
    with pytest.raises(RuntimeError, match=TWO_DEVICES):
        model.cpu()(*ids)


def test_a_mask_made_on_the_cpu_is_refused(elsewhere):
    attention, x = MultiHeadAttention(6, 2).to(elsewhere), torch.ones(1, 4, 6, device=elsewhere)
    attention(x, x, x, causal_mask(4, elsewhere))
    with pytest.raises(RuntimeError, match=TWO_DEVICES):
        attention(x, x, x, causal_mask(4))


# ---- Right code gives the numbers of the CPU ----


@pytest.mark.parametrize(
    ("make_model", "loss"),
    [
        (make_transformer, teacher_forced_loss),
        (make_transformer, chunked_cross_entropy),
        (make_recurrent, chunked_cross_entropy),
    ],
)
def test_loss_gradients_and_an_optimizer_step_are_those_of_the_cpu(make_model, loss, elsewhere):
    results = []
    for device in ("cpu", elsewhere):
        model = make_model().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        value = loss(model, SOURCE.to(device), TARGET.to(device))
        value.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        gradients = [parameter.grad.cpu() for parameter in model.parameters()]
        optimizer.step()
        results.append((value.detach().cpu(), gradients, [p.detach().cpu() for p in model.parameters()]))
    assert_close(results[1], results[0])


def test_a_whole_training_is_that_of_the_cpu(elsewhere):
    curves = []
    for device in ("cpu", elsewhere):
        batches = draw_batches(
            SOURCE.to(device), TARGET.to(device), batch_size=1, generator=torch.Generator().manual_seed(0)
        )
        curves.append(train(make_transformer().to(device), batches, steps=6, learning_rate=0.01))
    assert_close(curves[1], curves[0])


@either_model
def test_greedy_decoding_is_that_of_the_cpu(make_model, elsewhere):
    expected, generated = (
        greedy_decode(make_model().eval().to(device), SOURCE.to(device), start_id=START, end_id=END).cpu()
        for device in ("cpu", elsewhere)
    )
    assert_close(generated, expected)


@either_model
def test_sampling_with_one_seed_is_that_of_the_cpu(make_model, elsewhere):
    expected, generated = (
        sample(
            make_model().eval().to(device),
            SOURCE.to(device),
            start_id=START,
            end_id=END,
            generator=torch.Generator().manual_seed(0),
        ).cpu()
        for device in ("cpu", elsewhere)
    )
    assert_close(generated, expected)


@either_model
def test_beam_search_is_that_of_the_cpu(make_model, elsewhere):
    expected, found = (
        beam_search(
            make_model().eval().to(device), SOURCE.to(device), start_id=START, end_id=END, beam_size=3
        )
        for device in ("cpu", elsewhere)
    )
    for best, again in zip(expected, found, strict=True):
        assert [one.ids for one in again] == [one.ids for one in best]
        assert_close([one.score for one in again], [one.score for one in best])


def test_moving_a_model_keeps_its_ties_and_its_optimizers_parameters(elsewhere):
    embedding, output = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
    output.weight = embedding.weight
    optimizer = torch.optim.SGD(embedding.parameters(), lr=1.0)
    model = nn.ModuleList([embedding, output])
    for device in (elsewhere, torch.device("cpu")):
        model.to(device)
        assert output.weight is embedding.weight is optimizer.param_groups[0]["params"][0]
        assert output.weight.device.type == device.type


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda tensor: pickle.loads(pickle.dumps(tensor))])
def test_a_copy_stays_on_the_device(duplicate, elsewhere):
    tensor = torch.arange(3.0, device=elsewhere)
    again = duplicate(tensor)
    assert (again.device, again.tolist()) == (tensor.device, [0, 1, 2])
    again.add_(1)
    assert tensor.tolist() == [0, 1, 2]


def test_a_change_of_shape_in_place_is_seen(elsewhere):
    tensor = torch.zeros(2, 3, device=elsewhere).transpose_(0, 1).unsqueeze_(0)
    assert tensor.shape == tensor.cpu().shape == (1, 3, 2)


# ---- Values that the CPU waits for ----


@pytest.mark.parametrize(
    "read",
    [
        torch.Tensor.item,
        float,
        bool,
        torch.Tensor.cpu,
        lambda one: one.tolist(),
        torch.Tensor.nonzero,
        lambda one: one[one > 0],
        lambda one: torch.equal(one, one),
        lambda one: torch.zeros(1).copy_(one),
    ],
)
def test_every_read_of_a_value_is_counted(read, elsewhere):
    tensor = torch.ones(1, device=elsewhere)
    with count_host_reads() as reads:
        read(tensor)
    assert reads.total() == 1


def test_computing_reads_nothing(elsewhere):
    with count_host_reads() as reads:
        tensor = torch.ones(3).to(elsewhere)
        tensor[1:] += tensor.sum() * 2
        torch.where(tensor > 1, tensor, 0).cumsum(0).to(torch.float64)
    assert not reads
