"""Probes for a package that may have a bug: train a small translator and measure its behaviour.

Code that a bug may have broken is not used for measuring; it is written again here.
"""

import functools
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from museum_setting import CORPUS, KEPT, LESSON, RUN, SIZES
from sacrebleu.metrics.bleu import BLEU
from torch import Tensor

from glassformer.data import END_ID, PAD_ID, START_ID, Corpus, Sentences, Tokenizer, Vocabulary
from glassformer.decoding import beam_search, greedy_decode
from glassformer.inspection import record_attention
from glassformer.modules import AttentionHeads, Transformer, TransformerConfig
from glassformer.tasks import Example, join_words, make_corpus
from glassformer.training import (
    Trainer,
    TrainingSettings,
    cross_entropy,
    draw_batches,
    read_log,
    shift_targets,
    train,
)
from glassformer.translator import Translator

MAX_LENGTH, LAST = 20, 20  # tokens per translation, and steps whose losses are averaged

Probe = dict[str, float]


class Lesson:
    """A translator after a short training, with unseen sentences."""

    def __init__(
        self,
        seed: int,
        *,
        steps: int = LESSON["steps"],
        padding: int = 0,
        label_smoothing: float = 0.0,
        empty_sources: bool = False,
        **choices: Any,
    ) -> None:
        examples, self.unseen = make_corpus(np.random.default_rng(seed), **CORPUS)
        self.english = Vocabulary.from_sentences(example.source for example in examples)
        self.french = Vocabulary.from_sentences(example.target for example in examples)
        vocabularies = {
            "source_vocabulary_size": len(self.english),
            "target_vocabulary_size": len(self.french),
        }
        generator = torch.Generator().manual_seed(seed)
        torch.manual_seed(seed)  # dropout draws from here
        config = TransformerConfig(**vocabularies, **(SIZES | {"norm": "pre", "dropout": 0.0} | choices))
        self.model = Transformer(config, generator=generator)
        take_taught_path(self.model)
        source_ids, target_ids = (F.pad(ids, (0, padding), value=PAD_ID) for ids in self.ids(examples))
        if empty_sources:
            source_ids[::100] = PAD_ID
        batch_size = LESSON["batch_size"]
        batches = draw_batches(source_ids, target_ids, batch_size=batch_size, generator=generator)
        loss = functools.partial(smoothed_loss, label_smoothing=label_smoothing)
        rate = LESSON["learning_rate"]
        self.losses = train(self.model, batches, steps=steps, learning_rate=rate, loss=loss)

    def ids(self, examples: Sequence[Example]) -> tuple[Tensor, Tensor]:
        """Return source and target ids."""
        source_ids = self.english.batch([example.source for example in examples])
        target_ids = self.french.batch([example.target for example in examples], add_special_tokens=True)
        return torch.from_numpy(source_ids), torch.from_numpy(target_ids)

    def exact_match(self, written: Sequence[Sequence[int]]) -> float:
        """Return the share of unseen sentences that are translated word for word."""
        pairs = zip(self.words(written), self.unseen, strict=True)
        return float(np.mean([words == example.target for words, example in pairs]))

    def words(self, written: Sequence[Sequence[int]]) -> list[tuple[str, ...]]:
        """Return the French words of token ids."""
        return [self.french.decode(ids) for ids in written]


def smoothed_loss(
    model: Transformer, source_ids: Tensor, target_ids: Tensor, *, label_smoothing: float
) -> Tensor:
    """Compute the teacher-forced loss with label smoothing."""
    decoder_input_ids, labels = shift_targets(target_ids)
    logits = model(source_ids, decoder_input_ids)
    return cross_entropy(logits, labels, PAD_ID, label_smoothing=label_smoothing)


def take_taught_path(model: Transformer) -> None:
    """Compute every attention by the taught code instead of PyTorch's kernel."""
    for module in model.modules():
        if isinstance(module, AttentionHeads):
            module.register_forward_pre_hook(
                lambda _, args, named: (args, named | {"need_weights": True}), with_kwargs=True
            )


@torch.no_grad()
def log_probabilities(model: Transformer, source_ids: Tensor, target_ids: Tensor) -> Tensor:
    """Return the log-probability of every label, (sentence, token); 0 for padding."""
    logits = model(source_ids, target_ids[:, :-1])
    wanted = target_ids[:, 1:, None]
    return logits.log_softmax(-1).gather(-1, wanted).masked_fill(wanted == PAD_ID, 0).squeeze(-1)


def mean_loss(model: Transformer, source_ids: Tensor, target_ids: Tensor) -> float:
    """Return the mean of −log p over the labels without padding."""
    told = log_probabilities(model, source_ids, target_ids)
    return float(-told.sum() / (target_ids[:, 1:] != PAD_ID).sum())


def lesson(seed: int, *, padding_in_test: int = 0, **options: Any) -> Probe:
    """Train, then translate unseen sentences."""
    own = Lesson(seed, **options)
    source_ids, target_ids = own.ids(own.unseen)
    longer = F.pad(source_ids, (0, padding_in_test), value=PAD_ID)
    marks = {"start_id": START_ID, "end_id": END_ID, "max_length": MAX_LENGTH}
    written, again = (greedy_decode(own.model, longer, **marks).tolist() for _ in range(2))
    return {
        "reported_loss": float(np.mean(own.losses[-LAST:])),
        "unseen_loss": mean_loss(own.model, longer, target_ids),
        "exact_match": own.exact_match(written),
        "same_twice": float(
            np.mean([a == b for a, b in zip(own.words(written), own.words(again), strict=True)])
        ),
        "parameters": sum(parameter.numel() for parameter in own.model.parameters()),
    }


