"""Questions on masks."""

import numpy as np

from glassformer.reference.masks import causal_mask, padding_mask
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

_PADDING = padding_mask(np.array([5, 6, 7, 8, 9, 0, 0]), 0)[0]

QUESTIONS = (
    OneOf(
        "masks-which-move",
        "Six words go through one layer of causal self-attention. You replace the third word. Which outputs "
        "may change?",
        (
            wrong(
                "the first to the third", "For that, the first and second word would have to see the future."
            ),
            wrong("the fourth to the sixth", "The third word attends to itself, and its query changes too."),
            right("the third to the sixth", "These are the queries that may attend to the third word."),
            wrong(
                "all six", "That is so without a mask. Here the first two may not attend to the third word."
            ),
        ),
    ),
    Number(
        "masks-joined",
        "A sentence of 5 words is padded to 7 positions, and the causal and the padding mask are combined "
        "with `&`. How many of the 49 pairs of a query and a key are allowed?",
        answer=int((causal_mask(7) & _PADDING).sum()),
        why="The first five rows allow 1, 2, 3, 4 and 5 keys. The two rows of padding allow 5 words each.",
        mistakes=(
            (
                int(causal_mask(7).sum()),
                "That is the causal mask alone. No query may attend to padding either.",
            ),
            (
                int(causal_mask(5).sum()),
                "No query may attend to padding, but padded positions are queries too and have rows.",
            ),
            (
                int(np.tile(_PADDING, (7, 1)).sum()),
                "That is the padding mask alone. No query may attend to a later position either.",
            ),
        ),
    ),
    SeveralOf(
        "masks-polarity",
        "`may_attend` is a causal mask of booleans in this book’s convention, and every row of `ids` ends in "
        "padding. Which calls forbid exactly what they should?",
        (
            right(
                "`F.scaled_dot_product_attention(q, k, v, attn_mask=may_attend)`",
                "To the function, True means may attend, as in this book.",
            ),
            wrong(
                "`F.scaled_dot_product_attention(q, k, v, attn_mask=may_attend.float())`",
                "Floats are added to the scores: 1 if allowed, 0 if forbidden. Nothing is hidden.",
            ),
            right(
                "`module(q, k, v, attn_mask=~may_attend)`, an `nn.MultiheadAttention`",
                "To the module, True means may not attend, so the mask has to be inverted.",
            ),
            wrong(
                "`module(q, k, v, key_padding_mask=ids != pad_id)`",
                "To the module, True marks padding: inverted, every query attends only to padding.",
            ),
        ),
    ),
    OneOf(
        "masks-empty-row",
        "One of 64 sentences in a batch is nothing but padding, and its attention weights are NaN. The loss "
        "does not read this sentence. What does one training step turn into NaN?",
        (
            wrong(
                "nothing, because the loss does not read it",
                "Its outputs get a gradient of zero, but zero times NaN is NaN.",
            ),
            wrong(
                "only the outputs of this sentence",
                "So it is in the forward pass. In the backward pass its gradient is added to all others.",
            ),
            wrong("a 64th of each weight", "A sum with one NaN in it is NaN, not slightly wrong."),
            right(
                "all query, key and value weights",
                "All sentences share them, so NaN enters the gradient of every weight.",
            ),
        ),
    ),
    OneOf(
        "masks-not-square",
        "14 French queries attend to 11 English keys, and somebody passes `is_causal=True` to "
        "`F.scaled_dot_product_attention`. What happens?",
        (
            right(
                "It runs, and the first French word sees one English word.",
                "The triangle starts at the top left, and nothing checks that it makes sense.",
            ),
            wrong(
                "It raises an error, because a causal mask is square.",
                "A square mask would. But `is_causal` cuts a triangle from any table, without an error.",
            ),
            wrong(
                "It runs, and the last French word sees only the last English word.",
                "The last French rows lie below the triangle, so they see all eleven words.",
            ),
            wrong(
                "It runs, and the option has no effect in cross-attention.",
                "The function cannot know: it hides every key whose number is above the query’s.",
            ),
        ),
    ),
)
