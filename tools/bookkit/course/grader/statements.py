"""Find the statements on which a piece of code depends, by name and without running anything."""

import ast
import functools
import symtable
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from IPython.core.inputtransformer2 import TransformerManager


@dataclass(frozen=True)
class Statement:
    """A statement, and the names that it defines, changes and uses."""

    source: str
    defines: frozenset[str]
    changes: frozenset[str]  # `x[0] = 3` and `x += 3` depend on the earlier x
    uses: frozenset[str]

    @property
    def is_import(self) -> bool:
        """True for an import."""
        return isinstance(_parse(self.source), ast.Import | ast.ImportFrom)

    def needed_for(self, names: Iterable[str]) -> "Statement":
        """Reduce an import to the given names; return any other statement unchanged."""
        node = _parse(self.source)
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return self
        node.names = [alias for alias in node.names if _bound_name(alias) in {*names, "*"}]
        return _statement(node, ast.unparse(node))


@functools.cache
def read_statements(code: str) -> tuple[Statement, ...]:
    """Split code into statements, without the notebook's ``%magic`` and ``!command``.

    Raises:
        SyntaxError: the code is not valid Python.
    """
    code = TransformerManager().transform_cell(code)
    nodes = [node for node in ast.parse(code).body if "get_ipython" not in _names(node)]
    return tuple(_statement(node, _source(code, node)) for node in nodes)


def required_names(statements: Sequence[Statement], after: Iterable[str] = ()) -> set[str]:
    """Return the names that must exist before the statements, so that those of ``after`` exist after them."""
    wanted = set(after)
    for statement in reversed(statements):
        wanted = _wanted_before(statement, wanted)
    return wanted


def required_statements(statements: Sequence[Statement], wanted: Iterable[str]) -> list[Statement]:
    """Select the statements on which the names depend, in order."""
    names, chosen = set(wanted), []
    for statement in reversed(statements):
        if (statement.defines | statement.changes) & {*names, "*"}:
            part = statement.needed_for(names)
            chosen.append(part)
            names = _wanted_before(part, names)
    return chosen[::-1]


def _wanted_before(statement: Statement, wanted: set[str]) -> set[str]:
    is_definition = isinstance(_parse(statement.source), ast.FunctionDef | ast.ClassDef)
    uses = statement.uses - statement.defines if is_definition else statement.uses  # it may call itself
    return (wanted - statement.defines) | uses


def _statement(node: ast.stmt, source: str) -> Statement:
    scoped = _ScopeComprehensions().visit(_parse(ast.unparse(node)))
    table = symtable.symtable(ast.unparse(scoped), "cell", "exec")
    bound = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()
    }
    if isinstance(node, ast.Import | ast.ImportFrom):
        bound = {_bound_name(alias) for alias in node.names}
    changed = {target.id for target in _changed(node)}
    uses = (_uses(table) - _loop_names(node)) | changed
    return Statement(source, frozenset(bound - changed), frozenset(changed), frozenset(uses))


class _ScopeComprehensions(ast.NodeTransformer):
    """Turn comprehensions into generator expressions, which use the same names in a scope of their own.

    Python 3.12 and later inline comprehensions: their variables look like those around them (PEP 709).
    """

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self.generic_visit(ast.GeneratorExp(node.elt, node.generators))

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        item = ast.Tuple([node.key, node.value], ast.Load())
        return self.generic_visit(ast.GeneratorExp(item, node.generators))


def _source(code: str, node: ast.stmt) -> str:
    decorators = [f"@{ast.get_source_segment(code, each)}\n" for each in getattr(node, "decorator_list", [])]
    return "".join(decorators) + (ast.get_source_segment(code, node) or "")


def _uses(table: symtable.SymbolTable) -> set[str]:
    """Collect the global names of a scope and of its nested scopes."""
    is_top = table.get_type() == "module"
    names = {s.get_name() for s in table.get_symbols() if s.is_referenced() and (is_top or s.is_global())}
    return names.union(*map(_uses, table.get_children()))


def _loop_names(node: ast.stmt) -> set[str]:
    return _names(node.target) - _names(node.iter) if isinstance(node, ast.For) else set()


def _changed(node: ast.stmt) -> list[ast.Name]:
    targets = getattr(node, "targets", []) or [getattr(node, "target", None)]
    if not isinstance(node, ast.Assign | ast.AugAssign):
        return []
    roots = [_root(target) for target in targets]
    return [
        root
        for root, target in zip(roots, targets, strict=True)
        if isinstance(root, ast.Name) and (isinstance(node, ast.AugAssign) or root is not target)
    ]


def _root(target: ast.expr) -> ast.expr:
    while isinstance(target, ast.Subscript | ast.Attribute):
        target = target.value
    return target


def _names(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _bound_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.split(".")[0]


def _parse(source: str) -> ast.stmt:
    return ast.parse(source).body[0]
