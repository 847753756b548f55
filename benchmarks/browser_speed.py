"""Measure the translator's speed in Chromium, at full speed and with the processor slowed down six times.

The clock starts when the weights are in memory. "load" builds a translator from them; "first" also translates
a first sentence with four beams and all attention maps, as the page does. Once the code is warm, "reading" is
the encoder's time per sentence, and "a token" the additional time per generated token. These are times during
which the page's thread computed, because other programs ran as well. "longest" is wall-clock time, and so an
upper bound: the longest time without a response to the reader, for an everyday sentence and for the longest
possible one. The result is the minimum over the turns.
"""

import argparse
import base64
from typing import Any

import torch
from playwright.sync_api import Browser, Page, sync_playwright
from record import CPU, Result, run_benchmark

from glassformer.translator import locate_translator
from glassformer.widgets import EXAMPLES, SCRIPTS, files_of

SPEEDS = {"1x": 1, "6x": 6}
FILES = {"model": "model.json", "weights": "model.safetensors", "tokenizer": "tokenizer.json"}
LONG = "She said that " + "he knew that she said that " * 20 + "it was raining."
PREPARE = """({ packed, sentences }) => {
  const unpack = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const read = (part) => new TextDecoder().decode(unpack(packed[part]));
  const weights = unpack(packed.weights).buffer;
  globalThis.files = { model: read("model"), weights, tokenizer: read("tokenizer") };
  globalThis.sentences = sentences;
  globalThis.state = { ablated: {}, strategy: "beam", temperature: 1, seed: 1 };
  globalThis.run = (sentence) => glassformer.translatePage.run(state, sentence, () => true);
}"""
LOAD = "() => { state.translator = glassformer.loadTranslator(files); }"
TRANSLATE = "async () => { await run(sentences[0]); }"
WARM_UP = "async () => { for (const sentence of sentences) await run(sentence); }"
READ = """() => {
  const { model } = state.translator;
  for (const sentence of sentences) model.encode(state.translator.tokenize(sentence), () => {});
}"""
WRITE = """(beamSize) => {
  const found = sentences.map((sentence) => state.translator.translate(sentence, { beamSize }));
  return found.reduce((total, { target }) => total + target.ids.length, 0);
}"""
# The page sends itself messages one by one; the result is the longest time between two.
LONGEST = """async (sentence) => {
  const { port1, port2 } = new MessageChannel();
  let [found, last] = [0, performance.now()];
  const listen = () => {
    found = Math.max(found, performance.now() - last);
    last = performance.now();
  };
  port1.onmessage = () => {
    listen();
    port2.postMessage("");
  };
  port2.postMessage("");
  await run(sentence);
  listen();
  port1.close();
  return found;
}"""


class Clock:
    """Processor time of a page's thread, in milliseconds."""

    def __init__(self, page: Page, slowdown: int) -> None:
        self._page, self._session = page, page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._session.send("Emulation.setCPUThrottlingRate", {"rate": slowdown})

    def time(self, script: str, argument: Any = None) -> tuple[float, Any]:
        """Run a function in the page; return its time and its result."""
        before = self._read()
        found = self._page.evaluate(script, argument)
        return 1000 * (self._read() - before), found

    def _read(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def take_turn(browser: Browser, slowdown: int) -> dict[str, float]:
    """Measure once in a new page; return the milliseconds of each task."""
    folder = locate_translator("en-fr")
    packed = {part: base64.b64encode((folder / name).read_bytes()).decode() for part, name in FILES.items()}
    with browser.new_page() as page:
        for file in files_of("translate"):
            if file.endswith(".js"):
                page.add_script_tag(path=SCRIPTS / file)
        page.evaluate(PREPARE, {"packed": packed, "sentences": list(EXAMPLES)})
        clock = Clock(page, slowdown)
        load, _ = clock.time(LOAD)
        translate, _ = clock.time(TRANSLATE)
        clock.time(WARM_UP)
        reading, _ = clock.time(READ)
        greedy, num_greedy = clock.time(WRITE, 1)
        beam, num_beam = clock.time(WRITE, 4)
        return {
            "load": load,
            "first": load + translate,
            "reading": reading / len(EXAMPLES),
            "a token, greedily": (greedy - reading) / num_greedy,
            "a token, beam of 4": (beam - reading) / num_beam,
            "longest, everyday": page.evaluate(LONGEST, list(EXAMPLES)[1]),
            "longest, 120 tokens": page.evaluate(LONGEST, LONG),
        }


def measure(turns: int, chromium: str) -> tuple[str, list[dict[str, Any]]]:
    """Measure at both speeds in turn; return the browser's version and the minimum of each number."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        version = browser.version
        taken = [
            {name: take_turn(browser, slowdown) for name, slowdown in SPEEDS.items()} for _ in range(turns)
        ]
        browser.close()
    least = {
        name: {what: min(turn[name][what] for turn in taken) for what in taken[0][name]} for name in SPEEDS
    }
    return version, [
        {"ms": what, **{name: round(least[name][what], 1) for name in SPEEDS}} for what in least["1x"]
    ]


def measure_all(options: argparse.Namespace, device: torch.device) -> Result:
    """Measure at both speeds."""
    version, rows = measure(options.turns, options.chromium)
    for row in rows:
        print(*row.values(), sep="\t")
    settings = {"chromium": version, "sentences": list(EXAMPLES)}
    return rows, settings


if __name__ == "__main__":
    run_benchmark(measure_all, device=CPU, turns=5, chromium="/usr/bin/chromium")
