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
        "Queries and keys have 4 independent components with mean 0. Those of the query have variance 9, "
        "those of the key have variance 1. By what number must the scores be divided to have variance 1?",
        answer=float(_SCORES.std()),
        why="The variance of the dot product is 4 · 9 · 1 = 36. Divide by its root, the standard deviation.",
        mistakes=(
            (
                float(np.sqrt(_D_K)),
                "√d_k is right if all components have variance 1. Those of the query have variance 9.",
            ),
            (
                float(_SCORES.var()),
                "That is the variance of the scores. Divide by its root, the standard deviation.",
            ),
            (
                float(_D_K),
                "d_k is the variance of the scores if all components have variance 1. Here it is larger, and "
                "the divisor is its root.",
            ),
        ),
    ),
    OneOf(
        "scaling-symptom",
        "A freshly initialised attention layer with d_k = 256 puts nearly all the weight of each query on "
        "one key, and different queries pick different keys. Which mistake explains it?",
        (
            wrong(
                "the scores were divided by d_k",
                "Then all scores would be near 0, and all keys would get nearly the same weight.",
            ),
            wrong(
                "they were divided by √d_model, with 4 heads",
                "That is twice √d_k, which makes the weights more even, not less.",
            ),
            right(
                "they were not divided",
                "A typical score then has size √256 = 16, and the softmax is saturated.",
            ),
            wrong(
                "the softmax was taken twice",
                "The second softmax sees numbers between 0 and 1, so its weights are nearly even.",
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
            (float(softmax(np.array([8.0, 0.0]))[0]), "That is the weight without the divisor."),
            (float(softmax(np.array([8.0, 0.0]) / 64)[0]), "You divided by d_k. The divisor is its root."),
        ),
    ),
    OneOf(
        "scaling-unit-vectors",
        "A model brings its queries and keys, with 64 components each, to length 1 and divides their dot "
        "products by √64 = 8. What do the weights over sixteen random keys look like before training?",
        (
            right(
                "nearly even",
                "Dot products of these unit vectors have size 1/8. Divided by 8, they hardly differ.",
            ),
            wrong(
                "neither even nor sharp",
                "That is so if each component has variance 1. Here the variance is 1/64.",
            ),
            wrong(
                "nearly all on one key",
                "No dot product of unit vectors is above 1, even before the division.",
            ),
        ),
    ),
    SeveralOf(
        "scaling-absorbed",
        "By mistake a layer divides its scores by a number that is ten times too large. It is trained at the "
        "usual learning rate. Which statements are true?",
        (
            right(
                "W_Q and W_K can grow to make up for it",
                "A factor of √10 in each of the two matrices restores the old scores.",
            ),
            wrong(
                "its weights can never become sharp",
                "Learned matrices can take any size. The layer starts with more even weights, and may need "
                "longer to sharpen them.",
            ),
            wrong(
                "nothing changes, because the softmax ignores a common factor",
                "The softmax ignores a number that is added to all scores. A factor changes the weights.",
            ),
            right(
                "plain gradient descent suffers more than Adam",
                "For SGD it amounts to a learning rate ten times smaller for W_Q and W_K, for Adam only √10 "
                "times smaller.",
            ),
        ),
    ),
)
