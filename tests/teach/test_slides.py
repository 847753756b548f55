"""The slide scripts, and the parts of the chapters that they show."""

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from bookkit.chapters import read_chapter, slugs, tags
from bookkit.slides import build as slides
from bookkit.slides import parts as slide_parts
from bookkit.slides.parts import find_cell, show
from bookkit.slides.scripts import KINDS, LAYOUTS, SlideError, list_scripts, read_slides, slug_of

ROOT = Path(__file__).parents[2]
CELL = "2b21dadf"  # of the chapter on masks; it prints four lines


@pytest.fixture
def masks():
    return read_chapter("masks")


@pytest.fixture
def script(tmp_path):
    """Write a script of one slide."""

    def write(text):
        path = tmp_path / "05_masks.md"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_every_chapter_has_a_deck():
    assert [slug_of(path) for path in list_scripts()] == slugs()


def test_no_two_slides_share_an_id():
    ids = Counter(slide.id for path in list_scripts() for slide in read_slides(path))
    assert [id for id, count in ids.items() if count > 1] == []


@pytest.mark.parametrize("path", list_scripts(), ids=slug_of)
def test_a_deck_asks_before_it_answers_and_ends_with_an_exercise_and_a_summary(path):
    kinds = [kind for slide in read_slides(path) for kind in slide.kinds]
    assert kinds.index("predict") < kinds.index("answer")
    assert kinds[-2:] == ["exercise", "take-away"]
    assert "folklore" in kinds


@pytest.mark.parametrize("path", list_scripts(), ids=slug_of)
def test_notes_have_two_to_eight_sentences(path):
    sentences = {slide.id: len(re.findall(r"[.?!](?=\s|$)", slide.notes)) for slide in read_slides(path)}
    assert {id: count for id, count in sentences.items() if not 2 <= count <= 8} == {}


@pytest.mark.parametrize("path", list_scripts(), ids=slug_of)
def test_answers_wait_for_the_key_and_the_notes_say_when(path):
    slides = read_slides(path)
    work = [slide for slide in slides if {"by-hand", "folklore"} & set(slide.kinds)]
    assert [slide.id for slide in work if not slide.presses] == []
    told = {slide.id: len(re.findall(r"press\s+space", slide.notes, re.IGNORECASE)) for slide in slides}
    assert told == {slide.id: slide.presses for slide in slides}


@pytest.mark.parametrize("path", list_scripts(), ids=slug_of)
def test_a_deck_fills_a_lesson_and_allows_for_its_exercise(path):
    slides = read_slides(path)
    assert 40 <= sum(slide.minutes for slide in slides) <= 60
    assert all(1 <= slide.minutes <= 10 for slide in slides)
    minutes = {exercise.label: exercise.minutes for exercise in read_chapter(slug_of(path)).exercises}
    exercise = next(slide for slide in slides if "exercise" in slide.kinds)
    (label,) = [token.info.split()[1] for token in exercise.tokens if token.type == "fence"]
    assert exercise.minutes == minutes[label]


def test_notes_end_with_the_minutes_of_the_slide_and_their_sum(masks, script):
    text = "".join(
        f"## Title {minutes} {{#masks-{minutes} minutes={minutes}}}\n\n:::{{notes}}\nSay it.\n:::\n\n"
        for minutes in (1, 7)
    )
    deck = slides.write_deck(masks, read_slides(script(text)))
    assert re.findall(r"<p>([^<]+)</p></aside>", deck) == [
        "1 minute, until minute 1.",
        "7 minutes, until minute 8.",
    ]
    assert "<span>2 slides, 8 minutes</span>" in slides.write_index([(masks, read_slides(script(text)))])


def test_parts_after_a_line_of_plus_signs_wait_for_the_key(masks, script):
    text = f"""## A title {{#masks-a .beside minutes=3}}

Left.

+++

Second.

```{{output}} {CELL}
```

+++

Third.

:::{{notes}}
Say it.
:::
"""
    deck = slides.write_deck(masks, read_slides(script(text)))
    first, second, third = deck.split('<div class="later fragment">')
    assert "Left." in first
    assert "Second." in second
    assert "outputs by hand" in second
    assert "Third." in third
    assert third.index("Third.") < third.index("Say it.")


def test_an_empty_step_is_refused(masks, script):
    text = "## A title {#masks-a minutes=3}\n\nWords.\n\n+++\n\n:::{notes}\nSay it.\n:::\n"
    with pytest.raises(
        SlideError, match=re.escape("'masks-a' of masks has a line +++ with nothing after it")
    ):
        slides.write_deck(masks, read_slides(script(text)))


