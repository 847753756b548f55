import pytest

from glassformer.metrics import exact_match


def test_only_whole_sentences_count():
    references = [("le", "chat"), ("la", "rue"), ("l'", "île"), ("il",)]
    translations = [["le", "chat"], ("la", "route"), ("l'",), ("il", "il")]
    assert exact_match(translations, references) == 0.25
    assert exact_match(references, references) == 1


@pytest.mark.parametrize(
    ("translations", "references"), [([], []), ([("il",)], []), ([("il",)], [("il",)] * 2)]
)
def test_as_many_translations_as_references(translations, references):
    with pytest.raises(ValueError, match=rf"translations \({len(translations)}\) and references"):
        exact_match(translations, references)
