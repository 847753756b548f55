"""Patch translators of the small grammar to find where the choice between "il" and "elle" is made.

Each seed trains a translator on sentences whose nouns are drawn independently of their gender. For test
sentences whose nouns differ in gender, the donor is the same sentence with an adjective that makes "it" refer
to the other noun, so the other pronoun is right. Both runs are given the same French words before the
pronoun. Effects are shares of the change in log-odds between both runs: 1 if a patch alone changes the
log-odds as much as the other adjective does, 0 if it changes nothing.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from pronoun_heads import CHOICES, CORPUS, RECIPE, SIZES, Translator
from record import Result, run_benchmark
from torch import Tensor

from glassformer.inspection import patch_activations, record_activations, record_attention
from glassformer.tasks import ADJECTIVES, Example, make_corpus
from glassformer.training import shift_targets

STAGES = {"embedding": "source_embedding", "layer 1": "encoder.layers.0", "memory": "encoder"}
MEMORY = "encoder"


class Pairs:
    """Sentences of one length, with the donor of each: the same sentence with another adjective."""

    def __init__(
        self, translator: Translator, examples: Sequence[Example], donors: Sequence[Example]
    ) -> None:
        self.model = translator.model
        self.source_ids, target_ids = translator.ids(examples)
        self.donor_ids, _ = translator.ids(donors)
        self.given = shift_targets(target_ids)[0]
        self.elle, self.il = translator.french.encode(("elle", "il"))
        first = examples[0]
        self.query = first.target_pronoun_position
        self.roles = {
            "animal": first.source.index(first.subject.english),
            "place": first.source.index(first.object.english),
            "it": first.source_pronoun_position,
            "adjective": first.source.index(first.adjective.english),
        }
        self.own, self.donor = self.log_odds(self.source_ids), self.log_odds(self.donor_ids)

    @property
    def other_positions(self) -> list[int]:
        """Positions of the words that are neither a noun nor "it" nor the adjective."""
        return [place for place in range(self.source_ids.shape[1]) if place not in self.roles.values()]

    @torch.no_grad()
    def log_odds(self, source_ids: Tensor) -> Array:
        """Return the log-odds of "elle" against "il"."""
        logits = self.model(source_ids, self.given)[:, self.query]
        return (logits[:, self.elle] - logits[:, self.il]).double().cpu().numpy()

    def patch(self, site: str, **where: Sequence[int]) -> Array:
        """Return the log-odds with an activation of the donor."""
        with torch.no_grad(), record_activations(self.model, [site]) as theirs:
            self.model(self.donor_ids, self.given)
        with patch_activations(self.model, site, theirs[site], **where):
            return self.log_odds(self.source_ids)

    def effects(self, patched: Array) -> Array:
        """Return what share of the change between both runs a patch makes, for each sentence."""
        return (patched - self.own) / (self.donor - self.own)

    def patch_positions(self, site: str) -> dict[str, Array]:
        """Return the effect of each position on each sentence, by role; of the other words, the largest."""
        effects = {
            role: self.effects(self.patch(site, positions=[place])) for role, place in self.roles.items()
        }
        others = [self.effects(self.patch(site, positions=[place])) for place in self.other_positions]
        return effects | {"largest of the other words": np.max(others, axis=0)}

    def flips(self, site: str, role: str) -> Array:
        """Return whether a patch of one position makes the model prefer the other pronoun."""
        return np.sign(self.patch(site, positions=[self.roles[role]])) != np.sign(self.own)

    def attention(self) -> dict[str, Array]:
        """Return the weights of each head of cross-attention where the pronoun is written."""
        with torch.no_grad(), record_attention(self.model) as weights_of:
            self.model(self.source_ids, self.given)
        return {
            name: weights[:, :, self.query].cpu().numpy()
            for name, weights in weights_of.items()
            if name.endswith("cross_attention")
        }

    def mean_attention(self) -> dict[str, Array]:
        """Return the mean weight of cross-attention by role, and the largest on any other word."""
        mean = np.concatenate(list(self.attention().values()), axis=1).mean(1)
        roles = {role: mean[:, place] for role, place in self.roles.items()}
        return roles | {"largest of the other words": mean[:, self.other_positions].max(-1)}

    def heads(self) -> dict[str, tuple[Array, Array]]:
        """Return the weight of each cross-attention head on the adjective, and the effect of the head."""
        place = self.roles["adjective"]
        return {
            f"{name}.{head}": (
                weights[:, head, place],
                self.effects(self.patch(f"{name}.heads", heads=[head])),
            )
            for name, weights in self.attention().items()
            for head in range(weights.shape[1])
        }


def with_other_adjective(
    examples: Sequence[Example], rng: np.random.Generator, *, same_noun: bool
) -> list[Example]:
    """Exchange each adjective for one that describes the same noun, or the other noun."""
    choices = [
        [
            adjective
            for adjective in ADJECTIVES
            if adjective != example.adjective
            and (adjective.describes == example.adjective.describes) == same_noun
        ]
        for example in examples
    ]
    return [
        replace(example, adjective=allowed[rng.integers(len(allowed))])
        for example, allowed in zip(examples, choices, strict=True)
    ]


def joined(rows: Sequence[dict[str, Array]]) -> dict[str, Array]:
    """Join the arrays of several dicts, by key."""
    return {key: np.concatenate([row[key] for row in rows]) for key in rows[0]}


def means(rows: Sequence[dict[str, Array]]) -> dict[str, float]:
    """Return the mean over all sentences, by key."""
    return {key: round(float(values.mean()), 4) for key, values in joined(rows).items()}


def measure(seed: int, device: torch.device) -> dict[str, Any]:
    """Train one translator and patch it."""
    start = time.process_time()
    rng = np.random.default_rng(seed)
    train_examples, test_examples = make_corpus(rng, **CORPUS, genders="any")
    translator = Translator(train_examples, seed, device)
    telling = [e for e in test_examples if e.subject.gender != e.object.gender]
    pairs, controls = [], []
    for negated in (False, True):  # sentences of one length each
        examples = [example for example in telling if example.negated == negated]
        for found, same_noun in ((pairs, False), (controls, True)):
            donors = with_other_adjective(examples, rng, same_noun=same_noun)
            found.append(Pairs(translator, examples, donors))
    attention, memory = [pair.mean_attention() for pair in pairs], [p.patch_positions(MEMORY) for p in pairs]
    looked_at, mattered = joined(attention), joined(memory)
    heads = [pair.heads() for pair in pairs]
    row = {
        "seed": seed,
        "sentences": len(telling),
        "right_pronouns": translator.right_pronouns(telling),
        "change": round(float(np.mean([np.abs(p.donor - p.own).mean() for p in pairs])), 3),
        "change_same_noun": round(float(np.mean([np.abs(p.donor - p.own).mean() for p in controls])), 3),
        "effects": {
            name: means([pair.patch_positions(site) for pair in pairs]) for name, site in STAGES.items()
        },
        "effect_of_adjective_deciles": [
            round(float(each), 3) for each in np.quantile(mattered["adjective"], [0.1, 0.9])
        ],
        "flips": {
            role: round(float(np.concatenate([pair.flips(MEMORY, role) for pair in pairs]).mean()), 4)
            for role in pairs[0].roles
        },
        "attention": means(attention),
        "largest_weight_on_adjective": _how_often_largest(looked_at, "adjective"),
        "largest_effect_of_adjective": _how_often_largest(mattered, "adjective"),
        "heads": {
            name: [round(float(np.concatenate([h[name][part] for h in heads]).mean()), 4) for part in (0, 1)]
            for name in heads[0]
        },
    }
    print(row, f"{time.process_time() - start:.0f} s", flush=True)
    return row


def _how_often_largest(values: dict[str, Array], role: str) -> float:
    names = list(values)
    return round(float((np.stack([*values.values()]).argmax(0) == names.index(role)).mean()), 4)


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Train and patch every translator."""
    measured = [measure(seed, device) for seed in range(options.seeds)]
    return measured, CORPUS | SIZES | CHOICES | RECIPE


if __name__ == "__main__":
    run_benchmark(measure_all, seeds=8)
