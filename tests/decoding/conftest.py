import pytest
import torch

from glassformer.modules.recurrent import AdditiveAttentionTranslator, FixedContextTranslator, RecurrentConfig
from glassformer.modules.transformer import Transformer, TransformerConfig

PAD, START, END = 0, 1, 2
SOURCE_SIZE, TARGET_SIZE = 11, 7
RECURRENT = {"fixed_context": FixedContextTranslator, "additive_attention": AdditiveAttentionTranslator}


def make_model(
    kind="transformer",
    *,
    wild=3.0,
    eager=0.0,
    seed=2,
    source_size=SOURCE_SIZE,
    target_size=TARGET_SIZE,
    **overrides,
):
    """Make an untrained model.

    Its weights are large (``wild``), or it would always generate the same; the larger ``eager``, the sooner
    it ends.
    """
    generator = torch.Generator().manual_seed(seed)
    vocabularies = {"source_vocabulary_size": source_size, "target_vocabulary_size": target_size}
    if kind in RECURRENT:
        config = RecurrentConfig(**vocabularies, **({"d_model": 5, "num_layers": 2} | overrides))
        model = RECURRENT[kind](config)
    else:
        sizes = {"d_model": 12, "num_heads": 3, "d_ff": 13, "num_encoder_layers": 1, "num_decoder_layers": 2}
        model = Transformer(TransformerConfig(**vocabularies, **(sizes | overrides)))
    for name, weight in model.named_parameters():
        scale = wild / weight.shape[-1] ** 0.5 if weight.ndim > 1 and "embedding" not in name else 0.3
        if not (weight.ndim == 1 and "norm" in name):
            weight.data = torch.randn(weight.shape, generator=generator) * scale
    _make_eager(model, eager)
    return model.eval()


def _make_eager(model, eager):
    """Raise the logit of the end token."""
    if model.output_proj.bias is not None:
        model.output_proj.bias.data[END] += eager
        return
    weight, layers = model.output_proj.weight.data, model.decoder.layers
    pre_norm = model.config.norm == "pre"
    last_norm = model.decoder.final_norm if pre_norm else layers[-1].feed_forward_residual.norm
    last_norm.bias.data += eager * weight[END] / weight[END].square().sum()


def make_sources(count, longest=6, seed=0):
    """Make padded sentences of 1 to ``longest`` tokens."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, longest + 1, (count, 1), generator=generator)
    ids = torch.randint(3, SOURCE_SIZE, (count, longest), generator=generator)
    ids = ids.masked_fill(torch.arange(longest) >= lengths, PAD)
    return ids[:, : int(lengths.max())]


@pytest.fixture(params=["transformer", *RECURRENT])
def any_model(request):
    return make_model(request.param)
