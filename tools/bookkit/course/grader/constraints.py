"""Find imports that an exercise forbids, as in "without `glassformer`".

Nothing is run. Only statements on which the answer depends count, so comparing with the package is allowed.
"""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

from .statements import Statement, required_names, required_statements

_WITHOUT = re.compile(r"\b(?:without|not use)\s+`([\w.]+)`", re.IGNORECASE)


def forbidden_packages(text: str) -> list[str]:
    """List the packages that the text of an exercise forbids."""
    return _WITHOUT.findall(text)


def find_forbidden_import(
    package: str, names: set[str], own: Sequence[Statement], given: Sequence[Statement]
) -> str | None:
    """Return the name that an answer imports from a package, or None.

    Args:
        package: name of the forbidden package.
        names: names that the exercise asks for.
        own: statements of the learner.
        given: statements of the instructor. Their functions may use the package; their imports count if the
            learner uses them.
    """
    needed = required_statements(own, names)
    wanted = required_names(needed, after=names) - {*dir(builtins)}
    wanted -= {name for statement in given if not statement.is_import for name in statement.defines}
    imports = [each.needed_for(wanted) for each in given if each.is_import and each.defines & wanted]
    explained = {name for statement in imports for name in statement.defines}
    everything = [statement for statement in needed if "*" in statement.defines]
    if len(everything) > 1 or wanted <= explained:  # no name needs to come from an import of everything
        needed = [statement for statement in needed if statement not in everything]
    found = (name for statement in [*needed, *imports] for name in _imported(statement))
    return next((name for name in found if f"{name}.".startswith(f"{package}.")), None)


def _imported(statement: Statement) -> Iterator[str]:
    """Yield the full name of everything that a statement imports, even inside a function."""
    for node in ast.walk(ast.parse(statement.source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield from (f"{module}{alias.name}" for alias in node.names if not alias.name.isupper())
