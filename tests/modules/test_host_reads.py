"""A model reads no value back to the host: on an accelerator that would wait for all work under way."""

from collections import Counter

import pytest
import torch
from rehearsal_device import IS_SUPPORTED, count_host_reads, rehearsal
from torch.utils._python_dispatch import TorchDispatchMode

from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.training.loss import chunked_loss, teacher_forced_loss

READS = {"_local_scalar_dense", "is_nonzero", "item", "equal", "nonzero"}
SOURCE, TARGET = torch.tensor([[3, 4, 5], [6, 0, 0]]), torch.tensor([[1, 3, 4, 2], [1, 5, 2, 0]])
VOCABULARIES = {"source_vocabulary_size": 7, "target_vocabulary_size": 7}


class CountReads(TorchDispatchMode):
    """Count the operations that give a value to the host."""

    def __init__(self):
        super().__init__()
        self.counts = Counter()

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        name = operation.overloadpacket.__name__
        if name in READS:
            self.counts[name] += 1
        return operation(*args, **(kwargs or {}))


def make_transformer(positions="sinusoidal", dropout=0.1):
    sizes = {"d_model": 12, "num_heads": 3, "d_ff": 13, "num_encoder_layers": 1, "num_decoder_layers": 2}
    return Transformer(TransformerConfig(**VOCABULARIES, **sizes, positions=positions, dropout=dropout))


@pytest.mark.parametrize("read", [torch.Tensor.item, bool, torch.nonzero])
def test_reads_are_counted(read):
    with CountReads() as mode:
        read(torch.ones(1))
    assert mode.counts.total() == 1


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "alibi", "none"])
def test_training_a_transformer_reads_nothing(positions):
    model = make_transformer(positions)
    with CountReads() as mode:
        model(SOURCE, TARGET[:, :-1]).square().mean().backward()
    assert not mode.counts


def test_a_step_of_decoding_with_a_cache_reads_nothing():
    model = make_transformer().eval()
    encoded, cache = model.encode(SOURCE), model.make_cache(3, beam_size=2)
    with torch.no_grad(), CountReads() as mode:
        for beams in (1, 2, 2):
            model.decode(torch.ones(2, beams, dtype=torch.int64), *encoded, cache=cache)
            cache.reorder(torch.zeros(2, 2, dtype=torch.int64))
    assert not mode.counts


@pytest.mark.skipif(not IS_SUPPORTED, reason="this PyTorch has no Python backends")
@pytest.mark.parametrize(("loss", "reads"), [(teacher_forced_loss, 0), (chunked_loss, 1)])
def test_a_training_step_on_a_device_reads_nothing_in_the_model(loss, reads):
    """The chunked loss reads the number of labels, because it drops padding."""
    with rehearsal() as device:
        model = make_transformer().to(device)
        source_ids, target_ids = SOURCE.to(device), TARGET.to(device)
        with count_host_reads() as counts:
            loss(model, source_ids, target_ids).backward()
        assert counts.total() == reads, counts
