import pytest
import torch
from torch.testing import assert_close

from glassformer.modules.order import OrderReader

BATCH, TIME, WORDS, HEADS, D_MODEL, MAX_LENGTH = 2, 5, 11, 3, 18, 13
KINDS = ["none", "sinusoidal", "learned", "rotary", "linear_bias"]


def make(kind):
    torch.manual_seed(0)
    sizes = {"d_model": D_MODEL, "num_heads": HEADS, "max_length": MAX_LENGTH}
    return OrderReader(WORDS, positions=kind, **sizes).double()


@pytest.fixture
def ids(generator):
    return torch.randint(WORDS, (BATCH, TIME), generator=generator)


@pytest.mark.parametrize("kind", KINDS)
def test_it_answers_what_a_causal_attention_over_all_words_would_answer_at_the_last(kind, ids):
    model = make(kind)
    x = model.word(ids) if model.position is None else model.position(model.word(ids))
    every_output, _ = model.attention(x, x, x, torch.ones(TIME, TIME, dtype=torch.bool).tril())
    assert_close(model(ids), model.answer_proj(every_output[:, -1]))


@pytest.mark.parametrize("kind", KINDS)
def test_words_before_the_last_may_change_places_unseen_only_without_positions(kind, ids):
    ids[:, :4] = torch.arange(4)
    shuffled = ids[:, [2, 0, 3, 1, 4]]
    assert torch.allclose(make(kind)(ids), make(kind)(shuffled), atol=1e-12) == (kind == "none")


@pytest.mark.parametrize(("kind", "moves"), [("sinusoidal", True), ("learned", True), ("rotary", False)])
def test_a_start_moves_what_is_added_and_nothing_else(kind, moves, ids):
    model = make(kind)
    assert torch.allclose(model(ids), model(ids, start=7)) == (not moves)


def test_a_masked_word_cannot_matter(ids):
    model, mask = make("rotary"), torch.arange(TIME) > 1
    before = model(ids, attn_mask=mask[None])
    ids[:, :2] = 0
    assert_close(model(ids, attn_mask=mask[None]), before)


@pytest.mark.parametrize("kind", KINDS)
def test_every_weight_learns_but_a_bias_of_the_keys(kind, ids):
    model = make(kind)
    model(ids).square().sum().backward()
    still = {name for name, weight in model.named_parameters() if weight.grad.abs().max() < 1e-12}
    assert still <= {"attention.key_proj.bias"}


@pytest.mark.usefixtures("as_a_user")
def test_bad_input_is_named():
    sizes = {"d_model": D_MODEL, "num_heads": HEADS, "max_length": MAX_LENGTH}
    with pytest.raises(ValueError, match=r"positions must be .*'rotary'.*, got 'absolute'"):
        OrderReader(WORDS, positions="absolute", **sizes)
    with pytest.raises(ValueError, match="vocabulary_size must be a whole number of at least 1, got 0"):
        OrderReader(0, positions="none", **sizes)
