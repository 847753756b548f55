"""Beam search: follow the likeliest few translations side by side (Graves, 2012; Sutskever et al., 2014)."""

import math
from collections.abc import Collection
from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glassformer.decoding.cache import AnyTranslator, start_cache
from glassformer.decoding.choosing import forbid_tokens, require_numbers, top_tokens
from glassformer.decoding.limits import length_limits
from glassformer.decoding.writing import ENOUGH_ENDED
from glassformer.validation import require_choice, require_whole

LengthPenalty = Literal["none", "average", "paper"]
_USUAL_ALPHA = {"none": 0.0, "average": 1.0, "paper": 0.6}


class Hypothesis(NamedTuple):
    """One translation that the search found.

    Attributes:
        ids: what was written, without the start, with the end if it came.
        log_probability: the sum of the logarithms that the model gave its tokens.
        score: what hypotheses are ranked by: log_probability / penalty(length).
        ended: whether the end came before the greatest length.
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
    length_penalty: LengthPenalty = "paper",
    alpha: float | int | None = None,
    num_best: int = 1,
    forbidden_ids: Collection[int] = (),
    cached: bool = True,
) -> list[list[Hypothesis]]:
    """Search for the translations of highest score, beyond the likeliest next token.

    At each step, the likeliest continuations of all beams of a sentence are kept, as many as the beam size;
    one that ends is set aside and leaves one beam less to follow. So the search comes to an end by itself:
    with one beam it is greedy decoding, with as many beams as there are sentences it is exhaustive. It stops
    before only where nothing that is still followed could enter the ``num_best``: more tokens never raise
    log-probability, and the penalty is at most that of the greatest length.

    Args:
        model: what writes, in evaluation mode.
        source_ids: the sentences to translate, filled up with the pad id.
        start_id: what stands before the first token.
        end_id: what the model writes when it is done.
        max_length: how many tokens it may write at most, the end among them: one number for all sentences,
            or one for each. Without it, twice as many as the source has and 10 more.
        beam_size: how many translations of a sentence are followed at once.
        length_penalty: what log-probabilities are divided by, since they fall with each of the n tokens, the
            end among them: "paper" is ((5 + n) / 6)**alpha (Wu et al., 2016, section 7), "average" n**alpha,
            "none" 1.
        alpha: how strongly; without it, 0.6 for "paper" (Vaswani et al., 2017, section 6.1), 1 for "average".
        num_best: how many hypotheses are returned for a sentence.
        forbidden_ids: what it may not write, beside the pad id, which it never does.
        cached: False computes everything again at every step: the same, but slow.

    Returns:
        For each sentence its hypotheses, the best first; those that ended come before those that were cut
        at the greatest length. There are less than ``num_best`` only if the search met no more.

    Raises:
        ValueError: the model is in training mode, its logits are not finite, or an argument does not fit.
    """
    require_whole(beam_size=beam_size, num_best=num_best)
    if num_best > beam_size:
        raise ValueError(f"num_best must be at most beam_size ({beam_size}), got {num_best}")
    penalty = _Penalty(length_penalty, alpha)
    limits = length_limits(model, source_ids, max_length, start_id=start_id, end_id=end_id)
    longest = int(limits.max())
    cache = start_cache(model, source_ids, max_length=longest, beam_size=beam_size, cached=cached)
    search = _Search(limits, beam_size=beam_size, num_best=num_best, penalty=penalty, end_id=end_id)
    forbidden_ids = {model.config.pad_id, *forbidden_ids}
    last_ids = torch.full_like(source_ids[:, :1], start_id)
    for _ in range(longest):
        log_probs = cache.step(last_ids).float().log_softmax(-1)
        parents, last_ids = search.extend(forbid_tokens(log_probs, forbidden_ids))
        if not parents.shape[1]:
            break
        cache.reorder(parents)
        if (kept := search.drop_finished()) is not None:
            cache.keep(kept)
            last_ids = last_ids[kept]
    return search.best()


class _Penalty:
    """What the log-probability of a hypothesis is divided by: it never falls with the length."""

    def __init__(self, kind: LengthPenalty, alpha: float | int | None) -> None:
        require_choice(tuple(_USUAL_ALPHA), length_penalty=kind)
        self.kind = kind
        self.alpha = _USUAL_ALPHA[kind] if alpha is None else float(alpha)
        if not 0 <= self.alpha < math.inf:
            raise ValueError(f"alpha must be at least 0 and finite, got {alpha}")

    def __call__(self, length: Int[Tensor, "..."]) -> Float[Tensor, "..."]:
        match self.kind:
            case "none":
                return torch.ones_like(length, dtype=torch.float32)
            case "average":
                return length.float() ** self.alpha
            case "paper":
                return ((5 + length.float()) / 6) ** self.alpha


class _Search:
    """The hypotheses of all sentences that are still followed, and those that are complete.

    Row by row, the sentences still followed; column by column, their beams, the likeliest first. A beam of
    log-probability −∞ is none: it fills up a row that has less than others.
    """

    def __init__(
        self, limits: Int[Tensor, " batch"], *, beam_size: int, num_best: int, penalty: _Penalty, end_id: int
    ) -> None:
        batch, device = len(limits), limits.device
        self._complete: list[list[Hypothesis]] = [[] for _ in range(batch)]
        self._num_best, self._penalty, self._end_id = num_best, penalty, end_id
        self._beam_size = beam_size
        self._limits = limits
        self._sentences = torch.arange(batch, device=device)
        self._ids = torch.empty(batch, 1, 0, dtype=torch.int64, device=device)
        self._log_probs = torch.zeros(batch, 1, device=device)
        self._room = torch.full((batch,), beam_size, device=device)  # beams not taken by what has ended
        self._best_scores = torch.full((batch, num_best), -math.inf, device=device)

    def extend(
        self, log_probs: Float[Tensor, "rows beams vocabulary"]
    ) -> tuple[Int[Tensor, "rows new_beams"], Int[Tensor, "rows new_beams"]]:
        """Add a token to the beams: which beam each new one continues, and with what."""
        total, parents, tokens = self._candidates(log_probs)
        self._ids = torch.cat([_take(self._ids, parents), tokens[..., None]], dim=-1)
        place = torch.arange(total.shape[1], device=total.device)
        chosen = (place < self._room[:, None]) & (total > -math.inf)
        ended = chosen & (tokens == self._end_id)
        at_limit = (self._limits[self._sentences] == self._ids.shape[-1])[:, None]
        follows = chosen & ~ended & ~at_limit
        scores = total / self._penalty(torch.tensor(self._ids.shape[-1], device=total.device))
        self._set_aside(chosen & ~follows, ended, total, scores)
        self._room = self._room - ended.sum(-1)
        rivals = torch.cat([self._best_scores, scores.masked_fill(~ended, -math.inf)], dim=-1)
        self._best_scores = rivals.topk(self._num_best).values
        follows &= ~self._is_decided(total.masked_fill(~follows, -math.inf))[:, None]
        return self._compact(follows, total, parents, tokens)

    def drop_finished(self) -> Int[Tensor, " kept"] | None:
        """Forget sentences of which nothing is followed, if they are many: the rows that stay, or None."""
        alive = self._log_probs[:, 0] > -math.inf
        if int(alive.sum()) > (1 - ENOUGH_ENDED) * len(alive):
            return None
        kept = alive.nonzero()[:, 0]
        self._sentences, self._ids, self._log_probs = (
            self._sentences[kept],
            self._ids[kept],
            self._log_probs[kept],
        )
        self._room, self._best_scores = self._room[kept], self._best_scores[kept]
        return kept

    def best(self) -> list[list[Hypothesis]]:
        """Return the best hypotheses of each sentence."""
        ranked = (sorted(found, key=lambda one: (-one.ended, -one.score)) for found in self._complete)
        return [found[: self._num_best] for found in ranked]

    def _candidates(self, log_probs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the likeliest continuations of each row: log-probability, parent, and token."""
        count = min(self._beam_size, log_probs.shape[-1])
        values, ids = top_tokens(log_probs, count)
        require_numbers(values[..., 0][self._log_probs > -math.inf])
        total = (self._log_probs[..., None] + values).flatten(1)
        total, order = total.topk(min(self._beam_size, total.shape[1]))
        return total, order // count, ids.flatten(1).gather(1, order)

    def _is_decided(self, followed: Float[Tensor, "rows beams"]) -> Bool[Tensor, " rows"]:
        """Say whether no beam can still reach a score among the best: see `beam_search`."""
        reachable = followed.amax(-1) / self._penalty(self._limits[self._sentences])
        return reachable <= self._best_scores[:, -1]

    def _set_aside(self, complete: Tensor, ended: Tensor, total: Tensor, scores: Tensor) -> None:
        rows, beams = complete.nonzero(as_tuple=True)
        facts = (self._sentences[rows], *(fact[rows, beams] for fact in (self._ids, total, scores, ended)))
        for sentence, ids, *rest in zip(*(fact.tolist() for fact in facts), strict=True):
            self._complete[sentence].append(Hypothesis(tuple(ids), *rest))

    def _compact(
        self, follows: Tensor, total: Tensor, parents: Tensor, tokens: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Move the beams to follow to the front, and leave out columns without any."""
        width = int(follows.sum(-1).max())
        front = follows.int().argsort(dim=-1, descending=True, stable=True)[:, :width]
        self._log_probs = total.masked_fill(~follows, -math.inf).gather(1, front)
        self._ids = _take(self._ids, front)
        return parents.gather(1, front), tokens.gather(1, front)


def _take(ids: Int[Tensor, "rows beams time"], beams: Int[Tensor, "rows new"]) -> Tensor:
    return ids.gather(1, beams[..., None].expand(-1, -1, ids.shape[-1]))
