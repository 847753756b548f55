"""Questions on decoding."""

import torch

from glassformer.decoding.generate import sample_tokens
from glassformer.metrics import bleu
from glassformer.reference.masks import causal_mask
from glassformer.widgets.questions import Number, OneOf, right, wrong

_TOKENS = 10
_UNCACHED_TOKENS = int(causal_mask(_TOKENS).sum())  # step t decodes all t tokens so far
_UNIFORM = (torch.arange(1000) + 0.5) / 1000
_LOGITS = torch.tensor([0.5, 0.3, 0.15, 0.05]).log().expand(1000, -1)
_DRAWN = sample_tokens(_LOGITS, _UNIFORM, top_p=0.7)
_HALF_BLEU = bleu(["one two three four"], [["one two three four five six seven eight"]]).value

QUESTIONS = (
    Number(
        "decoding-cache",
        "A decoder writes 10 tokens, starting from one. Without a cache, how many times as many tokens pass "
        "through its layers as with a cache?",
        answer=_UNCACHED_TOKENS / _TOKENS,
        why="Without a cache 1 + 2 + … + 10 = 55 pass, with one 10.",
        within=0.01,
        mistakes=(
            (_TOKENS, "So it would be if all ten were there from the first step on. They come one by one."),
            (_UNCACHED_TOKENS, "So many pass without a cache. With one there are ten: what is the ratio?"),
        ),
    ),
    OneOf(
        "decoding-penalty",
        "Hypothesis A has 4 tokens and log p = −3.0, hypothesis B 8 tokens and −4.2. Which one wins without "
        "a penalty, with the paper’s ((5 + n) / 6)^0.6, and with the mean?",
        (
            wrong(
                "A, B, B", "The paper’s penalty is gentle: −3.0 / 1.28 = −2.35 against −4.2 / 1.59 = −2.64."
            ),
            right("A, A, B", "Only the mean, −0.75 against −0.53, favours length enough to turn it."),
            wrong("A, A, A", "The mean divides by 4 and by 8: −0.75 against −0.53."),
            wrong("B, B, B", "Without a penalty the likelier one wins, and −3.0 is more than −4.2."),
        ),
    ),
    OneOf(
        "decoding-beams-sure",
        "Beam search follows as many beginnings as there are words in the vocabulary, so that no first word "
        "is cut. Does it surely find the likeliest sentence?",
        (
            wrong(
                "yes: nothing is lost at the first step",
                "What is cut at the second step may have led to the best.",
            ),
            wrong("yes, if the length penalty is 1", "A penalty only ranks what was found."),
            right(
                "no: from the second step on it cuts", "Then there are many more continuations than places."
            ),
            wrong("no: beams are drawn at random", "That is sampling. A beam keeps the likeliest."),
        ),
    ),
    Number(
        "decoding-brevity",
        "The reference has eight words. A translation consists of its first four, in order. What is its "
        "BLEU, by the formula, from 0 to 100?",
        answer=_HALF_BLEU,
        why=(
            "All its n-grams are right, but half of the length is missing: the penalty is exp(1 − "
            "8/4) = 0.37."
        ),
        within=0.5,
        mistakes=(
            (100, "All n-grams are right, but it is too short, and there is a penalty for that."),
            (50, "Half of the words are there, but the penalty is exponential: exp(1 − r/c)."),
        ),
    ),
    OneOf(
        "decoding-whose-fault",
        "With 64 beams and no penalty, a translator writes something worse than a person did. Which finding "
        "tells that the model is at fault, and not the search?",
        (
            wrong(
                "greedy decoding wrote something better",
                "It may have been led away from what is likeliest, by luck.",
            ),
            wrong(
                "with 4 beams BLEU is higher",
                "That says which translations are better, not what the model finds likely.",
            ),
            wrong("64 beams take longer", "Time says nothing about who is wrong."),
            right(
                "the model finds it likelier than the person’s",
                "The search did its work: it found what the model prefers.",
            ),
        ),
    ),
    Number(
        "decoding-top-p",
        "The next token has the probabilities 0.5, 0.3, 0.15 and 0.05. It is drawn with top-p 0.7. With "
        "which probability is it the second?",
        answer=float((_DRAWN == 1).double().mean()),
        why="The first two reach 0.7 together, and no more are needed; divided by their sum, 0.3 / 0.8.",
        within=0.005,
        mistakes=(
            (0.3, "What is left after the cut is divided by its sum, 0.8."),
            (0.3 / 0.95, "Two tokens reach 0.7 already. The third is cut."),
            (0.3 / 0.7, "The two that are kept have 0.8 together, and that is what they are divided by."),
        ),
    ),
)
