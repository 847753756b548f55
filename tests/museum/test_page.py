"""The summary of the measured symptoms on the museum's page."""

import json
import re
from pathlib import Path

import pytest

from bookkit.museum import Measured, read_bugs
from bookkit.symptoms import Symptoms, differ, format_range, same_training

ROOT = Path(__file__).parents[2]
BUGS = read_bugs(ROOT / "museum")
BUG = BUGS[0]
HEALTHY = {"loss": [0.25, 0.5, 0.75], "right": [0.9, 1.0, 0.95]}


def symptoms(folder, **patched):
    path = folder / "result.json"
    settings = {"seeds": 3, "measures": {"loss": ["loss a token", ""], "right": ["right ones", "%"]}}
    measured = {BUG.id: {"healthy": HEALTHY, "patched": patched}}
    path.write_text(json.dumps({"settings": settings, "measured": measured}), encoding="utf-8")
    return Symptoms(path), BUG._replace(measured=Measured("lesson", {}, ["right", "loss"]))


@pytest.mark.parametrize(
    ("numbers", "kind", "text"),
    [
        ([0.5], "%", "50.0 %"),
        ([0.5, 0.25, 0.3], "%", "25.0 to 50.0 %"),
        ([0.12345, 0.12349], "", "0.123"),
        ([51200, 51200], "", "51,200"),
        ([-1.5, 2.0], "", "−1.5 to 2"),
        ([-1200.0, 7.0], "", "−1,200 to 7"),
        ([0.5, None], "", "not finite"),
    ],
)
def test_numbers_are_shown_as_a_range_over_the_seeds(numbers, kind, text):
    assert format_range(numbers, kind) == text


@pytest.mark.parametrize(
    ("healthy", "patched", "expected"),
    [
        ([1, 3], [4, 5], True),
        ([1, 3], [-1, 0], True),
        ([1, 3], [3, 5], False),
        ([1, 3], [0, 1], False),
        ([1, 3], [0, 5], False),
        ([1, 3], [None, 5], True),
        ([None, 3], [None, 5], False),
    ],
)
def test_a_bug_is_visible_if_its_numbers_do_not_overlap_with_the_others(healthy, patched, expected):
    assert differ(healthy, patched) is expected


@pytest.mark.parametrize(
    ("patched", "expected"), [([2, 4], True), ([0, 2], True), ([0, 4], False), ([1, 4], False)]
)
def test_seed_by_seed_all_numbers_must_move_in_the_same_direction(patched, expected):
    assert differ([1, 3], patched, seed_by_seed=True) is expected


def test_seeds_are_compared_one_by_one_if_training_is_unchanged():
    loss = {"unseen_loss": [0.5, 0.7], "bleu": [10, 20]}
    assert same_training({"healthy": loss, "patched": loss | {"bleu": [11, 21]}})
    assert not same_training({"healthy": loss, "patched": loss | {"unseen_loss": [0.5, 0.6]}})
    assert not same_training({"healthy": {"bleu": [10]}, "patched": {"bleu": [11]}})


def test_the_headline_is_the_first_measure_that_changes(tmp_path):
    told, bug = symptoms(tmp_path, loss=[1, 2, 3], right=[0.1, 0.2, 0.3])
    assert told.headline(bug) == "right ones: 90.0 to 100.0 % → 10.0 to 30.0 %"
    told, bug = symptoms(tmp_path, loss=[1, 2, 3], right=[0.1, 0.95, 0.3])
    assert told.headline(bug) == "loss a token: 0.25 to 0.75 → 1 to 3"


def test_if_training_is_unchanged_a_small_change_of_every_seed_counts(tmp_path, monkeypatch):
    monkeypatch.setitem(HEALTHY, "unseen_loss", [1.0, 2.0, 3.0])
    right = [0.91, 1.01, 0.96]
    told, bug = symptoms(tmp_path, unseen_loss=[1.0, 2.0, 3.0], loss=[0.25, 0.5, 0.75], right=right)
    assert told.headline(bug) == "right ones: 90.0 to 100.0 % → 91.0 to 101.0 %"
    told, bug = symptoms(tmp_path, unseen_loss=[1.5, 2.0, 3.0], loss=[0.25, 0.5, 0.75], right=right)
    assert told.headline(bug) == "no visible effect"


def test_a_bug_that_changes_nothing_says_so(tmp_path):
    told, bug = symptoms(tmp_path, **HEALTHY)
    assert told.headline(bug) == "no visible effect"
    assert list(told.rows(bug))[1] == ("loss a token", "0.25 to 0.75", "0.25 to 0.75")


def test_a_bug_that_stops_the_program_is_shown_with_its_error(tmp_path):
    told, bug = symptoms(tmp_path, error=["ValueError: no", None, None])
    assert told.headline(bug) == "it raises an error"
    assert next(told.rows(bug)) == ("right ones", "90.0 to 100.0 %", "ValueError: no")


def test_the_index_of_symptoms_lists_every_bug_once():
    page = (ROOT / "appendix/museum.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\{ref\}`([\w-]+)`", page)) == sorted(bug.id for bug in BUGS)
