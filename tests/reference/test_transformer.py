"""The Transformer in NumPy computes what the PyTorch model computes, and writes the same tokens."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from engine import MARKS, PRETRAINED, make_model, sentences, stack

from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID
from glassformer.decoding.beam import beam_search
from glassformer.decoding.generate import greedy_decode
from glassformer.modules.storage import load_model, save_model
from glassformer.reference import transformer
from glassformer.tasks.grammar import make_corpus

SENTENCE = "The animal didn't cross the street because it was too tired."
LINES = 200
# Rounding error of float32, accumulated over all layers.
NEAR = 1e-4


@pytest.fixture(scope="module")
def torchs():
    return load_model(PRETRAINED)


@pytest.fixture(scope="module")
def ours():
    return transformer.load_transformer(PRETRAINED)


@pytest.fixture(scope="module")
def rows():
    """500 sentences: everyday ones of many lengths, and those of the book's grammar."""
    grammar, _ = make_corpus(np.random.default_rng(1), train_size=300, test_size=2)
    texts = dict.fromkeys([*sentences(300), *(" ".join(example.source) + "." for example in grammar)])
    tokenizer = Tokenizer.load(PRETRAINED / "tokenizer.json")
    return [[*ids, END_ID] for ids in tokenizer.encode([*texts][:500])]


def save(folder, **settings):
    """Save a small random model, and return it."""
    model = make_model(**settings)
    save_model(model, folder)
    return model


def logits_of(model, source_ids, target_ids):
    cache = transformer.start_cache(model, transformer.encode(model, np.array(source_ids)))
    logits, _ = transformer.decode(model, np.array(target_ids), cache)
    return logits


def pytorchs_logits(model, source_ids, target_ids):
    with torch.no_grad():
        return model(torch.tensor([source_ids]), torch.tensor([target_ids]))[0]


def up_to_end(row):
    ids = row.tolist()
    return ids[: ids.index(END_ID) + 1] if END_ID in ids else ids


def test_it_fits_on_a_page():
    assert len(inspect.getsource(transformer).splitlines()) <= LINES


def test_the_special_tokens_are_those_of_the_data():
    assert (transformer.PAD_ID, transformer.START_ID, transformer.END_ID) == (PAD_ID, START_ID, END_ID)


def test_the_logits_are_those_of_pytorch(torchs, ours, rows):
    targets = [[START_ID, *row[::-1]] for row in rows[:20]]  # any tokens do
    for source_ids, target_ids in zip(rows, targets, strict=False):
        logits = logits_of(ours, source_ids, target_ids)
        assert logits.dtype == np.float32
        np.testing.assert_allclose(logits, pytorchs_logits(torchs, source_ids, target_ids), atol=NEAR, rtol=0)


def test_eleven_layers_keep_their_order(tmp_path):
    model = save(tmp_path, num_encoder_layers=11, num_decoder_layers=11)
    ids = [5, 9, 30, END_ID], [START_ID, 8, 21]
    logits = logits_of(transformer.load_transformer(tmp_path), *ids)
    np.testing.assert_allclose(logits, pytorchs_logits(model, *ids), atol=NEAR, rtol=0)


@pytest.mark.usefixtures("as_a_user")  # checking every shape would take most of the time
def test_500_sentences_are_translated_into_the_same_tokens_by_greedy_decoding(torchs, ours, rows):
    assert len({tuple(row) for row in rows}) == 500
    wanted = [up_to_end(row) for row in greedy_decode(torchs, stack(rows), **MARKS)]
    assert [transformer.greedy_decode(ours, np.array(row)) for row in rows] == wanted


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize("beam_size", [1, 2, 4])
def test_beam_search_finds_the_same_tokens(torchs, ours, rows, beam_size):
    rows = rows[::10]
    found = beam_search(torchs, stack(rows), beam_size=beam_size, **MARKS)
    wanted = [list(hypotheses[0].ids) for hypotheses in found]
    assert [transformer.beam_search(ours, np.array(row), beam_size) for row in rows] == wanted


