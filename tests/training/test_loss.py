import math

import pytest
import torch
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from glassformer.modules.recurrent import (
    AdditiveAttentionTranslator,
    FixedContextTranslator,
    RecurrentConfig,
)
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.training.loss import chunked_cross_entropy, cross_entropy, shift_targets, teacher_forced_loss

PAD, START, END = 0, 1, 2
BATCH, TIME, VOCABULARY = 3, 5, 11


@pytest.fixture
def logits():
    return torch.randn(BATCH, TIME, VOCABULARY, generator=torch.Generator().manual_seed(0))


def test_each_decoder_input_is_followed_by_its_label():
    decoder_input_ids, labels = shift_targets(torch.tensor([[START, 7, 5, END], [START, 4, END, PAD]]))
    assert decoder_input_ids.tolist() == [[START, 7, 5], [START, 4, END]]
    assert labels.tolist() == [[7, 5, END], [4, END, PAD]]


def test_the_loss_is_the_mean_negative_log_likelihood_of_the_labels(logits):
    labels = torch.tensor([[3, 4, END, PAD, PAD], [5, END, PAD, PAD, PAD], [3, 4, 5, 6, END]])
    surprises = [
        -math.log(logits[row, place].softmax(0)[labels[row, place]])
        for row in range(BATCH)
        for place in range(TIME)
        if labels[row, place] != PAD
    ]
    assert cross_entropy(logits, labels, PAD).item() == pytest.approx(sum(surprises) / len(surprises))


def test_logits_at_padding_have_no_effect(logits):
    labels = torch.full((BATCH, TIME), 3)
    labels[1, 2:] = PAD
    before = cross_entropy(logits, labels, PAD)
    logits[1, 2:] = 1e3 * torch.randn(TIME - 2, VOCABULARY, generator=torch.Generator().manual_seed(1))
    assert_close(cross_entropy(logits, labels, PAD), before)


def test_uniform_predictions_lose_the_logarithm_of_the_vocabulary_size():
    labels = torch.full((BATCH, TIME), 3)
    loss = cross_entropy(torch.zeros(BATCH, TIME, VOCABULARY), labels, PAD)
    assert loss.item() == pytest.approx(math.log(VOCABULARY))


def test_teacher_forcing_predicts_each_token_from_the_earlier_ones(device):
    model = Transformer(TransformerConfig.tiny(VOCABULARY, num_encoder_layers=1, num_decoder_layers=1))
    model = model.to(device).eval()
    source_ids = torch.tensor([[3, 4, 5]], device=device)
    target_ids = torch.tensor([[START, 6, 7, 8, END]], device=device)
    by_hand = []
    for place in range(1, target_ids.shape[1]):
        logits = model(source_ids, target_ids[:, :place])[0, -1]
        by_hand.append(-logits.log_softmax(0)[target_ids[0, place]])
    assert_close(teacher_forced_loss(model, source_ids, target_ids), torch.stack(by_hand).mean())


def test_the_loss_does_not_depend_on_the_amount_of_padding():
    model = Transformer(TransformerConfig.tiny(VOCABULARY, num_encoder_layers=1, num_decoder_layers=1)).eval()
    source_ids, target_ids = torch.tensor([[3, 4, 5]]), torch.tensor([[START, 6, 7, END]])
    before = teacher_forced_loss(model, source_ids, target_ids)
    longer = [torch.nn.functional.pad(ids, (0, 3), value=PAD) for ids in (source_ids, target_ids)]
    assert_close(teacher_forced_loss(model, *longer), before)


@pytest.mark.parametrize(
    ("target_ids", "message"),
    [
        (torch.tensor([[START]]), r"target_ids must have 2 axes .* at least 2 tokens, got shape \(1, 1\)"),
        (torch.tensor([START, END]), r"target_ids must have 2 axes .* got shape \(2,\)"),
    ],
)
def test_targets_need_a_start_and_an_end(as_a_user, target_ids, message):
    with pytest.raises(ValueError, match=message):
        shift_targets(target_ids)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (torch.full((BATCH, TIME), PAD), "labels must contain more than padding"),
        (torch.full((BATCH, TIME), VOCABULARY), r"below the vocabulary size \(11\)"),
        (torch.full((BATCH, TIME + 1), 3), r"logits \(3, 5\) and labels \(3, 6\) must have the same number"),
        (torch.full((BATCH + 1, TIME), 3), r"logits \(3, 5\) and labels \(4, 5\) must have the same number"),
    ],
)
def test_invalid_labels_are_rejected(as_a_user, logits, labels, message):
    with pytest.raises(ValueError, match=message):
        cross_entropy(logits, labels, PAD)


