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


# Elements are of one kind if their names, classes, roles and attributes are the same, and so are those of the
# four elements around them.
KEEP_FIRST_OF_EACH_KIND = """([many, wholes, needed]) => {
  const kinds = new Map(), seen = new Map(), late = [];
  for (const one of document.querySelectorAll("body *")) {
    if (one.parentElement.closest(wholes)) continue;
    const attributes = Array.from(one.attributes, ({ name }) => name);
    const own = [one.localName, one.className, one.role, one.checkVisibility(), ...attributes].join(" ");
    const kind = [own, ...(kinds.get(one.parentElement) ?? [])].slice(0, 5);
    const number = (seen.get(String(kind)) ?? 0) + 1;
    kinds.set(one, kind);
    seen.set(String(kind), number);
    if (number > many && !one.matches(needed)) late.push(one);
  }
  late.reverse().forEach((one) => (one.matches(wholes) || one.children.length === 0) && one.remove());
}"""
WHOLES = "a, button, dt, label, summary, svg, th, .math"  # remain or go with all that they hold
NEEDED = "dt, dd, label, summary, th"  # by others


def let_a_few_stand_for_the_rest(page, many=2):
    """Leave only a few elements of each kind: axe looks at each for long, and most are like many others."""
    page.evaluate(KEEP_FIRST_OF_EACH_KIND, [many, WHOLES, NEEDED])
