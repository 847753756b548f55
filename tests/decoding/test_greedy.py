import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID, Vocabulary
from glassformer.decoding.generate import greedy_decode, translate
from glassformer.modules.masks import padding_mask
from glassformer.modules.transformer import Transformer, TransformerConfig

from .conftest import make_model as make_wild_model
from .conftest import make_sources

ENGLISH = Vocabulary(tuple("abcdefg"))
FRENCH = Vocabulary(tuple("ABCDEFG"))
LONGEST = 5
SPECIAL_IDS = {"start_id": START_ID, "end_id": END_ID}
either_norm = pytest.mark.parametrize("norm", ["post", "pre"])


CONFIG = TransformerConfig(
    source_vocabulary_size=len(ENGLISH),
    target_vocabulary_size=len(FRENCH),
    d_model=32,
    num_heads=4,
    d_ff=64,
    num_encoder_layers=1,
    num_decoder_layers=1,
)


class Shouter(Transformer):
    """Repeats letters in capitals, then the end token, and counts calls of encode and decode."""

    def __init__(self):
        super().__init__(CONFIG)
        self.encoded = self.decoded = 0

    def encode(self, source_ids):
        self.encoded += 1
        memory = nn.functional.one_hot(source_ids, CONFIG.d_model).float()
        return memory, padding_mask(source_ids, PAD_ID)

    def decode(self, target_ids, memory, memory_mask=None):
        self.decoded += 1
        letters = nn.functional.pad(memory.argmax(-1), (0, target_ids.shape[1]))[:, : target_ids.shape[1]]
        capitals = letters.masked_fill(letters == PAD_ID, END_ID)
        return nn.functional.one_hot(capitals, len(FRENCH)).float()


def make_model(norm="pre"):
    generator = torch.Generator().manual_seed(0)
    return Transformer(replace(CONFIG, norm=norm), generator=generator).eval()


