import base64
import json
import re
from dataclasses import asdict
from itertools import cycle

import numpy as np
import pytest
import safetensors.numpy

from glassformer.data.vocabulary import Vocabulary
from glassformer.modules.transformer import Transformer, TransformerConfig
from glassformer.tasks.grammar import BOOK_EXAMPLE, Example
from glassformer.tasks.lexicon import ADJECTIVES, ANIMALS, PLACES, VERBS
from glassformer.widgets import live_grammar


@pytest.fixture
def given():
    """An untrained model of the grammar, and its words."""
    examples = [
        Example(animal, verb, place, adjective, negated)
        for animal, place, verb in zip(ANIMALS, PLACES, cycle(VERBS), strict=False)
        for adjective in ADJECTIVES
        for negated in (False, True)
    ]
    english = Vocabulary.from_sentences(example.source for example in examples)
    french = Vocabulary.from_sentences(example.target for example in examples)
    sizes = {"source_vocabulary_size": len(english), "target_vocabulary_size": len(french)}
    config = TransformerConfig(
        **sizes, d_model=8, num_heads=2, num_encoder_layers=1, num_decoder_layers=1, d_ff=8
    )
    weights = {name: each.detach().numpy() for name, each in Transformer(config).named_parameters()}
    return {
        "weights": weights,
        "config": asdict(config),
        "english": english.words,
        "french": french.words,
        "animals": list(map(asdict, ANIMALS)),
        "places": list(map(asdict, PLACES)),
        "verbs": list(map(asdict, VERBS)),
        "adjectives": list(map(asdict, ADJECTIVES)),
        "start": asdict(BOOK_EXAMPLE),
        "translations": {"the dog left the park …": "le chien a quitté le parc …", "and": "et"},
    }


def data_of(figure):
    return json.loads(re.search(r'<script type="application/json">(.*?)</script>', figure._repr_html_())[1])


def test_the_page_contains_the_weights_in_float16(given):
    data = data_of(live_grammar(**given))
    found = safetensors.numpy.load(base64.b64decode(data["weights"]))
    assert found.keys() == given["weights"].keys()
    for name, array in given["weights"].items():
        assert found[name].dtype == np.float16
        np.testing.assert_array_equal(found[name], array.astype(np.float16))
    assert data["config"] == given["config"]


def test_the_page_gets_the_words_and_the_initial_sentence(given):
    data = data_of(live_grammar(**given))
    assert (data["english"], data["french"]) == (list(given["english"]), list(given["french"]))
    for name in ("animals", "places", "verbs", "adjectives", "start"):
        assert data[name] == given[name]


def test_the_table_shows_example_translations(given):
    html = live_grammar(**given)._repr_html_()
    assert '<th scope="row">the dog left the park …</th><td>le chien a quitté le parc …</td>' in html
    assert '<th scope="row">and</th><td>et</td>' in html


@pytest.mark.usefixtures("as_a_user")
@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (
            lambda given: {"english": sorted({*given["english"]} - {"fox", "it", "left", "crowded"})},
            "^english must hold all words of the grammar, but lacks crowded, fox, it, left",
        ),
        (
            lambda given: {"french": [word for word in given["french"] if word != "elle"]},
            "^french must hold all words of the grammar, but lacks elle",
        ),
        (
            lambda given: {"french": [*given["french"], "éléphant"]},
            "config must have a target_vocabulary_size of 92, got 91",
        ),
        (
            lambda given: {"start": given["start"] | {"object": given["animals"][0]}},
            "start must have one of the choices as its object, got {'english': 'animal'",
        ),
        (
            lambda given: {"weights": given["weights"] | {"output_proj.weight": np.full((2, 2), 1e5)}},
            "weights must be finite in float16, but output_proj.weight is not",
        ),
    ],
)
def test_invalid_arguments_are_reported(given, change, complaint):
    with pytest.raises(ValueError, match=complaint):
        live_grammar(**given | change(given))
