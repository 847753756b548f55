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
            "The odds depend only on the difference of the two scores: they are e to the power of 2. "
            "The third key's 9 does not matter."
        ),
        within=0.1,
        mistakes=(
            (2, "2 is the difference of the scores, the log-odds. The odds are e to the power of 2."),
            (3, "3 is the ratio of the scores. The softmax depends on their difference."),
        ),
    ),
    OneOf(
        "softmax-float16",
        "`np.exp(x) / np.exp(x).sum()` is computed in float16 for the scores 12, 11 and 10. The largest "
        "number of float16 is 65,504; e¹² is 162,755 and e¹¹ is 59,874. What comes out?",
        (
            wrong(
                "0.67, 0.24, 0.09",
                "This is what the shifted softmax returns. Without the shift, e¹² overflows.",
            ),
            wrong("1, 0, 0", 'Infinity divided by infinity is not 1 but NaN, "not a number".'),
            wrong("NaN three times", "e¹¹ fits into float16, and a number divided by infinity is 0."),
            right("NaN, 0, 0", "e¹² and the sum are infinite: ∞/∞ is NaN, and a number divided by ∞ is 0."),
        ),
    ),
    Number(
        "softmax-filled",
        "A query may not attend to any of four keys. All four scores are set to −1e9, in float64, before "
        "the softmax. What weight does the first key get?",
        answer=float(_FILLED[0]),
        why="Equal scores get equal weights, however low they are: each forbidden key gets a quarter.",
        within=0.01,
        mistakes=(
            (
                float(_NOTHING_ALLOWED[0]),
                "That would be right, and `where=` returns it. But −1e9 is only a low score, not −∞.",
            ),
        ),
    ),
    OneOf(
        "softmax-gradient",
        "The gradient of the loss with respect to each weight is 5, the same for all keys. What is its "
        "gradient with respect to the scores?",
        (
            wrong(
                "5 for each score",
                "That is the gradient for the weights. They sum to one, so they cannot all rise.",
            ),
            right(
                "0 for each score",
                "It is the weight times the difference between its gradient and the mean: here 0.",
            ),
            wrong(
                "5 times the weight, for each",
                "First subtract the weighted mean of all gradients, which is 5 here.",
            ),
            wrong(
                "largest for the largest weight",
                "That can happen if the gradients differ. Here every difference from the mean is 0.",
            ),
        ),
    ),
    Number(
        "softmax-leader",
        "One key leads 99 competing keys, whose scores are all equal, by 5. How much weight does it get?",
        answer=_leader_weight(100),
        why="Its exponential is e⁵ = 148 times that of each of the 99 competing keys: 148 / (148 + 99).",
        within=0.01,
        mistakes=(
            (_leader_weight(2), "That is its weight against one competing key, but there are 99."),
            (_leader_weight(10), "That is its weight in a row of ten keys. This row has a hundred."),
        ),
    ),
    Number(
        "softmax-stream",
        "A softmax is computed in blocks. After the first block the peak is 1 and the total is 4. The second "
        "block is a single score of 3. What is the new total?",
        answer=float(1 / _STREAMED[-1]),
        why="The peak rises by 2, so the old total shrinks to 4 · e⁻² = 0.54, and the new score adds e⁰ = 1.",
        within=0.01,
        mistakes=(
            (5, "The 4 is relative to a peak of 1. The peak is now 3, so the old total must shrink."),
            (float(4 * np.exp(2) + 1), "Relative to a higher peak, the old exponentials shrink."),
            (float(4 + np.exp(2)), "That is relative to the old peak. The new peak is 3."),
        ),
    ),
)
