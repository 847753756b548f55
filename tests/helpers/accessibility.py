"""Check the accessibility of an open page with axe."""

from axe_playwright_python.base import AXE_SCRIPT

# Return violations only, and do not fetch style sheets again for the one rule that needs them.
OPTIONS = {"resultTypes": ["violations"], "preload": False}
RUN = "async ([context, options]) => (await axe.run(context, options)).violations"


def violations(page, context="html", **options):
    """Return the violated rules, each with the offending elements."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(RUN, [context, OPTIONS | options])
    return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found]


# Elements are of one kind if they and their four nearest ancestors have the same name, classes, role and
# attributes.
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
WHOLES = "a, button, dt, label, summary, svg, th, .math"  # kept or removed as a whole
NEEDED = "dt, dd, label, summary, th"  # referenced by other elements


def keep_a_few_of_each_kind(page, many=2):
    """Remove all but a few elements of each kind: axe is slow, and most elements resemble many others."""
    page.evaluate(KEEP_FIRST_OF_EACH_KIND, [many, WHOLES, NEEDED])
