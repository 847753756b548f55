"""Questions on recurrent networks and their bottleneck."""

import numpy as np

from glassformer.reference.recurrence import lstm
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong


def _kept(words: int, forget_bias: float) -> float:
    """Return the value of an LSTM cell that starts at 1, after words that write nothing to it."""
    gates = np.array([0.0, forget_bias, 0.0, 0.0])  # input, forget, candidate, output
    silent = {"input_weight": np.zeros((1, 4)), "hidden_weight": np.zeros((1, 4)), "bias": gates}
    _, cells = lstm(np.zeros((words, 1)), **silent, initial_state=(np.zeros(1), np.ones(1)))
    return float(cells[-1, 0])


QUESTIONS = (
    Number(
        "bottleneck-kept",
        "The cell of an LSTM holds 1. Ten words follow that write nothing to it, and the forget gate has a "
        "bias of 3 and no other input: it stands at σ(3) = 0.953. What does the cell hold after them?",
        answer=_kept(10, 3.0),
        why="Each word multiplies the cell by the forget gate: 0.953 to the power of 10.",
        within=0.01,
        mistakes=(
            (1, "The gate is open, but not wholly: each word takes one part in twenty."),
            (_kept(1, 3.0), "That is what one word leaves. There are ten."),
            (_kept(10, 0.0), "That is a gate with a bias of 0, as a fresh `nn.LSTM` has it."),
        ),
    ),
    OneOf(
        "bottleneck-carry",
        "A translator hands one vector of 64 numbers from its encoder to its decoder. It fails on sentences "
        "twice as long as those it masters. What helps against the cause, without attention?",
        (
            wrong(
                "an open forget gate",
                "That keeps the gradient. The sentence must still fit into 64 numbers.",
            ),
            wrong("a smaller spectral radius", "Then what was read first fades even sooner."),
            right("a vector of 128 numbers", "A wider vector carries more of the same sentence."),
            wrong("a decoder with more layers", "It can only unpack what the vector holds."),
        ),
    ),
    OneOf(
        "bottleneck-order",
        "“The dog bites the man” and “the man bites the dog”: which of these layers gives “bites” two "
        "different outputs, without being told the positions?",
        (
            right(
                "a recurrent layer", "Its state at “bites” has read “the dog” in one, “the man” in the other."
            ),
            wrong("attention, `softmax(x @ x.T) @ x`", "Both sentences are the same heap of words to it."),
            wrong("both", "Attention mixes the same words with the same weights in both sentences."),
            wrong("neither", "The state of a recurrent layer depends on what came before, in its order."),
        ),
    ),
    SeveralOf(
        "bottleneck-radius",
        "A recurrent network with tanh has a random matrix of spectral radius 1.5 and reads ordinary words. "
        "What is true?",
        (
            wrong(
                "its gradient explodes, since 1.5 is above 1",
                "A radius above 1 is necessary for that, not sufficient: the slopes of the tanh count, too.",
            ),
            right(
                "without the tanh, its gradient would grow by about 1.5 a word",
                "In the linear network the spectral radius alone decides.",
            ),
            right(
                "its gradient may vanish",
                "Large states lie where the tanh is flat, and a slope near 0 outweighs the factor of 1.5.",
            ),
            wrong(
                "the tanh lets through what the matrix enlarges",
                "The slope of a tanh is at most 1, so it can only take away.",
            ),
        ),
    ),
    OneOf(
        "bottleneck-wait",
        "A sentence becomes twice as long, and there are more processors than could ever be used. How much "
        "longer do you wait for one layer?",
        (
            wrong(
                "both about twice as long", "In attention no word waits for another, however many there are."
            ),
            wrong(
                "recurrence twice as long, attention four times",
                "Four times is attention’s work. With enough processors it is done at once.",
            ),
            wrong("both about as long as before", "Each state of recurrence waits for the one before it."),
            right(
                "recurrence twice as long, attention about as long as before",
                "The chain of recurrence grows with each word, that of attention does not.",
            ),
        ),
    ),
)
