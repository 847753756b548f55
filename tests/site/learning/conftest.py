"""The trainer's scripts in an empty page."""

import pytest

from glassformer.widgets.live import SCRIPTS

NEEDED = ["engine/random.js", "engine/positions.js", "engine/scheduling.js"]
LEARNING = sorted(path.relative_to(SCRIPTS).as_posix() for path in SCRIPTS.glob("learning/*.js"))


@pytest.fixture(scope="session")
def learning(browser):
    """Return a function that runs JavaScript beside the trainer's scripts."""
    page = browser.new_page()
    complaints = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for file in [*NEEDED, *LEARNING]:
        page.add_script_tag(path=SCRIPTS / file)
    yield page.evaluate
    page.close()
    assert complaints == []
