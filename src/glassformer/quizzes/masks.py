"""Questions on masks."""

import numpy as np

from glassformer.reference.attention import attention_weights
from glassformer.reference.masks import causal_mask, padding_mask
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

_PADDING = padding_mask(np.array([5, 6, 7, 8, 9, 0, 0]), 0)[0]


def _num_weights(words: int) -> int:
    """Count the weights of causal attention, including the zeros."""
    x = np.ones((words, 1))
    return attention_weights(x, x, causal_mask(words)).size


QUESTIONS = (
    OneOf(
        "masks-which-move",
        "Six words go through one layer of causal self-attention. You replace the third word by another. "
        "Which outputs may change?",
        (
            wrong("the first to the third", "That is the mask turned round: these would be looking ahead."),
            wrong("the fourth to the sixth", "The third looks at itself, too, and asks with another query."),
            right("the third to the sixth", "These are the queries that may look at the third word."),
            wrong("all six", "So it is without a mask. The first two may not look at the third word."),
        ),
    ),
    Number(
        "masks-joined",
        "A sentence of 5 words is filled up with 2 paddings, so that there are 7 positions. Causal and "
        "padding mask are joined with `&`. How many of the 49 pairs of a query and a key are allowed?",
        answer=int((causal_mask(7) & _PADDING).sum()),
        why="The first five rows allow 1, 2, 3, 4 and 5 keys; the two rows of padding allow 5 words each.",
        mistakes=(
            (int(causal_mask(7).sum()), "That is the causal mask alone: nobody may look at padding either."),
            (
                int(causal_mask(5).sum()),
                "Padding may not be looked at, but it asks: its rows are there, too.",
            ),
            (
                int(np.tile(_PADDING, (7, 1)).sum()),
                "That is the padding mask alone: nobody may look ahead either.",
            ),
        ),
    ),
    SeveralOf(
        "masks-polarity",
        "`may_look` is a causal mask of booleans in this book’s convention, `ids` holds some padding in each "
        "row. Which calls forbid just what they should?",
        (
            right(
                "`F.scaled_dot_product_attention(q, k, v, attn_mask=may_look)`",
                "To the function True means may look, as in this book.",
            ),
            wrong(
                "`F.scaled_dot_product_attention(q, k, v, attn_mask=may_look.float())`",
                "Floats are added to the scores: what is forbidden scores 1 less, and keeps a good share.",
            ),
            right(
                "`module(q, k, v, attn_mask=~may_look)`, an `nn.MultiheadAttention`",
                "To the module True means may not look, so the mask is turned round.",
            ),
            wrong(
                "`module(q, k, v, key_padding_mask=ids != pad_id)`",
                "To the module True means padding: the words would look at nothing but padding.",
            ),
        ),
    ),
    OneOf(
        "masks-empty-row",
        "One of 64 sentences in a batch is nothing but padding, and its rows of weights come out as NaN. The "
        "loss does not read this sentence. What is spoilt after one step of training?",
        (
            wrong(
                "nothing, for the loss does not read it", "Zero times NaN is NaN: the gradient carries it on."
            ),
            wrong(
                "the outputs of this sentence",
                "Forwards that is so. Backwards its gradient is added to all others.",
            ),
            wrong("a 64th of each weight", "A sum with one NaN in it is NaN, not a little wrong."),
            right("all weights of the projections", "All sentences share them, so one NaN enters each sum."),
        ),
    ),
    Number(
        "masks-four-times",
        "Attention under a causal mask returns its weights. The sentence becomes four times as long. How "
        "many times as many numbers do the weights of a head take?",
        answer=_num_weights(40) / _num_weights(10),
        why="The table has a row for each query and a column for each key, the forbidden ones with zeros.",
        mistakes=(
            (4, "Four times as many queries, and each has four times as many keys."),
            (
                8,
                "The mask forbids nearly half of all pairs, before and after. It saves no row and no column.",
            ),
        ),
    ),
    OneOf(
        "masks-hidden-key",
        "No query may look at a certain key. What gradient do this key and its value get?",
        (
            right("exactly zero", "Its weight is zero in each row, and each gradient is multiplied by it."),
            wrong(
                "a small one, which fades in training", "Zero times any finite number is zero, in each digit."
            ),
            wrong("NaN, since its score is −∞", "A score of −∞ has a weight of 0 and a gradient of 0."),
            wrong("that of a key without a mask", "What is hidden forwards is hidden backwards, too."),
        ),
    ),
)
