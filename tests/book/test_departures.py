"""Statements of the appendix about departures of PyTorch and of this book from the paper."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from glassformer.decoding.beam import beam_search
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.reference.layers import layer_norm
from glassformer.reference.positions import sinusoidal_positions
from glassformer.training.settings import TrainingSettings

ROOT = Path(__file__).parents[2]

D_MODEL, HEADS, D_FF = 14, 2, 17


@pytest.fixture
def torchs():
    return nn.Transformer(D_MODEL, HEADS, 3, 3, D_FF, dropout=0.1, batch_first=True)


def test_torch_ends_each_stack_with_a_second_norm(torchs):
    for stack in (torchs.encoder, torchs.decoder):
        assert not stack.layers[-1].norm_first
        assert isinstance(stack.norm, nn.LayerNorm)


def test_torch_has_no_embeddings_and_no_positions(torchs):
    assert not any(isinstance(module, nn.Embedding) for module in torchs.modules())
    order = torch.tensor([2, 0, 3, 1])
    torchs.eval()
    source, target = torch.randn(1, 4, D_MODEL), torch.randn(1, 5, D_MODEL)
    torch.testing.assert_close(torchs(source[:, order], target), torchs(source, target))


def test_torch_also_applies_dropout_to_weights_and_inside_the_feed_forward_network(torchs):
    for layer in (*torchs.encoder.layers, *torchs.decoder.layers):
        assert layer.self_attn.dropout == layer.dropout.p == layer.dropout1.p == 0.1


def test_an_unbiased_standard_deviation_gives_another_norm():
    x = np.random.default_rng(0).standard_normal((5, D_MODEL))
    ours = layer_norm(x, np.ones(D_MODEL), np.zeros(D_MODEL), epsilon=1e-12)
    theirs = (x - x.mean(-1, keepdims=True)) / x.std(-1, ddof=1, keepdims=True)
    np.testing.assert_allclose(ours, theirs * np.sqrt(D_MODEL / (D_MODEL - 1)))
    np.testing.assert_allclose(ours.var(axis=-1), 1)


def test_pytorch_uses_the_same_epsilon(torchs):
    epsilons = {module.eps for module in torchs.modules() if isinstance(module, nn.LayerNorm)}
    assert epsilons == {1e-5} == {inspect.signature(layer_norm).parameters["epsilon"].default}


def test_torch_initialises_projections_with_xavier_and_biases_with_zero(torchs):
    attention = torchs.encoder.layers[0].self_attn
    bound = (6 / (D_MODEL + 3 * D_MODEL)) ** 0.5  # three maps in one matrix
    assert 0.9 * bound < attention.in_proj_weight.abs().max() <= bound
    assert not attention.in_proj_bias.any()


def test_torch_smooths_over_all_tokens():
    logits, right = torch.randn(5, 7), torch.arange(5)
    wanted = 0.9 * nn.functional.one_hot(right, 7) + 0.1 / 7
    by_hand = -(wanted * logits.log_softmax(-1)).sum(-1).mean()
    torch.testing.assert_close(nn.CrossEntropyLoss(label_smoothing=0.1)(logits, right), by_hand)


def test_scaling_the_query_gives_the_same_scores():
    query, key = np.random.default_rng(0).standard_normal((2, 5, 7))
    np.testing.assert_allclose((query / np.sqrt(7)) @ key.T, query @ key.T / np.sqrt(7), atol=1e-12)


def test_sines_before_cosines_is_the_same_table_in_another_order():
    table = sinusoidal_positions(11, D_MODEL)
    sines_first = np.concatenate([table[:, 0::2], table[:, 1::2]], axis=-1)
    assert np.abs(sines_first - table).max() > 0.5
    np.testing.assert_allclose(sines_first @ sines_first.T, table @ table.T)


def test_the_longest_wavelength_is_shorter_than_the_paper_says():
    length = 2 * np.pi / np.arcsin(sinusoidal_positions(2, 512)[1, 510])
    assert length / (2 * np.pi * 10_000) == pytest.approx(0.965, abs=0.001)


def count(tokens, only=""):
    with torch.device("meta"):
        parameters = Transformer(TransformerConfig.base(tokens)).named_parameters()
    return sum(parameter.numel() for name, parameter in parameters if only in name)


def test_the_base_model_has_63_million_parameters():
    assert count(37_000) == 63_082_496
    assert count(40_700) == pytest.approx(65e6, rel=0.001)


def test_biases_of_the_projections_are_a_tiny_share_of_the_parameters():
    assert count(37_000, "proj.bias") / count(37_000) == pytest.approx(0.0006, abs=0.00005)


def test_training_defaults_to_the_constants_of_the_paper():
    settings = TrainingSettings()
    assert (settings.beta1, settings.beta2, settings.epsilon) == (0.9, 0.98, 1e-9)
    assert (settings.label_smoothing, settings.schedule, settings.keep_checkpoints) == (
        0.1,
        "inverse_sqrt",
        5,
    )
    assert (settings.clip_norm, settings.weight_decay) == (1, 0)


def test_beam_search_defaults_to_the_settings_of_the_paper():
    defaults = {name: option.default for name, option in inspect.signature(beam_search).parameters.items()}
    assert (defaults["beam_size"], defaults["length_penalty"]) == (4, "gnmt")
    explicit = inspect.getmodule(beam_search)._DEFAULT_ALPHA["gnmt"]
    assert defaults["alpha"] is None
    assert explicit == 0.6


def test_the_bundled_translator_has_the_sizes_that_the_page_lists():
    model = json.loads((ROOT / "src/glassformer/pretrained/en-fr/model.json").read_text(encoding="utf-8"))
    config, command = model["config"], model["training"]["command"]
    layers = config["num_encoder_layers"], config["num_decoder_layers"]
    assert layers == (3, 3)
    assert (config["d_model"], config["num_heads"], config["d_ff"], config["norm"]) == (192, 6, 512, "pre")
    assert (config["target_vocabulary_size"], config["tie_embeddings"]) == (6000, "all")
    for option in ("--steps 15000", "--max-tokens 2500", "--keep-checkpoints 10", "--threads 1"):
        assert option in command
