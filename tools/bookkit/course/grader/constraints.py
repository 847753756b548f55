"""What an exercise asks to do without, and whether an answer keeps to it, as far as its imports tell.

Nothing is run. Only what the answer rests on counts: a comparison beside it does no harm, nor a constant.
"""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

from .statements import Statement, names_wanted, needed_before

_WITHOUT = re.compile(r"\b(?:without|not use)\s+`([\w.]+)`", re.IGNORECASE)


def asked_without(text: str) -> list[str]:
    """List the packages that the text of an exercise asks to do without."""
    return _WITHOUT.findall(text)


def taken_from(
    package: str, names: set[str], own: Sequence[Statement], given: Sequence[Statement]
) -> str | None:
    """Say what an answer takes from a package, or nothing if it takes nothing.

    Args:
        package: what the exercise asks to do without.
        names: what the exercise asks for.
        own: the learner's statements.
        given: the instructor's. What their functions use is theirs; an import of theirs counts if used.
    """
    needed = needed_before(own, names)
    wanted = names_wanted(needed, after=names) - {*dir(builtins)}
    wanted -= {name for statement in given if not statement.is_import for name in statement.defines}
    imports = [each.needed_for(wanted) for each in given if each.is_import and each.defines & wanted]
    explained = {name for statement in imports for name in statement.defines}
    everything = [statement for statement in needed if "*" in statement.defines]
    if len(everything) > 1 or wanted <= explained:  # no name needs to come from an import of everything
        needed = [statement for statement in needed if statement not in everything]
    found = (name for statement in [*needed, *imports] for name in _imported(statement))
    return next((name for name in found if f"{name}.".startswith(f"{package}.")), None)


def _imported(statement: Statement) -> Iterator[str]:
    """List what a statement imports, be it in a function, under its whole name."""
    for node in ast.walk(ast.parse(statement.source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield from (f"{module}{alias.name}" for alias in node.names if not alias.name.isupper())
