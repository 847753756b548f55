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
        "A decoder writes 10 tokens. Counted over all steps, how many times as many tokens pass through its "
        "layers without a cache as with one?",
        answer=_UNCACHED_TOKENS / _TOKENS,
        why="Without a cache, 1 + 2 + … + 10 = 55 tokens pass through; with a cache, 10.",
        within=0.01,
        mistakes=(
            (
                _TOKENS,
                "That would be right if each step had 10 tokens. The first step has one, the second two.",
            ),
            (_UNCACHED_TOKENS, "That is the number without a cache. With one it is 10. What is the ratio?"),
        ),
    ),
    OneOf(
        "decoding-penalty",
        "Hypothesis A has 4 tokens and log p = −3.0. Hypothesis B has 8 tokens and log p = −4.2. Which one "
        "wins without a penalty, with the paper’s penalty ((5 + n) / 6)^0.6, and with the mean?",
        (
            wrong("A, B, B", "The paper’s penalty is gentle: −3.0 / 1.28 = −2.35 beats −4.2 / 1.59 = −2.64."),
            right(
                "A, A, B", "Only the mean, −0.75 against −0.53, favours length enough to change the winner."
            ),
            wrong("A, A, A", "The mean divides by 4 and by 8: −0.75 against −0.53."),
            wrong("B, B, B", "Without a penalty the more probable one wins, and −3.0 is more than −4.2."),
        ),
    ),
    OneOf(
        "decoding-beams-sure",
        "The beam size equals the size of the vocabulary, so no first word is dropped. Is beam search "
        "certain to find the most probable sentence?",
        (
            wrong(
                "yes: nothing is lost at the first step",
                "A beginning that is dropped at the second step may lead to the best sentence.",
            ),
            wrong("yes, if the length penalty is 1", "A penalty only ranks the hypotheses that were found."),
            right(
                "no: from the second step on it drops candidates",
                "From then on there are many more candidates than places in the beam.",
            ),
            wrong(
                "no: the beams are drawn at random", "That is sampling. Beam search keeps the most probable."
            ),
        ),
    ),
    Number(
        "decoding-brevity",
        "A reference has eight words. The translation consists of its first four words, in order. What is "
        "its BLEU, from 0 to 100?",
        answer=_HALF_BLEU,
        why="All n-grams are right, but half of the length is missing: the brevity penalty is "
        "exp(1 − 8/4) = 0.37.",
        within=0.5,
        mistakes=(
            (100, "All n-grams are right, but the translation is too short. There is a penalty for that."),
            (50, "Half of the words are there, but the brevity penalty is exponential: exp(1 − r/c)."),
        ),
    ),
    OneOf(
        "decoding-whose-fault",
        "With 64 beams and no penalty, a translator writes something worse than the human reference. Which "
        "finding shows that the model is at fault, and not the search?",
        (
            wrong(
                "greedy decoding wrote something better",
                "Greedy decoding may have missed the most probable translation and been lucky.",
            ),
            wrong(
                "4 beams have a higher BLEU",
                "That says which translations are better, not which ones the model finds probable.",
            ),
            wrong("64 beams take longer", "Time says nothing about who is at fault."),
            right(
                "the model finds it more probable than the reference",
                "No better search can change that the worse translation has the higher probability.",
            ),
        ),
    ),
    Number(
        "decoding-top-p",
        "The next token has the probabilities 0.5, 0.3, 0.15 and 0.05. We sample with top-p 0.7. What is the "
        "probability of drawing the second token?",
        answer=float((_DRAWN == 1).double().mean()),
        why="The first two reach 0.7 together, so only they are kept, and 0.3 / 0.8 = 0.375.",
        within=0.005,
        mistakes=(
            (0.3, "Divide by the sum of the tokens that are kept, 0.8."),
            (0.3 / 0.95, "Two tokens are enough to reach 0.7. The third is cut."),
            (0.3 / 0.7, "The two tokens that are kept sum to 0.8. Divide by that."),
        ),
    ),
)
