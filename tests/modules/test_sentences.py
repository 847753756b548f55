import pytest
import torch
from torch import nn

from glassformer.modules.sentences import explain_bad_ids, require_sentences


def test_sentences_of_any_ids_pass():
    require_sentences(source_ids=torch.tensor([[0, 6], [3, -2]]))


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (torch.tensor([0, 6]), r"source_ids must have 2 axes \(sentence, token\), got shape \(2,\)"),
        (torch.tensor([[0.5]]), "source_ids must hold whole numbers, got torch.float32"),
        (torch.tensor([[True]]), "source_ids must hold whole numbers, got torch.bool"),
        (torch.empty(2, 0, dtype=torch.int64), r"source_ids must not be empty, got shape \(2, 0\)"),
    ],
)
def test_invalid_input_is_named(ids, message):
    with pytest.raises(ValueError, match=message):
        require_sentences(source_ids=ids)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([[0, 7]], r"below the vocabulary size \(7\), got ids from 0 to 7"),
        ([[-1, 2]], "source_ids must be at least 0 .*, got ids from -1 to 2"),
    ],
)
def test_an_embedding_of_ids_outside_the_vocabulary_names_them(ids, message):
    ids = torch.tensor(ids)
    with pytest.raises(ValueError, match=message), explain_bad_ids("source_ids", ids, 7):
        nn.Embedding(7, 2)(ids)


def test_an_index_error_that_is_not_about_ids_passes_through():
    with pytest.raises(IndexError, match="elsewhere"), explain_bad_ids("ids", torch.tensor([[1]]), 7):
        raise IndexError("elsewhere")
