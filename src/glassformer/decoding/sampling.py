"""Write a translation by chance, each token as often as the model finds it likely."""

import math
from collections.abc import Collection

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.decoding.cache import AnyTranslator
from glassformer.decoding.choosing import require_numbers, top_tokens
from glassformer.decoding.writing import write
from glassformer.validation import require_whole


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
    cached: bool = True,
) -> Int[Tensor, "batch time"]:
    """Let the model write, and draw each next token from what it finds likely.

    Args:
        model: what writes, in evaluation mode.
        source_ids: the sentences to translate, filled up with the pad id.
        start_id: what stands before the first token.
        end_id: what the model writes when it is done.
        generator: where chance comes from, on the CPU, so that every device draws alike.
        max_length: as in `decoding.greedy.greedy_decode`.
        temperature: what logits are divided by: below 1 the likely becomes likelier; at 0 the likeliest is
            always taken, as in greedy decoding; above 1 all tokens become more alike.
        top_k: how many of the likeliest tokens there are to draw from (Fan et al., 2018); all without it.
        top_p: the least probability that the tokens to draw from have together: the smallest set of the
            likeliest that reaches it, of what ``top_k`` leaves (Holtzman et al., 2020, section 3.1).
        forbidden_ids: what it may not write, beside the pad id, which it never does.
        cached: False computes everything again at every step: the same, but slow.

    Returns:
        As `decoding.greedy.greedy_decode`.

    Raises:
        ValueError: the model is in training mode, its logits are not finite, or an argument does not fit.
    """
    if not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be at least 0 and finite, got {temperature}")
    if not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, got {top_p}")
    if top_k is not None:
        require_whole(top_k=top_k)
    if generator.device.type != "cpu":
        raise ValueError(f"generator must be on the CPU, got one on {generator.device}")
    batch = len(source_ids)

    def draw(logits: Tensor, sentences: Tensor) -> Tensor:
        luck = torch.rand(batch, generator=generator).to(logits.device)[sentences]
        return draw_tokens(logits, luck, temperature=temperature, top_k=top_k, top_p=top_p)

    return write(
        model,
        source_ids,
        draw,
        start_id=start_id,
        end_id=end_id,
        max_length=max_length,
        forbidden_ids=forbidden_ids,
        cached=cached,
    )


def draw_tokens(
    logits: Float[Tensor, "rows vocabulary"],
    luck: Float[Tensor, " rows"],
    *,
    temperature: float | int = 1.0,
    top_k: int | None = None,
    top_p: float | int = 1.0,
) -> Int[Tensor, " rows"]:
    """Draw a token from each row: lay the tokens end to end, the likeliest first, and see where luck falls.

    Args:
        logits: what the model says.
        luck: a number from 0 up to 1 for each row.
        temperature: as in `sample`.
        top_k: as in `sample`.
        top_p: as in `sample`.

    Raises:
        ValueError: the highest of a row is not finite.
    """
    size = logits.shape[-1]
    count = 1 if temperature == 0 else min(top_k or size, size)
    values, ids = top_tokens(logits.float(), count)
    require_numbers(values[:, 0])
    if count == 1:
        return ids[:, 0]
    probabilities = ((values - values[:, :1]) / temperature).softmax(-1)
    up_to_here = probabilities.cumsum(-1)
    eligible = (up_to_here - probabilities < top_p) & (probabilities > 0)
    last = eligible.sum(-1) - 1  # the likeliest is always eligible
    reach = up_to_here.gather(1, last[:, None])
    place = (up_to_here <= luck[:, None] * reach).sum(-1).minimum(last)
    return ids.gather(1, place[:, None])[:, 0]
