"""Questions on vectors, derivatives and training."""

import numpy as np

from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

_A, _B = np.array([2.0, -1.0, 3.0]), np.array([1.0, 4.0, 2.0])
_SQUARED = np.array([5.0**2, 0.0, 0.0])  # (5x)², highest power first

QUESTIONS = (
    Number(
        "begin-dot",
        "What is the dot product of (2, −1, 3) and (1, 4, 2)?",
        answer=float(_A @ _B),
        why="2 · 1 − 1 · 4 + 3 · 2 = 4.",
        mistakes=(
            (float(np.abs(_A) @ _B), "The second product is negative: −1 · 4 = −4."),
            (
                float(_A.sum() * _B.sum()),
                "Multiply component by component first, and then add up the products.",
            ),
        ),
    ),
    OneOf(
        "begin-cosine",
        "Two vectors have the cosine 0. What do you know about them?",
        (
            wrong("They are equal.", "Equal vectors point in the same direction, so their cosine is 1."),
            right(
                "They are perpendicular.", "Their dot product is 0, because neither points along the other."
            ),
            wrong("One of them is twice as long as the other.", "The cosine ignores lengths."),
            wrong("They point in opposite directions.", "Then the cosine would be −1."),
        ),
    ),
    Number(
        "begin-chain",
        "Let `u = 5x` and `y = u²`. What is the derivative of `y` with respect to `x` at `x = 1`?",
        answer=float(np.polyval(np.polyder(_SQUARED), 1.0)),
        why="The outer derivative is 2u = 10, the inner one is 5, and the chain rule multiplies them.",
        mistakes=(
            (10, "That is the outer derivative, 2u. Multiply it by the inner one."),
            (25, "That is the value of y. The question asks for its derivative."),
            (15, "The two factors are multiplied, not added."),
        ),
    ),
    OneOf(
        "begin-step",
        "The derivative of the loss with respect to a parameter is 3. What does one step of gradient descent "
        "do to this parameter?",
        (
            right(
                "It becomes smaller.", "The loss grows with the parameter, so the step goes the other way."
            ),
            wrong("It becomes larger.", "That would increase the loss."),
            wrong("It becomes 3 times as large.", "The derivative is a slope, not a factor."),
            wrong(
                "It becomes 0.", "The step is the learning rate times the derivative, usually a small number."
            ),
        ),
    ),
    SeveralOf(
        "begin-words",
        "In our experiment, the vectors of the animals became similar to each other. Which statements are "
        "true?",
        (
            right("They started as random numbers.", "The table was initialised at random."),
            right(
                "Animals are followed by the same words in our sentences.",
                "That is why similar vectors reduce the loss.",
            ),
            wrong("The model was told which words are animals.", "It only had to predict the next word."),
            wrong(
                "Each occurrence of a word got its own vector.",
                "The table has one vector per word, whatever the sentence.",
            ),
        ),
    ),
    OneOf(
        "begin-variance",
        "One number has variance 3. What is the variance of the sum of 12 independent numbers like it?",
        (
            wrong("3", "A sum of independent numbers varies more than each of them."),
            wrong("6", "Its standard deviation is 6; the question asks for the variance."),
            right("36", "Variances of independent numbers add up: 12 · 3."),
            wrong("432", "That would be the variance of 12 times one number, and those are not independent."),
        ),
    ),
)
