import pytest
import torch

from glassformer.modules import MultiHeadAttention, Transformer, TransformerConfig

BATCH, SOURCE, TARGET, HEADS, D_HEAD, WORDS = 2, 7, 5, 3, 4, 13
D_MODEL = HEADS * D_HEAD


@pytest.fixture
def model(device):
    config = TransformerConfig(
        source_vocabulary_size=WORDS,
        target_vocabulary_size=WORDS,
        d_model=D_MODEL,
        num_heads=HEADS,
        d_ff=11,
        num_encoder_layers=2,
        num_decoder_layers=2,
    )
    return Transformer(config, generator=torch.Generator().manual_seed(0)).to(device).eval()


@pytest.fixture
def ids(device):
    generator = torch.Generator().manual_seed(1)
    source_ids = torch.randint(1, WORDS, (BATCH, SOURCE), generator=generator)
    source_ids[0, 4:] = 0
    return source_ids.to(device), torch.randint(1, WORDS, (BATCH, TARGET), generator=generator).to(device)


@pytest.fixture
def attention(device):
    torch.manual_seed(2)
    return MultiHeadAttention(D_MODEL, HEADS).to(device)


@pytest.fixture
def x(device):
    return torch.randn(BATCH, SOURCE, D_MODEL, generator=torch.Generator().manual_seed(3)).to(device)


def count_hooks(model):
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in model.modules())
