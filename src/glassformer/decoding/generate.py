"""Generate translations token by token: greedy decoding, sampling, and the loop they share."""

import math
from collections.abc import Collection, Iterable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.data.vocabulary import END_ID, START_ID, Vocabulary
from glassformer.decoding.cache import start_decoding
from glassformer.decoding.logits import forbid_tokens, require_finite, topk
from glassformer.modules.storage import AnyTranslator
from glassformer.validation import require_positive_int, require_shape

# Share of the sentences that has finished from which removing them is worth a copy of the rest.
COMPACTION_THRESHOLD = 0.25


def greedy_decode(
    model: AnyTranslator,
    source_ids: Int[Tensor, "batch source"],
    *,
    start_id: int,
    end_id: int,
    max_length: int | Int[Tensor, " batch"] | None = None,
    forbidden_ids: Collection[int] = (),
    use_cache: bool = True,
) -> Int[Tensor, "batch time"]:
    """Translate by greedy decoding: append the most probable token until the end token.

    A sentence's translation does not depend on the other sentences of the batch, apart from rounding.

    Args:
        model: model, in evaluation mode.
        source_ids: sentences to translate, padded with the pad id.
        start_id: id of the start-of-sequence token.
        end_id: id of the end-of-sequence token.
        max_length: maximum number of generated tokens, including the end token: one for all sentences, or one
            for each. By default, twice the source length plus 10, capped at the number of learned positions.
        forbidden_ids: ids of tokens that are never generated; the pad id is always among them.
        use_cache: True to reuse the keys, values and states of earlier steps; False recomputes them at every
            step, which gives the same result but is slower.

    Returns:
        The generated tokens, without the start token, with the end token if it was generated, padded with the
        pad id to the longest in the batch.

    Raises:
        ValueError: the model is in training mode, its logits are not finite, or an argument is invalid.
    """
    return generate(
        model,
        source_ids,
        start_id=start_id,
        end_id=end_id,
        max_length=max_length,
        forbidden_ids=forbidden_ids,
        use_cache=use_cache,
    )


def sample(
    model: AnyTranslator,
    source_ids: Int[Tensor, "batch source"],
    *,
    start_id: int,
    end_id: int,
    generator: torch.Generator,
    max_length: int | Int[Tensor, " batch"] | None = None,
    temperature: float | int = 1.0,
    top_k: int | None = None,
    top_p: float | int = 1.0,
    forbidden_ids: Collection[int] = (),
    use_cache: bool = True,
) -> Int[Tensor, "batch time"]:
    """Translate by sampling each next token from the model's distribution.

    The arguments shared with `greedy_decode` are described there in full.

    Args:
        model: model, in evaluation mode.
        source_ids: sentences to translate, padded with the pad id.
        start_id: id of the start-of-sequence token.
        end_id: id of the end-of-sequence token.
        generator: random number generator, on the CPU, so that every device uses the same random numbers.
        max_length: maximum number of generated tokens.
        temperature: divisor of the logits: below 1 sharpens the distribution, above 1 flattens it, and 0 is
            greedy decoding.
        top_k: number of most probable tokens to sample from (Fan et al., 2018); all by default.
        top_p: cumulative-probability threshold: sample from the smallest set of most probable tokens that
            reaches it, after ``top_k`` filtering and renormalisation (Holtzman et al., 2020, section 3.1).
        forbidden_ids: ids of tokens that are never generated.
        use_cache: True to reuse the keys, values and states of earlier steps; False recomputes them at every
            step, which gives the same result but is slower.

    Returns:
        The generated tokens, as in `greedy_decode`.

    Raises:
        ValueError: the model is in training mode, its logits are not finite, or an argument is invalid.
    """
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be at least 0 and finite, got {temperature}")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    if top_k is not None:
        require_positive_int(top_k=top_k)
    if generator.device.type != "cpu":
        raise ValueError(f"generator must be on the CPU, got one on {generator.device}")
    return generate(
        model,
        source_ids,
        start_id=start_id,
        end_id=end_id,
        generator=generator,
        max_length=max_length,
        temperature=temperature,
        top_k=top_k,
        top_p=top_p,
        forbidden_ids=forbidden_ids,
        use_cache=use_cache,
    )


@torch.no_grad()
def generate(
    model: AnyTranslator,
    source_ids: Int[Tensor, "batch source"],
    *,
    start_id: int,
    end_id: int,
    max_length: int | Int[Tensor, " batch"] | None,
    forbidden_ids: Collection[int],
    use_cache: bool,
    generator: torch.Generator | None = None,
    temperature: float | int = 1.0,
    top_k: int | None = None,
    top_p: float | int = 1.0,
) -> Int[Tensor, "batch time"]:
    """Generate tokens until every sentence has ended or reached its maximum length.

    Tokens are sampled with a ``generator``, and chosen greedily without one. Arguments, result and errors are
    as in `sample`, but the sampling options are not checked.
    """
    limits = max_lengths(model, source_ids, max_length, start_id=start_id, end_id=end_id)
    longest, pad_id = int(limits.max()), model.config.pad_id
    decoding = start_decoding(model, source_ids, max_length=longest, use_cache=use_cache)
    generated = torch.full((len(source_ids), longest), pad_id, device=source_ids.device)
    sentences = torch.arange(len(source_ids), device=source_ids.device)
    last_ids = torch.full_like(sentences, start_id)
    unfinished = torch.ones_like(sentences, dtype=torch.bool)
    for time in range(longest):
        logits = forbid_tokens(decoding.step(last_ids[:, None])[:, 0], {pad_id, *forbidden_ids})
        if generator is None:
            last_ids = most_probable_tokens(logits)
        else:
            uniform = torch.rand(len(source_ids), generator=generator).to(logits.device)[sentences]
            last_ids = sample_tokens(logits, uniform, temperature=temperature, top_k=top_k, top_p=top_p)
        generated[sentences, time] = torch.where(unfinished, last_ids, pad_id)
        unfinished = unfinished & (last_ids != end_id) & (limits[sentences] > time + 1)
        left = int(unfinished.sum())
        if not left:
            return generated[:, : time + 1]
        if left <= (1 - COMPACTION_THRESHOLD) * len(sentences):
            rows = unfinished.nonzero()[:, 0]
            decoding.select_batch(rows)
            sentences, last_ids, unfinished = sentences[rows], last_ids[rows], unfinished[rows]
    return generated


