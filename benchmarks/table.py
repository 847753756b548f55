"""Print what was measured as a table in Markdown, as a chapter shows it.

Run by itself, it lays the stored results of benchmarks/results out anew in README.md, wherever a line
`<!-- name -->` or `<!-- name: part -->` asks for one.
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
    "times_glassformers_time": "time / ours",
    "times_marians_time": "time / Marian's",
}


def format_table(rows: list[dict[str, Any]]) -> str:
    """Lay rows with equal entries out as a table: words to the left, numbers to the right."""
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
    """Put below every line that asks for a table the one of what is stored, in place of what stood there."""

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
