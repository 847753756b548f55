"""Train a translator on a corpus, with validation, checkpointing, logging and resumption."""

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
    CHECKPOINTS_FOLDER,
    Progress,
    list_checkpoints,
    load_average,
    load_checkpoint,
    save_checkpoint,
)
from glassformer.training.log import RunLog
from glassformer.training.loss import chunked_cross_entropy
from glassformer.training.parallel import Workers
from glassformer.training.schedule import learning_rate_at
from glassformer.training.settings import TrainingSettings
from glassformer.translator import Translator


class DivergenceError(RuntimeError):
    """Raised when the loss is NaN or infinite."""


class Trainer:
    """Train a translator, or resume an interrupted run.

    Each step derives its random seed from the run's seed, the step and the rank. A resumed run therefore ends
    with the same weights as an uninterrupted one, bit for bit on the same CPU. Some GPU kernels sum in an
    order that varies from run to run.

    Args:
        translator: translator to train, with its model on the device to train on.
        corpus: corpus with training and validation sentences.
        settings: hyperparameters of the run.
        folder: existing folder for the checkpoints and the log.
        workers: processes that share each batch; by default, this process alone.
        progress_bar: True to show a progress bar; by default, only in a terminal.

    Raises:
        ValueError: the training or the validation set is empty, or a sentence is longer than ``max_tokens``.
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
        self.checkpoints = folder / CHECKPOINTS_FOLDER
        self.log = RunLog(folder / "log.jsonl")
        self.progress = Progress()
        shown = progress_bar if self.workers.is_main else False
        self.hide_bar = None if shown is None else not shown
        if settings.compile:
            self.model.encoder.compile(dynamic=True)
            self.model.decoder.compile(dynamic=True)

    def run(self) -> Translator:
        """Train until the last step, resuming from the most recent checkpoint if there is one.

        Returns:
            The translator, with the mean of the most recent checkpoints as its weights.

        Raises:
            DivergenceError: the loss of a step is not finite. Every checkpoint precedes that step.
            ValueError: a checkpoint is damaged or belongs to a different model.
        """
        self._resume()
        settings = self.settings
        if self.progress.step >= settings.steps:  # interrupted at the very end, or already complete
            return self._finish()
        window = _Window()
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
            window.add(loss, tokens)
            step = self.progress.step
            bar.update()
            log, validate, save = (
                step % interval == 0 or step == settings.steps
                for interval in (settings.log_every, settings.validate_every, settings.checkpoint_every)
            )
            if log or save:
                self._require_finite(window)
            if log:
                mean, speed = window.read()
                bar.set_postfix_str(f"loss {mean:.3f}, {speed:,.0f} tokens/s")
                self._write(loss=mean, learning_rate=rate, gradient_norm=norm.item(), tokens_per_second=speed)
            if validate:
                self._write(**self._validate())
            if save:
                self._save()
            if step == settings.steps:
                break
        bar.close()
        return self._finish()

    def _step(self, group: list[np.ndarray]) -> tuple[Tensor, int, Tensor, float]:
        """Update the weights; return the loss per token, number of tokens, gradient norm and learning rate.

        Loss and norm stay on the device: reading them here would make the CPU wait for the GPU at every step.
        """
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
        self.workers.all_reduce(loss)
        self.workers.all_reduce_gradients(self.model.parameters())
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), settings.clip_norm)
        self.optimizer.step()
        return loss, tokens, norm, rate

    def _loss(self, batch: Batch, label_smoothing: float) -> Tensor:
        """Sum the loss over the target tokens of a batch."""
        return chunked_cross_entropy(
            self.model,
            batch.source_ids.to(self.device),
            batch.target_ids.to(self.device),
            label_smoothing=label_smoothing,
        )

    @torch.no_grad()
    def _validate(self) -> dict[str, float]:
        """Compute the loss per token and the BLEU of greedy translations, on the validation sentences."""
        if not self.workers.is_main:
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
        """Yield each step's epoch, next batch position and micro-batches, without end: the caller stops."""
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
        if self.workers.is_main:
            done = self.progress
            self.log.write(step=done.step, epoch=done.epoch, seconds=round(done.seconds, 1), **entry)

    def _save(self) -> None:
        if self.workers.is_main:
            keep = self.settings.keep_checkpoints
            save_checkpoint(self.checkpoints, self.model, self.optimizer, self.progress, keep=keep)
        self.workers.barrier()

    def _resume(self) -> None:
        saved = list_checkpoints(self.checkpoints)
        if saved:
            self.progress = load_checkpoint(saved[-1], self.model, self.optimizer)
        self.workers.barrier()
        if self.workers.is_main and self.log.path.exists():
            self.log.truncate(self.progress.step)

    def _finish(self) -> Translator:
        load_average(self.model, list_checkpoints(self.checkpoints))
        self.model.eval()
        return self.translator

    def _require_finite(self, window: "_Window") -> None:
        losses = window.losses()
        for step, loss in enumerate(losses, start=self.progress.step - len(losses) + 1):
            if not math.isfinite(loss):
                raise DivergenceError(self._advice(step, loss))

    def _advice(self, step: int, loss: float) -> str:
        saved = list_checkpoints(self.checkpoints)
        last = f"the last checkpoint, {saved[-1]}, precedes it" if saved else "there is no checkpoint yet"
        settings = self.settings
        precision = ", or set precision to float32" if settings.precision == "bfloat16" else ""
        return (
            f"the loss is {loss} at step {step}; {last}. Lower learning_rate ({settings.learning_rate}) or "
            f"raise warmup_steps ({settings.warmup_steps}){precision}."
        )


class _Window:
    """Losses and numbers of tokens since the last log entry."""

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self._losses: list[Tensor] = []
        self._tokens: list[int] = []
        self._start = time.monotonic()

    def add(self, loss: Tensor, tokens: int) -> None:
        """Add a step's loss per token, which the device may still be computing, and its number of tokens."""
        self._losses.append(loss)
        self._tokens.append(tokens)

    def losses(self) -> list[float]:
        """Copy all losses from the device at once."""
        return torch.stack(self._losses).tolist() if self._losses else []

    def read(self) -> tuple[float, float]:
        """Return the mean loss per token and the tokens per second, and start a new window."""
        weighted = sum(loss * tokens for loss, tokens in zip(self.losses(), self._tokens, strict=True))
        total = sum(self._tokens)
        mean, speed = weighted / total, total / (time.monotonic() - self._start)
        self._restart()
        return mean, speed


def _make_optimizer(
    model: nn.Module, settings: TrainingSettings, device: torch.device
) -> torch.optim.Optimizer:
    optimizer = torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam
    return optimizer(
        model.parameters(),
        lr=settings.learning_rate,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        weight_decay=settings.weight_decay,
        fused=device.type in ("cpu", "cuda"),
    )