def test_a_hypothesis_that_ends_leaves_one_beam_fewer(ours, monkeypatch):
    """With two beams, <end> takes one and b the other, so the best hypothesis, a <end>, is never reached."""
    a, b = 3, 4
    followers = {START_ID: {a: -0.3, END_ID: -2.0}, a: {b: -0.5, END_ID: -0.9}, b: {END_ID: -3.0}}

    def predict(model, last_id, cache):
        log_probs = np.full(5, -50.0)
        for id, log_prob in followers[last_id].items():
            log_probs[id] = log_prob
        return log_probs, cache

    monkeypatch.setattr(transformer, "predict", predict)
    assert transformer.beam_search(ours, np.array([5, END_ID]), beam_size=2) == [END_ID]
    assert transformer.beam_search(ours, np.array([5, END_ID]), beam_size=3) == [a, END_ID]


def test_any_model_with_these_options_is_translated_alike_even_if_no_hypothesis_ends(tmp_path):
    model = save(tmp_path)
    ours = transformer.load_transformer(tmp_path)
    rows = [[5, 9, 30, END_ID], [17, END_ID], [8, 8, 21, 4, 33, 12, END_ID]]
    greedy = [up_to_end(greedy_decode(model, stack([row]), **MARKS)[0]) for row in rows]
    beam = [list(beam_search(model, stack([row]), **MARKS)[0][0].ids) for row in rows]
    assert [transformer.greedy_decode(ours, np.array(row)) for row in rows] == greedy
    assert [transformer.beam_search(ours, np.array(row)) for row in rows] == beam
    assert any(END_ID not in ids for ids in [*greedy, *beam])


def test_token_by_token_with_a_cache_gives_the_same_logits_as_all_at_once(ours):
    memory = transformer.encode(ours, np.array([5, 9, 30, END_ID]))
    target_ids = np.array([START_ID, 40, 7, 300, 41])
    at_once, _ = transformer.decode(ours, target_ids, transformer.start_cache(ours, memory))
    cache, steps = transformer.start_cache(ours, memory), []
    for part in np.split(target_ids, [1, 3]):
        logits, cache = transformer.decode(ours, part, cache)
        steps.append(logits)
    np.testing.assert_allclose(np.concatenate(steps), at_once, atol=NEAR, rtol=0)


def test_two_hypotheses_can_continue_from_the_same_cache(ours):
    cache = transformer.start_cache(ours, transformer.encode(ours, np.array([5, 9, END_ID])))
    _, cache = transformer.decode(ours, np.array([START_ID, 40]), cache)
    first, _ = transformer.decode(ours, np.array([7]), cache)
    transformer.decode(ours, np.array([300, 41]), cache)
    again, _ = transformer.decode(ours, np.array([7]), cache)
    np.testing.assert_array_equal(again, first)


def test_padding_and_the_start_token_are_never_generated(ours):
    cache = transformer.start_cache(ours, transformer.encode(ours, np.array([5, 9, END_ID])))
    log_probs, _ = transformer.predict(ours, START_ID, cache)
    assert np.flatnonzero(np.isneginf(log_probs)).tolist() == [PAD_ID, START_ID]


@pytest.mark.parametrize("options", [{"norm": "post"}, {"positions": "rotary"}, {"tie_embeddings": "target"}])
def test_a_model_with_other_options_is_refused(tmp_path, options):
    save(tmp_path, **options)
    (value,) = options.values()
    with pytest.raises(ValueError, match=f"pre.*sinusoidal.*all.*got .*{value}"):
        transformer.load_transformer(tmp_path)


def test_a_folder_without_a_model_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"model\.json"):
        transformer.load_transformer(tmp_path)


@pytest.mark.parametrize("decode", [transformer.greedy_decode, transformer.beam_search])
def test_invalid_ids_are_reported(ours, decode):
    with pytest.raises(ValueError, match="ids must be at least 0 and below the vocabulary size"):
        decode(ours, np.array([5, 6000, END_ID]))


def test_an_invalid_beam_size_is_reported(ours):
    with pytest.raises(ValueError, match="beam_size must be a positive integer, got 0"):
        transformer.beam_search(ours, np.array([5, END_ID]), beam_size=0)


def test_it_translates_without_torch(ours, tmp_path):
    source_ids = np.array(Tokenizer.load(PRETRAINED / "tokenizer.json").encode([SENTENCE])[0] + [END_ID])
    script = f"""import sys; sys.modules.update(torch=None, matplotlib=None)
import numpy as np
from glassformer.reference import transformer
model = transformer.load_transformer({str(PRETRAINED)!r})
print(transformer.beam_search(model, np.array({source_ids.tolist()})))"""
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert json.loads(run.stdout) == transformer.beam_search(ours, source_ids)
