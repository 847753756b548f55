"""Questions on ablations and attributions."""

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
        "the log-odds are 0.2. What are they when nobody may look at “the”?",
        answer=_COVERED,
        why=(
            "The weights that are left sum to one again: 0.75 · −1 + 0.25 · 5. A word with no vote "
            "still took weight."
        ),
        within=0.01,
        mistakes=(
            (_BEFORE, "“The” contributes nothing, but its weight goes to the others."),
            (_COVERED - _BEFORE, "That is by how much they rise."),
        ),
    ),
    OneOf(
        "looking-felt-nothing",
        "Each word of a sentence is covered in turn, and the answer of a model hardly moves. What follows?",
        (
            wrong(
                "the answer does not rest on the words",
                "Two words may say the same: covering one leaves the other.",
            ),
            right(
                "the cause may stand there twice",
                "Then either would do, and only covering both would show it.",
            ),
            wrong("the map of attention must tell", "A map says where a head looks, not whether it matters."),
            wrong(
                "the gradient must be zero, too",
                "A covered word is a large step. A tiny one may say something else.",
            ),
        ),
    ),
    OneOf(
        "looking-six-heads",
        "Each of the six heads of an attention can be switched off alone at a cost of 0.2. All six together "
        "cost 10. What is the likeliest reading?",
        (
            wrong(
                "one measurement is wrong: costs must add up",
                "Costs add up only if no head can stand in for another.",
            ),
            wrong("the heads are hardly needed", "All six together are needed very much."),
            wrong("a seventh part does the work", "Then all six together would not cost much either."),
            right(
                "the heads say much the same", "If one goes, the others still say it. If all go, nobody does."
            ),
        ),
    ),
    OneOf(
        "looking-bank",
        "A translator writes `banque`, the bank for money, for “the bank of the river”. What do "
        "you look at first?",
        (
            right(
                "whether its corpus has a bank of a river at all",
                "What was never there, no attention can find.",
            ),
            wrong(
                "whether a head looks from “bank” at “river”",
                "It may look, and yet never have learned what to write.",
            ),
            wrong(
                "whether more beams help", "They find what the model finds likelier, and that is `banque`."
            ),
            wrong("which head to switch off", "That shows what writes `banque`, not what is missing."),
        ),
    ),
    SeveralOf(
        "looking-causes",
        "Which findings say something about what an answer rests on?",
        (
            wrong(
                "a head has its largest weight at the noun in nine sentences of ten",
                "That is where it looks. It may be switched off without any change.",
            ),
            right(
                "with the noun exchanged, the pronoun changes",
                "Something was changed, and the answer followed.",
            ),
            wrong(
                "the map of a head reads like a dictionary",
                "So it may, and what it hands over may still not be used.",
            ),
            right(
                "without one head the log-probability falls far more than without any other",
                "Something was taken away, and measured for all heads alike.",
            ),
        ),
    ),
    OneOf(
        "looking-flat",
        "Gradient × input is next to nothing for each word, although the model’s answer turns when one of "
        "them is exchanged. What is a likely reason?",
        (
            wrong("the model was in training mode", "Dropout makes gradients noisy, not small."),
            wrong(
                "gradients must be multiplied by the weights of attention",
                "They hold already all that a tiny step does.",
            ),
            right(
                "the model is sure of its answer, and flat around it",
                "A tiny step changes nothing; exchanging a word is a large one.",
            ),
            wrong(
                "the answer rests on no single word", "One exchanged word turns it, so it rests on that one."
            ),
        ),
    ),
)
