"""Beam search over translations (Graves, 2012; Sutskever et al., 2014)."""

import math
from collections.abc import Callable, Collection
from functools import partial
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glassformer.decoding.cache import start_decoding
from glassformer.decoding.generate import COMPACTION_THRESHOLD, max_lengths
from glassformer.decoding.logits import forbid_tokens, require_finite, topk
from glassformer.modules.storage import AnyTranslator
from glassformer.validation import require_choice, require_positive_int

LengthPenalty = Literal["none", "average", "gnmt"]
_DEFAULT_ALPHA = {"none": 0.0, "average": 1.0, "gnmt": 0.6}


class Hypothesis(NamedTuple):
    """A hypothesis found by beam search, with its score.

    Attributes:
        ids: generated tokens, without the start token, with the end token if it was generated.
        log_probability: sum of the log-probabilities of the tokens.
        score: log-probability divided by the length penalty; higher is better.
        ended: False for a hypothesis cut off at the maximum length.
    """

    ids: tuple[int, ...]
    log_probability: float
    score: float
    ended: bool


@torch.no_grad()
def beam_search(
    model: AnyTranslator,
    source_ids: Int[Tensor, "batch source"],
    *,
    start_id: int,
    end_id: int,
    max_length: int | Int[Tensor, " batch"] | None = None,
    beam_size: int = 4,
    length_penalty: LengthPenalty = "gnmt",
    alpha: float | int | None = None,
    n_best: int = 1,
    forbidden_ids: Collection[int] = (),
    use_cache: bool = True,
) -> list[list[Hypothesis]]:
    """Search for the highest-scoring translations with beam search.

    Each step keeps the most probable continuations of all beams of a sentence, up to the beam size. A
    hypothesis that ends is set aside, and its sentence continues with one fewer beam. With one beam the
    search is greedy decoding; with as many beams as there are possible translations, it is exhaustive. A
    sentence finishes early only when no beam can still enter the ``n_best``: more tokens never raise the
    log-probability, and the length penalty is at most that of the maximum length.

    Args:
        model: model, in evaluation mode.
        source_ids: sentences to translate, padded with the pad id.
        start_id: id of the start-of-sequence token.
        end_id: id of the end-of-sequence token.
        max_length: maximum number of generated tokens, including the end token: one for all sentences, or one
            for each. By default, twice the source length plus 10, capped at the number of learned positions.
        beam_size: number of hypotheses kept per sentence.
        length_penalty: divisor of the log-probability of a hypothesis of n tokens, including the end token,
            which offsets the bias towards short translations: "gnmt" is ((5 + n) / 6)**alpha (Wu et al.,
            2016, section 7), "average" is n**alpha, and "none" is 1.
        alpha: exponent of the length penalty; by default 0.6 for "gnmt" (Vaswani et al., 2017, section 6.1)
            and 1 for "average".
        n_best: number of hypotheses returned per sentence.
        forbidden_ids: ids of tokens that are never generated; the pad id is always among them.
        use_cache: True to reuse the keys, values and states of earlier steps; False recomputes them at every
            step, which gives the same result but is slower.

    Returns:
        The hypotheses of each sentence, best first; those that ended come before those cut off at the maximum
        length. There are fewer than ``n_best`` only if the search found no more.

    Raises:
        ValueError: the model is in training mode, its logits are not finite, or an argument is invalid.
    """
    require_positive_int(beam_size=beam_size, n_best=n_best)
    if n_best > beam_size:
        raise ValueError(f"n_best must be at most beam_size ({beam_size}), got {n_best}")
    penalty = partial(compute_length_penalty, kind=length_penalty, alpha=alpha)
    limits = max_lengths(model, source_ids, max_length, start_id=start_id, end_id=end_id)
    longest = int(limits.max())
    decoding = start_decoding(model, source_ids, max_length=longest, beam_size=beam_size, use_cache=use_cache)
    beams = _Beams(limits, beam_size=beam_size, n_best=n_best, penalty=penalty, end_id=end_id)
    forbidden_ids = {model.config.pad_id, *forbidden_ids}
    last_ids = torch.full_like(source_ids[:, :1], start_id)
    for _ in range(longest):
        log_probs = decoding.step(last_ids).float().log_softmax(-1)
        parents, last_ids = beams.extend(forbid_tokens(log_probs, forbidden_ids))
        if not parents.shape[1]:
            break
        decoding.reorder(parents)
        if (rows := beams.drop_finished()) is not None:
            decoding.select_batch(rows)
            last_ids = last_ids[rows]
    return beams.best()


def compute_length_penalty(
    length: int | Int[Tensor, "..."], kind: LengthPenalty, alpha: float | int | None = None
) -> float | Float[Tensor, "..."]:
    """Compute the length penalty, which divides the log-probability of a hypothesis.

    Args:
        length: number of tokens of the hypothesis, including the end token.
        kind: formula, as ``length_penalty`` in `beam_search`.
        alpha: exponent, as in `beam_search`.

    Raises:
        ValueError: there is no such formula, or the exponent is negative or not finite.
    """
    require_choice(tuple(_DEFAULT_ALPHA), length_penalty=kind)
    if alpha is not None and not 0 <= alpha < math.inf:
        raise ValueError(f"alpha must be at least 0 and finite, got {alpha}")
    exponent = _DEFAULT_ALPHA[kind] if alpha is None or kind == "none" else float(alpha)
    return ((5 + length) / 6 if kind == "gnmt" else length) ** exponent


