"""Questions on recurrent networks and on the vector that carries a sentence."""

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
    OneOf(
        "bottleneck-order",
        "“The dog bites the man” and “the man bites the dog” contain the same words. An Elman network reads "
        "each of them, starting from a state of zeros. After which words do its two states differ, in "
        "general?",
        (
            wrong(
                "after none: the words are the same",
                "A state is not a sum of words. Each step mixes one word into what is left of the words "
                "before.",
            ),
            wrong("after all five", "After the first word, both have read “the” and nothing else."),
            right(
                "after all but the first",
                "From the second word on, the network has read something else in each sentence.",
            ),
            wrong(
                "only after the last",
                "After the second word, one state has read “dog” and the other one “man”.",
            ),
        ),
    ),
    SeveralOf(
        "bottleneck-radius",
        "A recurrent network with tanh has a random matrix of spectral radius 1.5, and reads random words "
        "whose numbers have variance 1. What is true?",
        (
            wrong(
                "its gradient must explode, because 1.5 is above 1",
                "The slopes of the tanh count, too. No gradient exploded in the chapter’s networks of this "
                "radius.",
            ),
            right(
                "without the tanh, its gradient would grow by a factor of about 1.5 per step in the long run",
                "Without the tanh, only products with the matrix remain.",
            ),
            right(
                "its gradient may vanish",
                "The words drive the states to where the tanh is flat, and slopes near 0 outweigh the 1.5.",
            ),
            wrong(
                "whatever the matrix, a tanh can only make a gradient shorter",
                "It can also keep two parts of the gradient from cancelling; the folded box on what one step "
                "can do at most has an example.",
            ),
        ),
    ),
    Number(
        "bottleneck-kept",
        "The cell of an LSTM holds 1. Then come ten words that write nothing to it. The forget gate depends "
        "only on its bias of 3, so it is σ(3) = 0.953. What does the cell hold after the ten words?",
        answer=_kept(10, 3.0),
        why="Each word multiplies the cell by the forget gate, which gives 0.953 to the power of 10.",
        within=0.01,
        mistakes=(
            (1, "The gate is not completely open: each word removes about one part in twenty."),
            (_kept(1, 3.0), "This is what one word leaves. There are ten."),
            (
                _kept(10, 0.0),
                "This would be a gate with a bias of 0, which is about the default of `nn.LSTM`.",
            ),
        ),
    ),
    OneOf(
        "bottleneck-carry",
        "After the same training through the final state and cell of its encoder, 72 numbers in all, a model "
        "repeats more of 16 symbols when the encoder reads them backwards. What follows?",
        (
            wrong(
                "72 numbers are too few for 16 symbols",
                "One number per symbol would be enough, and reading backwards adds no room.",
            ),
            right(
                "here, training sets the limit, and not the room in the vector",
                "The vector is as wide as before, and the symbols are the same. Only what training made of "
                "them differs.",
            ),
            wrong("read backwards, a sequence holds less information", "It holds the same symbols."),
            wrong(
                "the decoder does not use the vector",
                "Then it could only guess, and be right once in 16 times.",
            ),
        ),
    ),
    OneOf(
        "bottleneck-memory",
        "A source sentence becomes twice as long. What does a decoder with attention have more of, compared "
        "with a decoder that gets one vector?",
        (
            wrong("parameters", "The same parameters score every state, however many there are."),
            wrong("numbers in each state", "The width of a state is fixed when the model is built."),
            wrong("steps between an early word and itself", "Every encoder state is one step away."),
            right(
                "states to look at", "There is one encoder state for each word, so there are twice as many."
            ),
        ),
    ),
)
