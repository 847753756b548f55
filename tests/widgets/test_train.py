import json
import re

from glassformer.widgets import live_train
from glassformer.widgets.figures.train import REMOVABLE_PARTS
from glassformer.widgets.live import SCRIPTS, files_of


def test_every_part_has_a_reason_of_one_sentence_and_a_section(monkeypatch):
    monkeypatch.setenv("GLASSFORMER_SCRIPTS", "page")
    html = live_train()._repr_html_()
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html, re.S)[1])
    assert [part["name"] for part in data["parts"]] == [part.name for part in REMOVABLE_PARTS]
    for part in REMOVABLE_PARTS:
        assert re.fullmatch(r"[A-Z][^.]+\.( Without it, [^.]+\.)?", part.reason)
        assert re.fullmatch(r"chapters/\w+\.html#[\w-]+", part.section)
        assert part.label in html


def test_the_parts_are_those_that_the_trainer_can_remove():
    removable = "".join((SCRIPTS / f"learning/{name}.js").read_text() for name in ("transformer", "run"))
    lists = re.findall(r"const (?:REMOVABLE|TRAINING_PARTS) = \[([^\]]*)\]", removable)
    assert sorted(re.findall(r'"(\w+)"', "".join(lists))) == sorted(part.name for part in REMOVABLE_PARTS)


def test_the_trainer_is_loaded_before_the_figure():
    files = files_of("train")
    assert [file for file in files if not (SCRIPTS / file).is_file()] == []
    assert files[-1] == "figures/train/figure.js"
    assert {"learning/trainer.js", "engine/random.js", "figures/train/connection.js"} < set(files)
    assert "workers/train.js" not in files
