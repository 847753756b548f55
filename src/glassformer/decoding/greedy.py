"""Write a translation word by word, always the likeliest next one."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from glassformer.data.vocabulary import END_ID, START_ID, Vocabulary
from glassformer.modules.transformer import Transformer
from glassformer.validation import require_whole


@torch.no_grad()
def greedy_decode(
    model: Transformer,
    source_ids: Int[Tensor, "batch source"],
    *,
    start_id: int,
    end_id: int,
    max_length: int,
) -> Int[Tensor, "batch time"]:
    """Let the model write: it is given what it wrote so far, and its likeliest next token is added.

    A sentence does not depend on those beside it in the batch.

    Args:
        model: what writes, in evaluation mode.
        source_ids: the sentences to translate, filled up with the pad id.
        start_id: what stands before the first token.
        end_id: what the model writes when it is done.
        max_length: how many tokens it may write at most, the end among them.

    Returns:
        What was written, without the start, with the end if it came, then filled up with the pad id; as
        wide as the longest needs.

    Raises:
        ValueError: the model is in training mode, where dropout would garble what it writes, or an argument
            does not fit.
    """
    require_whole(max_length=max_length)
    if model.training:
        raise ValueError("model must be in evaluation mode, got training mode: call model.eval() first")
    memory, memory_mask = model.encode(source_ids)
    written = torch.full_like(source_ids[:, :1], start_id)
    ended = torch.zeros_like(written[:, 0], dtype=torch.bool)
    while written.shape[1] <= max_length and not ended.all():
        logits = model.decode(written, memory, memory_mask)
        next_ids = logits[:, -1].argmax(-1).masked_fill(ended, model.config.pad_id)
        written = torch.cat([written, next_ids[:, None]], dim=1)
        ended = ended | (next_ids == end_id)
    return written[:, 1:]


def translate(
    model: Transformer,
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
