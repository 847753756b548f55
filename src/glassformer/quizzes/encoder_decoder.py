"""Questions on the encoder-decoder."""

import numpy as np
import torch

from glassformer.reference.attention import attention_weights
from glassformer.training.loss import shift_targets
from glassformer.widgets.questions import Number, OneOf, right, wrong

_START, _END, _PAD = 1, 2, 0
_TARGET = torch.tensor([[_START, 7, 5, 9, _END, _PAD, _PAD]])
_, _LABELS = shift_targets(_TARGET)

QUESTIONS = (
    OneOf(
        "encdec-splendid",
        "After 150 steps the loss is splendid, far below that of an honest run. The translator writes fluent "
        "French that does not fit the source. Which slip is likely?",
        (
            wrong("the target was not shifted", "It would then say back `<start>`, for ever."),
            right(
                "the decoder has no causal mask",
                "It copied each wanted word from its right, where now nothing is.",
            ),
            wrong(
                "padding counts in the loss",
                "That makes a loss look better, but not a translation worse in this way.",
            ),
            wrong("the learning rate is too low", "Then the loss would still be high."),
        ),
    ),
    Number(
        "encdec-wanted",
        "A target is stored as `<start> w w w <end> <pad> <pad>`, where each w is a word. How many tokens "
        "does its loss count?",
        answer=int((_LABELS != _PAD).sum()),
        why="Wanted are the three words and the end. The start is only given, and padding is left out.",
        mistakes=(
            (
                int((_TARGET != _PAD).sum()),
                "The start is never asked for: it is what the decoder begins with.",
            ),
            (_LABELS.numel(), "The two paddings are cut along, but they do not count."),
            (3, "The end is wanted, too: without it a translator would never stop."),
        ),
    ),
    OneOf(
        "encdec-shortcut",
        "On new sentences with new pairs of nouns a translator gets 99 % right. In each we "
        "exchange the noun that "
        "“it” means for one of the other gender, and half of the pronouns are wrong. What fits best?",
        (
            wrong(
                "it has learned the training set by heart",
                "Then new pairs of nouns would have been wrong, too.",
            ),
            wrong(
                "its attention does not look at the noun",
                "A map was not taken, and would not show what it used.",
            ),
            right(
                "it follows a rule that holds in its corpus and not in the language",
                "In such a corpus something else gave the gender away, and the test set shared that.",
            ),
            wrong(
                "it is too small",
                "The same model learned it from a corpus in which the nouns are drawn freely.",
            ),
        ),
    ),
    Number(
        "encdec-cross",
        "A source has 9 tokens, and the decoder is given 6. How many weights does its cross-attention make "
        "in each head?",
        answer=attention_weights(np.ones((6, 1)), np.ones((9, 1))).size,
        why="The 6 given tokens ask, a row each; the 9 vectors of the memory are asked, a column each.",
        mistakes=(
            (36, "That is the decoder’s self-attention. In cross-attention the source is looked at."),
            (81, "That is the encoder’s self-attention. In cross-attention the decoder asks."),
        ),
    ),
    OneOf(
        "encdec-last-only",
        "A loop writes greedily, without a cache. By mistake it hands the decoder only the last token at "
        "each step, instead of all so far. What comes of it?",
        (
            wrong(
                "the same, for the mask hides the past anyway",
                "It hides the future. The past is what is needed.",
            ),
            wrong(
                "the same, only faster",
                "That is a cache, which keeps the keys and values of what was written.",
            ),
            right(
                "each word is chosen without knowing those before the last",
                "So it may repeat itself for ever.",
            ),
            wrong(
                "an error, for the shapes do not fit",
                "A sequence of one token is a sequence. Nothing complains.",
            ),
        ),
    ),
    OneOf(
        "encdec-luckiest",
        "Of 16 heads the best looks at the right one of two nouns in 54 % of 400 sentences. How do you find "
        "out whether it knows the noun?",
        (
            wrong(
                "54 is more than 50: it does",
                "Of sixteen coins the luckiest shows heads in 54 % of 400 throws.",
            ),
            wrong(
                "switch it off",
                "That tells whether it is needed. A head may look and not be needed, and be "
                "needed and not look.",
            ),
            wrong("take the mean of all 16 heads", "A head that knows would drown among those that do not."),
            right(
                "choose it on these sentences, test it on others",
                "Luck does not carry over to new sentences.",
            ),
        ),
    ),
)