def test_a_slide_shows_the_stored_output_of_its_chapter(masks):
    changed = read_chapter("masks")
    find_cell(changed, CELL, "code").outputs[0].text = "seven\nelves\n"
    before = show(masks, f"{{output}} {CELL}", "")
    after = show(changed, f"{{output}} {CELL}", ":lines: 2")
    assert "outputs by hand" in before
    assert "elves" in after
    assert "seven" not in after


@pytest.mark.parametrize(
    ("directive", "option", "message"),
    [
        ("{output} 00000000", "", "the chapter masks has no cell '00000000'"),
        (f"{{formula}} {CELL}", "", f"cell '{CELL}' of masks must be a markdown cell, got a code cell"),
        ("{output} 6a09f3dc", "", "cell '6a09f3dc' of masks has no output"),
        (f"{{output}} {CELL}", ":lines: 2-5", "lines must lie between 1 and 4, got 2-5"),
        (
            f"{{output}} {CELL}",
            ":line: 2",
            "must be empty or hold an option such as :lines: 1-3, got ':line: 2'",
        ),
        ("{exercise} masks-none", "", "masks has no exercise 'masks-none', but masks-"),
        ("{picture} 1", "", "a fence must begin with one of {code}, {output}, {formula}, {exercise}"),
    ],
)
def test_a_slide_that_names_a_missing_cell_is_refused(masks, directive, option, message):
    with pytest.raises(SlideError, match=re.escape(message)):
        show(masks, directive, option)


def test_no_slide_shows_a_solution(masks):
    solution = next(cell.id for cell in masks.cells if "solution" in tags(cell))
    with pytest.raises(SlideError, match="is a solution, which no slide may show"):
        show(masks, f"{{code}} {solution}", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "## A title\n\nWords.\n",
            "a title must end in an id and minutes, {#masks-edit minutes=3}, got '## A title'",
        ),
        ("## A title {#masks-a}\n", "got '## A title {#masks-a}'"),
        ("## A title {#masks-a .loud minutes=3}\n", "slide 'masks-a' has an unknown kind, loud"),
        ("## A title {#masks-a minutes=3}\n\nWords.\n", "slide 'masks-a' must have notes"),
        (
            "## A title {#masks-a minutes=3}\n\n:::{note}\nWords.\n:::\n",
            "slide 'masks-a' has an unknown box, {note}",
        ),
    ],
)
def test_a_malformed_script_is_refused(script, text, message):
    with pytest.raises(SlideError, match=re.escape(message)):
        read_slides(script(text))


def test_a_failed_build_keeps_the_previous_decks(script, tmp_path, monkeypatch):
    gone = script(
        "## A title {#masks-a minutes=3}\n\n```{output} 00000000\n```\n\n:::{notes}\nSay it.\n:::\n"
    )
    monkeypatch.setattr(slides, "list_scripts", lambda: [gone])
    (tmp_path / "made").mkdir()
    (tmp_path / "made/masks.html").write_text("the last one")
    with pytest.raises(SlideError):
        slides.build(tmp_path / "made")
    assert (tmp_path / "made/masks.html").read_text() == "the last one"


def test_the_page_for_teachers_documents_every_kind_and_fence(masks, script):
    page = (ROOT / "teach/slides.md").read_text(encoding="utf-8")
    assert [kind for kind in (*KINDS, *LAYOUTS) if f"`.{kind}`" not in page] == []
    assert [fence for fence in slide_parts.SHOWN if f"`{fence}`" not in page] == []
    (example,) = re.findall(r"^````markdown\n(.*?)^````$", page, re.MULTILINE | re.DOTALL)
    deck = slides.write_deck(masks, read_slides(script(example)))
    assert deck.count("<img") == deck.count("<section") == 1


def test_the_page_for_teachers_states_the_size_of_a_deck():
    page = (ROOT / "teach/slides.md").read_text(encoding="utf-8")
    told = re.search(r"A deck has (\d+) to (\d+) slides and takes (\d+) to (\d+) minutes", page)
    fewest, most, shortest, longest = map(int, told.groups())
    decks = [read_slides(script) for script in list_scripts()]
    assert (fewest, most) == (min(map(len, decks)), max(map(len, decks)))
    minutes = [sum(slide.minutes for slide in deck) for deck in decks]
    assert (shortest, longest) == (min(minutes), max(minutes))


def test_a_formula_of_its_own_line_is_typeset(masks, script):
    text = "## A title {#masks-a minutes=3}\n\n$$a < b$$\n\n:::{notes}\nSay it.\n:::\n"
    deck = slides.write_deck(masks, read_slides(script(text)))
    assert r"\[a &lt; b\]</div>" in deck


def test_formulas_have_the_letters_and_colours_of_the_book(masks):
    book = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    macros = book["sphinx"]["config"]["mathjax3_config"]["tex"]["macros"]
    page = slides.write_deck(masks, [])
    assert all(name in page for name in macros)
    assert "math-query" in page
