"""A whole run: a corpus goes in, a trained translator comes out, and nothing is lost on the way."""

import math
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

from glassformer.data.batching import Batch, TokenBatches, shard
from glassformer.data.corpora import Corpus, Sentences
from glassformer.metrics import bleu
from glassformer.runtime import mix_seed
from glassformer.training.checkpoints import (
    Progress,
    average_weights,
    list_checkpoints,
    load_checkpoint,
    save_checkpoint,
)
from glassformer.training.log import RunLog
from glassformer.training.loss import chunked_loss
from glassformer.training.parallel import Workers
from glassformer.training.schedule import learning_rate_at
from glassformer.training.settings import TrainingSettings
from glassformer.translator import Translator


class DivergenceError(RuntimeError):
    """The loss is no number any more."""


class Trainer:
    """Train a translator in a folder; start it again with the same arguments, and it goes on.

    Chance is drawn anew for each step from the seed, the step and the worker, so that a run that was killed
    and goes on comes to the same weights as one that was not, bit for bit on one machine.

    Args:
        translator: the model and its tokenizer, the model on the device to train on.
        corpus: what it learns from, and is validated on.
        settings: how the run goes.
        folder: where checkpoints, log and the trained translator are written.
        workers: the processes that share the work.
        progress_bar: whether to draw one; without a word, only on a terminal.
    """

    def __init__(
        self,
        translator: Translator,
        corpus: Corpus,
        settings: TrainingSettings,
        folder: Path,
        *,
        workers: Workers | None = None,
        progress_bar: bool | None = None,
    ) -> None:
        self.translator, self.settings, self.folder = translator, settings, folder
        self.workers = workers or Workers()
        self.model = translator.model
        self.device = next(self.model.parameters()).device
        self.validation = corpus.validation
        self.batches = self._batches(corpus.train)
        self.validation_batches = self._batches(corpus.validation)
        self.optimizer = _make_optimizer(self.model, settings, self.device)
        self.checkpoints = folder / "checkpoints"
        self.log = RunLog(folder / "log.jsonl")
        self.progress = Progress()
        self.hide_bar = {True: False, False: True, None: None}[progress_bar if self.workers.leads else False]
        if settings.compile:
            self.model.encoder.compile(dynamic=True)
            self.model.decoder.compile(dynamic=True)

    def run(self) -> Translator:
        """Train to the end, from the last checkpoint if there is one, and save the translator.

        Returns:
            The translator with the mean of the last checkpoints as its weights, which is what is saved.

        Raises:
            DivergenceError: the loss is not finite. Nothing of that step is kept.
        """
        self._resume()
        settings = self.settings
        if self.progress.step == settings.steps:  # it was killed at its very end, or is started once more
            return self._finish()
        measured = _Window()
        started = time.monotonic() - self.progress.seconds
        bar = tqdm(
            total=settings.steps, initial=self.progress.step, unit="step", disable=self.hide_bar, leave=False
        )
        self.model.train()
        for epoch, position, group in self._groups():
            loss, tokens, norm, rate = self._step(group)
            done = self.progress
            self.progress = Progress(
                done.step + 1, epoch, position, done.tokens + tokens, time.monotonic() - started
            )
            measured.add(loss, tokens)
            step = self.progress.step
            bar.update()
            if step % settings.log_every == 0 or step == settings.steps:
                mean, speed = measured.read()
                bar.set_postfix_str(f"loss {mean:.3f}, {speed:,.0f} tokens/s")
                self._write(loss=mean, learning_rate=rate, gradient_norm=norm, tokens_per_second=speed)
            if step % settings.validate_every == 0 or step == settings.steps:
                self._write(**self._validate())
            if step % settings.checkpoint_every == 0 or step == settings.steps:
                self._save()
            if step == settings.steps:
                break
        bar.close()
        return self._finish()

    def _step(self, group: list[np.ndarray]) -> tuple[float, int, float, float]:
        """Correct the weights once: loss per token, tokens, length of the gradient, learning rate."""
        settings, step = self.settings, self.progress.step + 1
        torch.manual_seed(mix_seed(settings.seed, step, self.workers.rank))
        rate = learning_rate_at(
            step,
            peak=settings.learning_rate,
            warmup_steps=settings.warmup_steps,
            total_steps=settings.steps,
            schedule=settings.schedule,
        )
        for options in self.optimizer.param_groups:
            options["lr"] = rate
        self.optimizer.zero_grad()
        tokens = sum(self.batches.num_labels(indices) for indices in group)
        loss = torch.zeros((), device=self.device)
        for indices in group:
            mine = shard(indices, self.workers.rank, self.workers.size)
            if len(mine):
                with self._precision():
                    part = self._loss(self.batches.collate(mine), settings.label_smoothing) / tokens
                part.backward()  # type: ignore[no-untyped-call]
                loss += part.detach()
        self.workers.sum(loss)
        self.workers.sum_gradients(self.model.parameters())
        if not math.isfinite(loss.item()):
            raise DivergenceError(self._advice(step, loss.item()))
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip_norm)
        self.optimizer.step()
        return loss.item(), tokens, norm.item(), rate

    def _loss(self, batch: Batch, label_smoothing: float) -> Tensor:
        """Sum of the loss over the wanted tokens of a batch."""
        return chunked_loss(
            self.model,
            batch.source_ids.to(self.device),
            batch.target_ids.to(self.device),
            label_smoothing=label_smoothing,
        )

    @torch.no_grad()
    def _validate(self) -> dict[str, float]:
        """Loss a token and BLEU of greedy translations on the validation sentences."""
        if not self.workers.leads:
            return {}
        self.model.eval()
        total, tokens = 0.0, 0
        for indices in self.validation_batches.epoch(0):
            total += self._loss(self.validation_batches.collate(indices), 0.0).item()
            tokens += self.validation_batches.num_labels(indices)
        translations = self.translator.translate(self.validation.sources, beam_size=1)
        self.model.train()
        score = bleu(translations, self.validation.references)
        return {"validation_loss": total / tokens, "validation_bleu": score.value}

    def _groups(self) -> Iterator[tuple[int, int, list[np.ndarray]]]:
        """What each step from here on reads, with the epoch and the place in it that come after."""
        epoch, first, size = self.progress.epoch, self.progress.batch, self.settings.accumulation_steps
        while True:
            planned = self.batches.epoch(epoch)
            for start in range(first, len(planned), size):
                yield epoch, start + size, planned[start : start + size]
            epoch, first = epoch + 1, 0

    def _batches(self, sentences: Sentences) -> TokenBatches:
        sources, targets = map(self.translator.tokenizer.encode, sentences.pairs())
        return TokenBatches(sources, targets, max_tokens=self.settings.max_tokens, seed=self.settings.seed)

    def _precision(self) -> Any:
        if self.settings.precision == "bfloat16":
            return torch.autocast(self.device.type, torch.bfloat16)
        return nullcontext()

    def _write(self, **entry: float) -> None:
        if self.workers.leads:
            done = self.progress
            self.log.write(step=done.step, epoch=done.epoch, seconds=round(done.seconds, 1), **entry)

    def _save(self) -> None:
        if self.workers.leads:
            keep = self.settings.keep_checkpoints
            save_checkpoint(self.checkpoints, self.model, self.optimizer, self.progress, keep=keep)
        self.workers.wait()

    def _resume(self) -> None:
        there = list_checkpoints(self.checkpoints)
        if there:
            self.progress = load_checkpoint(there[-1], self.model, self.optimizer)
        self.workers.wait()
        if self.workers.leads and self.log.path.exists():
            self.log.rewind(self.progress.step)

    def _finish(self) -> Translator:
        self.model.load_state_dict(average_weights(list_checkpoints(self.checkpoints)), strict=False)
        self.model.eval()
        if self.workers.leads:
            self.translator.save(self.folder / "translator")
        return self.translator

    def _advice(self, step: int, loss: float) -> str:
        there = list_checkpoints(self.checkpoints)
        kept = f"the last checkpoint, {there[-1]}, is whole" if there else "there is no checkpoint yet"
        return (
            f"the loss is {loss} at step {step}; {kept}. Lower learning_rate "
            f"({self.settings.learning_rate}), lengthen warmup_steps ({self.settings.warmup_steps}), or use "
            f"float32 instead of {self.settings.precision} if it is not."
        )


class _Window:
    """What was measured since it was last read."""

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self.loss, self.tokens, self.since = 0.0, 0, time.monotonic()

    def add(self, loss: float, tokens: int) -> None:
        self.loss += loss * tokens
        self.tokens += tokens

    def read(self) -> tuple[float, float]:
        """Mean loss a token and tokens a second."""
        mean, speed = self.loss / self.tokens, self.tokens / (time.monotonic() - self.since)
        self._restart()
        return mean, speed


def _make_optimizer(
    model: nn.Module, settings: TrainingSettings, device: torch.device
) -> torch.optim.Optimizer:
    kind = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    return kind(
        model.parameters(),
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
        fused=device.type in ("cpu", "cuda"),
    )
