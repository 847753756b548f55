"""The reader trains a translator in the page, with or without a worker, and asks it for a sentence."""

import re
from pathlib import Path

import pytest

from glassformer.widgets import live_train
from glassformer.widgets.figures.train import REMOVABLE_PARTS

SITE = Path(__file__).parents[2] / "_build/html"
PATIENT = 120_000  # milliseconds for a whole run
# Shorten the runs: only their number of steps, their sizes and their tests change.
SHORTEN = """() => {
  const Run = glassformer.TrainingRun;
  glassformer.TrainingRun = class extends Run {
    *train() {
      while (this.step < 3) yield yield* this.takeStep(this.sampleBatch());
      yield { step: this.step, look: yield* this.look() };
    }
    constructor(settings) {
      super({ ...settings, width: 8 });
    }
  };
}"""


@pytest.fixture
def figure(page, monkeypatch):
    """Show the figure in a page without a server, where it trains without a worker."""
    monkeypatch.delenv("GLASSFORMER_SCRIPTS", raising=False)
    page.set_content(live_train()._repr_html_())
    return page.locator("glass-figure")


@pytest.fixture
def short(page, figure):
    page.evaluate(SHORTEN)
    return figure


def press(figure, name):
    figure.get_by_role("button", name=name, exact=True).click()


def wait_until_done(figure):
    figure.get_by_role("button", name="Translate").and_(figure.locator(":enabled")).wait_for(timeout=PATIENT)


def test_the_complete_model_and_the_changed_one_train_side_by_side(short):
    short.get_by_label("causal mask").check()
    press(short, "Train")
    wait_until_done(short)
    assert short.locator(".heading").all_inner_texts() == ["complete", "without causal mask"]
    runs = short.locator(".runs tbody tr")
    assert runs.locator("th").all_inner_texts() == ["complete", "without causal mask"]
    for number in range(2):
        assert runs.nth(number).locator("td").all_inner_texts()[:3] == ["1 + 1", "1", "3"]
    summary = short.locator(".summary").inner_text()
    one_run = r"step 3 of 500, loss \d\.\d{3}, 0% of unseen sentences right"
    assert re.fullmatch(rf"complete: {one_run}; without causal mask: {one_run}\.", summary)


def test_without_a_removed_part_only_the_complete_model_trains(short):
    press(short, "Train")
    wait_until_done(short)
    assert short.locator(".runs tbody th").all_inner_texts() == ["complete"]


def test_the_table_keeps_all_runs_of_the_visit(short):
    press(short, "Train")
    wait_until_done(short)
    press(short, "Another seed")
    short.get_by_label("layers").select_option("3 + 3")
    press(short, "Train")
    wait_until_done(short)
    seeds = [row.locator("td").all_inner_texts()[:2] for row in short.locator(".runs tbody tr").all()]
    assert seeds == [["1 + 1", "1"], ["3 + 3", "2"]]


def test_it_steps_pauses_continues_and_resets(figure, page):
    press(figure, "One step")
    figure.get_by_text("step 1 of 500").first.wait_for(timeout=PATIENT)
    assert figure.get_by_label("positions").is_disabled()
    press(figure, "Continue")
    figure.get_by_text(re.compile("step [2-9]")).first.wait_for(timeout=PATIENT)
    press(figure, "Pause")
    page.wait_for_timeout(300)
    reached = figure.locator(".summary").inner_text()
    page.wait_for_timeout(500)
    assert figure.locator(".summary").inner_text() == reached
    press(figure, "Reset")
    assert figure.locator(".summary").inner_text() == "Nothing is trained yet."
    assert figure.get_by_label("positions").is_enabled()
    assert figure.locator(".runs tbody tr").count() == 1


