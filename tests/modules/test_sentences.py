import pytest
import torch

from glassformer.modules.sentences import require_sentences


def test_sentences_of_the_vocabulary_pass():
    require_sentences("source_ids", torch.tensor([[0, 6], [3, 2]]), vocabulary_size=7)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([[0, 7]], r"below the vocabulary size \(7\), got ids from 0 to 7"),
        ([[-1, 2]], "source_ids must be at least 0 .*, got ids from -1 to 2"),
        ([0, 6], r"source_ids must have 2 axes \(sentence, token\), got shape \(2,\)"),
        ([[0.5]], "source_ids must hold whole numbers, got torch.float32"),
        ([[True]], "source_ids must hold whole numbers, got torch.bool"),
    ],
)
def test_bad_input_is_named(ids, message):
    with pytest.raises(ValueError, match=message):
        require_sentences("source_ids", torch.tensor(ids), vocabulary_size=7)


def test_an_empty_sentence_is_named():
    with pytest.raises(ValueError, match=r"source_ids must not be empty, got shape \(2, 0\)"):
        require_sentences("source_ids", torch.empty(2, 0, dtype=torch.int64), vocabulary_size=7)
