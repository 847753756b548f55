"""Write a translation word by word, always the likeliest next one."""

from collections.abc import Collection, Iterable, Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassformer.data.vocabulary import END_ID, START_ID, Vocabulary
from glassformer.decoding.cache import AnyTranslator
from glassformer.decoding.choosing import require_numbers, top_tokens
from glassformer.decoding.writing import write


def greedy_decode(
    model: AnyTranslator,
    source_ids: Int[Tensor, "batch source"],
    *,
    start_id: int,
    end_id: int,
    max_length: int | Int[Tensor, " batch"] | None = None,
    forbidden_ids: Collection[int] = (),
    cached: bool = True,
) -> Int[Tensor, "batch time"]:
    """Let the model write: it is given what it wrote so far, and its likeliest next token is added.

    A sentence does not depend on those beside it in the batch.

    Args:
        model: what writes, in evaluation mode.
        source_ids: the sentences to translate, filled up with the pad id.
        start_id: what stands before the first token.
        end_id: what the model writes when it is done.
        max_length: how many tokens it may write at most, the end among them: one number for all sentences,
            or one for each. Without it, twice as many as the source has and 10 more.
        forbidden_ids: what it may not write, beside the pad id, which it never does.
        cached: False computes everything again at every step: the same, but slow.

    Returns:
        What was written, without the start, with the end if it came, then filled up with the pad id; as
        wide as the longest needs.

    Raises:
        ValueError: the model is in training mode, where dropout would garble what it writes; its logits are
            not finite; or an argument does not fit.
    """
    return write(
        model,
        source_ids,
        _likeliest,
        start_id=start_id,
        end_id=end_id,
        max_length=max_length,
        forbidden_ids=forbidden_ids,
        cached=cached,
    )


def translate(
    model: AnyTranslator,
    sentences: Sequence[Iterable[str]],
    source_vocabulary: Vocabulary,
    target_vocabulary: Vocabulary,
    *,
    max_length: int,
) -> list[tuple[str, ...]]:
    """Translate sentences, words in and words out.

    Args:
        model: what translates, in evaluation mode.
        sentences: the words of each sentence.
        source_vocabulary: the words the model can read.
        target_vocabulary: the words it can write.
        max_length: how many words it may write at most, the end among them.

    Raises:
        ValueError: a word is not in the vocabulary, or an argument does not fit.
    """
    device = next(model.parameters()).device
    source_ids = torch.from_numpy(source_vocabulary.batch(sentences)).to(device)
    written = greedy_decode(model, source_ids, start_id=START_ID, end_id=END_ID, max_length=max_length)
    return [target_vocabulary.decode(row) for row in written.cpu().numpy()]


def _likeliest(
    logits: Float[Tensor, "rows vocabulary"], sentences: Int[Tensor, " rows"]
) -> Int[Tensor, " rows"]:
    highest, ids = top_tokens(logits, 1)
    require_numbers(highest)
    return ids[:, 0]
