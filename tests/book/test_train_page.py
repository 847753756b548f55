"""The page "Train it yourself" quotes the stored benchmark, and links each part to its section."""

import json
import re
from itertools import product
from pathlib import Path
from statistics import median

import pytest

from glassformer.widgets.figures.train import REMOVABLE_PARTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "train.md").read_text(encoding="utf-8")
RESULT = json.loads((ROOT / "benchmarks/results/removed_parts.json").read_text(encoding="utf-8"))
CASES = {(row["layers"], row["without"]): row for row in RESULT["measured"]}


def span(numbers):
    """Format the lowest and the highest of some shares."""
    lowest, highest = f"{min(numbers):.2f}", f"{max(numbers):.2f}"
    return lowest if lowest == highest else f"{lowest} to {highest}"


def expected_row(name, title):
    shallow, deep = CASES[1, name], CASES[3, name]
    losses = [f"{median(case['loss']):.2g}" for case in (shallow, deep)]
    return [title, span(shallow["exact"]), losses[0], span(deep["exact"]), losses[1]]


def rows():
    """Return the cells of the page's table, without its head."""
    lines = [line for line in PAGE.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_table_is_that_of_the_benchmark():
    titles = {
        part.name: f"[{part.label}]({part.section.replace('.html', '.ipynb')})" for part in REMOVABLE_PARTS
    }
    expected = [expected_row("complete", "nothing: the complete model")]
    expected += [expected_row(name, title) for name, title in titles.items()]
    assert rows() == expected


def test_the_page_names_the_numbers_of_seeds_and_parameters():
    assert {len(row["exact"]) for row in RESULT["measured"]} == {len(RESULT["settings"]["seeds"])}
    names = ["one", "two", "three", "four", "five"]
    assert f"{names[len(RESULT['settings']['seeds']) - 1]} seeds" in PAGE
    sizes = [CASES[layers, "complete"]["parameters"] for layers in (1, 3)]
    assert [round(size, -3) for size in sizes] == [
        int(number.replace(",", "")) for number in re.findall(r"\d\d,000", PAGE)[:2]
    ]


@pytest.mark.parametrize("layers", [1, 3])
def test_what_the_page_says_about_the_mask_holds(layers):
    assert max(CASES[layers, "causalMask"]["exact"]) == 0
    if layers == 3:
        pairs = zip(CASES[3, "causalMask"]["loss"], CASES[3, "complete"]["loss"], strict=True)
        assert all(changed < complete for changed, complete in pairs)


def test_what_the_page_says_about_the_other_parts_holds():
    nearly_as_well = ["layerNorm", "scaling", "warmUp", "manyHeads"]
    assert min(min(CASES[1, name]["exact"]) for name in nearly_as_well) > 0.9
    assert max(max(CASES[3, name]["exact"]) for name in ("scaling", "warmUp")) < 0.1
    assert max(CASES[3, "layerNorm"]["exact"]) < min(CASES[3, "complete"]["exact"])
    needed = product((1, 3), ["positions", "crossAttention", "residuals"])
    assert max(max(CASES[case]["exact"]) for case in needed) <= 0.2
    assert min(CASES[3, "manyHeads"]["exact"]) == 0
    assert max(CASES[3, "manyHeads"]["exact"]) > 0.9
    assert CASES[3, "manyHeads"]["exact"][:2] == [0.82, 0.92]
    assert min(CASES[1, "manyHeads"]["exact"]) >= min(CASES[1, "complete"]["exact"])
