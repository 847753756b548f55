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
        "The sinusoidal vectors of positions 5 and 9 have a certain dot product. Position 20 has the same "
        "dot product with one position before it. Which one?",
        answer=int(np.flatnonzero(_BEFORE_20)[0]),
        why="The dot product depends only on the distance, which is 4 here.",
        mistakes=(
            (
                24,
                "Position 24 has the same dot product with position 20, because it is equally far away. But "
                "it comes after position 20, not before it.",
            ),
            (11, "That is 9 positions before 20. What matters is the distance between 5 and 9."),
        ),
    ),
    OneOf(
        "positions-encoder",
        "An encoder of twelve layers has no positional encoding and no mask. Can “animal” get a different "
        "output in “the animal crossed the street” than in “the street crossed the animal”?",
        (
            wrong(
                "yes, from the second layer on",
                "That is true under a causal mask. Without a mask, no layer can tell the two orders apart.",
            ),
            wrong(
                "yes, thanks to the feed-forward networks",
                "A feed-forward network processes each word separately and does not know its position.",
            ),
            right("no", "Each layer is permutation equivariant, and so is a stack of such layers."),
            wrong("only after training", "Equivariance holds for any weights, trained or not."),
        ),
    ),
    OneOf(
        "positions-rotated-values",
        "Somebody rotates the values by their positions, too, like the queries and keys. What goes wrong?",
        (
            right(
                "the output changes when all words move by the same distance",
                "The scores still depend only on differences, but each value is rotated by its own position.",
            ),
            wrong(
                "scores no longer depend on differences alone",
                "Scores are computed from queries and keys. Values do not enter them.",
            ),
            wrong(
                "the values change their lengths",
                "A rotation keeps all lengths.",
            ),
            wrong(
                "nothing, because W_O can rotate them back",
                "W_O is the same for all positions, but each value was rotated by a different angle before "
                "the values were mixed.",
            ),
        ),
    ),
    OneOf(
        "positions-untrained-rows",
        "A table of learned positions has 64 rows, but no training sequence is longer than 16 words. Which "
        "question can such a model still answer for a sequence of 64 words?",
        (
            wrong(
                "which word comes just before the last one?",
                "Both words are at positions whose rows were never trained.",
            ),
            right("which word comes first?", "Row 0 was trained on every sequence."),
            wrong(
                "is the last word the same as the one before it?",
                "The model would have to recognise positions 62 and 63, which it has never seen.",
            ),
            wrong(
                "none of them, because the table ends at row 16",
                "The table has 64 rows. Those from row 16 on still have their initial random values.",
            ),
        ),
    ),
    Number(
        "positions-slope",
        "A head uses ALiBi with slope 1/2, and all its scores are equal before the bias is added. How many "
        "times as much weight does a word give to itself as to the word 4 positions before it?",
        answer=float(_BIASED[-1] / _BIASED[0]),
        why="The bias lowers the distant score by 4 · 1/2 = 2, and a difference of 2 between scores is a "
        "factor of e² between weights.",
        within=0.1,
        mistakes=(
            (2, "2 is the difference of the scores. The weights differ by a factor of e to that power."),
            (float(_BIASED[0] / _BIASED[-1]), "That is the distant weight divided by the near one."),
            (4, "4 is the distance. Multiply it by the slope, then apply the softmax."),
        ),
    ),
    OneOf(
        "positions-three-back",
        "A head should look three words back. Its keys are the sinusoidal vectors themselves, and hand i of "
        "the clock turns by ω per position. What must W_Q do to hand i of the query?",
        (
            wrong("turn it back by 3 radians", "Only the fastest hand turns by one radian per position."),
            wrong(
                "turn it back by 3ω times the position",
                "The same turn works at every position, so W_Q does not need to know the position.",
            ),
            right(
                "turn it back by 3ω",
                "Three positions earlier each hand was 3ω behind, whatever time it shows now.",
            ),
            wrong("turn it forward by 3ω", "Then the query matches the key three positions ahead."),
        ),
    ),
)
