import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.testing import assert_close

from glassformer.tasks.order import OrderReader, OrderTask

BATCH, LENGTH, SYMBOLS = 3, 11, 7
TIME, WORDS, HEADS, D_MODEL, MAX_LENGTH = 5, 11, 3, 18, 13
QUESTIONS = ["before", "first", "later"]
POSITIONS = ["none", "sinusoidal", "learned", "rotary", "alibi"]


@given(
    question=st.sampled_from(QUESTIONS),
    num_symbols=st.integers(1, 13),
    longer=st.integers(0, 9),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_label_answers_the_question(question, num_symbols, longer, seed):
    task = OrderTask(question, num_symbols)
    length = task.min_length + longer
    ids, labels = task.sample(BATCH, length, np.random.default_rng(seed))
    assert ids.shape == (BATCH, length)
    assert ids.max() < task.vocabulary_size
    for row, wanted in zip(ids.tolist(), labels.tolist(), strict=True):
        match question:
            case "before":
                assert wanted == row[-2]
            case "first":
                assert wanted == row[0]
            case "later":
                assert row.count(0) == row.count(1) == 1
                assert row.index(wanted) == max(row.index(0), row.index(1))
        assert row[-1] >= 2


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_answer_is_as_likely_as_another(question):
    task = OrderTask(question, SYMBOLS)
    _, labels = task.sample(7000, LENGTH, np.random.default_rng(0))
    counts = np.unique(labels, return_counts=True)[1]
    assert len(counts) == (2 if question == "later" else SYMBOLS)
    np.testing.assert_allclose(counts / 7000, 1 / len(counts), atol=0.02)


def test_the_two_words_occur_anywhere_but_last():
    ids, _ = OrderTask("later", SYMBOLS).sample(7000, LENGTH, np.random.default_rng(0))
    share = (ids == 0).mean(axis=0)
    np.testing.assert_allclose(share[:-1], 1 / (LENGTH - 1), atol=0.02)
    assert share[-1] == 0


def test_the_same_generator_state_draws_the_same_batch():
    draws = [OrderTask("later", SYMBOLS).sample(BATCH, LENGTH, np.random.default_rng(s)) for s in (5, 5, 6)]
    np.testing.assert_array_equal(draws[0].ids, draws[1].ids)
    assert (draws[0].ids != draws[2].ids).any()


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: OrderTask("last", 2), r"question must be .*'later'.*, got 'last'"),
        (lambda: OrderTask("first", 0), "num_symbols must be a positive integer, got 0"),
        (
            lambda: OrderTask("later", 2).sample(1, 2, np.random.default_rng(0)),
            r"length \(2\) must be at least 3 to ask 'later'",
        ),
        (
            lambda: OrderTask("first", 2).sample(0, 2, np.random.default_rng(0)),
            "batch_size must be a positive integer, got 0",
        ),
    ],
)
def test_a_wrong_argument_is_named_with_both_numbers(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def make(positions):
    torch.manual_seed(0)
    sizes = {"d_model": D_MODEL, "num_heads": HEADS, "max_length": MAX_LENGTH}
    return OrderReader(WORDS, positions=positions, **sizes).double()


@pytest.fixture
def ids():
    return torch.randint(WORDS, (BATCH, TIME), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("positions", POSITIONS)
def test_it_equals_the_last_position_of_causal_attention(positions, ids):
    model = make(positions)
    x = model.word(ids) if model.position is None else model.position(model.word(ids))
    every_output, _ = model.attention(x, x, x, torch.ones(TIME, TIME, dtype=torch.bool).tril())
    assert_close(model(ids), model.answer_proj(every_output[:, -1]))


@pytest.mark.parametrize("positions", POSITIONS)
def test_only_without_positions_does_the_order_of_earlier_words_not_matter(positions, ids):
    ids[:, :4] = torch.arange(4)
    shuffled = ids[:, [2, 0, 3, 1, 4]]
    assert torch.allclose(make(positions)(ids), make(positions)(shuffled), atol=1e-12) == (
        positions == "none"
    )


@pytest.mark.parametrize(("positions", "moves"), [("sinusoidal", True), ("learned", True), ("rotary", False)])
def test_a_start_shifts_only_added_positions(positions, moves, ids):
    model = make(positions)
    assert torch.allclose(model(ids), model(ids, start=7)) == (not moves)


def test_a_masked_word_has_no_effect(ids):
    model, mask = make("rotary"), torch.arange(TIME) > 1
    before = model(ids, attn_mask=mask[None])
    ids[:, :2] = 0
    assert_close(model(ids, attn_mask=mask[None]), before)


@pytest.mark.parametrize("positions", POSITIONS)
def test_every_parameter_but_the_key_bias_has_a_gradient(positions, ids):
    model = make(positions)
    model(ids).square().sum().backward()
    still = {name for name, weight in model.named_parameters() if weight.grad.abs().max() < 1e-12}
    assert still <= {"attention.key_proj.bias"}


@pytest.mark.usefixtures("as_a_user")
def test_invalid_arguments_are_named():
    sizes = {"d_model": D_MODEL, "num_heads": HEADS, "max_length": MAX_LENGTH}
    with pytest.raises(ValueError, match=r"positions must be .*'rotary'.*, got 'absolute'"):
        OrderReader(WORDS, positions="absolute", **sizes)
    with pytest.raises(ValueError, match="vocabulary_size must be a positive integer, got 0"):
        OrderReader(0, positions="none", **sizes)
