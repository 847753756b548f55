"""Test whether translators that choose the right pronoun attend to its antecedent.

There are two corpora. In one, the two nouns of a sentence always differ in gender, so either one gives the
other away; in the other they are drawn independently. Each seed trains a translator on each. Four
measurements: the share of unseen sentences translated exactly; whether the pronoun follows when the
adjective or a noun is swapped; whether a head attends to the antecedent rather than to the other noun, from
"it" or from the position of the pronoun; and how often cross-attention finds the noun that comes next.
"""

import argparse
import time
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy import ndarray as Array
from record import Result, run_benchmark
from torch import Tensor

from glassformer.data import Vocabulary
from glassformer.decoding import translate
from glassformer.inspection import record_attention
from glassformer.metrics import exact_match
from glassformer.modules import Transformer, TransformerConfig
from glassformer.tasks import Example, Noun, make_corpus, swaps
from glassformer.training import draw_batches, shift_targets, train

CORPUS = {"train_size": 20_000, "test_size": 400}
SIZES = {"d_model": 64, "num_heads": 4, "d_ff": 128, "num_encoder_layers": 2, "num_decoder_layers": 2}
CHOICES = {"norm": "pre", "dropout": 0.0}
RECIPE = {"steps": 600, "batch_size": 64, "learning_rate": 0.003}
MAX_LENGTH = 20
Part = Literal["adjective", "antecedent", "distractor"]
PARTS: tuple[Part, ...] = get_args(Part)