def search(seed: int, *, steps: int = 110, **options: Any) -> Probe:
    """Train half as long, then search with four beams."""
    own = Lesson(seed, steps=steps)
    source_ids, _ = own.ids(own.unseen)
    marks = {"start_id": START_ID, "end_id": END_ID, "max_length": MAX_LENGTH}
    greedy = greedy_decode(own.model, source_ids, **marks).tolist()
    found = beam_search(own.model, source_ids, **marks, **({"beam_size": 4} | options))
    best = [list(hypotheses[0].ids) for hypotheses in found]
    padded = [[START_ID, *ids, *[PAD_ID] * (MAX_LENGTH - len(ids))] for ids in best]
    told = log_probabilities(own.model, source_ids, torch.tensor(padded)).sum(-1)
    claimed = torch.tensor([hypotheses[0].log_probability for hypotheses in found])
    return {
        "exact_match": own.exact_match(best),
        "greedy_exact_match": own.exact_match(greedy),
        "log_probability": float(told.mean()),
        "claimed_log_probability": float(claimed.mean()),
        "tokens": float(np.mean([len(ids) for ids in best])),
    }


def half(seed: int) -> Probe:
    """Train shortly, then compare attention weights in float16 and float32."""
    own = Lesson(seed, steps=20)
    source_ids, target_ids = own.ids(own.unseen)
    maps = []
    for dtype in (torch.float32, torch.float16):
        with torch.no_grad(), record_attention(own.model.to(dtype)) as weights_of:
            own.model(source_ids, target_ids[:, :-1])
        maps.append([weights.float() for weights in weights_of.values()])
    return {"largest_difference": max(float((a - b).abs().max()) for a, b in zip(*maps, strict=True))}


def run(seed: int, *, stop_at: int | None = None, dropout: float = 0.0, **settings: Any) -> Probe:
    """Train like `glassformer train`, with checkpoints; interrupt once after step ``stop_at``."""
    examples, unseen = make_corpus(np.random.default_rng(seed), **CORPUS)
    train_sentences, validation = (as_sentences(part) for part in (examples, unseen))
    corpus = Corpus("grammar", "en", "fr", "ours", train_sentences, validation, {"test": validation})
    sources, targets = train_sentences.pairs()
    tokenizer = Tokenizer.train([*sources, *targets], vocabulary_size=400)
    choices = TrainingSettings(**(RUN | KEPT | {"label_smoothing": 0.1, "seed": seed} | settings))

    def trainer(folder: Path) -> Trainer:
        config = TransformerConfig.tiny(tokenizer.vocabulary_size, norm="pre", dropout=dropout, **SIZES)
        model = Transformer(config, generator=torch.Generator().manual_seed(seed))
        return Trainer(Translator(model, tokenizer), corpus, choices, folder, progress_bar=False)

    with tempfile.TemporaryDirectory() as folder:
        if stop_at is not None:
            run_until(trainer(Path(folder)), stop_at)
        translator = trainer(Path(folder)).run()
        log = read_log(Path(folder) / "log.jsonl")
    losses = {entry["step"]: entry["loss"] for entry in log if "loss" in entry}
    told = [entry for entry in log if "validation_bleu" in entry][-1]
    translations = translator.translate(validation.sources, beam_size=1)
    right = [references[0] for references in validation.references]
    around = stop_at or choices.steps // 2
    return {
        "reported_loss": float(np.mean(list(losses.values())[-LAST:])),
        "reported_validation_loss": told["validation_loss"],
        "reported_bleu": told["validation_bleu"],
        "bleu": BLEU().corpus_score(translations, [right]).score,
        "exact_match": float(np.mean([a == b for a, b in zip(translations, right, strict=True)])),
        "jump": losses[around + 1] - losses[around],
        "unseen_loss": loss_of(translator, validation),
    }


def run_until(trainer: Trainer, stop_at: int) -> None:
    """Run the trainer and interrupt it after a step."""
    step = trainer._step

    def interrupted(group: Any) -> Any:
        if trainer.progress.step == stop_at:
            raise KeyboardInterrupt
        return step(group)

    trainer._step = interrupted  # type: ignore[method-assign]
    try:
        trainer.run()
    except KeyboardInterrupt:
        return


def as_sentences(examples: Sequence[Example]) -> Sentences:
    """Return examples as plain text."""
    return Sentences(
        tuple(join_words(example.source) for example in examples),
        tuple((join_words(example.target),) for example in examples),
    )


def loss_of(translator: Translator, sentences: Sentences) -> float:
    """Return a translator's mean loss per token."""
    sources, targets = (translator.tokenizer.encode(side) for side in sentences.pairs())
    return mean_loss(
        translator.model,
        stack([[*ids, END_ID] for ids in sources]),
        stack([[START_ID, *ids, END_ID] for ids in targets]),
    )


def stack(rows: Sequence[Sequence[int]]) -> Tensor:
    """Pad rows of ids to the longest."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD_ID] * (longest - len(row))] for row in rows])


PROBES = {"lesson": lesson, "search": search, "half": half, "run": run}


def ask(name: str, options: dict[str, Any], seed: int) -> dict[str, Any]:
    """Run a probe; replace non-finite numbers by None, and an error by its first line."""
    try:
        found = PROBES[name](seed, **options)
    except (RuntimeError, ValueError, ArithmeticError, IndexError) as error:
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    return {key: value if math.isfinite(value) else None for key, value in found.items()}
