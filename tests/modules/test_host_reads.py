"""A model reads no value back to the host: on an accelerator that would wait for all work under way."""

import pytest
import torch
from rehearsal_device import IS_SUPPORTED, count_host_reads, rehearsal

from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.training.loss import chunked_cross_entropy, teacher_forced_loss

pytestmark = pytest.mark.skipif(not IS_SUPPORTED, reason="this PyTorch has no Python backends")
SOURCE, TARGET = torch.tensor([[3, 4, 5], [6, 0, 0]]), torch.tensor([[1, 3, 4, 2], [1, 5, 2, 0]])
VOCABULARIES = {"source_vocabulary_size": 7, "target_vocabulary_size": 7}


@pytest.fixture
def accelerator():
    with rehearsal() as device:
        yield device


def make_transformer(device, positions="sinusoidal", dropout=0.1):
    sizes = {"d_model": 12, "num_heads": 3, "d_ff": 13, "num_encoder_layers": 1, "num_decoder_layers": 2}
    config = TransformerConfig(**VOCABULARIES, **sizes, positions=positions, dropout=dropout)
    return Transformer(config).to(device)


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_training_a_transformer_reads_nothing(positions, accelerator):
    model = make_transformer(accelerator, positions)
    source_ids, target_ids = SOURCE.to(accelerator), TARGET.to(accelerator)
    with count_host_reads() as counts:
        model(source_ids, target_ids[:, :-1]).square().mean().backward()
    assert not counts


def test_a_step_of_decoding_with_a_cache_reads_nothing(accelerator):
    model = make_transformer(accelerator).eval()
    encoded, cache = model.encode(SOURCE.to(accelerator)), model.make_cache(3, beam_size=2)
    with torch.no_grad(), count_host_reads() as counts:
        for beams in (1, 2, 2):
            last_ids = torch.ones(2, beams, dtype=torch.int64, device=accelerator)
            model.decode(last_ids, *encoded, cache=cache)
            cache.reorder(torch.zeros(2, 2, dtype=torch.int64, device=accelerator))
    assert not counts


@pytest.mark.parametrize(("loss", "reads"), [(teacher_forced_loss, 0), (chunked_cross_entropy, 1)])
def test_a_training_step_reads_nothing_in_the_model(loss, reads, accelerator):
    """The chunked loss reads the number of labels, because it drops padding."""
    model = make_transformer(accelerator)
    source_ids, target_ids = SOURCE.to(accelerator), TARGET.to(accelerator)
    with count_host_reads() as counts:
        loss(model, source_ids, target_ids).backward()
    assert counts.total() == reads, counts
