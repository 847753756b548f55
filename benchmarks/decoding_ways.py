"""Compare decoding methods: greedy, sampling, and 1 to 64 beams with three length penalties.

The pretrained translator translates Tatoeba's validation set, and some methods are measured again on the test
set. For each method: BLEU with a paired bootstrap of its difference to greedy decoding and to four beams, the
length relative to the references, and the mean log-probability. Hypotheses are ranked by each length penalty
after the search, which gives the same result as searching with it, because beams continue by log-probability
alone. In addition: how often the empty translation is likelier than the human reference or than the model's
translation, and how often the search misses a likelier translation, namely the human reference.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy import ndarray as Array
from record import Result, fingerprint, run_benchmark
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor

from glassformer.data import END_ID, PAD_ID, START_ID, Sentences, load_corpus
from glassformer.decoding import (
    Hypothesis,
    LengthPenalty,
    beam_search,
    compute_length_penalty,
    greedy_decode,
    sample,
)
from glassformer.metrics import bleu, chrf
from glassformer.training import shift_targets
from glassformer.translator import Translator

MARKS: dict[str, Any] = {"start_id": START_ID, "end_id": END_ID}
PENALTIES: tuple[LengthPenalty, ...] = ("none", "average", "gnmt")
SAMPLERS: dict[str, dict[str, float | int]] = {
    "temperature 1": {},
    "temperature 0.5": {"temperature": 0.5},
    "top-k 10": {"top_k": 10},
    "top-p 0.9": {"top_p": 0.9},
}
EXAMPLES = 6


class Task:
    """Sentences to translate, in batches of similar lengths, with their references."""

    def __init__(self, translator: Translator, sentences: Sentences, batch_size: int) -> None:
        self.model, self.tokenizer = translator.model, translator.tokenizer
        self.sources, self.references = sentences
        ids = [[*row, END_ID] for row in self.tokenizer.encode(self.sources)]
        order = sorted(range(len(ids)), key=lambda number: len(ids[number]))
        self.batches = [
            (chosen, pad([ids[number] for number in chosen]).to(next(self.model.parameters()).device))
            for chosen in (order[start : start + batch_size] for start in range(0, len(order), batch_size))
        ]
        self.words = np.mean([np.mean([len(one.split()) for one in own]) for own in self.references])

    def in_order(self, written: Iterator[Sequence[Any]]) -> list[Any]:
        """Restore the order of the sentences."""
        numbers = [number for chosen, _ in self.batches for number in chosen]
        flat = [row for rows in written for row in rows]
        return [row for _, row in sorted(zip(numbers, flat, strict=True), key=lambda pair: pair[0])]

    def log_probabilities(self, ids: Sequence[Sequence[int]]) -> Array:
        """Return the log-probability of a translation of each sentence; the ids include the end token."""
        return np.array(
            self.in_order(
                told(self.model, source_ids, pad([[START_ID, *ids[number]] for number in chosen]))
                for chosen, source_ids in self.batches
            )
        )

    def judge(self, ids: Sequence[Sequence[int]], log_probs: Array | None = None) -> dict[str, Any]:
        """Score translations given as token ids."""
        texts = self.tokenizer.decode(ids)
        log_probs = self.log_probabilities(until_end(ids)) if log_probs is None else log_probs
        words = np.mean([len(text.split()) for text in texts])
        return {
            "bleu": round(bleu(texts, self.references).value, 2),
            "chrf": round(chrf(texts, self.references).value, 2),
            "length_ratio": round(float(words / self.words), 4),
            "log_probability": round(float(log_probs.mean()), 4),
            "empty": sum(not text for text in texts),
            "texts": texts,
        }


def until_end(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Truncate each row after its end token."""
    return [row[: row.index(END_ID) + 1] if END_ID in row else row for row in map(list, rows)]