class _Beams:
    """The beams of all unfinished sentences, and the hypotheses set aside.

    Each row holds the beams of one sentence, most probable first. Rows with fewer beams than others are
    padded with beams of log-probability −∞.
    """

    def __init__(
        self,
        limits: Int[Tensor, " batch"],
        *,
        beam_size: int,
        n_best: int,
        penalty: Callable[..., Any],
        end_id: int,
    ) -> None:
        batch, device = len(limits), limits.device
        self._complete: list[list[Hypothesis]] = [[] for _ in range(batch)]
        self._n_best, self._penalty, self._end_id = n_best, penalty, end_id
        self._beam_size = beam_size
        self._limits = limits
        self._sentences = torch.arange(batch, device=device)
        self._ids = torch.empty(batch, 1, 0, dtype=torch.int64, device=device)
        self._log_probs = torch.zeros(batch, 1, device=device)
        self._room = torch.full((batch,), beam_size, device=device)  # beams not taken by ended hypotheses
        self._best_scores = torch.full((batch, n_best), -math.inf, device=device)

    def extend(
        self, log_probs: Float[Tensor, "rows beams vocabulary"]
    ) -> tuple[Int[Tensor, "rows new_beams"], Int[Tensor, "rows new_beams"]]:
        """Extend the beams by one token; return the parent and the token of each new beam."""
        total, parents, tokens = self._candidates(log_probs)
        self._ids = torch.cat([_take(self._ids, parents), tokens[..., None]], dim=-1)
        place = torch.arange(total.shape[1], device=total.device)
        kept = (place < self._room[:, None]) & (total > -math.inf)
        ended = kept & (tokens == self._end_id)
        at_limit = (self._limits[self._sentences] == self._ids.shape[-1])[:, None]
        goes_on = kept & ~ended & ~at_limit
        scores = total / self._penalty(torch.tensor(self._ids.shape[-1], device=total.device))
        self._set_aside(kept & ~goes_on, ended, total, scores)
        self._room = self._room - ended.sum(-1)
        scores = torch.cat([self._best_scores, scores.masked_fill(~ended, -math.inf)], dim=-1)
        self._best_scores = scores.topk(self._n_best).values
        goes_on &= ~self._is_decided(total.masked_fill(~goes_on, -math.inf))[:, None]
        return self._compact(goes_on, total, parents, tokens)

    def drop_finished(self) -> Int[Tensor, " selected"] | None:
        """Once enough sentences have finished, drop them and return the remaining rows; else return None."""
        alive = self._log_probs[:, 0] > -math.inf
        if int(alive.sum()) > (1 - COMPACTION_THRESHOLD) * len(alive):
            return None
        rows = alive.nonzero()[:, 0]
        self._sentences, self._ids = self._sentences[rows], self._ids[rows]
        self._log_probs, self._room = self._log_probs[rows], self._room[rows]
        self._best_scores = self._best_scores[rows]
        return rows

    def best(self) -> list[list[Hypothesis]]:
        """Return the n_best hypotheses of each sentence."""
        ranked = (sorted(found, key=lambda one: (-one.ended, -one.score)) for found in self._complete)
        return [found[: self._n_best] for found in ranked]

    def _candidates(self, log_probs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the log-probability, parent and token of the most probable continuations of each row."""
        count = min(self._beam_size, log_probs.shape[-1])
        values, ids = topk(log_probs, count)
        require_finite(values[..., 0][self._log_probs > -math.inf])
        total = (self._log_probs[..., None] + values).flatten(1)
        total, order = total.topk(min(self._beam_size, total.shape[1]))
        return total, order // count, ids.flatten(1).gather(1, order)

    def _is_decided(self, log_probs: Float[Tensor, "rows beams"]) -> Bool[Tensor, " rows"]:
        """Return True where no beam can still enter the n_best: see `beam_search`."""
        reachable = log_probs.amax(-1) / self._penalty(self._limits[self._sentences])
        return reachable <= self._best_scores[:, -1]

    def _set_aside(self, complete: Tensor, ended: Tensor, total: Tensor, scores: Tensor) -> None:
        rows, beams = complete.nonzero(as_tuple=True)
        columns = (self._sentences[rows], *(part[rows, beams] for part in (self._ids, total, scores, ended)))
        for sentence, ids, *rest in zip(*(column.tolist() for column in columns), strict=True):
            self._complete[sentence].append(Hypothesis(tuple(ids), *rest))

    def _compact(
        self, unfinished: Tensor, total: Tensor, parents: Tensor, tokens: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Move unfinished beams to the front and drop columns that contain none."""
        width = int(unfinished.sum(-1).max())
        front = unfinished.int().argsort(dim=-1, descending=True, stable=True)[:, :width]
        self._log_probs = total.masked_fill(~unfinished, -math.inf).gather(1, front)
        self._ids = _take(self._ids, front)
        return parents.gather(1, front), tokens.gather(1, front)


def _take(ids: Int[Tensor, "rows beams time"], beams: Int[Tensor, "rows new"]) -> Tensor:
    return ids.gather(1, beams[..., None].expand(-1, -1, ids.shape[-1]))
