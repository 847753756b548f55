import re
import runpy
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ROWS = [
    {"implementation": "ours", "milliseconds": 7.5, "agreement": 1.0},
    {"implementation": "theirs", "milliseconds": 1100, "agreement": None},
]
TABLE = """\
| implementation |    ms | agreement |
| -------------- | ----: | --------: |
| ours           |   7.5 |       1.0 |
| theirs         | 1,100 |           |
"""


@pytest.fixture
def table():
    return runpy.run_path(str(BENCHMARKS / "table.py"))


def test_the_tables_of_the_page_are_what_is_stored(table):
    page = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    assert len(re.findall(r"<!-- .* -->\n\| ", page)) == page.count("<!-- ") > 0
    assert table["with_tables"](page, BENCHMARKS / "results") == page


@pytest.mark.parametrize(
    ("asked", "stored"), [("speed", ROWS), ("speed: tiny, causal", {"tiny, causal": ROWS})]
)
def test_a_table_takes_the_place_of_the_one_before(table, tmp_path, asked, stored):
    (tmp_path / "speed.json").write_text(table["json"].dumps({"measured": stored}), encoding="utf-8")
    page = f"Before\n\n<!-- {asked} -->\n| old |\n| --- |\n\nAfter\n"
    assert table["with_tables"](page, tmp_path) == f"Before\n\n<!-- {asked} -->\n{TABLE}\nAfter\n"