def pad(rows: Sequence[Sequence[int]]) -> Tensor:
    """Pad rows of ids to the longest."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[PAD_ID] * (width - len(row))] for row in rows])


@torch.no_grad()
def told(model: Any, source_ids: Tensor, target_ids: Tensor) -> list[float]:
    """Return the log-probability of each target."""
    decoder_input_ids, labels = shift_targets(target_ids.to(source_ids.device))
    log_probs = model(source_ids, decoder_input_ids).log_softmax(-1).gather(2, labels[..., None])[..., 0]
    return log_probs.masked_fill(labels == PAD_ID, 0).sum(-1).tolist()


def search(task: Task, beam_size: int) -> list[list[Hypothesis]]:
    """Return the hypotheses of beam search for each sentence."""
    options: dict[str, Any] = {"beam_size": beam_size, "n_best": beam_size, "length_penalty": "none"}
    return task.in_order(
        beam_search(task.model, source_ids, **MARKS, **options) for _, source_ids in task.batches
    )


def rank(hypotheses: list[list[Hypothesis]], penalty: LengthPenalty) -> list[Hypothesis]:
    """Select the best hypothesis of each sentence; unfinished hypotheses come last."""

    def order(one: Hypothesis) -> tuple[bool, float]:
        return one.ended, one.log_probability / compute_length_penalty(len(one.ids), penalty)

    return [max(found, key=order) for found in hypotheses]


def difference(texts: Sequence[str], others: Sequence[str], references: Any, samples: int) -> list[float]:
    """Return a 95 % interval of the difference in BLEU by paired bootstrap."""
    metric = BLEU(effective_order=True)  # ignores orders of n-grams that a sentence is too short for
    counts = np.array([[_counts(metric, text, own) for text, own in zip(side, references, strict=True)]
                       for side in (texts, others)])  # fmt: skip
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(counts.shape[1], [1 / counts.shape[1]] * counts.shape[1], size=samples)
    totals = np.einsum("sn,knc->skc", drawn, counts)
    scores = [[_bleu_of(metric, row) for row in pair] for pair in totals]
    low, high = np.percentile(np.subtract(*np.transpose(scores)), [2.5, 97.5])
    return [round(float(low), 2), round(float(high), 2)]


def _counts(metric: BLEU, text: str, references: Sequence[str]) -> list[int]:
    score = metric.sentence_score(text, list(references))
    return [*score.counts, *score.totals, score.sys_len, score.ref_len]


def _bleu_of(metric: BLEU, row: Array) -> float:
    correct, total, (ours, theirs) = row[:4].tolist(), row[4:8].tolist(), row[8:].tolist()
    return metric.compute_bleu(correct, total, ours, theirs, smooth_method="exp").score


def contrast(task: Task, texts: list[str], others: list[str]) -> dict[str, Any]:
    """Count the sentences that get better or worse, by length, and quote the clearest cases."""
    pairs = list(zip(texts, others, task.references, strict=True))
    gains = np.array([chrf([text], [own]).value - chrf([other], [own]).value for text, other, own in pairs])
    longer = np.array([len(text.split()) - len(other.split()) for text, other, _ in pairs])
    changed = np.array([text != other for text, other, _ in pairs])
    order = np.argsort(gains, kind="stable")

    def count(chosen: Array) -> dict[str, int]:
        rows = {"changed": changed, "better": gains > 0, "worse": gains < 0}
        return {name: int((row & chosen).sum()) for name, row in rows.items()}

    def quote(numbers: Array) -> list[dict[str, Any]]:
        return [
            {
                "source": task.sources[number],
                "references": list(task.references[number]),
                "greedy": others[number],
                "beam": texts[number],
            }
            for number in map(int, numbers)
        ]

    return {
        **count(changed),
        "by_words": {
            "fewer": count(longer < 0),
            "as many": count(longer == 0),
            "more": count(longer > 0),
        },
        "worst": quote(order[:EXAMPLES]),
        "best": quote(order[::-1][:EXAMPLES]),
    }


def question(task: Task, greedy: Array, beams: dict[int, Array]) -> dict[str, Any]:
    """Count how often the empty translation, or a human reference, is likelier than the model's own."""
    silence = task.log_probabilities([[END_ID]] * len(task.sources))
    people = np.full(len(task.sources), -np.inf)
    for place in range(max(map(len, task.references))):
        texts = [own[min(place, len(own) - 1)] for own in task.references]
        people = np.maximum(
            people, task.log_probabilities([[*row, END_ID] for row in task.tokenizer.encode(texts)])
        )
    ways = {"greedy": greedy} | {f"beam {size}": likeliest for size, likeliest in beams.items()}
    return {
        "silence_beats_people": int((silence > people).sum()),
        "silence_beats": {way: int((silence > log_probs).sum()) for way, log_probs in ways.items()},
        "people_beat": {way: int((people > log_probs + 1e-3).sum()) for way, log_probs in ways.items()},
        "mean_of_people": round(float(people.mean()), 4),
        "mean_of_silence": round(float(silence.mean()), 4),
    }


