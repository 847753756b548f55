"""The commands and links on the page about platforms work."""

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).parents[2]
COURSE = "https://github.com/you/your-course"
PAGE = (ROOT / "teach/platforms.md").read_text(encoding="utf-8")


def block(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_of_a_pull_link_is_the_functions_result(capsys):
    names = {}
    exec(block("python")[0], names)
    link = "".join(block("text")[0].split())
    hub, chapter = "https://hub.example.org", "chapters/05_masks.ipynb"
    assert names["pull_link"](hub, COURSE, chapter) == link
    assert names["pull_link"](f"{hub}/", f"{COURSE}.git", chapter).endswith(link.split("&", 1)[1])
    assert capsys.readouterr().out.startswith(
        "https://hub.example.org/hub/user-redirect/git-pull?repo=https%3A"
    )


def test_a_pull_link_opens_an_existing_chapter():
    asked = parse_qs(urlsplit("".join(block("text")[0].split())).query)
    assert asked["repo"] == [COURSE]
    assert (ROOT / asked["urlpath"][0].removeprefix("lab/tree/your-course/")).is_file()


def test_the_targets_of_make_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "teach").glob("*.md"))
    for targets in re.findall(
        r"(?:`|^)(?:TORCH_BACKEND=cpu )?make ([a-z][a-z -]*[a-z])", pages, re.MULTILINE
    ):
        for target in targets.split():
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
