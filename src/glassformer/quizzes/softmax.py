"""Questions on the softmax."""

import numpy as np

from glassformer.reference.softmax import online_softmax, softmax
from glassformer.widgets.questions import Number, OneOf, right, wrong

_THREE = softmax(np.array([3.0, 1.0, 9.0]))
_STREAMED = online_softmax(np.array([1.0, 1.0, 1.0, 1.0, 3.0]), block_size=4)
_FILLED = softmax(np.full(4, -1e9))
_NOTHING_ALLOWED = softmax(np.zeros(4), where=np.zeros(4, dtype=bool))


def _leader_weight(keys: int) -> float:
    """Return the weight of a key whose score exceeds all others, which are equal, by 5."""
    return float(softmax(np.array([5.0, *np.zeros(keys - 1)]))[0])


QUESTIONS = (
    Number(
        "softmax-odds",
        "Three keys score 3, 1 and 9. How many times as much weight does the first get as the second?",
        answer=float(_THREE[0] / _THREE[1]),
        why=(
            "Odds depend on the difference of the two scores alone: e to the power of 2. The 9 has "
            "no say in it."
        ),
        within=0.1,
        mistakes=(
            (2, "2 is the difference of the scores, the log-odds. The odds are e to its power."),
            (3, "3 is the ratio of the scores. A softmax goes by their difference."),
        ),
    ),
    OneOf(
        "softmax-float16",
        "`np.exp(x) / np.exp(x).sum()` is computed in float16 for the scores 12, 11 and 10. The largest "
        "number of float16 is 65,504; e¹² is 162,755 and e¹¹ is 59,874. What comes out?",
        (
            wrong(
                "0.67, 0.24, 0.09",
                "So says a softmax that subtracts the largest score first. Here e¹² is infinite.",
            ),
            wrong("1, 0, 0", "Infinity divided by infinity is not 1: it is not a number."),
            wrong("NaN three times", "59,874 is a number in float16. Divided by infinity it is 0."),
            right("NaN, 0, 0", "e¹² and the sum are infinite: ∞/∞ is NaN, and a number divided by ∞ is 0."),
        ),
    ),
    Number(
        "softmax-filled",
        "A query may look at none of four keys. All four scores are filled with −1e9, in float64, and go "
        "through the softmax. What weight does the first key get?",
        answer=float(_FILLED[0]),
        why="Four equal scores are four equal scores, however low: a forbidden key gets a quarter.",
        within=0.01,
        mistakes=(
            (
                float(_NOTHING_ALLOWED[0]),
                "So it should be, and so `where=` does it. A fill of −1e9 is only a low score.",
            ),
        ),
    ),
    OneOf(
        "softmax-gradient",
        "The loss would rise by 5 for each unit that any one of the weights gains, the same for all keys. "
        "What is the gradient of the scores?",
        (
            wrong(
                "5 for each score",
                "That is the gradient of the weights. They cannot all rise: they sum to one.",
            ),
            right(
                "0 for each score",
                "A score counts as far as its gradient differs from the mean. Here none does.",
            ),
            wrong(
                "5 times the weight, for each",
                "The weighted mean of all gradients, here 5, is taken off first.",
            ),
            wrong(
                "largest for the largest weight",
                "With unequal gradients it may be so. Here all differences from the mean are 0.",
            ),
        ),
    ),
    Number(
        "softmax-leader",
        "One key leads 99 others by 5; these are all equal. How much weight does it get?",
        answer=_leader_weight(100),
        why="e⁵ = 148 stands against 99 rivals: 148 / (148 + 99).",
        within=0.01,
        mistakes=(
            (_leader_weight(2), "So it would be against one rival. There are 99, and each keeps a share."),
            (_leader_weight(10), "So it would be in a row of ten. This row has a hundred keys."),
        ),
    ),
    Number(
        "softmax-stream",
        "A softmax is computed in blocks. After the first block the peak is 1 and the total 4. The second "
        "block is a single score of 3. What is the total after it?",
        answer=float(1 / _STREAMED[-1]),
        why="The peak rises by 2, so the 4 shrinks to 4 · e⁻² = 0.54, and the new score adds e⁰ = 1.",
        within=0.01,
        mistakes=(
            (5, "The 4 was counted from a peak of 1. The peak is now 3, and the old total must shrink."),
            (float(4 * np.exp(2) + 1), "A higher peak makes the old exponentials smaller, not larger."),
            (float(4 + np.exp(2)), "That is counted from the old peak. The new one is 3."),
        ),
    ),
)
