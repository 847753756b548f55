"""Questions on scaling the scores."""

import itertools

import numpy as np

from glassformer.reference.attention import attention_weights
from glassformer.reference.softmax import softmax
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

_D_K = 4
_SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=_D_K)))
_SCORES = (3 * _SIGNS) @ _SIGNS.T  # of all queries with entries ±3 and all keys with entries ±1
_QUERY = np.eye(1, 64)
_KEYS = np.array([[8.0], [0.0]]) * _QUERY

QUESTIONS = (
    Number(
        "scaling-divisor",
        "Queries and keys have 4 independent numbers of mean 0. Those of a query have variance 9, those of a "
        "key variance 1. By what must the scores be divided to have variance 1?",
        answer=float(_SCORES.std()),
        why="The variance of the dot product is 4 · 9 · 1 = 36, and its root is the size of a typical score.",
        mistakes=(
            (
                float(np.sqrt(_D_K)),
                "√d_k is right where all numbers have variance 1. Those of the query have 9.",
            ),
            (float(_SCORES.var()), "That is the variance. A number is divided by its standard deviation."),
            (float(_D_K), "d_k is the variance where all numbers have variance 1, and no root is taken."),
        ),
    ),
    OneOf(
        "scaling-symptom",
        "A fresh, untrained attention with d_k = 256 puts nearly all weight of each query on one key, "
        "another for each query. Which slip explains it?",
        (
            wrong("the scores were divided by d_k", "Then all scores are near 0, and all keys look alike."),
            wrong(
                "they were divided by √d_model, with 4 heads",
                "That is twice √d_k: a little blunter, not sharp.",
            ),
            right("they were not divided", "A typical score is then 16, and so are the differences."),
            wrong(
                "the softmax was taken twice",
                "The second one sees numbers from 0 to 1: it would be nearly even.",
            ),
        ),
    ),
    Number(
        "scaling-two-keys",
        "Two keys, d_k = 64. The dot products with the query are 8 and 0. How much weight does scaled "
        "attention give to the first key?",
        answer=float(attention_weights(_QUERY, _KEYS)[0, 0]),
        why="Divided by √64 the scores are 1 and 0, and e / (e + 1) = 0.73.",
        within=0.01,
        mistakes=(
            (float(softmax(np.array([8.0, 0.0]))[0]), "That is the weight without the division."),
            (float(softmax(np.array([8.0, 0.0]) / 64)[0]), "That is divided by d_k. It should be its root."),
        ),
    ),
    OneOf(
        "scaling-unit-vectors",
        "A model brings its queries and keys, 64 numbers each, to length 1, and divides their dot products "
        "by √64 = 8. How do the first weights over sixteen random keys look?",
        (
            right(
                "nearly even", "Dot products of unit vectors are about 1/8; divided by 8 they hardly differ."
            ),
            wrong(
                "well spread, neither even nor sharp",
                "So it is if each number has variance 1. Here it is 1/64.",
            ),
            wrong(
                "nearly all on one key", "No dot product of unit vectors is above 1, and then it is divided."
            ),
        ),
    ),
    SeveralOf(
        "scaling-absorbed",
        "By mistake a layer divides its scores by ten times too much. It is trained as usual. What is true?",
        (
            right(
                "W_Q and W_K can grow to make up for it",
                "A factor of √10 in each of the two matrices gives back the old scores.",
            ),
            wrong(
                "its weights can never become sharp",
                "Learned matrices can take on any size. It starts blunter and may learn more slowly.",
            ),
            wrong(
                "nothing changes, for a softmax ignores a common factor",
                "It ignores a common addend. A factor is a temperature.",
            ),
            right(
                "plain gradient descent suffers more than Adam",
                "The divisor shrinks the gradient, too, and Adam’s steps do not depend on its size.",
            ),
        ),
    ),
)
