"""How good translations are."""

from collections.abc import Sequence


def exact_match(translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]) -> float:
    """Share of translations that are their reference, word for word.

    Raises:
        ValueError: there are not equally many of both, or none.
    """
    if len(translations) != len(references) or not references:
        raise ValueError(
            f"translations ({len(translations)}) and references ({len(references)}) "
            f"must be equally many, and at least 1"
        )
    same = [tuple(one) == tuple(other) for one, other in zip(translations, references, strict=True)]
    return sum(same) / len(same)
