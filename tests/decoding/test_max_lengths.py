import pytest
import torch

from glassformer.decoding.generate import default_max_length, max_lengths

from .conftest import END, PAD, START, make_model

SOURCES = torch.tensor([[3, 4, 5], [6, 0, 0]])
SPECIAL_IDS = {"start_id": START, "end_id": END}


def test_the_default_is_twice_the_source_length_plus_ten():
    assert default_max_length(SOURCES, PAD).tolist() == [16, 12]
    assert max_lengths(make_model(), SOURCES, None, **SPECIAL_IDS).tolist() == [16, 12]


def test_one_length_applies_to_all_sentences_and_several_to_each():
    model = make_model()
    assert max_lengths(model, SOURCES, 5, **SPECIAL_IDS).tolist() == [5, 5]
    assert max_lengths(model, SOURCES, torch.tensor([3, 8]), **SPECIAL_IDS).tolist() == [3, 8]


def test_learned_positions_limit_the_length():
    model = make_model(positions="learned", max_length=13)
    assert max_lengths(model, SOURCES, None, **SPECIAL_IDS).tolist() == [13, 12]
    assert max_lengths(model, SOURCES, 13, **SPECIAL_IDS).tolist() == [13, 13]
    with pytest.raises(ValueError, match="max_length must be at most 13, the positions learned, got 14"):
        max_lengths(model, SOURCES, 14, **SPECIAL_IDS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_length": 0}, "max_length must be a positive integer, got 0"),
        ({"max_length": torch.tensor([4, 0])}, "max_length must be a positive integer, got 0"),
        ({"max_length": torch.tensor([4])}, r"max_length must have shape \(2,\), got \(1,\)"),
        ({"start_id": PAD}, "start_id must differ from the pad id, got 0 for both"),
        ({"end_id": PAD}, "end_id must differ from the pad id, got 0 for both"),
    ],
)
@pytest.mark.usefixtures("as_a_user")
def test_invalid_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        max_lengths(make_model(), SOURCES, **({"max_length": 3} | SPECIAL_IDS | arguments))
