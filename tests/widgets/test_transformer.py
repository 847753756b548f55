import re
from dataclasses import asdict

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from glassformer.inspection import record_attention
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.widgets import live_transformer

SIZES = {"d_model": 12, "num_heads": 3, "d_ff": 20, "num_encoder_layers": 2, "num_decoder_layers": 3}
VOCABULARIES = {"source_vocabulary_size": 17, "target_vocabulary_size": 17}
SOURCE, TARGET = ["the", "animal", "slept"], ["l'", "animal", "a", "dormi"]


@pytest.mark.parametrize(("norm", "tie"), [("pre", "none"), ("pre", "target"), ("post", "all")])
def test_the_totals_of_the_table_are_those_of_pytorch(norm, tie):
    config = TransformerConfig(**SIZES, **VOCABULARIES, norm=norm, tie_embeddings=tie)
    model = Transformer(config).eval()
    with FlopCounterMode(display=False) as counter, record_attention(model), torch.no_grad():
        model(torch.ones(1, 3, dtype=torch.long), torch.ones(1, 5, dtype=torch.long))
    parameters = sum(each.numel() for each in model.parameters())
    html = live_transformer(SOURCE, TARGET, {"ours": asdict(config)})._repr_html_()
    multiplications = counter.get_total_flops() // 2  # each with one addition
    sums = f"<td></td><td>{parameters:,}</td><td>{multiplications:,}</td>"
    assert f'<th scope="row">total</th>{sums}' in html
    assert "for 3 source words and 5 decoder inputs" in html


def test_the_table_shows_each_parts_output_shape():
    config = TransformerConfig(**SIZES, **VOCABULARIES)
    html = live_transformer(SOURCE, [], {"ours": asdict(config)})._repr_html_()
    shapes = dict(re.findall(r'<th scope="row">([^<]+)</th><td>([^<]*)</td>', html))
    assert shapes["encoder: self-attention"] == "(3, 12)"
    assert shapes["decoder: cross-attention"] == "(1, 12)"
    assert shapes["linear, softmax"] == "(1, 17)"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"source": []}, "source must have 1 to 60 words, got 0"),
        ({"target": ["a"] * 61}, "target must have 0 to 60 words, got 61"),
        ({"models": {}}, "models must not be empty"),
        ({"models": {"ours": {"norm": "pre"}}}, r"models\['ours'\] must have d_model, num_heads, d_ff, "),
    ],
)
def test_invalid_arguments_are_reported(change, complaint):
    config = asdict(TransformerConfig(**SIZES, **VOCABULARIES))
    given = {"source": SOURCE, "target": TARGET, "models": {"ours": config}}
    with pytest.raises(ValueError, match=complaint):
        live_transformer(**given | change)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"num_heads": 5}, r"d_model \(12\) must be a multiple of num_heads \(5\)"),
        ({"d_ff": 0}, "d_ff must be a positive integer, got 0"),
        ({"positions": "learned"}, "positions must be one of 'sinusoidal', got 'learned'"),
    ],
)
def test_an_unsupported_model_is_reported(change, complaint):
    config = asdict(TransformerConfig(**SIZES, **VOCABULARIES)) | change
    with pytest.raises(ValueError, match=complaint):
        live_transformer(SOURCE, TARGET, {"ours": config})
