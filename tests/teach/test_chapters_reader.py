import ast
import importlib

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookkit.chapters import read_chapter, slugs, tags

STATEMENT = """## Exercises

```{exercise} Count the pairs
:label: pets-pairs

★★☆ · 15 minutes · practises: counting, and not giving up

How many pairs?

    print("three")
```
"""
STARTER = "pairs = ...\nexercises.check_pairs(pairs)"
GIVEN = "cats = 3"
SOLUTION = "pairs = cats * (cats - 1) // 2\nexercises.check_pairs(pairs)"


def write_chapter(folder, statement=STATEMENT, given=(GIVEN,), starter=STARTER, solution=SOLUTION):
    cells = [new_markdown_cell(statement), *map(new_code_cell, given)]
    cells.append(new_code_cell(starter, metadata={"tags": ["exercise"]}))
    if solution:
        cells.append(new_code_cell(solution, metadata={"tags": ["hide-cell", "solution"]}))
    nbformat.write(new_notebook(cells=cells), folder / "07_pets.ipynb")


def test_an_exercise_is_read_with_all_its_parts(tmp_path):
    write_chapter(tmp_path)
    (exercise,) = read_chapter("pets", tmp_path).exercises
    assert (exercise.label, exercise.title) == ("pets-pairs", "Count the pairs")
    assert (exercise.stars, exercise.minutes) == (2, 15)
    assert exercise.practises == "counting, and not giving up"
    assert exercise.statement == 'How many pairs?\n\n    print("three")'
    assert (exercise.given, exercise.starter, exercise.solution) == (GIVEN, STARTER, SOLUTION)
    assert (exercise.check, exercise.attempt) == ("check_pairs", "pairs")
    assert (exercise.statement_index, exercise.starter_index) == (0, 2)


def test_the_stated_reading_time_is_read_and_must_be_there(tmp_path):
    write_chapter(tmp_path, given=())
    with pytest.raises(ValueError, match="pets must state its reading time"):
        _ = read_chapter("pets", tmp_path).stated_minutes
    write_chapter(tmp_path, "# Pets\n\n**About 25 minutes.** You need a cat.\n\n" + STATEMENT)
    assert read_chapter("pets", tmp_path).stated_minutes == 25


def test_given_cells_are_joined_and_may_be_missing(tmp_path):
    write_chapter(tmp_path, given=("cats = 3", "dogs = 5"))
    assert read_chapter("pets", tmp_path).exercises[0].given == "cats = 3\n\n\ndogs = 5"
    write_chapter(tmp_path, given=())
    assert read_chapter("pets", tmp_path).exercises[0].given == ""


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"statement": "How many pairs?"}, "pets, cell 2: .* an {exercise} directive"),
        (
            {"statement": STATEMENT.replace("★★☆ · ", "")},
            "must begin with a label, stars, minutes",
        ),
        ({"solution": None}, "next cell must be tagged solution"),
        ({"starter": "pairs = ..."}, "last line must be exercises.check_"),
        ({"starter": "pairs = ...\nexercises.check_pairs(3)"}, "last line must be exercises.check_"),
    ],
)
def test_an_exercise_without_one_of_its_parts_is_an_error(tmp_path, fault, message):
    write_chapter(tmp_path, **fault)
    with pytest.raises(ValueError, match=message):
        print(read_chapter("pets", tmp_path).exercises)


def test_an_unknown_chapter_is_an_error_that_lists_the_known_ones(tmp_path):
    write_chapter(tmp_path)
    with pytest.raises(ValueError, match=r"slug \(ets\) must be one of pets"):
        read_chapter("ets", tmp_path)


def test_the_chapters_are_in_reading_order():
    assert slugs()[:2] == ["before_you_begin", "rnn_bottleneck"]
    assert len(slugs()) == 14


@pytest.mark.parametrize("slug", slugs())
def test_every_cell_tagged_as_an_exercise_or_a_solution_is_read(slug):
    cells, exercises = read_chapter(slug).cells, read_chapter(slug).exercises
    assert len(exercises) >= 6
    assert [exercise.starter for exercise in exercises] == [c.source for c in cells if "exercise" in tags(c)]
    assert [exercise.solution for exercise in exercises] == [c.source for c in cells if "solution" in tags(c)]
    assert all(exercise.statement and 1 <= exercise.stars <= 3 for exercise in exercises)
    assert len({exercise.label for exercise in exercises}) == len(exercises)
    checks = importlib.import_module(f"glassformer.exercises.{slug}")
    for exercise in exercises:
        assert callable(getattr(checks, exercise.check))
        names = {node.id for node in ast.walk(ast.parse(exercise.solution)) if isinstance(node, ast.Name)}
        assert exercise.attempt in names