def most_probable_tokens(logits: Float[Tensor, "rows vocabulary"]) -> Int[Tensor, " rows"]:
    """Return the most probable token of each row.

    Raises:
        ValueError: the highest logit of a row is not finite.
    """
    values, ids = topk(logits, 1)
    require_finite(values)
    return ids[:, 0]


def sample_tokens(
    logits: Float[Tensor, "rows vocabulary"],
    uniform: Float[Tensor, " rows"],
    *,
    temperature: float | int = 1.0,
    top_k: int | None = None,
    top_p: float | int = 1.0,
) -> Int[Tensor, " rows"]:
    """Sample a token from each row by inverting the cumulative distribution, most probable tokens first.

    Args:
        logits: logits of the next token.
        uniform: one random number per row, uniformly distributed in [0, 1).
        temperature: divisor of the logits, as in `sample`.
        top_k: number of most probable tokens to sample from; all by default.
        top_p: cumulative-probability threshold, as in `sample`.

    Raises:
        ValueError: the highest logit of a row is not finite.
    """
    size = logits.shape[-1]
    count = 1 if temperature == 0 else min(top_k or size, size)
    if count == 1:
        return most_probable_tokens(logits)
    values, ids = topk(logits.float(), count)
    require_finite(values[:, 0])
    probabilities = ((values - values[:, :1]) / temperature).softmax(-1)
    cumulative = probabilities.cumsum(-1)
    eligible = (cumulative - probabilities < top_p) & (probabilities > 0)
    last = eligible.sum(-1) - 1  # the most probable token is always eligible
    total = cumulative.gather(1, last[:, None])
    place = (cumulative <= uniform[:, None] * total).sum(-1).minimum(last)
    return ids.gather(1, place[:, None])[:, 0]


def translate(
    model: AnyTranslator,
    sentences: Sequence[Iterable[str]],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    max_length: int,
) -> list[tuple[str, ...]]:
    """Translate sentences, each a sequence of words, by greedy decoding.

    Args:
        model: model, in evaluation mode.
        sentences: source sentences, none of them empty.
        source_vocabulary: source vocabulary that the model was trained with.
        target_vocabulary: target vocabulary that the model was trained with.
        max_length: maximum number of tokens in a translation, including the end token.

    Returns:
        The words of each translation.

    Raises:
        ValueError: a sentence is empty, a word is not in the vocabulary, or another argument is invalid.
    """
    device = next(model.parameters()).device
    source_ids = torch.from_numpy(source_vocabulary.batch(sentences)).to(device)
    ids = greedy_decode(model, source_ids, start_id=START_ID, end_id=END_ID, max_length=max_length)
    return [target_vocabulary.decode(row) for row in ids.cpu().numpy()]


def default_max_length(source_ids: Int[Tensor, "batch source"], pad_id: int) -> Int[Tensor, " batch"]:
    """Compute the default maximum length of each translation: twice the source length plus 10.

    Padding does not count towards the source length.
    """
    return 2 * (source_ids != pad_id).sum(-1) + 10


def max_lengths(
    model: AnyTranslator,
    source_ids: Int[Tensor, "batch source"],
    max_length: int | Int[Tensor, " batch"] | None,
    *,
    start_id: int,
    end_id: int,
) -> Int[Tensor, " batch"]:
    """Check that a model can decode, and return the maximum length of each translation.

    Args:
        model: model to decode with.
        source_ids: sentences to translate, padded with the pad id.
        max_length: maximum number of generated tokens, for all sentences or for each; by default, that of
            `default_max_length`, capped at the number of learned positions.
        start_id: id of the start-of-sequence token.
        end_id: id of the end-of-sequence token.

    Raises:
        ValueError: the model is in training mode, in which dropout is active; a special token has the pad id;
            or a maximum length is below 1 or above the number of learned positions.
    """
    if model.training:
        raise ValueError("model must be in evaluation mode, got training mode: call model.eval() first")
    for name, id in (("start_id", start_id), ("end_id", end_id)):
        if id == model.config.pad_id:
            raise ValueError(f"{name} must differ from the pad id, got {id} for both")
    positions = model.config.max_positions
    if max_length is None:
        limits = default_max_length(source_ids, model.config.pad_id)
        return limits if positions is None else limits.clamp(max=positions)
    if isinstance(max_length, Tensor):
        require_shape((len(source_ids),), max_length=max_length)
        limits = max_length.to(source_ids.device)
        require_positive_int(max_length=int(limits.min()))
    else:
        require_positive_int(max_length=max_length)
        limits = torch.full((len(source_ids),), max_length, device=source_ids.device)
    if positions is not None and int(limits.max()) > positions:
        raise ValueError(
            f"max_length must be at most {positions}, the positions learned, got {int(limits.max())}"
        )
    return limits
