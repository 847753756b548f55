import itertools

import numpy as np
import pytest

from glassformer.exercises.multi_head_attention import check_best_share, check_parameters
from glassformer.modules.attention import MultiHeadAttention
from glassformer.reference.heads import multi_head_attention
from glassformer.tasks.questions import QuestionTask, exact_match_rate


def test_the_expected_number_of_parameters_is_that_of_the_module():
    check_parameters(sum(weight.numel() for weight in MultiHeadAttention(512, 8).parameters()))


def test_the_expected_share_is_that_of_the_best_guess_for_each_mixture():
    answers = list(itertools.product(range(4), repeat=3))
    mixtures = {tuple(sorted(answer)) for answer in answers}
    check_best_share(len(mixtures) / len(answers))


@pytest.mark.parametrize(("sharpness", "never_wrong"), [(3, False), (4, True)])
def test_the_expected_sharpness_is_the_smallest_that_is_never_wrong(sharpness, never_wrong):
    task = QuestionTask(num_pairs=5, num_symbols=8, num_values=8)
    batch = task.sample(1000, np.random.default_rng(0))
    batch.value_ids[:] = 0
    for row, place in enumerate((batch.key_ids == batch.query_ids[:, :1]).argmax(axis=-1)):
        batch.value_ids[row, place] = 1  # the hardest case: all competing keys share one value
    labels = np.stack([np.ones(1000), np.zeros(1000)], axis=-1).astype(int)
    question, pairs = (cards.astype(float) for cards in task.encode(batch))
    both, none = np.eye(8), np.zeros((8, 8))
    output, _ = multi_head_attention(
        question,
        pairs,
        pairs,
        num_heads=2,
        query_weight=sharpness * np.eye(16),
        key_weight=np.block([[both, both], [none, none]]),
        value_weight=np.block([[none, none], [both, both]]),
        output_weight=np.eye(16),
    )
    predicted_ids = output.reshape(-1, 2, 8).argmax(axis=-1)
    assert (exact_match_rate(predicted_ids, batch._replace(labels=labels)) == 1) == never_wrong
