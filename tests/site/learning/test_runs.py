"""A run learns, is reproducible, and obeys commands; its scripts stay small."""

import gzip
import re
from operator import itemgetter

import pytest
from engine import serve

from glassformer.widgets.live import SCRIPTS

MOST_LINES, MOST_BYTES = 1000, 30_000  # bytes as they are served, compressed
WORKER = SCRIPTS / "workers/train.js"

# The losses of a run's first steps.
LOSSES = """([options, steps]) => {
  const run = new glassformer.TrainingRun(options);
  const step = () => glassformer.runToEnd(run.takeStep(run.sampleBatch())).loss;
  return Array.from({ length: steps }, step);
}"""
# Send commands to a trainer; some wait until a step is reported. Return all reports.
COMMAND = """async (commands) => {
  const reports = [];
  const trainer = new glassformer.Trainer({ report: (content) => reports.push(content), slice: 5 });
  for (const { until, ...command } of commands) {
    trainer.handle(command);
    while (until && !(reports.at(-1)?.step >= until)) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return reports;
}"""
SMALL = {"seed": 1, "numLayers": 1, "width": 8}
PREPARE = {"command": "prepare", **SMALL}
STEP = {"command": "step"}


def test_the_same_seed_gives_the_same_run_and_another_seed_another(learning):
    first, again, other = (learning(LOSSES, [SMALL | {"seed": seed}, 3]) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_runs_without_a_part_begin_with_the_same_weights_and_batches(learning):
    """Without warm-up, only the updates differ, so the first loss is the same."""
    complete, changed = (learning(LOSSES, [SMALL | {"without": parts}, 2]) for parts in ([], ["warmUp"]))
    assert complete[0] == changed[0]
    assert complete[1] != changed[1]


def test_with_one_head_the_model_has_the_same_number_of_parameters(learning):
    count = """(options) => {
      const { config, parameters } = new glassformer.TrainingRun(options).model;
      return [config.num_heads, parameters.count];
    }"""
    (four, size), (one, same) = (learning(count, SMALL | {"without": parts}) for parts in ([], ["manyHeads"]))
    assert (four, one, size) == (4, 1, same)


def test_a_complete_run_learns_to_translate_unseen_sentences(learning):
    reports = """() => {
      const run = new glassformer.TrainingRun({ seed: 1, numLayers: 1 });
      return [...run.train()].filter((report) => report?.look).map(({ step, look }) => ({ step, ...look }));
    }"""
    looks = learning(reports)
    assert [looks[0]["step"], looks[-1]["step"], len(looks)] == [0, 500, 21]
    assert looks[0]["exactMatch"] == 0
    assert looks[-1]["exactMatch"] >= 0.9
    assert " ".join(looks[-1]["translation"]) == "le renard affamé a évité la poule fatiguée"
    for row in looks[-1]["map"]:
        assert sum(row) == pytest.approx(1)


def test_commands_prepare_step_run_and_pause(learning):
    commands = [PREPARE, STEP | {"until": 1}, {"command": "resume", "until": 5}, {"command": "pause"}]
    reports = learning(COMMAND, commands)
    assert reports[0]["losses"] == []
    assert [look["step"] for look in map(itemgetter("look"), reports) if look] == [0]
    reached = [report["step"] for report in reports]
    assert reached == sorted(reached)
    assert reached[-1] == sum(len(report["losses"]) for report in reports) >= 5
    (first,) = [report for report in reports if report["step"] == 1 and report["losses"]]
    assert first["tokens"] > 100
    assert not any(report["isDone"] for report in reports)


def test_a_single_step_stops_by_itself(learning):
    reports = learning(COMMAND, [PREPARE, STEP | {"until": 1}, STEP | {"until": 2}])
    assert [loss for report in reports for loss in report["losses"]] == learning(LOSSES, [SMALL, 2])


def test_resuming_again_does_not_run_twice(learning):
    resume, pause = {"command": "resume"}, {"command": "pause"}
    reports = learning(COMMAND, [PREPARE, resume, pause, resume, resume | {"until": 6}, pause])
    losses = [loss for report in reports for loss in report["losses"]]
    assert losses == learning(LOSSES, [SMALL, len(losses)])


def test_a_translation_in_between_does_not_change_the_run(learning):
    words = ["the", "hen", "left", "the", "ant"]
    ask = {"command": "translate", "words": words}
    reports = learning(COMMAND, [PREPARE, STEP | {"until": 1}, ask, STEP | {"until": 2}])
    (translated,) = [report for report in reports if report["kind"] == "translated"]
    assert translated["words"] == words
    losses = [loss for report in reports for loss in report.get("losses", [])]
    assert losses == learning(LOSSES, [SMALL, 2])


def test_the_speed_is_measured_in_milliseconds_per_step(learning):
    measure = """() => new Promise((resolve) => {
      const report = ({ kind, milliseconds }) => resolve([kind, milliseconds]);
      new glassformer.Trainer({ report, slice: 5 }).handle({ command: "measure" });
    })"""
    kind, milliseconds = learning(measure)
    assert kind == "measured"
    assert 0 < milliseconds < 1000


def test_the_worker_loads_all_scripts_and_runs_under_a_strict_policy(browser):
    scripts = {path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.glob("learning/*.js")}
    needed = scripts | {f"engine/{name}.js" for name in ("random", "positions", "scheduling")}
    files = {name: (SCRIPTS / name).read_bytes() for name in [*needed, "workers/train.js"]}
    files |= {"": b"<!doctype html><title>Worker</title>", "favicon.ico": b""}
    with serve(files) as address:
        page = browser.new_page()
        page.goto(address)
        report = page.evaluate(
            """(commands) => new Promise((resolve, reject) => {
              const worker = new Worker("workers/train.js");
              worker.onmessage = ({ data }) => resolve(data);
              worker.onerror = ({ message }) => reject(new Error(message));
              commands.forEach((command) => worker.postMessage(command));
            })""",
            [PREPARE, STEP],
        )
        page.close()
    assert report["kind"] == "progress"
    listed = re.findall(r'"((?:engine|learning)/\w+)"', WORKER.read_text(encoding="utf-8"))
    assert {f"{name}.js" for name in listed} == needed


def test_the_scripts_are_short():
    texts = [path.read_text(encoding="utf-8") for path in (*SCRIPTS.glob("learning/*.js"), WORKER)]
    assert sum(bool(line.strip()) for text in texts for line in text.splitlines()) <= MOST_LINES
    assert sum(len(gzip.compress(text.encode())) for text in texts) <= MOST_BYTES