def test_a_hidden_tab_does_not_compute(figure, page):
    hide = """(isHidden) => {
      Object.defineProperty(document, "hidden", { value: isHidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    press(figure, "Train")
    figure.get_by_text(re.compile("step [1-9]")).first.wait_for(timeout=PATIENT)
    page.evaluate(hide, True)
    figure.get_by_role("button", name="Continue").wait_for()
    page.evaluate(hide, False)
    figure.get_by_role("button", name="Pause").wait_for()


def test_each_removed_part_says_why_it_is_there_and_links_to_its_section(figure):
    assert figure.locator(".reasons a").count() == 0
    for part in REMOVABLE_PARTS:
        figure.get_by_label(part.label).check()
    for line, part in zip(figure.locator(".reasons li").all(), REMOVABLE_PARTS, strict=True):
        assert line.inner_text().startswith(f"{part.label}: {part.reason}")
        assert line.locator("a").get_attribute("href") == part.section


@pytest.mark.parametrize("part", REMOVABLE_PARTS, ids=lambda part: part.name)
def test_the_sections_exist(part):
    file, _, anchor = part.section.partition("#")
    assert f'id="{anchor}"' in (SITE / file).read_text(encoding="utf-8")


def test_the_reader_asks_for_a_sentence(short):
    sentence = short.get_by_role("textbox")
    assert sentence.is_disabled()
    short.get_by_label("layer norm").check()
    press(short, "Train")
    wait_until_done(short)
    sentence.fill("The hen didn’t leave the ant.")
    press(short, "Translate")
    answers = short.locator(".answers-own")
    answers.get_by_text("by rule: la poule n'a pas quitté la fourmi").wait_for()
    assert answers.locator("p").count() == 3
    sentence.fill("the elephant left the hen")
    press(short, "Translate")
    answers.get_by_text("It doesn’t know “elephant”. Choose from the words below.").wait_for()
    sentence.fill("hen left")
    press(short, "Translate")
    answers.get_by_text("there is no right answer").wait_for()


@pytest.mark.parametrize(("milliseconds", "width"), [(8, "32"), (200, "16")])
def test_a_slow_device_gets_a_smaller_model_and_is_told(figure, page, milliseconds, width):
    takes = """(milliseconds) => {
      const { parts, takeSpeed, read } = glassformer.trainFigure.settings([]);
      takeSpeed(milliseconds);
      return [String(read().width), parts.at(-1).textContent];
    }"""
    chosen, said = page.evaluate(takes, milliseconds)
    assert chosen == width
    assert f"about {round(500 * milliseconds * 1.25 / 1000)} s with 1 + 1 layers" in said
    assert ("the width is set to 16" in said) == (width == "16")


def test_the_loss_has_a_logarithmic_axis(figure, page):
    draw = """() => {
      const curves = glassformer.trainFigure.learningCurves();
      curves.draw([{ losses: [[0, 10], [250, 0.1], [500, 0.001]], shares: [[0, 0], [500, 0.5]] }, null]);
      return [...curves.whole.querySelectorAll(".curve.complete")].map((path) => path.getAttribute("d"));
    }"""
    assert page.evaluate(draw) == ["M0.0 0.0L50.0 50.0L100.0 100.0", "M0.0 100.0L100.0 50.0"]


def seconds_of_thread(page):
    """Return the seconds during which the page's thread has computed."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def test_on_the_site_a_worker_trains_while_the_page_stays_free(page, served):
    complaints = []
    page.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{served}/train.html")
    figure = page.locator("glass-figure")
    assert page.evaluate("glassformer.trainFigure.canUseWorker()")
    figure.get_by_text("Measured on this device").wait_for(timeout=PATIENT)
    page.context.set_offline(True)  # after the first load
    before = seconds_of_thread(page)
    figure.get_by_label("causal mask").check()
    press(figure, "Train")
    figure.get_by_text(re.compile(r"step [2-9]\d")).first.wait_for(timeout=PATIENT)
    press(figure, "Reset")
    computed = sum(float(cell) for cell in figure.locator(".runs td:last-child").all_inner_texts())
    assert seconds_of_thread(page) - before < computed / 4
    assert complaints == []


def test_from_the_file_system_it_trains_on_the_page(page):
    page.context.set_offline(True)
    page.goto((SITE / "train.html").as_uri())
    figure = page.locator("glass-figure")
    assert not page.evaluate("glassformer.trainFigure.canUseWorker()")
    press(figure, "One step")
    figure.get_by_text("step 1 of 500").first.wait_for(timeout=PATIENT)
