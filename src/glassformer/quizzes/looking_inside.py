"""Questions on interventions and attention maps."""

import numpy as np

from glassformer.reference.softmax import softmax
from glassformer.widgets.questions import Number, OneOf, SeveralOf, right, wrong

_SCORES = np.log([0.6, 0.3, 0.1])
_VOTES = np.array([0.0, -1.0, 5.0])
_BEFORE = float(softmax(_SCORES) @ _VOTES)
_COVERED = float(softmax(_SCORES, where=np.array([False, True, True])) @ _VOTES)

QUESTIONS = (
    Number(
        "looking-covered",
        "A head gives “the” a weight of 0.6, “animal” 0.3 and “tired” 0.1. Their votes are 0, −1 and 5, so "
        "the log-odds are 0.2. What are they if “the” is hidden?",
        answer=_COVERED,
        why=(
            "The remaining weights are rescaled to sum to one: 0.75 · −1 + 0.25 · 5. “The” has no vote, but "
            "its weight goes to the other words."
        ),
        within=0.01,
        mistakes=(
            (_BEFORE, "“The” contributes nothing, but its weight goes to the other words."),
            (_COVERED - _BEFORE, "That is how much the log-odds rise, not what they become."),
        ),
    ),
    OneOf(
        "looking-felt-nothing",
        "Each word of a sentence is hidden in turn, and a model's answer hardly changes. What follows?",
        (
            wrong(
                "The answer does not depend on the words.",
                "Two words may carry the same information. Hiding one leaves the other.",
            ),
            right(
                "The cause may be there twice.",
                "Then either word is enough, and only hiding both would show it.",
            ),
            wrong(
                "The attention map has to decide.",
                "A map shows where a head looks, not what the answer depends on.",
            ),
            wrong(
                "The gradient must be zero too.",
                "Hiding a word is a large step. A tiny step may give another result.",
            ),
        ),
    ),
    OneOf(
        "looking-six-heads",
        "Each of the six heads of an attention layer can be removed alone at a loss of 0.2 BLEU. "
        "Removing all six loses 10. What can you conclude?",
        (
            wrong(
                "One measurement is wrong, because losses add up.",
                "They add up only if the heads act independently and BLEU is linear in them.",
            ),
            wrong("The heads are hardly needed.", "All six together are clearly needed."),
            wrong(
                "A seventh part of the model does the work.",
                "Then removing all six would not lose much either.",
            ),
            right(
                "A loss measured for one head alone can understate what the heads do together.",
                "Perhaps they replace each other, or the score is not linear. These numbers cannot tell.",
            ),
        ),
    ),
    OneOf(
        "looking-bank",
        "A translator writes `banque`, the bank for money, for “the bank of the river”. What should you "
        "check first?",
        (
            right(
                "whether its training data has a bank of a river at all",
                "No attention can find a meaning that the training data never had.",
            ),
            wrong(
                "whether a head attends from “bank” to “river”",
                "It may, and the model may still have no French word for it.",
            ),
            wrong(
                "whether a larger beam helps",
                "A larger beam finds translations that the model rates higher, and it rates `banque` high.",
            ),
            wrong(
                "which head to switch off", "That may show what produces `banque`, not which word is missing."
            ),
        ),
    ),
    SeveralOf(
        "looking-causes",
        "Which findings say something about what an answer depends on?",
        (
            wrong(
                "A head has its largest weight at the noun in nine sentences of ten.",
                "That shows where it looks. Removing it may change nothing.",
            ),
            right(
                "With another noun of the same length, the pronoun changes.",
                "The noun was changed, and the answer followed.",
            ),
            wrong(
                "The map of a head reads like a dictionary.",
                "The model may still not use what the head returns.",
            ),
            right(
                "Removing one head lowers the log-probability far more than removing any other.",
                "A head was removed, and the effect was compared with a control: all other heads.",
            ),
        ),
    ),
    OneOf(
        "looking-patched",
        "Cross-attention has a weight of 0.6 on “it” and 0.02 on the noun. We patch the memory vector at "
        "“it” from a sentence with another noun, and the pronoun changes. What follows?",
        (
            wrong(
                "The noun does not matter.",
                "It does: the two sentences differ in nothing but the noun.",
            ),
            wrong(
                "The decoder reads the noun's own vector.",
                "That vector was not patched, and the pronoun changed all the same.",
            ),
            right(
                "The encoder has carried information about the noun to “it”.",
                "Only the vector at “it” was changed, so it must hold what differs: the noun.",
            ),
            wrong(
                "The weight of 0.02 is wrong.",
                "It is right: the decoder hardly reads that position. A weight belongs to a position.",
            ),
        ),
    ),
)
