import json
import os
from functools import cache
from pathlib import Path

import pytest

from glassformer.data.corpora import load_corpus
from glassformer.training.evaluation import require_record, rescore

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
every_result = pytest.mark.parametrize(
    "name", sorted(path.name for path in RESULTS.glob("translation_*.json"))
)
cached_corpus = cache(load_corpus)


def read(name):
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


@every_result
def test_a_result_holds_all_that_is_needed_to_judge_and_to_repeat_it(name):
    require_record(read(name))


@every_result
@pytest.mark.skipif(
    "GLASSFORMER_DATA" not in os.environ, reason="GLASSFORMER_DATA names no folder with the references"
)
def test_the_stored_scores_are_those_of_the_stored_translations(name):
    record = read(name)
    counted = rescore(record, cached_corpus(record["corpus"]))
    assert counted.keys() == record["scores"].keys()
    for test, values in record["scores"].items():
        for metric, value in values.items():
            assert counted[test][metric] == pytest.approx(value, abs=0.005), f"{metric} of {test}"