def test_label_smoothing_equals_that_of_pytorch(logits):
    labels = torch.tensor([[3, 4, END, PAD, PAD], [5, END, PAD, PAD, PAD], [3, 4, 5, 6, END]])
    ours = cross_entropy(logits, labels, PAD, label_smoothing=0.3)
    uniform = -logits.log_softmax(-1).mean(-1)[labels != PAD].mean()
    assert_close(ours, 0.7 * cross_entropy(logits, labels, PAD) + 0.3 * uniform)


SIZES = {"source_vocabulary_size": VOCABULARY, "target_vocabulary_size": VOCABULARY}


def small_transformer():
    generator = torch.Generator().manual_seed(1)
    config = TransformerConfig.tiny(VOCABULARY, d_model=12, d_ff=7, num_heads=2)
    return Transformer(config, generator=generator).eval()


def small_recurrent(kind):
    return kind(RecurrentConfig(**SIZES, d_model=6), generator=torch.Generator().manual_seed(1)).eval()


TRANSLATORS = {
    "Transformer": small_transformer,
    "fixed context": lambda: small_recurrent(FixedContextTranslator),
    "additive attention": lambda: small_recurrent(AdditiveAttentionTranslator),
}


@pytest.mark.parametrize("label_smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk_size", [1, 4, 100])
@pytest.mark.parametrize("kind", TRANSLATORS)
def test_the_chunked_cross_entropy_equals_the_plain_loss_in_value_and_gradient(
    kind, chunk_size, label_smoothing, device
):
    model = TRANSLATORS[kind]().to(device)
    source_ids = torch.tensor([[3, 4, 5, END], [6, END, PAD, PAD]], device=device)
    target_ids = torch.tensor([[START, 6, 7, 8, END], [START, 9, END, PAD, PAD]], device=device)
    options = {"label_smoothing": label_smoothing}
    decoder_input_ids, labels = shift_targets(target_ids)
    plain = 6 * cross_entropy(model(source_ids, decoder_input_ids), labels, PAD, **options)
    wanted = torch.autograd.grad(plain, list(model.parameters()))
    chunked = chunked_cross_entropy(model, source_ids, target_ids, chunk_size=chunk_size, **options)
    assert_close(chunked, plain)
    assert_close(torch.autograd.grad(chunked, list(model.parameters())), wanted, rtol=1e-4, atol=1e-6)


def test_the_chunked_cross_entropy_never_holds_all_logits():
    vocabulary_size, time = 5003, 101
    model = Transformer(
        TransformerConfig.tiny(vocabulary_size, d_model=4, d_ff=4, num_heads=1, num_encoder_layers=1)
    )
    ids = torch.full((3, time), 7)
    with TorchDispatchLargest() as largest:
        chunked_cross_entropy(model, ids, ids, chunk_size=13).backward()
    assert largest.numel < vocabulary_size * (time - 1)
    with TorchDispatchLargest() as largest:
        teacher_forced_loss(model, ids, ids).backward()
    assert largest.numel >= vocabulary_size * (time - 1) * 3


class TorchDispatchLargest(TorchDispatchMode):
    """Record the size of the largest tensor that any operation returns."""

    numel = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        given = func(*args, **(kwargs or {}))
        arrays = [array for array in tree_leaves(given) if isinstance(array, torch.Tensor)]
        self.numel = max([self.numel, *(array.numel() for array in arrays)])
        return given


def test_the_chunked_cross_entropy_is_the_same_without_gradients():
    model = small_transformer()
    ids = torch.tensor([[START, 6, 7, 8, END]])
    with_gradients = chunked_cross_entropy(model, ids, ids)
    with torch.no_grad():
        assert_close(chunked_cross_entropy(model, ids, ids), with_gradients.detach())


def test_half_precision_gives_close_gradients():
    model = small_transformer()
    ids = torch.tensor([[START, 6, 7, 8, END]])
    wanted = torch.autograd.grad(chunked_cross_entropy(model, ids, ids), list(model.parameters()))
    with torch.autocast("cpu", torch.bfloat16):
        loss = chunked_cross_entropy(model, ids, ids)
    assert loss.dtype == torch.float32
    given = torch.autograd.grad(loss, list(model.parameters()))
    apart = sum((one - other).square().sum() for one, other in zip(given, wanted, strict=True))
    assert apart.sqrt() < 0.05 * sum(one.square().sum() for one in wanted).sqrt()


def test_the_chunked_cross_entropy_rejects_labels_of_padding_alone():
    with pytest.raises(ValueError, match="more than padding"):
        chunked_cross_entropy(small_transformer(), torch.tensor([[3, END]]), torch.tensor([[START, PAD]]))


@pytest.mark.parametrize("last", [VOCABULARY, -1])
def test_the_chunked_cross_entropy_rejects_labels_outside_the_vocabulary(last):
    target_ids = torch.tensor([[START, 6, last]])
    with pytest.raises(ValueError, match=r"labels must be at least 0 and below the vocabulary size \(11\)"):
        chunked_cross_entropy(small_transformer(), torch.tensor([[3, END]]), target_ids)
