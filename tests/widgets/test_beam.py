import math

import pytest
import torch

from glassformer.data.vocabulary import END_ID, PAD_ID, START_ID
from glassformer.decoding.beam import beam_search
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.widgets import live_beam
from glassformer.widgets.figures.beam import LENGTH_PENALTIES, search

SENTENCE = "It's cold."
TREE = {  # probabilities: greedy decoding takes "Il" and writes 0.24, but "Oui" is 0.27
    (): {"▁Il": 0.5, "▁Oui": 0.3, "▁Non": 0.2},
    ("▁Il",): {"▁fait": 0.6, "▁a": 0.4},
    ("▁Il", "▁fait"): {"▁froid": 0.8, "▁frais": 0.2},
    ("▁Oui",): {"<end>": 0.9, "▁oui": 0.1},
}
LENGTH, VOCABULARY = 3, 7


@pytest.fixture
def searches():
    return {SENTENCE: {words: {w: math.log(p) for w, p in after.items()} for words, after in TREE.items()}}


@pytest.fixture(scope="module")
def model():
    config = TransformerConfig(
        source_vocabulary_size=VOCABULARY,
        target_vocabulary_size=VOCABULARY,
        d_model=8,
        num_heads=2,
        num_encoder_layers=1,
        num_decoder_layers=1,
        d_ff=16,
        dropout=0.0,
    )
    model = Transformer(config, generator=torch.Generator().manual_seed(1)).eval()
    with torch.no_grad():
        model.output_proj.weight.mul_(9)
    return model


@torch.no_grad()
def all_continuations(model, source_ids):
    """Next-token log-probabilities after every prefix below the maximum length, with ids as strings."""
    found, prefixes = {}, [()]
    for prefix in prefixes:
        log_p = model(source_ids, torch.tensor([[START_ID, *map(int, prefix)]]))[0, -1].log_softmax(-1)
        allowed = [id for id in range(VOCABULARY) if id not in (PAD_ID, START_ID)]
        found[prefix] = {str(id): float(log_p[id]) for id in allowed}
        if len(prefix) + 1 < LENGTH:
            prefixes += [(*prefix, str(id)) for id in allowed if id != END_ID]
    return found


def test_the_search_finds_the_same_hypotheses_as_the_package(model):
    source_ids = torch.tensor([[3, 5, 4, END_ID]])
    continuations = all_continuations(model, source_ids)
    options = {"start_id": START_ID, "end_id": END_ID, "forbidden_ids": (START_ID,), "max_length": LENGTH}
    ended = set()
    for size in (1, 2, 3, 4):
        (theirs,) = beam_search(
            model, source_ids, **options, beam_size=size, n_best=size, length_penalty="none"
        )
        ours = {one.tokens: one.log_probability for one in search(continuations, size)}
        assert ours == {tuple(map(str, one.ids)): pytest.approx(one.log_probability) for one in theirs}
        ended |= {one.ended for one in theirs}
    assert ended == {True, False}


@pytest.mark.parametrize("penalty", LENGTH_PENALTIES)
@pytest.mark.parametrize("beam_size", [2, 4])
def test_the_length_penalties_are_those_of_the_package(model, penalty, beam_size):
    options = {"beam_size": beam_size, "length_penalty": penalty}
    source_ids = torch.tensor([[3, 5, 4, END_ID]])
    (found,) = beam_search(model, source_ids, start_id=START_ID, end_id=END_ID, **options)
    assert found[0].score == pytest.approx(
        found[0].log_probability / LENGTH_PENALTIES[penalty](len(found[0].ids))
    )


def test_the_table_ranks_the_hypotheses_of_four_beams_and_adds_the_greedy_one(searches):
    html = live_beam(searches)._repr_html_()
    rows = html.split("<tbody>")[1].split("</tbody>")[0].split("</tr>")
    oui = "".join(f"<td>{cell}</td>" for cell in ("−1.31", "2", "−1.309", "−0.655", "−1.194"))
    il = "".join(f"<td>{cell}</td>" for cell in ("−1.43", "3", "−1.427", "−0.476", "−1.201"))
    assert rows[0] == f'<tr><th scope="row">Oui</th>{oui}'
    assert rows[1] == f'<tr><th scope="row">Il fait froid</th>{il}'
    assert f'<tr><th scope="row">greedy: Il fait froid</th>{il}' in rows


def test_there_is_no_space_after_an_elision():
    figure = live_beam({"The animal": {(): {"▁l'": -0.1}, ("▁l'",): {"▁animal": -0.2}}})
    assert "greedy: l&#x27;animal<" in figure.table.to_html()


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("searches", "complaint"),
    [
        ({}, "searches must hold 1 to 4 sentences, got 0"),
        ({str(number): {(): {"a": -1.0}} for number in range(5)}, "1 to 4 sentences, got 5"),
        ({"No.": {("▁Non",): {"<end>": -1.0}}}, "must hold the empty prefix for 'No.'"),
        ({"No.": {(): {}}}, "must hold at least 1 next token after '' of 'No.', got 0"),
        ({"No.": {(): {"▁Non": 0.9}}}, "must be 0 or below, got 0.9 for '▁Non' after '' of 'No.'"),
        ({"No.": {(): {"▁Non": math.nan}}}, "must be 0 or below, got nan"),
    ],
)
def test_an_invalid_search_is_reported(searches, complaint):
    with pytest.raises(ValueError, match=complaint):
        live_beam(searches)
