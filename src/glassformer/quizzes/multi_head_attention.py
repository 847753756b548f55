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
        "A layer with 6 heads and width 24 processes 12 words. How many attention weights does it compute?",
        answer=_MAPS.size,
        why="Each head has its own 12 × 12 table of weights, whatever its width.",
        mistakes=(
            (_MAPS[0].size, "That is the table of one head. Each of the six heads has its own."),
            (_OUTPUT.size, "That is the size of the output. A table of weights has words by words."),
            (
                _MAPS.shape[-1] * _HEADS,
                "That is one weight per word and head. But each word has a row of 12 weights in each head.",
            ),
        ),
    ),
    OneOf(
        "heads-reshape",
        "Six words of 8 numbers are split into 2 heads by `x.reshape(2, 6, 4)` alone. No error is raised. "
        "What does head 0 take for its six words?",
        (
            wrong(
                "the first 4 numbers of each word",
                "That is the correct split, which also needs a swap of two axes.",
            ),
            right(
                "the halves of the first three words",
                "A reshape keeps the order of the numbers in memory, so whole words are cut in half.",
            ),
            wrong(
                "the first 4 words and half of the fifth", "Head 0 has 6 × 4 = 24 numbers: three words of 8."
            ),
            wrong("the first three words, twice each", "A reshape copies no number."),
        ),
    ),
    OneOf(
        "heads-average",
        "`nn.MultiheadAttention` returns the mean over two heads: “it” gives 0.5 to “animal” and 0.5 to "
        "“tired”. What do you know about head 0?",
        (
            wrong(
                "it is undecided between the two",
                "Two heads that each put all their weight on one word have the same mean.",
            ),
            wrong(
                "it attends to only one of the two",
                "Two heads that each attend to both words have the same mean.",
            ),
            wrong("it is not needed", "A map shows where a head looks, not what would be lost without it."),
            right(
                "it attends to no other word",
                "Weights are never negative, so a mean of 0 needs a weight of 0 in both heads.",
            ),
        ),
    ),
    SeveralOf(
        "heads-off",
        "One of eight heads is switched off: its result is set to zero before W_O. What is true?",
        (
            right("the output loses one term", "The output is a sum with one term per head."),
            wrong(
                "the weights of the other heads rise, so that all weights sum to one",
                "Each head has its own softmax, whose rows sum to one by themselves.",
            ),
            right(
                "all numbers of a word’s output may change",
                "W_O spreads the result of each head over all d_model numbers.",
            ),
            wrong(
                "only an eighth of a word’s numbers change",
                "That would be true without W_O. With it, each head contributes to all numbers.",
            ),
        ),
    ),
    OneOf(
        "heads-too-many",
        "At width 32, 32 heads answered four questions worse than 8 heads did, with equally many parameters. "
        "What helped, in the chapter’s benchmark?",
        (
            right(
                "32 heads with two numbers each instead of one",
                "With one number per key, a head lines up all symbols and can favour only the two ends.",
            ),
            wrong(
                "four times the training",
                "It won back less than half of what was lost.",
            ),
            wrong(
                "fewer parameters",
                "All models of width 32 have 4,096 parameters, whatever their number of heads.",
            ),
            wrong(
                "a question for every head",
                "Spare heads did no harm: with 8 or 16 heads, all four questions were answered.",
            ),
        ),
    ),
    Number(
        "heads-mixture",
        "One head gives half of its weight to each of two pairs, each with one of five values. The "
        "mixture shows the two values, but not their order. In what share of lists can both be named "
        "in the right order, at best?",
        answer=float(np.where(np.eye(5), 1, 0.5).mean()),
        why="One list in five has equal values and needs no order. Half of the others are guessed right.",
        within=0.01,
        mistakes=(
            (0.5, "That guesses every order. One list in five has equal values and needs no guess."),
            (1 / 5, "That is the share with equal values. Of the others, half are guessed right."),
        ),
    ),
)
