import os
from functools import cache
from pathlib import Path

import pytest
from rescoring import read_results, rescore

from glassformer.data.corpora import load_corpus

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
every_result = pytest.mark.parametrize(
    "name", sorted(path.name for path in RESULTS.glob("translation_*.json"))
)
cached_corpus = cache(load_corpus)


@every_result
def test_a_result_file_is_complete_with_scores_from_0_to_100(name):
    record = read_results(RESULTS / name)
    assert all(0 <= value <= 100 for scores in record["scores"].values() for value in scores.values())


@every_result
@pytest.mark.skipif(
    "GLASSFORMER_DATA" not in os.environ, reason="GLASSFORMER_DATA names no folder with the references"
)
def test_rescoring_the_stored_translations_gives_the_stored_scores(name):
    record = read_results(RESULTS / name)
    rescored = rescore(record, cached_corpus(record["corpus"]))
    for test, values in record["scores"].items():
        for metric, value in values.items():
            assert rescored[test][metric] == pytest.approx(value, abs=0.005), f"{metric} of {test}"
