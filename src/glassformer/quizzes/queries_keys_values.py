"""Questions on queries, keys and values."""

import numpy as np

from glassformer.reference.softmax import softmax
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

_VALUES = np.array([10.0, 20.0, 90.0])
_TWO_AHEAD = np.array([2.0, 2.0, 1.0])

QUESTIONS = (
    Number(
        "queries-tie",
        "Two keys score 2 and a third scores 1. Their values are 10, 20 and 90. All scores are multiplied by "
        "1,000 before the softmax. What does the look-up return?",
        answer=float(softmax(1000 * _TWO_AHEAD) @ _VALUES),
        why="The third key’s weight becomes practically 0, but the tie stays: half of 10 plus half of 20.",
        within=0.1,
        mistakes=(
            (
                float(_VALUES[0]),
                "A hard look-up would have to pick one of the two. Equal scores get equal weights.",
            ),
            (
                float(_VALUES[1]),
                "A hard look-up would have to pick one of the two. Equal scores get equal weights.",
            ),
            (float(_VALUES.mean()), "That is the plain mean, which you get at a sharpness of 0."),
            (float(softmax(_TWO_AHEAD) @ _VALUES), "You left out the factor of 1,000."),
        ),
    ),
    OneOf(
        "queries-shape",
        "Four queries of 8 numbers attend to nine keys of 8 numbers, whose values have 5 numbers each. What "
        "is the shape of the attended values?",
        (
            wrong("4 × 9", "That is the grid of weights: one row per query, one column per key."),
            wrong("9 × 5", "That is the shape of the values. There is one answer per query, not per key."),
            wrong("4 × 8", "Queries and keys have 8 numbers, but the values are mixed, and they have 5."),
            right("4 × 5", "There is one row per query, and each row is as wide as a value."),
        ),
    ),
    OneOf(
        "queries-columns",
        "In a grid of weights with one row per query, the columns sum to one and the rows do not. What "
        "happened?",
        (
            wrong(
                "the scores were not divided by √d_k",
                "That makes the weights sharper, but each row still sums to one.",
            ),
            right(
                "the softmax was taken over the queries",
                "It has to be taken over the keys, so that each query’s weights sum to one.",
            ),
            wrong(
                "queries and keys share one matrix",
                "That makes the scores symmetric, but each row is still divided by its sum.",
            ),
            wrong("the values are too large", "The weights are computed before any value is used."),
        ),
    ),
    SeveralOf(
        "queries-shared",
        "One matrix makes both queries and keys, and another one makes the values. What is true for every "
        "sentence?",
        (
            right("the scores are symmetric", "a·b = b·a: both scores are the same dot product."),
            wrong("the weights are symmetric", "Each row is divided by its own sum, and the sums differ."),
            right(
                "three words in a ring cannot all give more than half of their attention to the next one",
                "On a ring the geometric mean of these weights is at most one third, for any matrix.",
            ),
            wrong(
                "each word attends most to itself",
                "A longer vector in the same direction scores higher. Only the word with the longest vector "
                "is certain to score highest with itself.",
            ),
        ),
    ),
    OneOf(
        "queries-soft",
        "Why does attention not simply return the value of the best key?",
        (
            wrong(
                "finding the best key is too slow",
                "It needs the same scores and no softmax, so it is faster.",
            ),
            right(
                "queries and keys would get no gradient to learn from",
                "Move a key a little, and the output stays the same until it jumps.",
            ),
            wrong(
                "the weights would not sum to one", "They would: one key has weight 1, and all others have 0."
            ),
            wrong(
                "two keys may have the same score",
                "That is rare, and picking either would do. It still could not be trained.",
            ),
        ),
    ),
    OneOf(
        "queries-bandwidth",
        "You fit noisy points, no two at the same place, by kernel regression. You try several bandwidths "
        "and keep the one with the smallest error on these same points, without hiding any of them. Which "
        "one wins?",
        (
            wrong(
                "the one closest to the curve behind the noise",
                "The error is measured at the noisy points, so the curve plays no part in it.",
            ),
            wrong("the widest", "Every estimate is then close to the mean of all values."),
            right("the narrowest", "Each point then predicts itself with its own value, noise included."),
            wrong(
                "they are all equally good",
                "The wider the bandwidth, the more the neighbours pull the estimate away from the point.",
            ),
        ),
    ),
)
