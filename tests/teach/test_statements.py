import pytest

from bookkit.course.grader.statements import read_statements, required_names, required_statements

CHAPTER = """
import math, json
from itertools import chain, product

rng = math.sqrt(2)
x = [rng]
x[0] = 3
y = x + [z for z in x]


def double(x):
    scale = 2
    return scale * x


def many(x):
    return double(double(x))


x = []
"""


def needed(code, before=CHAPTER):
    return [
        each.source.strip()
        for each in required_statements(read_statements(before), required_names(read_statements(code)))
    ]


def test_a_name_brings_all_statements_that_it_depends_on():
    assert needed("y") == [
        "import math",
        "rng = math.sqrt(2)",
        "x = [rng]",
        "x[0] = 3",
        "y = x + [z for z in x]",
    ]


def test_only_the_last_definition_counts():
    assert needed("x") == ["x = []"]


def test_a_function_brings_the_functions_that_it_calls_but_not_its_local_names():
    found = needed("many(5)")
    assert [source.split("(")[0] for source in found] == ["def double", "def many"]


def test_an_import_is_reduced_to_the_names_used():
    assert needed("product") == ["from itertools import product"]


@pytest.mark.parametrize(
    "code",
    [
        "x = 3\nx",
        "def x(n): return x(n - 1)",
        "for x in range(3): x",
        "[x for x in range(3)]",
        "{x for x in range(3)}",
        "{x: 2 * x for x in range(3)}",
        "y = [[x for y in range(x)] for x in range(3)]",
        "def f(): return [x for x in range(3)]",
        "lambda x: x",
        "import x",
        "%timeit x",
        "!rm x",
    ],
)
def test_names_that_code_defines_are_not_required(code):
    assert "x" not in required_names(read_statements(code))


@pytest.mark.parametrize(
    "code",
    [
        "x",
        "x = x + 1",
        "x += 1",
        "x[2] = 1",
        "x.y = 1",
        "def f(): return x",
        "for y in x: y",
        "f'{x}'",
        "x, [x for x in y]",
        "[x for y in range(3)]",
        "{y: y for y in x}",
    ],
)
def test_names_that_code_does_not_define_are_required(code):
    assert "x" in required_names(read_statements(code))


def test_an_import_of_everything_is_always_kept():
    assert needed("x", "from math import *\nx = 3") == ["from math import *", "x = 3"]


def test_a_statement_includes_its_decorators_only():
    code = "x = 1; y = 2\n\n@first\n@second(3)\nclass A:\n    def f(self): return x\n"
    assert [each.source for each in read_statements(code)] == [
        "x = 1",
        "y = 2",
        "@first\n@second(3)\nclass A:\n    def f(self): return x",
    ]
    assert {"first", "second", "x"} <= read_statements(code)[2].uses


def test_invalid_python_is_an_error():
    with pytest.raises(SyntaxError):
        read_statements("x = (3")
