import dataclasses
import json

import pytest

from glassformer.modules.configuration import RecurrentConfig, TransformerConfig

SOURCE_SIZE, TARGET_SIZE = 17, 19
KINDS = {
    TransformerConfig: {"d_model": 6, "num_heads": 3},
    RecurrentConfig: {"d_model": 5},
}
either_kind = pytest.mark.parametrize("kind", KINDS)


def make(kind, **overrides):
    sizes = {"source_vocabulary_size": SOURCE_SIZE, "target_vocabulary_size": TARGET_SIZE}
    return kind(**(sizes | KINDS[kind] | overrides))


@either_kind
def test_a_configuration_is_frozen(kind):
    with pytest.raises(dataclasses.FrozenInstanceError):
        make(kind).d_model = 2


@pytest.mark.parametrize(
    "config",
    [
        make(TransformerConfig, norm="pre", positions="rotary", tie_embeddings="target", pad_id=3),
        make(RecurrentConfig, bidirectional=True, d_model=6, tie_embeddings="target", dropout=0.3),
    ],
)
def test_a_configuration_survives_a_round_trip_through_a_dictionary(config):
    assert type(config)(**json.loads(json.dumps(dataclasses.asdict(config)))) == config


def test_one_vocabulary_ties_all_embeddings_and_two_tie_those_of_the_target():
    assert TransformerConfig.tiny(SOURCE_SIZE).tie_embeddings == "all"
    assert TransformerConfig.tiny(SOURCE_SIZE, TARGET_SIZE).tie_embeddings == "target"
    assert TransformerConfig.tiny(SOURCE_SIZE, tie_embeddings="none").tie_embeddings == "none"


@pytest.mark.usefixtures("as_a_user")
@either_kind
@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"source_vocabulary_size": 0}, "source_vocabulary_size must be a positive integer, got 0"),
        ({"target_vocabulary_size": 2.5}, r"target_vocabulary_size must be a positive integer, got 2\.5"),
        ({"d_model": 0}, "d_model must be a positive integer, got 0"),
        ({"dropout": 1.0}, r"dropout must be at least 0 and below 1, got 1\.0"),
        ({"pad_id": 17}, "pad_id must be at least 0 and below 17, got 17"),
        ({"pad_id": -1}, "pad_id must be at least 0 and below 17, got -1"),
        ({"tie_embeddings": "all"}, r"source_vocabulary_size \(17\) and target_vocabulary_size \(19\)"),
        ({"tie_embeddings": "both"}, "tie_embeddings must be one of 'none', 'target', 'all', got 'both'"),
    ],
)
def test_invalid_settings_of_a_translator_are_named(kind, overrides, message):
    with pytest.raises(ValueError, match=message):
        make(kind, **overrides)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"d_model": 10}, r"d_model \(10\) must be a multiple of num_heads \(3\)"),
        ({"d_model": 9, "positions": "rotary"}, r"d_model \(9\) must be an even multiple of num_heads \(3\)"),
        ({"num_decoder_layers": 0}, "num_decoder_layers must be a positive integer, got 0"),
        ({"attention_dropout": -0.1}, r"attention_dropout must be at least 0 and below 1, got -0\.1"),
        ({"activation_dropout": 1.0}, r"activation_dropout must be at least 0 and below 1, got 1\.0"),
        ({"norm": "both"}, "norm must be one of 'post', 'pre', got 'both'"),
        ({"positions": "absolute"}, "positions must be one of 'sinusoidal', .*, got 'absolute'"),
    ],
)
def test_invalid_settings_of_a_transformer_are_named(overrides, message):
    with pytest.raises(ValueError, match=message):
        make(TransformerConfig, **overrides)


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"num_layers": 0}, "num_layers must be a positive integer, got 0"),
        ({"bidirectional": True}, r"d_model \(5\) must be even for a bidirectional encoder"),
    ],
)
def test_invalid_settings_of_a_recurrent_translator_are_named(overrides, message):
    with pytest.raises(ValueError, match=message):
        make(RecurrentConfig, **overrides)
