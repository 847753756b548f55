"""What axe finds on a page that is open in a browser."""

from axe_playwright_python.base import AXE_SCRIPT

# Only what was found comes back, and no style sheet is fetched again for the one rule that asks for it.
OPTIONS = {"resultTypes": ["violations"], "preload": False}
RUN = "async ([context, options]) => (await axe.run(context, options)).violations"


def violations(page, context="html", **options):
    """Return the rules that the page breaks, each with the elements that break it."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(RUN, [context, OPTIONS | options])
    return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found]
