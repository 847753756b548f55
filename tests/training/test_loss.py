import math

import pytest
import torch
from torch.testing import assert_close

from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.training.loss import cross_entropy, shift, teacher_forced_loss

PAD, START, END = 0, 1, 2
BATCH, TIME, VOCABULARY = 3, 5, 11


@pytest.fixture
def logits():
    return torch.randn(BATCH, TIME, VOCABULARY, generator=torch.Generator().manual_seed(0))


def test_each_given_token_stands_under_the_one_that_is_wanted_next():
    given_ids, wanted_ids = shift(torch.tensor([[START, 7, 5, END], [START, 4, END, PAD]]))
    assert given_ids.tolist() == [[START, 7, 5], [START, 4, END]]
    assert wanted_ids.tolist() == [[7, 5, END], [4, END, PAD]]


def test_the_loss_is_the_mean_of_the_surprises_of_the_wanted_tokens(logits):
    wanted_ids = torch.tensor([[3, 4, END, PAD, PAD], [5, END, PAD, PAD, PAD], [3, 4, 5, 6, END]])
    surprises = [
        -math.log(logits[row, place].softmax(0)[wanted_ids[row, place]])
        for row in range(BATCH)
        for place in range(TIME)
        if wanted_ids[row, place] != PAD
    ]
    assert cross_entropy(logits, wanted_ids, PAD).item() == pytest.approx(sum(surprises) / len(surprises))


def test_what_is_told_at_padding_cannot_matter(logits):
    wanted_ids = torch.full((BATCH, TIME), 3)
    wanted_ids[1, 2:] = PAD
    before = cross_entropy(logits, wanted_ids, PAD)
    logits[1, 2:] = 1e3 * torch.randn(TIME - 2, VOCABULARY, generator=torch.Generator().manual_seed(1))
    assert_close(cross_entropy(logits, wanted_ids, PAD), before)


def test_who_knows_nothing_pays_the_logarithm_of_the_vocabulary():
    wanted_ids = torch.full((BATCH, TIME), 3)
    loss = cross_entropy(torch.zeros(BATCH, TIME, VOCABULARY), wanted_ids, PAD)
    assert loss.item() == pytest.approx(math.log(VOCABULARY))


def test_the_teacher_shows_each_token_only_after_it_was_asked_for(device):
    model = Transformer(TransformerConfig.tiny(VOCABULARY, num_encoder_layers=1, num_decoder_layers=1))
    model = model.to(device).eval()
    source_ids = torch.tensor([[3, 4, 5]], device=device)
    target_ids = torch.tensor([[START, 6, 7, 8, END]], device=device)
    by_hand = []
    for place in range(1, target_ids.shape[1]):
        logits = model(source_ids, target_ids[:, :place])[0, -1]
        by_hand.append(-logits.log_softmax(0)[target_ids[0, place]])
    assert_close(teacher_forced_loss(model, source_ids, target_ids), torch.stack(by_hand).mean())


def test_the_loss_does_not_depend_on_how_far_a_batch_is_filled_up():
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
def test_a_sentence_has_a_start_and_an_end(as_a_user, target_ids, message):
    with pytest.raises(ValueError, match=message):
        shift(target_ids)


@pytest.mark.parametrize(
    ("wanted_ids", "message"),
    [
        (torch.full((BATCH, TIME), PAD), "wanted_ids must hold something else than padding"),
        (torch.full((BATCH, TIME), VOCABULARY), r"below the vocabulary size \(11\)"),
        (torch.full((BATCH, TIME + 1), 3), r"logits \(3, 5\) and wanted_ids \(3, 6\) must hold equally"),
        (torch.full((BATCH + 1, TIME), 3), r"logits \(3, 5\) and wanted_ids \(4, 5\) must hold equally"),
    ],
)
def test_wanted_ids_that_do_not_fit_are_refused(as_a_user, logits, wanted_ids, message):
    with pytest.raises(ValueError, match=message):
        cross_entropy(logits, wanted_ids, PAD)
