"""Questions on positional encodings."""

import numpy as np

from glassformer.reference.positions import alibi, sinusoidal_positions
from glassformer.reference.softmax import softmax
from glassformer.widgets.questions import Number, OneOf, right, wrong

_POSITIONS = sinusoidal_positions(30, 64)
_PRODUCTS = _POSITIONS @ _POSITIONS.T
_BEFORE_20 = np.isclose(_PRODUCTS[20, :20], _PRODUCTS[5, 9])
_BIASED = softmax(alibi(5, 5, 8))[0, -1]  # weights of the last of five words in the first of 8 heads

QUESTIONS = (
    Number(
        "positions-same-product",
        "With sinusoids, places 5 and 9 have a certain dot product. Place 20 has the same one with a place "
        "before it. With which?",
        answer=int(np.flatnonzero(_BEFORE_20)[0]),
        why="The dot product depends on the distance alone, here 4.",
        mistakes=(
            (
                24,
                "It is equally far from 20, and has that product, too: there is no direction. "
                "But it stands behind.",
            ),
            (11, "That is 9 before 20. What counts is how far 5 and 9 lie apart."),
        ),
    ),
    OneOf(
        "positions-encoder",
        "An encoder of twelve layers has no positions and no mask. Can “animal” end with another vector in "
        "“the animal crossed the street” than in “the street crossed the animal”?",
        (
            wrong(
                "yes, from the second layer on",
                "So it is under a causal mask. Without one no layer knows the order.",
            ),
            wrong(
                "yes, thanks to the feed-forward networks",
                "They see one word at a time, and not where it stands.",
            ),
            right("no", "Shuffled words give shuffled outputs, and that holds for a stack of layers, too."),
            wrong("only after training", "It holds for all weights, however they came about."),
        ),
    ),
    OneOf(
        "positions-rotated-values",
        "Somebody rotates not only queries and keys but the values, too. What goes wrong?",
        (
            right(
                "outputs change when the whole sentence moves on",
                "Scores still depend on differences alone, but each value is turned by its own place.",
            ),
            wrong(
                "scores no longer depend on differences alone",
                "Scores are made of queries and keys. Values have no part in them.",
            ),
            wrong(
                "the values lose their lengths",
                "A rotation changes no length.",
            ),
            wrong(
                "nothing, for W_O turns them back",
                "W_O is one matrix for all places; each place was turned by another angle, and then mixed.",
            ),
        ),
    ),
    OneOf(
        "positions-untrained-rows",
        "Learned positions have a table of 64 rows. All sequences in training have up to 16 words. Which "
        "question may such a model still answer on 64 words?",
        (
            wrong(
                "which word stands before the last?", "The places of both are rows that were never trained."
            ),
            right("which word stands first?", "The first row was trained in each sequence."),
            wrong("is the last word the same as the one before?", "It would have to find places 62 and 63."),
            wrong(
                "none: the table ends at 16",
                "The table has 64 rows; those from 16 on are as they were drawn.",
            ),
        ),
    ),
    Number(
        "positions-slope",
        "A head has a linear bias of slope 1/2, and all its scores are equal before the bias. How many "
        "times as much weight does a word give to itself as to the word 4 places back?",
        answer=float(_BIASED[-1] / _BIASED[0]),
        why="The bias takes 4 · 1/2 = 2 from the farther score, and a lead of 2 means odds of e².",
        within=0.1,
        mistakes=(
            (2, "2 is the lead of the nearer score. The odds are e to its power."),
            (float(_BIASED[0] / _BIASED[-1]), "That is the far word’s weight in terms of the near one’s."),
            (4, "The distance is 4, but it is multiplied by the slope, and then the softmax follows."),
        ),
    ),
    OneOf(
        "positions-three-back",
        "A head is to look three words back. Its keys are the sinusoids as they are, and hand i of the clock "
        "turns by ω a word. What must W_Q do to that hand of the query?",
        (
            wrong("turn it back by 3 radians", "Only the fastest hand turns by one radian a word."),
            wrong(
                "turn it back by ω times three times the place",
                "One turn serves all places: it needs no place.",
            ),
            right(
                "turn it back by 3ω", "Three words back each hand stood 3ω earlier, wherever it stands now."
            ),
            wrong("turn it on by 3ω", "Then it meets the key three words ahead."),
        ),
    ),
)