class Translator:
    """A model trained on the grammar, with its two vocabularies."""

    def __init__(self, examples: Sequence[Example], seed: int, device: torch.device) -> None:
        self.english = Vocabulary.from_sentences(example.source for example in examples)
        self.french = Vocabulary.from_sentences(example.target for example in examples)
        sizes = {
            "source_vocabulary_size": len(self.english),
            "target_vocabulary_size": len(self.french),
        }
        generator = torch.Generator().manual_seed(seed)
        config = TransformerConfig(**sizes, **SIZES, **CHOICES)
        self.model = Transformer(config, generator=generator).to(device)
        batches = draw_batches(*self.ids(examples), batch_size=RECIPE["batch_size"], generator=generator)
        start = time.process_time()  # processor time, so other programs do not count
        self.losses = train(self.model, batches, steps=RECIPE["steps"], learning_rate=RECIPE["learning_rate"])
        self.seconds = time.process_time() - start

    def ids(self, examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
        """Return source and target ids on the model's device."""
        device = next(self.model.parameters()).device
        source_ids = self.english.batch([example.source for example in examples])
        target_ids = self.french.batch([example.target for example in examples], add_special_tokens=True)
        return torch.from_numpy(source_ids).to(device), torch.from_numpy(target_ids).to(device)

    def exact_match(self, examples: Sequence[Example]) -> float:
        """Return the share of sentences translated word for word."""
        sources = [example.source for example in examples]
        written = translate(self.model, sources, self.english, self.french, max_length=MAX_LENGTH)
        return exact_match(written, [example.target for example in examples])

    @torch.no_grad()
    def right_pronouns(self, examples: Sequence[Example]) -> float:
        """Return the share of sentences in which the right pronoun has the larger logit (teacher forcing)."""
        source_ids, target_ids = self.ids(examples)
        logits = self.model(source_ids, shift_targets(target_ids)[0]).cpu().numpy()
        il, elle = self.french.encode(("il", "elle"))
        told = logits[np.arange(len(examples)), [example.target_pronoun_position for example in examples]]
        prefers_il = told[:, il] > told[:, elle]
        return float(np.mean(prefers_il == np.array([example.pronoun == "il" for example in examples])))

    @torch.no_grad()
    def weights(self, examples: Sequence[Example]) -> dict[str, Array]:
        """Return the weights of every attention, (sentence, head, query, key), with teacher forcing."""
        source_ids, target_ids = self.ids(examples)
        with record_attention(self.model) as weights_of:
            self.model(source_ids, shift_targets(target_ids)[0])
        return {name: weights.cpu().numpy() for name, weights in weights_of.items()}


def looks_at_antecedent(
    weights: Array, queries: Sequence[int], antecedents: Sequence[int], distractors: Sequence[int]
) -> Array:
    """Return True where a head attends more to the antecedent than to the distractor, (sentence, head)."""
    rows = np.arange(len(queries))[:, None]
    heads = np.arange(weights.shape[1])[None]

    def on(keys: Sequence[int]) -> Array:
        return weights[rows, heads, np.asarray(queries)[:, None], np.asarray(keys)[:, None]]

    return on(antecedents) > on(distractors)


def questioned_heads(translator: Translator, examples: Sequence[Example]) -> tuple[list[str], Array]:
    """Return the names of the heads, and whether they attend to the antecedent, (sentence, head).

    From "it" and from where the pronoun is written the English nouns are looked at; from there the decoder
    also looks at the French ones, which stand one place further right, behind the start.
    """
    it = [example.source_pronoun_position for example in examples]
    pronoun = [example.target_pronoun_position for example in examples]
    english = [e.antecedent_position for e in examples], [e.distractor_position for e in examples]
    french = (
        [1 + e.target.index(e.antecedent.french) for e in examples],
        [1 + e.target.index(e.distractor.french) for e in examples],
    )
    names, looks = [], []
    for name, weights in translator.weights(examples).items():
        queries = it if name.startswith("encoder") else pronoun
        nouns = french if name.startswith("decoder") and name.endswith("self_attention") else english
        looks.append(looks_at_antecedent(weights, queries, *nouns))
        names += [f"{name}.{head}" for head in range(weights.shape[1])]
    return names, np.concatenate(looks, axis=1)


def halves(examples: Sequence[Example]) -> tuple[Array, Array]:
    """Split the sentences into halves that share no pair of nouns; return their indices."""
    pairs = [(example.subject.english, example.object.english) for example in examples]
    first = set(sorted(set(pairs))[::2])
    in_first = np.array([pair in first for pair in pairs])
    return np.flatnonzero(in_first), np.flatnonzero(~in_first)


def noun_alignment(translator: Translator, examples: Sequence[Example]) -> dict[str, float]:
    """Return how often each head's largest weight is on the source noun when its translation comes next."""
    shares = {}
    for name, weights in translator.weights(examples).items():
        if not name.endswith("cross_attention"):
            continue
        hits = [
            weights[row, :, example.target.index(noun.french)].argmax(-1)
            == example.source.index(noun.english)
            for row, example in enumerate(examples)
            for noun in (example.subject, example.object)
        ]
        shares |= {f"{name}.{head}": float(share) for head, share in enumerate(np.mean(hits, axis=0))}
    return shares


def swapped(
    translator: Translator,
    examples: Sequence[Example],
    part: Part,
    train_pairs: set[tuple[Noun, Noun]],
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return the share of right pronouns after one swap per sentence, by antecedent.

    Only swaps count whose pair of nouns is not in the training set. A sentence without one is left out.
    """
    choices = [
        [new for new in swaps(example, part) if (new.subject, new.object) not in train_pairs]
        for example in examples
    ]
    after = [choice[rng.integers(len(choice))] for choice in choices if choice]
    shares: dict[str, float] = {"sentences": len(after)}
    for kind in ("animal", "place"):
        right = translator.right_pronouns([new for new in after if new.antecedent.kind == kind])
        shares[kind] = round(right, 4)
    return shares


def question(genders: str, seed: int, device: torch.device) -> dict[str, Any]:
    """Train one translator and measure everything."""
    train_examples, test_examples = make_corpus(np.random.default_rng(seed), **CORPUS, genders=genders)
    translator = Translator(train_examples, seed, device)
    train_pairs = {(example.subject, example.object) for example in train_examples}
    rng = np.random.default_rng(seed)
    names, looks = questioned_heads(translator, test_examples)
    first, second = halves(test_examples)
    row = {
        "genders": genders,
        "seed": seed,
        "processor_seconds": round(translator.seconds, 1),
        "loss": round(translator.losses[-1], 4),
        "exact_match": translator.exact_match(test_examples),
        "right_pronouns": translator.right_pronouns(test_examples),
        "swapped": {part: swapped(translator, test_examples, part, train_pairs, rng) for part in PARTS},
        "looks_at_antecedent": {
            name: [round(float(looks[half, place].mean()), 4) for half in (first, second)]
            for place, name in enumerate(names)
        },
        "noun_alignment": noun_alignment(translator, test_examples),
    }
    print(
        genders, seed, row["processor_seconds"], row["exact_match"], row["swapped"]["antecedent"], flush=True
    )
    return row


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Train and measure every translator."""
    measured = [
        question(genders, seed, device) for seed in range(options.seeds) for genders in ("different", "any")
    ]
    settings = CORPUS | SIZES | CHOICES | RECIPE
    return measured, settings


if __name__ == "__main__":
    run_benchmark(measure_all, seeds=16)
