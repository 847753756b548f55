"""Questions on multi-head attention."""

import numpy as np

from glassformer.reference.heads import multi_head_attention
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

_WORDS, _HEADS, _WIDTH = 12, 6, 24
_X = np.ones((_WORDS, _WIDTH))
_ROLES = ("query_weight", "key_weight", "value_weight", "output_weight")
_OUTPUT, _MAPS = multi_head_attention(
    _X, _X, _X, num_heads=_HEADS, **{role: np.eye(_WIDTH) for role in _ROLES}
)

QUESTIONS = (
    Number(
        "heads-maps",
        "A layer of 6 heads and width 24 reads 12 words. How many attention weights does it make in all?",
        answer=_MAPS.size,
        why="Each head has a table of its own, 12 × 12, whatever its width.",
        mistakes=(
            (_MAPS[0].size, "That is the table of one head. Each of the six has its own."),
            (_OUTPUT.size, "That is the size of the output. The weights are a table of words by words."),
            (
                _MAPS.shape[-1] * _HEADS,
                "Each of the 12 words has a row for each head, but a row has 12 weights.",
            ),
        ),
    ),
    OneOf(
        "heads-reshape",
        "Six words of 8 numbers are cut into 2 heads by `x.reshape(2, 6, 4)` alone. No error is raised. What "
        "does head 0 take for its six words?",
        (
            wrong(
                "the first 4 numbers of each word",
                "That is the right cut: it needs two axes to change places.",
            ),
            right(
                "the halves of the first three words", "A reshape keeps the order of the numbers in memory."
            ),
            wrong(
                "the first 4 words and half of the fifth", "Head 0 has 6 × 4 = 24 numbers: three words of 8."
            ),
            wrong("the first three words, twice each", "No number is copied by a reshape."),
        ),
    ),
    OneOf(
        "heads-average",
        "`nn.MultiheadAttention` returns the mean over two heads: “it” gives 0.5 to “animal” and 0.5 to "
        "“tired”. What do you know of head 0?",
        (
            wrong("it is undecided between the two", "Two sure heads with one word each have the same mean."),
            wrong("it looks at one of the two only", "Two heads that each look at both have the same mean."),
            wrong("it is not needed", "A map says where a head looks, not what is lost without it."),
            right("it looks at no other word", "The mean of two positive weights is 0 only if both are 0."),
        ),
    ),
    SeveralOf(
        "heads-off",
        "One of eight heads is switched off by setting what it hands over to zero, before W_O. What is true?",
        (
            right("the output loses one summand", "The output is a sum of one contribution for each head."),
            wrong(
                "the weights of the other heads rise, to sum to one",
                "Each head has a softmax of its own, whose row sums to one by itself.",
            ),
            right(
                "all numbers of a word’s output may change",
                "W_O spreads what each head hands over to all d_model numbers.",
            ),
            wrong(
                "only an eighth of a word’s numbers change",
                "So it would be without W_O. With it, heads write to all numbers.",
            ),
        ),
    ),
    OneOf(
        "heads-too-many",
        "At width 32, 32 heads answered four questions worse than 8 heads, with equally many parameters. "
        "Which reason did the chapter find?",
        (
            right(
                "one number lines all keys up, and only its two ends can win",
                "With d_k = 1 a score is a product of two numbers. With two numbers each key can "
                "be furthest.",
            ),
            wrong("32 tables of weights are too many to train", "The tables hold no parameters."),
            wrong(
                "each head sees only a part of the words",
                "Each head sees all words, and a part of their numbers.",
            ),
            wrong("four heads had no question left", "Spare heads did no harm: up to 16 all was well."),
        ),
    ),
    Number(
        "heads-mixture",
        "One head gives half of its weight to each of two pairs, each with one of five values. The two "
        "values can be read off the mixture, their order cannot. In which share of lists can both be named "
        "in the right order, at best?",
        answer=float(np.where(np.eye(5), 1, 0.5).mean()),
        why="One list in five has equal values and needs no order; of the others half are guessed.",
        within=0.01,
        mistakes=(
            (0.5, "That guesses each order. Equal values, one list in five, need no guess."),
            (1 / 5, "That is the share with equal values. Of the others half are guessed."),
        ),
    ),
)
