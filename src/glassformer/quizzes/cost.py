"""Questions on the cost of attention."""

import numpy as np

from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

_LENGTHS = np.array([1.0, 3.0])

QUESTIONS = (
    Number(
        "cost-triple",
        "A text becomes three times as long. By what factor do the multiplications of attention grow, "
        "projections aside?",
        answer=float(np.square(_LENGTHS)[1] / np.square(_LENGTHS)[0]),
        why="Attention compares every word with every word, so the factor is 3² = 9.",
        mistakes=(
            (3, "That is the factor for a recurrent network, whose work grows with the length."),
            (6, "Both the scores and the mixing grow with the square, so the factor is the square of 3."),
        ),
    ),
    OneOf(
        "cost-equal-work",
        "Vectors have width 64. When does attention without projections multiply less than an Elman network?",
        (
            right(
                "for texts of fewer than 64 words", "2 T² d is smaller than 2 T d² if T is smaller than d."
            ),
            wrong(
                "for texts of more than 64 words",
                "There the square of the length wins, and attention multiplies more.",
            ),
            wrong("for all texts", "Its work grows with the square of the length."),
            wrong(
                "for no text",
                "For short texts, comparing all words is cheaper than the matrices of a recurrent network.",
            ),
        ),
    ),
    SeveralOf(
        "cost-constant-time",
        'What is true of the phrase that attention looks anywhere "in constant time"?',
        (
            right(
                "For a known text, the number of sequential operations does not depend on its length.",
                "No position waits for another.",
            ),
            wrong(
                "The number of multiplications does not depend on the length.", "It grows with the square."
            ),
            wrong(
                "The memory of all weights does not depend on the length.",
                "There is a weight for each pair of words.",
            ),
            right("The path between any two words has length 1.", "Every output reads every word directly."),
        ),
    ),
    OneOf(
        "cost-fused",
        "A fused routine computes attention block by block. What does it save?",
        (
            right(
                "memory",
                "It never stores all weights at once. It is also faster on long texts, where obtaining "
                "memory for all weights takes time.",
            ),
            wrong(
                "multiplications",
                "It still computes a score for every pair, and in training some of them twice.",
            ),
            wrong("parameters", "Attention itself has none, and the projections stay the same."),
            wrong("nothing", "At 8,192 words it used a few megabytes where the explicit path used hundreds."),
        ),
    ),
    OneOf(
        "cost-mask",
        "You pass a causal mask to attention as an array. What happened to the time in our measurement?",
        (
            wrong("It halved.", "That would need a routine that skips the forbidden pairs."),
            right(
                "It grew.",
                "All scores are computed, and then the mask has to be read and applied. PyTorch's own "
                "routine took 1.1 to 1.8 times as long, and our package up to 2.3 times.",
            ),
            wrong("It stayed the same.", "The mask itself has to be read and applied."),
        ),
    ),
    OneOf(
        "cost-lstm",
        "On one CPU thread, when was an LSTM faster than attention in the benchmark?",
        (
            wrong("never", "At 2,048 words it was faster in every setting."),
            wrong("always", "At 16 words attention was faster in every setting."),
            wrong(
                "for short texts", "There attention does less work, and all of it in a few large operations."
            ),
            right("for long texts", "The work of attention grows with the square of the length."),
        ),
    ),
)
