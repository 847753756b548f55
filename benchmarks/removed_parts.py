"""Train the translator of the page "Train it yourself" in Chromium, complete and without each part.

Every run has the sizes of the page: 500 steps of 16 sentences, one or three layers in each stack. "exact" is
the share of 50 unseen sentences translated without any mistake, "loss" the mean training loss of the last 50
steps, and "seconds" the time of the page's thread for the whole run with its tests. Each run is kept in a
folder, so that the benchmark can be interrupted.

    python benchmarks/removed_parts.py --jobs 2
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from playwright.sync_api import sync_playwright
from record import CPU, Result, load_or_make, run_benchmark

from glassformer.widgets import REMOVABLE_PARTS, SCRIPTS, files_of

COMPLETE = "complete"
LAST = 50  # steps whose loss is averaged
TRAIN = """(options) => {
  const run = new glassformer.TrainingRun(options);
  const reports = [...run.train()].filter(Boolean);
  const losses = reports.filter((report) => report.look === undefined).map(({ loss }) => loss);
  const { exactMatch } = reports.findLast(({ look }) => look).look;
  return { losses, exact: exactMatch, parameters: run.model.parameters.count };
}"""

Run = dict[str, Any]


def train(chromium: str, options: dict[str, Any]) -> Run:
    """Train once in a new browser; return the result and the seconds of the page's thread."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        for file in files_of("train"):
            if file.startswith(("engine/", "learning/")):
                page.add_script_tag(path=SCRIPTS / file)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        found: Run = page.evaluate(TRAIN, options)
        metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        browser.close()
    losses = found.pop("losses")
    return {**found, "loss": mean(losses[-LAST:]), "seconds": round(metrics["TaskDuration"], 2)}


def train_and_keep(folder: Path, chromium: str, case: tuple[int, str, int]) -> Run:
    """Load the run of a depth, a removed part and a seed, or train it."""
    num_layers, part, seed = case
    without = [] if part == COMPLETE else [part]
    options = {"numLayers": num_layers, "without": without, "seed": seed}
    path = folder / f"{num_layers} {part} {seed}.json"
    return {"layers": num_layers, "part": part, "seed": seed} | load_or_make(
        path, lambda: train(chromium, options)
    )


def summarize(runs: list[Run]) -> list[dict[str, Any]]:
    """Collect the runs of each depth and part in one row."""
    rows = []
    for layers, part in dict.fromkeys((run["layers"], run["part"]) for run in runs):
        own = [run for run in runs if (run["layers"], run["part"]) == (layers, part)]
        row: dict[str, Any] = {"layers": layers, "without": part, "parameters": own[0]["parameters"]}
        for name, digits in (("exact", 2), ("loss", 4), ("seconds", 1)):
            row[name] = [round(run[name], digits) for run in own]
        rows.append(row)
    return rows


def measure(options: argparse.Namespace, device: torch.device) -> Result:
    """Train every case with every seed."""
    parts = (COMPLETE, *(part.name for part in REMOVABLE_PARTS))
    by_seed = product(options.seeds, options.layers, parts)  # an interrupted benchmark has whole seeds
    cases = [(num_layers, part, seed) for seed, num_layers, part in by_seed]
    work = partial(train_and_keep, Path(options.folder), options.chromium)
    with ProcessPoolExecutor(options.jobs) as pool:
        runs = list(pool.map(work, cases))
    rows = summarize(runs)
    for row in rows:
        print(*row.values(), sep="\t")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        version = browser.version
        browser.close()
    return rows, {"chromium": version}


if __name__ == "__main__":
    run_benchmark(
        measure,
        device=CPU,
        layers=[1, 3],
        seeds=[1, 2, 3, 4, 5],
        jobs=1,
        folder="runs/removed_parts",
        chromium="/usr/bin/chromium",
    )
