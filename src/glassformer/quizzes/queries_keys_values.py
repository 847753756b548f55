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
        "1,000 before the softmax. What is handed over?",
        answer=float(softmax(1000 * _TWO_AHEAD) @ _VALUES),
        why="Sharpened, the third key drops out, but the tie stays: half of 10 and half of 20.",
        within=0.1,
        mistakes=(
            (float(_VALUES[0]), "A dictionary would have to pick one of the two. A softmax shares alike."),
            (float(_VALUES[1]), "A dictionary would have to pick one of the two. A softmax shares alike."),
            (float(_VALUES.mean()), "That is the plain mean: a sharpness of 0, not of 1,000."),
            (float(softmax(_TWO_AHEAD) @ _VALUES), "That is the look-up without the factor of 1,000."),
        ),
    ),
    OneOf(
        "queries-shape",
        "Four queries of 8 numbers look at nine keys of 8 numbers, which have values of 5 numbers. Which "
        "shape has what is handed over?",
        (
            wrong("4 × 9", "That is the grid of weights: a row for each query, a column for each key."),
            wrong("9 × 5", "Those are the values. Those who ask get an answer, not those who are asked."),
            wrong("4 × 8", "Queries and keys are 8 wide. What is mixed are the values."),
            right("4 × 5", "There is a row for each query, as wide as a value."),
        ),
    ),
    OneOf(
        "queries-columns",
        "In a grid of weights, rows for queries, the columns sum to one and the rows do not. What happened?",
        (
            wrong(
                "the scores were not divided by √d_k",
                "Then the weights are sharper. Each row sums to one still.",
            ),
            right(
                "the softmax went over the queries",
                "It must share out each query’s attention among the keys.",
            ),
            wrong(
                "queries and keys share one matrix", "Then scores are symmetric. Each row is still divided."
            ),
            wrong("the values are too large", "The weights are made before any value is touched."),
        ),
    ),
    SeveralOf(
        "queries-shared",
        "One matrix makes both queries and keys, another the values. What is true for any sentence?",
        (
            right("the scores are symmetric", "The score of a and b is one dot product, whoever asks."),
            wrong("the weights are symmetric", "Each row is divided by a sum of its own."),
            right(
                "three words cannot each give the next one of their ring more than half",
                "Around a ring the geometric mean of the weights is at most one third, whatever the matrix.",
            ),
            wrong(
                "each word looks most at itself",
                "A longer vector in the same direction scores higher. Only of the longest word "
                "is it certain.",
            ),
        ),
    ),
    OneOf(
        "queries-soft",
        "Why does a model that learns not simply take the value of the best key?",
        (
            wrong("the best key is dear to find", "It takes the same scores, and no softmax: it is cheaper."),
            right(
                "its answer has no gradient to learn from",
                "Move a key a little, and nothing changes until the answer jumps.",
            ),
            wrong(
                "then the weights would not sum to one", "They would: one key has the weight 1, all others 0."
            ),
            wrong(
                "two keys may score alike",
                "That is rare, and one could toss a coin. It would still not learn.",
            ),
        ),
    ),
    OneOf(
        "queries-bandwidth",
        "Noisy points are the dictionary of a kernel regression. You try bandwidths and take the one that "
        "errs least on these same points, none of them hidden. Which one wins?",
        (
            wrong("the one that fits the curve behind the noise", "The measure has never seen that curve."),
            wrong("the widest", "Each point is then answered by the mean of all, whatever its own value."),
            right("the narrowest", "Each point answers for itself with its own value, noise and all."),
            wrong(
                "all alike",
                "The wider, the more the neighbours have a say, and the answer moves off the point.",
            ),
        ),
    ),
)