def make_sentences(count, seed=0):
    """Make sentences of 1 to 5 letters."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, LONGEST + 1, (count,), generator=generator)
    return [
        tuple(ENGLISH.words[id] for id in torch.randint(len(ENGLISH.words), (length,), generator=generator))
        for length in lengths.tolist()
    ]


@pytest.fixture
def shouter():
    return Shouter().eval()


def test_translate_maps_words_to_words(shouter):
    sentences = [("a", "b", "c"), ("g",), ("d", "d", "e", "f")]
    generated = translate(shouter, sentences, ENGLISH, FRENCH, max_length=10)
    assert generated == [("A", "B", "C"), ("G",), ("D", "D", "E", "F")]


def test_each_row_ends_once_and_is_padded(shouter):
    source_ids = torch.from_numpy(ENGLISH.batch([("a", "b", "c"), ("g",)]))
    generated = greedy_decode(shouter, source_ids, **SPECIAL_IDS, max_length=10)
    a, b, c, g = FRENCH.encode("ABCG")
    assert generated.tolist() == [[a, b, c, END_ID], [g, END_ID, PAD_ID, PAD_ID]]


@either_norm
def test_each_token_is_the_most_probable_after_those_before_it(norm, device):
    model = make_model(norm).to(device)
    source_ids = torch.tensor([[3, 5, 4]], device=device)
    generated = greedy_decode(model, source_ids, **SPECIAL_IDS, max_length=6)
    start = torch.full((1, 1), START_ID, device=device)
    for place in range(generated.shape[1]):
        logits = model(source_ids, torch.cat([start, generated[:, :place]], dim=1))
        assert logits[0, -1].argmax() == generated[0, place]


@either_norm
def test_translations_do_not_depend_on_the_rest_of_the_batch(norm):
    model, sentences = make_model(norm), make_sentences(20, seed=1)
    together = translate(model, sentences, ENGLISH, FRENCH, max_length=9)
    alone = [translate(model, [sentence], ENGLISH, FRENCH, max_length=9)[0] for sentence in sentences]
    assert len(set(map(len, together))) > 1 or norm == "post"
    assert together == alone


def test_decoding_stops_when_all_sentences_have_ended(shouter):
    translate(shouter, [("a", "b"), ("c",)], ENGLISH, FRENCH, max_length=50)
    assert shouter.decoded == 3  # two letters and the end


def test_decoding_stops_at_the_maximum_length():
    generated = greedy_decode(
        make_model(), torch.tensor([[3, 4]]), start_id=START_ID, end_id=-1, max_length=7
    )
    assert generated.shape == (1, 7)


def test_the_source_is_encoded_once(shouter):
    translate(shouter, [("a", "b")], ENGLISH, FRENCH, max_length=9)
    assert shouter.encoded == 1


def test_decoding_records_no_gradient():
    assert not greedy_decode(make_model(), torch.tensor([[3, 4]]), **SPECIAL_IDS, max_length=2).requires_grad


def test_a_model_in_training_mode_is_refused():
    with pytest.raises(ValueError, match="model must be in evaluation mode, got training mode"):
        greedy_decode(make_model().train(), torch.tensor([[3]]), **SPECIAL_IDS, max_length=3)


def test_a_maximum_length_of_zero_is_refused():
    with pytest.raises(ValueError, match="max_length must be a positive integer, got 0"):
        greedy_decode(make_model(), torch.tensor([[3]]), **SPECIAL_IDS, max_length=0)


def test_an_unknown_word_is_named():
    with pytest.raises(ValueError, match=r"words must be among the 7 of the vocabulary, got \['z'\]"):
        translate(make_model(), [("a", "z")], ENGLISH, FRENCH, max_length=3)


def test_greedy_decoding_generates_the_same_with_and_without_a_cache(any_model, device):
    source_ids = make_sources(13).to(device)
    cached, uncached = (
        greedy_decode(any_model.to(device), source_ids, **SPECIAL_IDS, use_cache=cached)
        for cached in (True, False)
    )
    assert torch.equal(cached, uncached)


def test_results_of_any_model_do_not_depend_on_the_rest_of_the_batch(any_model):
    source_ids = make_sources(13)
    together = greedy_decode(any_model, source_ids, **SPECIAL_IDS).tolist()
    assert len({tuple(row) for row in together}) > 5
    for source, row in zip(source_ids, together, strict=True):
        [alone] = greedy_decode(any_model, source[source != PAD_ID][None], **SPECIAL_IDS).tolist()
        assert [id for id in row if id != PAD_ID] == alone


def test_ended_sentences_leave_the_batch():
    model, rows = make_wild_model(), []
    model.output_proj.register_forward_hook(lambda module, args, output: rows.append(len(output)))
    source_ids = make_sources(29)
    max_length = torch.arange(1, 30)
    greedy_decode(model, source_ids, start_id=START_ID, end_id=-1, max_length=max_length)
    needed = [29 - time for time in range(29)]
    assert rows[0] == 29
    assert all(most / 0.75 + 1 >= count >= most for count, most in zip(rows, needed, strict=True))


def test_each_sentence_has_its_own_maximum_length():
    generated = greedy_decode(
        make_model(), torch.tensor([[3], [4], [5]]), start_id=1, end_id=-1, max_length=torch.tensor([2, 5, 3])
    )
    assert (generated != PAD_ID).sum(-1).tolist() == [2, 5, 3]


def test_forbidden_tokens_and_padding_are_never_generated():
    source_ids = make_sources(97)
    model = make_wild_model()
    free = greedy_decode(model, source_ids, start_id=START_ID, end_id=-1, max_length=7)
    bound = greedy_decode(model, source_ids, start_id=START_ID, end_id=-1, max_length=7, forbidden_ids=(3, 5))
    assert set(free.unique().tolist()) >= {3, 5}
    assert set(bound.unique().tolist()) <= {1, 2, 4, 6}


@pytest.mark.parametrize("damage", [math.nan, math.inf])
def test_logits_that_are_not_finite_are_refused(damage):
    model = make_wild_model()
    model.decoder.layers[0].feed_forward.outer.weight.data[3] = damage
    with pytest.raises(ValueError, match="logits of the model must be finite, got NaN or infinity"):
        greedy_decode(model, make_sources(2), **SPECIAL_IDS)
