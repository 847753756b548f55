"""The project's page states the stored costs, and its commands exist."""

import json
import re
import shlex
from pathlib import Path

import pytest

from glassformer.cli import main
from glassformer.training.log import read_log

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "teach/project.md").read_text(encoding="utf-8")
RESULTS = ROOT / "benchmarks/results"
BLOCKS = "\n".join(re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = [shlex.split(line) for line in BLOCKS.replace("\\\n", " ").splitlines() if line]


def test_the_costs_are_those_of_the_stored_run():
    stated = re.findall(r"^\| ([\d,]+) \| (\d+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
    assert len(stated) > 5
    log = read_log(RESULTS / "translation_en_fr_log.jsonl")
    seen = {line["step"]: line for line in log if "validation_bleu" in line}
    for steps, minutes, bleu in stated:
        line = seen[int(steps.replace(",", ""))]
        assert (int(minutes), float(bleu)) == (round(line["seconds"] / 60), round(line["validation_bleu"], 1))


HOURS = {"translation_en_fr": r"took (2\.6) hours", "translation_en_de_seed0": r"took\s+(2\.9) hours"}


@pytest.mark.parametrize(("name", "stated"), HOURS.items())
def test_the_hours_are_those_of_the_stored_runs(name, stated):
    hours = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))["seconds"] / 3600
    assert float(re.search(stated, PAGE)[1]) == round(hours, 1)


def test_the_overlap_is_that_of_the_stored_result():
    found = json.loads((RESULTS / "overlap_with_training.json").read_text(encoding="utf-8"))["measured"]
    scores = found["bleu"]["translation_en_fr"]
    text = " ".join(PAGE.split())
    assert f"of the book's {found['sentences']:,} test sentences, {found['near source']} have" in text
    assert f"falls from {scores['all']:.1f} to {scores['without overlap']:.1f}," in text


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_option_of_a_command_exists(words, capsys):
    program, command, *rest = words
    assert program == "glassformer"
    with pytest.raises(SystemExit):
        main([command, "--help"])
    told = capsys.readouterr().out
    for word in rest:
        assert not word.startswith("--") or re.search(rf"{word}\b", told), word


def test_the_rubric_has_forty_points():
    rubric = PAGE.split("## The rubric")[1]
    assert rubric.strip().startswith("Forty points")
    assert sum(map(int, re.findall(r"^\* - \*\*[^*]+\*\* \((\d+)\)", rubric, re.MULTILINE))) == 40
