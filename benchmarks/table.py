"""Format results as Markdown tables.

As a program, it updates the tables in README.md from benchmarks/results, wherever there is a line `<!-- name
-->` or `<!-- name: part -->`.
"""

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TITLES = {
    "milliseconds": "ms",
    "megabytes": "MB",
    "megabytes_before": "MB before",
    "memory_ratio": "MB ratio",
    "extra_megabytes": "extra MB",
    "sentences_per_second": "sentences/s",
    "time_ratio_to_glassformer": "time / ours",
    "time_ratio_to_marian": "time / Marian's",
}


def format_table(rows: list[dict[str, Any]]) -> str:
    """Format rows as a table; numbers are right-aligned."""
    names = list(rows[0])
    lines = [[TITLES.get(name, name.replace("_", " ")) for name in names]]
    lines += [[_written(row[name]) for name in names] for row in rows]
    widths = [max(3, *(len(line[i]) for line in lines)) for i in range(len(names))]
    is_number = [isinstance(rows[0][name], int | float) for name in names]
    rule = [
        "-" * (width - 1) + (":" if right else "-") for width, right in zip(widths, is_number, strict=True)
    ]
    lines.insert(1, rule)
    return "\n".join(
        "| "
        + " | ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, is_number, strict=True)
        )
        + " |"
        for line in lines
    )


def print_table(title: str, rows: list[dict[str, Any]]) -> None:
    """Print a table under its title."""
    print(f"\n{title}\n\n{format_table(rows)}\n", flush=True)


def with_tables(text: str, results: Path) -> str:
    """Replace the table below every marker line by the table of the stored result."""

    def laid_out(asked: re.Match[str]) -> str:
        measured = json.loads((results / f"{asked['name']}.json").read_text(encoding="utf-8"))["measured"]
        rows = measured[asked["part"]] if asked["part"] else measured
        return f"{asked['line']}\n{format_table(rows)}\n"

    return re.sub(r"(?P<line><!-- (?P<name>\w+)(: (?P<part>[^>]+))? -->)\n(\|.*\n)*", laid_out, text)


def _written(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    page = HERE / "README.md"
    page.write_text(with_tables(page.read_text(encoding="utf-8"), HERE / "results"), encoding="utf-8")
