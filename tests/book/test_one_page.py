"""The appendix shows the listing of the whole Transformer, runs it, and counts what it multiplies."""

import doctest
import inspect
import re
from collections import Counter
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from glassformer.data.tokenizer import Tokenizer
from glassformer.data.vocabulary import END_ID, START_ID
from glassformer.reference import transformer
from glassformer.translator import locate_translator

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "appendix/one_page.md").read_text(encoding="utf-8")
FOLDER = locate_translator("en-fr")
SENTENCE = "The animal didn't cross the street because it was too tired."
MILLION = 10**6


def blocks(language):
    return re.findall(rf"^```{re.escape(language)}(.*?)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


class Counting(np.ndarray):
    """An array whose matrix products are counted, for the row of the table that is running."""

    __array_priority__ = 1  # what is concatenated with it counts, too
    row = "Output"
    multiplications: ClassVar[Counter] = Counter()

    def __matmul__(self, other):
        product = np.asarray(self) @ np.asarray(other)
        Counting.multiplications[Counting.row] += product.size * self.shape[-1]
        return product.view(Counting)

    def __rmatmul__(self, other):
        return other.view(Counting) @ self


def arrays(part):
    """Yield the arrays in nested weights."""
    if isinstance(part, np.ndarray):
        yield part
    elif isinstance(part, list | transformer.Weights):
        for each in part if isinstance(part, list) else vars(part).values():
            yield from arrays(each)


def counting(part):
    """Return nested weights that count."""
    if isinstance(part, np.ndarray):
        return part.view(Counting)
    if isinstance(part, list):
        return [counting(each) for each in part]
    if isinstance(part, transformer.Weights):
        return transformer.Weights(**{name: counting(each) for name, each in vars(part).items()})
    return part


def parts_of(model):
    """Yield each row of the table with the weights that it counts."""
    yield "Embeddings", model.source_embedding
    for side, stack in [("Encoder", model.encoder), ("Decoder", model.decoder)]:
        yield "Layer norms", stack.final_norm
        for layer in stack.layers:
            for name, part in vars(layer).items():
                is_norm = name.endswith("_residual")
                yield "Layer norms" if is_norm else f"{side} {name.replace('_', '-')}", part


@pytest.fixture
def model(monkeypatch):
    """The model of the page, which counts its multiplications part by part."""
    model = counting(transformer.load_transformer(FOLDER))
    row_of = {id(part): row for row, part in parts_of(model)}

    def watched(function):
        def run(part, *args, **options):
            Counting.row = row_of[id(part)]
            result = function(part, *args, **options)
            Counting.row = "Output"
            return result

        return run

    for name in ["attend", "keys_and_values", "transform"]:
        monkeypatch.setattr(transformer, name, watched(getattr(transformer, name)))
    Counting.multiplications.clear()
    return model


@pytest.fixture
def source_ids():
    return np.array([*Tokenizer.load(FOLDER / "tokenizer.json").encode([SENTENCE])[0], END_ID])


@pytest.fixture(scope="module")
def table():
    """The cells of each row: parameters, formula, multiplications."""
    cost = PAGE[PAGE.index("| Part |") :]
    rows = [line.replace("*", "").split("|")[1:-1] for line in cost.splitlines() if line.startswith("| ")]
    return {name.strip(): [cell.strip() for cell in cells] for name, *cells in rows[1:]}


def number(cell):
    return int(cell.replace(",", ""))


def test_the_listing_is_the_file_from_its_first_line_to_its_last():
    (included,) = blocks("{literalinclude}")
    path, options = included
    assert (ROOT / "appendix" / path.strip()).samefile(inspect.getfile(transformer))
    assert options == ":language: python\n:class: full-width\n"
    count = len(inspect.getsource(transformer).splitlines())
    assert f"in {count} lines of NumPy" in PAGE


@pytest.mark.usefixtures("as_a_user")
def test_the_examples_print_what_the_page_shows():
    code = "\n".join(block for _, block in blocks("pycon"))
    test = doctest.DocTestParser().get_doctest(code, {}, "one_page", "one_page.md", 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test).failed == 0


@pytest.mark.usefixtures("as_a_user")
def test_the_table_counts_what_the_listing_multiplies(model, source_ids, table):
    target_ids = transformer.greedy_decode(model, source_ids)
    assert f"$S = {len(source_ids)}$ tokens and the target $T = {len(target_ids)}$" in PAGE
    total = Counting.multiplications.total()
    assert number(table["Total"][2]) == total
    for row in table.keys() - {"Total"}:
        _, formula, count = table[row]
        assert number(count) == Counting.multiplications[row], row
        assert (number(count) == 0) == formula.startswith("none"), row
    assert f"This takes {Counting.multiplications['Output'] / total:.0%}".replace("%", " %") in PAGE


def test_the_table_counts_every_parameter(model, table):
    counts = Counter()
    for row, part in parts_of(model):
        counts[row] += sum(array.size for array in arrays(part))
    assert {row: number(table[row][0]) for row in counts} == counts
    assert number(table["Total"][0]) == counts.total() == sum(array.size for array in arrays(model))


def test_the_formulas_give_the_numbers(table):
    source, target, d, d_ff, vocabulary, layers = 14, 16, 192, 512, 6000, 3
    pairs = layers * 2 * source**2 * d, layers * target * (target + 1) * d, layers * 2 * source * target * d
    values = {
        r"$4Sd^2 + 2S^2d$": layers * 4 * source * d**2 + pairs[0],
        r"$2Sdd_\text{ff}$": layers * 2 * source * d * d_ff,
        r"$4Td^2 + T(T+1)d$": layers * 4 * target * d**2 + pairs[1],
        r"$2(S+T)d^2 + 2STd$": layers * 2 * (source + target) * d**2 + pairs[2],
        r"$2Tdd_\text{ff}$": layers * 2 * target * d * d_ff,
        r"$TVd$ in total": target * vocabulary * d,
    }
    assert {cells[1]: number(cells[2]) for cells in table.values() if "$" in cells[1]} == values
    share = f"{100 * sum(pairs) / sum(values.values()):.1f} %"
    assert f"add up to {sum(pairs):,} multiplications, or {share}" in PAGE


@pytest.mark.usefixtures("as_a_user")
def test_the_cache_saves_the_layers_as_many_multiplications_as_the_page_says(model, source_ids):
    def count_layers():
        counts = Counting.multiplications.copy()
        Counting.multiplications.clear()
        return round((counts.total() - counts["Output"]) / MILLION)

    target_ids = [START_ID, *transformer.greedy_decode(model, source_ids)[:-1]]
    with_cache = count_layers()
    memory = transformer.encode(model, source_ids)
    for length in range(1, len(target_ids) + 1):
        transformer.decode(model, np.array(target_ids[:length]), transformer.start_cache(model, memory))
    positions = len(target_ids) * (len(target_ids) + 1) // 2
    assert f"= {positions}$ target positions instead of {len(target_ids)}" in PAGE
    assert f"{count_layers()} million multiplications instead of {with_cache} million" in PAGE