def draw(task: Task, seeds: int) -> list[dict[str, Any]]:
    """Sample in every way with several seeds."""
    rows = []
    for name, options in SAMPLERS.items():
        for seed in range(seeds):
            generator = torch.Generator().manual_seed(seed)
            ids = task.in_order(
                sample(task.model, source_ids, **MARKS, generator=generator, **options).tolist()
                for _, source_ids in task.batches
            )
            rows.append({"way": name, "seed": seed, **task.judge(ids)})
            print({name: part for name, part in rows[-1].items() if name != "texts"}, flush=True)
    return rows


def measure_split(
    translator: Translator, sentences: Sentences, beam_sizes: Sequence[int], options: argparse.Namespace
) -> dict[str, Any]:
    """Translate sentences greedily, in every way of sampling, and with every number of beams."""
    task = Task(translator, sentences, batch_size=32)
    greedy_ids = task.in_order(
        greedy_decode(task.model, source_ids, **MARKS).tolist() for _, source_ids in task.batches
    )
    greedy = task.judge(greedy_ids)
    beams, likeliest, against, four = [], {}, [], {}
    compared = [(4, "gnmt"), (max(beam_sizes), "none")]
    for beam_size in beam_sizes:
        start = time.process_time()
        hypotheses = search(task, beam_size)
        seconds = round(time.process_time() - start, 1)
        likeliest[beam_size] = np.array([one.log_probability for one in rank(hypotheses, "none")])
        for penalty in PENALTIES:
            best = rank(hypotheses, penalty)
            row = task.judge([one.ids for one in best], np.array([one.log_probability for one in best]))
            way = {"beam_size": beam_size, "length_penalty": penalty}
            if beam_size == 4:
                four[penalty] = row["texts"]
            others = {"above_greedy": greedy["texts"]}
            if beam_size > 4:
                others["above_four"] = four[penalty]
            for name, texts in others.items():
                row[name] = difference(row["texts"], texts, task.references, options.samples)
            beams.append(way | row)
            if (beam_size, penalty) in compared:
                against.append(way | contrast(task, row["texts"], greedy["texts"]))
            print({name: part for name, part in beams[-1].items() if name != "texts"}, seconds, flush=True)
    measured = {
        "sentences": len(task.sources),
        "greedy": greedy,
        "sampling": draw(task, options.seeds),
        "beams": beams,
        "against_greedy": against,
        "model": question(task, task.log_probabilities(until_end(greedy_ids)), likeliest),
    }
    for row in (measured["greedy"], *measured["sampling"], *measured["beams"]):
        del row["texts"]
    return measured


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Measure every method on the validation set, and a few numbers of beams again on the test set."""
    translator = Translator.load(options.model, device=device)
    corpus = load_corpus("tatoeba-en-fr")
    splits = {
        "validation": (corpus.validation, options.beams),
        "test": (corpus.test_sets["test"], options.beams_again),
    }
    measured = {}
    for name, (pairs, beam_sizes) in splits.items():
        sentences = Sentences(*(part[: options.sentences] for part in pairs))
        measured[name] = measure_split(translator, sentences, beam_sizes, options)
    settings = {
        "corpus": "tatoeba-en-fr",
        "weights": fingerprint(translator.model),
        "samplers": SAMPLERS,
        "signature": bleu(*corpus.validation).signature,
    }
    return measured, settings


if __name__ == "__main__":
    run_benchmark(
        measure_all,
        model={"default": "en-fr", "help": "name of a pretrained translator, or a folder with one"},
        sentences={"default": 2500, "help": "maximum number of sentences of each split"},
        beams=[1, 2, 4, 8, 16, 32, 64],
        beams_again={"default": [1, 4, 64], "help": "numbers of beams on the test set"},
        seeds=3,
        samples={"default": 1000, "help": "bootstrap samples"},
    )
