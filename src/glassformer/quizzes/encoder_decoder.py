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
        "After 150 steps, a translator's loss is far below that of a correct run. It writes fluent French "
        "that does not fit the source. Which bug is likely?",
        (
            wrong("the targets were not shifted", "Then it would repeat `<start>` forever."),
            right(
                "the decoder has no causal mask",
                "In training, it copied each label from the next position. In decoding, that one is empty.",
            ),
            wrong(
                "padding counts in the loss",
                "That lowers the loss, because padding is easy to predict, but hardly hurts the "
                "translations.",
            ),
            wrong("the learning rate is too low", "Then the loss would still be high."),
        ),
    ),
    Number(
        "encdec-wanted",
        "A target is stored as `<start> w w w <end> <pad> <pad>`, where each w is a word. How many labels "
        "count in its loss?",
        answer=int((_LABELS != _PAD).sum()),
        why="The three words and the end token. The start token is only an input, and padding doesn't count.",
        mistakes=(
            (
                int((_TARGET != _PAD).sum()),
                "The start token is an input. It is never predicted.",
            ),
            (_LABELS.numel(), "The two padding tokens are among the labels, but they don't count."),
            (3, "The end token counts, too. Without it, no translation would ever stop."),
        ),
    ),
    OneOf(
        "encdec-shortcut",
        "A translator gets 99 % of new sentences right, all with new pairs of nouns. Once we replace the "
        "noun that “it” refers to by one of the other gender, half of the pronouns are wrong. What fits "
        "best?",
        (
            wrong(
                "it has memorised the training set",
                "Then it would fail on new pairs of nouns.",
            ),
            wrong(
                "its attention does not look at the noun",
                "We don't know: nobody looked at a map. And a map would not show what the model uses.",
            ),
            right(
                "it follows a rule that holds in its corpus but not in the language",
                "Something else in the corpus gives the gender away, and the test set shares this property.",
            ),
            wrong(
                "it is too small",
                "The same model learns the gender of both nouns from a corpus that draws them independently.",
            ),
        ),
    ),
    Number(
        "encdec-cross",
        "A source has 9 tokens, and the decoder gets 6. How many weights does each head of cross-attention "
        "compute?",
        answer=attention_weights(np.ones((6, 1)), np.ones((9, 1))).size,
        why="The 6 decoder tokens give the queries, one row each; the 9 source tokens give the keys, one "
        "column each.",
        mistakes=(
            (36, "That is the decoder’s self-attention. In cross-attention, the keys come from the source."),
            (
                81,
                "That is the encoder’s self-attention. In cross-attention, the decoder provides the queries.",
            ),
        ),
    ),
    OneOf(
        "encdec-last-only",
        "A greedy decoding loop has a bug: at each step, it gives the decoder only the last token instead of "
        "all tokens so far. There is no cache. What happens?",
        (
            wrong(
                "the same: the mask hides the past anyway",
                "The mask hides the future. The decoder needs the past.",
            ),
            wrong(
                "the same, only faster",
                "That would be a cache, which keeps the keys and values of earlier tokens.",
            ),
            right(
                "each token is chosen without knowing those before the last one",
                "So the translation may go round in circles.",
            ),
            wrong(
                "an error: the shapes do not fit",
                "A sequence of one token is a valid input, so nothing complains.",
            ),
        ),
    ),
    OneOf(
        "encdec-luckiest",
        "The best of 16 heads prefers the right one of two nouns in 54 % of 400 sentences. How do you find "
        "out whether it really finds the noun?",
        (
            wrong(
                "54 is more than 50, so it does",
                "Toss 16 coins 400 times each, and the best one reaches 54 % on average.",
            ),
            wrong(
                "ablate it",
                "That shows whether it is needed. A head may find the noun without being needed, and be "
                "needed without finding it.",
            ),
            wrong("average all 16 heads", "One head that finds the noun would drown among those that don't."),
            right(
                "choose it on these sentences, test it on others",
                "Luck does not carry over to new sentences.",
            ),
        ),
    ),
)
