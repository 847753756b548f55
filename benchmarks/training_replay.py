"""Record translations and attention maps at several checkpoints of one training run.

The run is one of `glassformer train` with --checkpoint-every 100 --keep-checkpoints 100. Three sentences of
the book are translated greedily at each checkpoint. The cross-attention of all heads is recorded for the last
of them, always with the translation of the last checkpoint as decoder input, so that all maps have one shape.
BLEU at checkpoints that the run did not validate is computed here in the same way.
"""

import argparse
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from record import CPU, Result, run_benchmark

from glassformer.data import END_ID, START_ID, Sentences, load_corpus, sentence_key
from glassformer.inspection import record_attention
from glassformer.metrics import bleu
from glassformer.training import (
    CHECKPOINTS_FOLDER,
    average_checkpoints,
    list_checkpoints,
    read_log,
    read_recipe,
)
from glassformer.translator import Translator

REFERENCES = {
    "I am tired.": "Je suis fatigué.",
    "I would like a cup of tea, please.": "Je voudrais une tasse de thé, s'il vous plaît.",
    "The animal didn't cross the street because it was too tired.": (
        "L'animal n'a pas traversé la rue parce qu'il était trop fatigué."
    ),
}
STEPS = (100, 200, 300, 500, 700, 1000, 1500, 2000, 2500, 3000, 3500, 4000)
MOST_POINTS = 120  # per curve


def load_stages(folder: Path) -> dict[int, Translator]:
    """Load the translators at the steps that the run has reached."""
    kept = {int(place.name.removeprefix("step_")) for place in list_checkpoints(folder / CHECKPOINTS_FOLDER)}
    return {step: average_checkpoints(folder, steps=[step])[0] for step in STEPS if step in kept}


def read_curves(log: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, list[float]]]:
    """Return the curves of a log: training loss and learning rate, validation loss and BLEU."""
    training = [line for line in log if "loss" in line]
    thinned = training[:: -(-len(training) // MOST_POINTS)]
    validation = [line for line in log if "validation_loss" in line]
    return {
        "training": {
            "step": [line["step"] for line in thinned],
            "loss": [round(line["loss"], 3) for line in thinned],
            "learning_rate": [float(f"{line['learning_rate']:.4g}") for line in thinned],
        },
        "validation": {
            "step": [line["step"] for line in validation],
            "loss": [round(line["validation_loss"], 3) for line in validation],
        },
    }


def cross_maps(translator: Translator, sentence: str, translation: str) -> Array:
    """Return cross-attention weights, (layer, head, target, source)."""
    source, target = translator.tokenizer.encode([sentence, translation])
    source_ids, decoder_input_ids = torch.tensor([[*source, END_ID]]), torch.tensor([[START_ID, *target]])
    with torch.no_grad(), record_attention(translator.model) as weights_of:
        translator.model(source_ids, decoder_input_ids)
    return np.stack([weights[0].numpy() for name, weights in weights_of.items() if "cross" in name])


def replay(stages: Mapping[int, Translator], scored: Mapping[int, float], held_out: Sentences) -> Any:
    """Translate, score and record attention at each stage."""
    sentences = list(REFERENCES)
    scores, translations = [], []
    for step, translator in stages.items():
        score = scored.get(step)
        if score is None:
            score = bleu(translator.translate(held_out.sources, beam_size=1), held_out.references).value
        scores.append(round(score, 1))
        translations.append(translator.translate(sentences, beam_size=1))
        print(step, scores[-1], translations[-1], flush=True)
    pieces, final = translator.tokenizer.pieces, translations[-1][-1]
    maps = [cross_maps(each, sentences[-1], final) for each in stages.values()]
    return {
        "sentences": sentences,
        "references": list(REFERENCES.values()),
        "steps": list(stages),
        "bleu": scores,
        "translations": translations,
        "source_tokens": [*pieces(sentences[-1]), "<end>"],
        "target_tokens": [*pieces(final), "<end>"],
        "maps": {
            "shape": [len(maps), *maps[0].shape],
            "per mille": [" ".join(map(str, (1000 * each).round().astype(int).flat)) for each in maps],
        },
    }


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Replay a training run."""
    recipe = read_recipe(options.run)
    corpus = load_corpus(recipe.corpus)
    learned = set(map(sentence_key, corpus.train.sources))
    log = read_log(options.run / "log.jsonl")
    scored = {line["step"]: line["validation_bleu"] for line in log if "validation_bleu" in line}
    measured = {
        **replay(load_stages(options.run), scored, corpus.validation),
        "learned": [sentence_key(sentence) in learned for sentence in REFERENCES],
        **read_curves(log),
    }
    settings = {
        "run": str(options.run),
        "recipe": dataclasses.asdict(recipe),
        "seed": recipe.settings.seed,
        "decoding": "greedy",
        "bleu": f"{len(corpus.validation.sources)} validation sentences, all references",
    }
    return measured, settings


if __name__ == "__main__":
    run_benchmark(measure_all, device=CPU, run=Path("runs/en-fr-replay"))
